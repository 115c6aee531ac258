"""Models on the hub: those on this machine, and their download with progress."""

import errno
import importlib
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import DiskFullError, OverreadError, WrongUseError
from viewer.models.endpoint import endpoint_at
from viewer.models.loaded import (
    Progress,
    check_cancelled,
    received_words,
    until_cancelled,
)
from viewer.models.transformers_local.files import (
    ELSEWHERE,
    PATTERNS,
    ModelFiles,
    folder_of,
    model_files,
)
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.hub_file import (
    TOKEN,
    DamagedError,
    Wanted,
    fetch,
    hub_token,
    wanted_of,
)
from viewer.models.transformers_local.options import LocalOptions

_WHICH: Final[dict[str, Any]] = {
    "allow_patterns": list(PATTERNS),
    "ignore_patterns": list(ELSEWHERE),
}
_MB: Final = 1e6
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_REFUSED: Final = (401, 403)
_LOG_IN: Final = (
    f"store your token with 'overread key set {TOKEN}' or log in with 'hf auth login', "
    "and try again."
)


class NotHereError(WrongUseError):
    """A model on the hub that was not downloaded to this machine, or incompletely."""


class TokenWantedError(WrongUseError):
    """The hub gives a model only to a user whose token may read it."""


def files_here(options: LocalOptions) -> ModelFiles:
    """Return the files of a model without any connection; raises if not here."""
    folder = folder_of(options.model)
    if folder is not None:
        return model_files(folder.name, folder)
    return model_files(options.model, _cached(options))


def files_fetched(
    options: LocalOptions, progress: Progress, cancelled: threading.Event
) -> ModelFiles:
    """Return the files of a model, downloaded from the hub if that is allowed."""
    try:
        return files_here(options)
    except NotHereError:
        if not options.download:
            raise
    return model_files(options.model, _download(options, progress, cancelled))


def _cached(options: LocalOptions) -> Path:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found = huggingface_hub.snapshot_download(
            options.model,
            revision=options.revision,
            **_WHICH,
            local_files_only=True,
        )
    except LocalEntryNotFoundError as error:
        raise NotHereError(
            f"The model {options.model} is not on this machine.",
            "Give the folder that holds its config.json and *.safetensors as model, "
            "or set download = true.",
        ) from error
    return Path(found)


def _download(
    options: LocalOptions, progress: Progress, cancelled: threading.Event
) -> Path:
    with _told_in_words(options.model):
        return until_cancelled(
            lambda: _fetched(options, progress, cancelled), cancelled
        )


@dataclass(frozen=True)
class Offer:
    """What the hub has of a model.

    ``licence`` is "" if its page names none; ``size`` counts the bytes of its files,
    ``missing`` those not on this machine yet and ``free`` those free on the disk that
    they go to. ``files`` are those that the cache recognises.
    """

    model: str
    licence: str
    size: int
    missing: int
    free: int
    files: tuple[Wanted, ...]

    def check_room(self) -> None:
        """Raise ``DiskFullError`` if what is missing does not fit on the disk."""
        if self.missing > self.free:
            raise DiskFullError(
                f"The model {self.model} needs {self.missing / _MB:.1f} MB more, and "
                f"the disk has {self.free / _MB:.1f} MB free.",
                "Free some space, or set HF_HOME to a folder on a larger disk.",
            )


def offer_of(options: LocalOptions) -> Offer:
    """Ask the hub what a model's files are, without fetching any.

    Raises
    ------
    WrongUseError
        If the hub has no such model, refuses it or cannot be reached.
    """
    with _told_in_words(options.model):
        return _offer(options)


def _offer(options: LocalOptions) -> Offer:
    import huggingface_hub

    info = huggingface_hub.HfApi(token=hub_token()).model_info(
        options.model, revision=options.revision, files_metadata=True
    )
    siblings = [f for f in info.siblings or () if _is_fetched(f.rfilename)]
    commit = str(info.sha or options.revision or "main")
    found = [wanted_of(options.model, commit, f.rfilename) for f in siblings]
    missing = [
        file.missing if file else sibling.size or 0
        for file, sibling in zip(found, siblings, strict=True)
    ]
    card = info.card_data
    return Offer(
        options.model,
        str((card and card.get("license")) or ""),
        sum(sibling.size or 0 for sibling in siblings),
        sum(missing),
        _free_in_cache(),
        tuple(file for file in found if file),
    )


