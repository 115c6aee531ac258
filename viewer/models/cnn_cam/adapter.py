"""The adapter of a classifying network; it answers with its activation map."""

import functools
import threading
import time
from collections.abc import Mapping
from importlib.metadata import packages_distributions, version
from pathlib import Path

import numpy as np

from viewer.domain.answer import HeatMapAnswer
from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import (
    Facts,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
    SentHeatMap,
)
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid, LetterAxis
from viewer.metrics.pointing import containing_cell, most_salient_point
from viewer.models.cnn_cam import network as networks
from viewer.models.cnn_cam.cam import grad_cam, laid_over, shown_numbers
from viewer.models.cnn_cam.card import Card, not_learned, read_card
from viewer.models.cnn_cam.network import Network
from viewer.models.file_hash import about_the_model
from viewer.models.loaded import (
    Held,
    Holder,
    Made,
    Progress,
    check_cancelled,
    loading_alone,
)
from viewer.models.reading import local_reply, read_reply


class CnnCam(Held[Network]):
    """One network with its card.

    It is shown the image without the grid, as it was trained. The constructor reads no
    file, so that stored replies can be parsed even if the network is gone.
    """

    def __init__(self, profile: ModelProfile) -> None:
        settings = profile.settings
        self._path = Path(str(settings["card"]))
        self._trusted = str(settings.get("trusted") or "")
        self._device = str(settings.get("device", "auto"))
        self._side = int(str(settings.get("map_side", 64)))
        self._loaded_card: Card | None = None
        self._holder: Holder[Network] = Holder(self._make, self._release)
        self._alone = threading.Lock()  # captum's hooks see every thread's images

    def memory_bytes(self) -> int:
        """Return the size of its weights in bytes; before loading, of their file."""
        held = self._holder.memory_bytes
        return held or self._card().source.file.stat().st_size

    @about_the_model()
    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - every one is equal
        """Return the hashes of card and weights, and the versions of the libraries.

        Raises
        ------
        WrongUseError
            If the card or its file cannot be read.
        """
        card = self._card()
        local = {
            "torch": version("torch"),
            "captum": version("captum"),
            "device": networks.device_named(self._device),
            **_factory_version(card),
        }
        endpoint = {"kind": "cnn_cam", "api": "local"}
        params = {"map_side": self._side}
        return ModelIdentity(endpoint, card.name, card.revision, params, local)

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the map of the finding's score, and the cell of its maximum."""
        facts = request.facts
        with self._holder.in_use() as loaded:
            started = time.perf_counter()  # what loading takes is none of its latency
            card = loaded.card
            score = card.score_of(facts.finding)
            if score is None:
                raise _not_learned(card, facts.finding)
            numbers = shown_numbers(facts.plain, card.input)
            with self._alone:
                found, value = grad_cam(loaded, numbers, score)
        if not np.isfinite(found).all():
            raise _not_finite(card)
        wide = laid_over(found, facts.plain.size, card.input, self._side)
        heat_map = SentHeatMap.of(wide)
        return local_reply(
            _cell_text(heat_map, facts),
            model=card.name,
            heat_map=heat_map,
            note=f"score {value:.6g}",
            latency_ms=round((time.perf_counter() - started) * 1000),
        )

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    @about_the_model()
    def _card(self) -> Card:
        """Return the loaded network's card, else the current card file."""
        return self._loaded_card or read_card(self._path)

    def _release(self) -> None:
        self._loaded_card = None
        networks.release_memory()

    def _make(self, progress: Progress, cancelled: threading.Event) -> Made[Network]:
        progress(0.0, "reading the network's card")
        card = self._card()
        networks.check_trusted(card.source, self._trusted)
        check_cancelled(cancelled)
        device = networks.device_named(self._device)
        with loading_alone(cancelled):
            loaded = networks.load_network(card, device, progress, cancelled)
        self._loaded_card = card
        return Made(loaded, loaded.memory_bytes)


def _cell_text(heat_map: SentHeatMap, facts: Facts) -> str:
    """Return the label of the cell that contains the most salient point."""
    # A flat map has its maximum everywhere; the first cell would be invented.
    if np.ptp(heat_map.values) == 0:
        return "no location supports the finding"
    size = facts.plain.size
    field = BoxPx(0, 0, size.columns, size.rows)
    grid = Grid(facts.rows, facts.columns, LetterAxis(facts.letters))
    point = most_salient_point(HeatMapAnswer(heat_map, field), field)
    cell = containing_cell(point, grid, field)
    return "" if cell is None else grid.label(cell)


def _factory_version(card: Card) -> Mapping[str, str]:
    """Return the version of the package whose factory creates the network."""
    if card.source.kind != "factory":
        return {}
    return {"factory": _package_version(card.source.factory.partition(".")[0])}


@functools.cache
def _package_version(package: str) -> str:
    names = packages_distributions().get(package.partition(":")[0], [])
    return "+".join(f"{name} {version(name)}" for name in names) or package


def _not_learned(card: Card, finding: str) -> ProviderError:
    return ProviderError(
        *not_learned(card, finding),
        retry_class=RetryClass.FAIL,
        reason="unknown_finding",
    )


def _not_finite(card: Card) -> ProviderError:
    return ProviderError(
        f"The network '{card.name}' computes infinite or undefined numbers.",
        "Check range, mean and std in its card.",
        retry_class=RetryClass.FAIL,
        reason="not_finite",
    )
