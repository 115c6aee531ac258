"""A segmenter as a model: asked with boxes, it answers with the mask inside them."""

import json
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from viewer.domain.documents import read_json
from viewer.domain.errors import OverreadError, ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import (
    BoxPrompt,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.domain.geometry import BoxPx
from viewer.domain.plain import made, plain
from viewer.domain.reference import Mask
from viewer.models.file_hash import about_the_model
from viewer.models.loaded import LoadState, Progress
from viewer.models.reading import local_reply, read_reply
from viewer.models.segmenter import Segmented, Segmenter


@dataclass(frozen=True)
class _Outlined:
    """The text of a reply: the mask found in some boxes."""

    boxes: tuple[BoxPx, ...]
    mask: Mask


class PromptedSegmenter:
    """SAM or MedSAM in a folder; it is shown native pixels without a grid.

    The constructor reads no file, so that stored replies can be parsed even if the
    model is gone.
    """

    def __init__(self, profile: ModelProfile) -> None:
        settings = profile.settings
        self._device = str(settings.get("device", "auto"))
        self._segmenter = Segmenter(Path(str(settings["model"])), self._device)

    @property
    def state(self) -> LoadState:
        """The state of the model."""
        return self._segmenter.state

    def load(self, progress: Progress, cancelled: threading.Event) -> None:
        """Load the model."""
        self._segmenter.load(progress, cancelled)

    def unload(self) -> None:
        """Unload the model once the boxes in flight are segmented."""
        self._segmenter.unload()

    def interrupt(self) -> None:
        """Stop a loading that answers wait for; an answer itself is quick."""
        self._segmenter.interrupt()

    def watch(self, progress: Progress) -> AbstractContextManager[None]:
        """Report every step of loading meanwhile, whoever started it."""
        return self._segmenter.watch(progress)

    def memory_bytes(self) -> int:
        """Return the size of its weights in bytes, even before they are loaded."""
        return self._segmenter.memory_bytes()

    @about_the_model()
    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - every one is equal
        """Return the hash of the model's files, and the versions of the libraries.

        Raises
        ------
        WrongUseError
            If the folder has no segmenter that takes boxes.
        """
        provenance = dict(self._segmenter.provenance())
        endpoint = {"kind": "segmenter", "api": "local"}
        name, revision = provenance.pop("model"), provenance.pop("revision")
        return ModelIdentity(
            endpoint, name, revision, {}, {**provenance, "device": self._device}
        )

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the mask of the object in the boxes of the request.

        Raises
        ------
        ProviderError
            If there are no boxes, one is outside the image, or the model cannot be
            loaded or cannot process the image.
        """
        prompt = request.facts.prompt
        if prompt is None or not prompt.boxes:
            raise _no_box()
        try:
            with self._segmenter.ready():
                started = time.perf_counter()
                parts = self._segmenter.segment(prompt.raster, prompt.boxes)
        except ProviderError:
            raise
        except OverreadError as error:
            raise _cannot(error) from error
        took_ms = round((time.perf_counter() - started) * 1000)
        return local_reply(
            json.dumps(plain(_outlined(prompt, parts))),
            model=self.identity(0).model,
            note=f"expected IoU {min(part.quality for part in parts):.3f}",
            latency_ms=took_ms,
            work_ms=took_ms,
        )

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply: its mask is in native pixels."""
        reply = read_reply(raw)
        return replace(reply, mask=_mask_of(reply.text))


def _outlined(prompt: BoxPrompt, parts: Sequence[Segmented]) -> _Outlined:
    whole = np.logical_or.reduce([part.mask for part in parts])
    return _Outlined(prompt.boxes, Mask.of_array(whole))


def _mask_of(text: str) -> Mask:
    try:
        return made(_Outlined, read_json(text), where="the outline").mask
    except (ValueError, WrongUseError) as error:
        raise ProviderError(
            "The stored outline cannot be read.",
            "Outline it again.",
            retry_class=RetryClass.FAIL,
            reason="unreadable_reply",
        ) from error


def _no_box() -> ProviderError:
    return ProviderError(
        "A segmenter outlines the contents of a box, but no box was given.",
        "In Read, choose a rectangle or a model's box, then Outline it; or use "
        "overread segment.",
        retry_class=RetryClass.STOP_RUN,
        reason="no_box",
    )


def _cannot(error: OverreadError) -> ProviderError:
    """Return the error as one that ends only this question."""
    return ProviderError(
        error.what, error.how, retry_class=RetryClass.STOP_RUN, reason="not_outlined"
    )