def _free_in_cache() -> int:
    """Return the bytes that are free on the disk of the hub's cache."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    there = next(path for path in (folder, *folder.parents) if path.is_dir())
    return shutil.disk_usage(there).free


@contextmanager
def _told_in_words(model: str) -> Iterator[None]:
    """Raise what goes wrong at the hub as one sentence and how to fix it."""
    import httpx2
    from huggingface_hub import constants, errors

    endpoint_at(constants.ENDPOINT, "HF_ENDPOINT").check_policy()
    try:
        yield
    except errors.GatedRepoError as error:
        raise TokenWantedError(
            f"The hub gives {model} only to those who accepted its terms.",
            f"Accept them at https://huggingface.co/{model}, {_LOG_IN}",
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise WrongUseError(
            f"The hub has no model {model} with this revision.",
            "Check the name and the revision; for a private model, also the token.",
        ) from error
    except errors.OfflineModeIsEnabled as error:
        raise WrongUseError(
            f"HF_HUB_OFFLINE is set, so {model} may not be downloaded.",
            "Unset it to allow downloads, or give the model's folder.",
        ) from error
    except DamagedError as error:
        raise WrongUseError(
            f"A file of {model} differs from the one that the hub announced, and was "
            "deleted.",
            "Try again; if it happens again, a proxy or mirror changes the files.",
        ) from error
    except (OSError, httpx2.HTTPError) as error:
        raise _not_fetched(model, error) from error


def _not_fetched(model: str, error: Exception) -> OverreadError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in _REFUSED:
        return TokenWantedError(
            f"The hub refused {model} with status {status}.",
            f"Get a token that may read it, {_LOG_IN}",
        )
    return WrongUseError(
        f"The model {model} could not be downloaded from the hub "
        f"({type(error).__name__}); what arrived is kept.",
        f"Check the connection and try again. Or run 'hf download {model} --local-dir "
        f"{model.rpartition('/')[2]}' on a machine that is online, and give that "
        "folder, with its config.json and *.safetensors, as model.",
    )


def _fetched(
    options: LocalOptions, progress: Progress, cancelled: threading.Event
) -> Path:
    """Download every missing file; return the folder."""
    import huggingface_hub

    progress(0.0, "contacting the hub")
    offer = _offer(options)
    offer.check_room()
    received = _Received(offer.size, progress, cancelled)
    with _told_if_full(offer):
        for file in offer.files:
            received.take(0)
            fetch(file, received.take)
    return Path(  # which finds them, and names them as the hub does
        huggingface_hub.snapshot_download(
            options.model,
            revision=options.revision,
            **_WHICH,
            token=hub_token(),
            tqdm_class=_silent_bar(),
        )
    )


@contextmanager
def _told_if_full(offer: Offer) -> Iterator[None]:
    """Raise ``DiskFullError`` if other programs have filled the disk meanwhile."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        missing = sum(file.missing for file in offer.files)
        raise DiskFullError(
            f"The disk became full: the model {offer.model} needs "
            f"{missing / _MB:.1f} MB more, and {_free_in_cache() / _MB:.1f} MB are "
            "free.",
            "Free some space and try again; what was downloaded is kept.",
        ) from error


def _is_fetched(name: str) -> bool:
    def matches(patterns: tuple[str, ...]) -> bool:
        return any(fnmatch(name, pattern) for pattern in patterns)

    return matches(PATTERNS) and not matches(ELSEWHERE)


class _Received:
    """Reports how much of a model's download has arrived."""

    def __init__(
        self, total: int, progress: Progress, cancelled: threading.Event
    ) -> None:
        self._total, self._progress, self._cancelled = total, progress, cancelled
        self._here = 0

    def take(self, n: int) -> None:
        """Count ``n`` more bytes; raises once they are no longer wanted."""
        check_cancelled(self._cancelled)
        self._here += n
        part = min(self._here / self._total, 1.0) if self._total else 0.0
        self._progress(part, received_words(self._here, self._total))


def _silent_bar() -> Foreign:
    """Return a progress bar that draws nothing."""
    base: Foreign = importlib.import_module("tqdm.auto").tqdm

    class Bar(base):  # type: ignore[misc]
        def __init__(self, *args: object, **settings: object) -> None:
            settings.pop("name", None)
            super().__init__(*args, **{**settings, "disable": True})

    return Bar
