"""Download a model: from the hub, first what it is and needs, or through Ollama."""

import threading
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Protocol

from viewer.domain.errors import MissingDependencyError, WrongUseError, where_to_get
from viewer.domain.exchange import ModelProfile
from viewer.models.fitting import Machine, fit_in_words, this_machine
from viewer.models.loaded import LoadCancelledError, Progress
from viewer.models.model_cards import UNKNOWN, ModelCard, card_of
from viewer.models.openai_api.ollama_pull import pull
from viewer.models.profiles import HUB_NAME
from viewer.models.transformers_local.hub import (
    NotHereError,
    Offer,
    TokenWantedError,
    files_fetched,
    files_here,
    offer_of,
)
from viewer.models.transformers_local.hub_file import TOKEN
from viewer.models.transformers_local.options import LocalOptions

HUB_TOKEN: Final = TOKEN
"""The name of the user's token for Hugging Face in the keyring."""
_MB: Final = 1e6
_GB: Final = 1e9


class Download(Protocol):
    """A model that can be downloaded, wherever it comes from."""

    def lines(self) -> tuple[str, ...]:
        """Return what to know before the download, in words; none if nothing is."""
        ...

    def fetch(self, progress: Progress, cancelled: threading.Event) -> str:
        """Fetch what is missing; return its folder, or its name at its server."""
        ...


@dataclass(frozen=True)
class OllamaDownload:
    """A model that an Ollama on this machine downloads; see `ollama_pull.pull`."""

    base_url: str
    model: str

    def lines(self) -> tuple[str, ...]:
        """Return nothing: Ollama tells of a model only while it downloads it."""
        return ()

    def fetch(self, progress: Progress, cancelled: threading.Event) -> str:
        """Let Ollama fetch what is missing, and return the model's name."""
        pull(self.base_url, self.model, progress, cancelled)
        return self.model


@dataclass(frozen=True)
class ModelDownload:
    """A model that the hub offers, and what is known of it, None if nothing is."""

    options: LocalOptions
    offer: Offer
    card: ModelCard | None
    machine: Machine

    def row(self) -> dict[str, object]:
        """Return what to know before the download; sizes in bytes."""
        return {
            "model": self.offer.model,
            "licence": self._licence,
            "size": self.offer.size,
            "missing": self.offer.missing,
            "free_disk": self.offer.free,
            "fits": self._fits,
        }

    def lines(self) -> tuple[str, ...]:
        """Return what to know before the download, in words."""
        offer = self.offer
        size = f"{_amount(offer.size)}, of which {_amount(offer.missing)}"
        return (
            f"licence: {self._licence}",
            f"size: {size} are not here yet; {_amount(offer.free)} of disk free",
            f"fits this computer: {self._fits}. {self.machine.in_words}",
        )

    @property
    def _licence(self) -> str:
        known = self.card and self.card.licence and self.card.licence.value
        return known or self.offer.licence or UNKNOWN

    @property
    def _fits(self) -> str:
        return fit_in_words(self.card, self.machine) if self.card else UNKNOWN

    def fetch(self, progress: Progress, cancelled: threading.Event) -> str:
        """Fetch what is missing, and return the folder of the model's files.

        What has arrived is kept if the download stops, and continued the next time.
        """
        return str(files_fetched(self.options, progress, cancelled).folder)


def was_paused(error: Exception) -> bool:
    """Tell whether a download ended because it was cancelled."""
    return isinstance(error, LoadCancelledError)


def wants_token(error: Exception) -> bool:
    """Tell whether the hub gives a model only to a user whose token may read it."""
    return isinstance(error, TokenWantedError)


def _amount(count: int) -> str:
    if count >= _GB:
        return f"{count / _GB:.1f} GB"
    return f"{count / _MB:.1f} MB"


def is_here(name: str, revision: str = "") -> bool:
    """Tell whether every file of a model on the hub is on this machine."""
    _check_installed()
    try:
        files_here(_options(name, revision))
    except NotHereError:
        return False
    return True


def model_download(name: str, revision: str = "") -> ModelDownload:
    """Ask the hub for a model by its known name or as owner/model; fetch nothing.

    ``revision`` is its branch, tag or commit, "" for the newest.

    Raises
    ------
    WrongUseError
        If the name is neither, the model has no weights to download, or the hub
        refuses it or cannot be reached.
    DiskFullError
        If it does not fit on the disk.
    """
    _check_installed()
    options = _options(name, revision)
    offer = offer_of(options)
    offer.check_room()
    return ModelDownload(options, offer, card_of(name), this_machine())


def _check_installed() -> None:
    if find_spec("huggingface_hub") is None:
        raise MissingDependencyError(
            f"Downloads need huggingface_hub ({where_to_get('overread[local]')})."
        )


def _options(name: str, revision: str) -> LocalOptions:
    settings = {"model": _hub_name(name, card_of(name)), "download": True}
    if revision:
        settings["revision"] = revision
    return LocalOptions.of(ModelProfile(name, "transformers_local", settings))


def _hub_name(name: str, card: ModelCard | None) -> str:
    if card is not None and card.is_remote:
        raise WrongUseError(
            f"Only its provider runs '{name}', so there is nothing to download.",
            f"Connect it with {card.obtained_from}.",
        )
    model = card.ask["model"] if card is not None else name
    if HUB_NAME.fullmatch(model) is None:
        raise WrongUseError(
            f"No model called '{name}' is known.",
            "Give a name that overread models --known lists, or the model's name on "
            "the hub such as google/medgemma-4b-it.",
        )
    return model
