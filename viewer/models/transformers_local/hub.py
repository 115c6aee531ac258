"""Models of the hub: those on this machine, and their download with progress."""

import importlib
import threading
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import WrongUseError
from viewer.models.loaded import Progress, check_cancelled
from viewer.models.transformers_local.files import (
    ELSEWHERE,
    PATTERNS,
    ModelFiles,
    folder_of,
    model_files,
)
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.options import LocalOptions

_WHICH: Final[dict[str, Any]] = {
    "allow_patterns": list(PATTERNS),
    "ignore_patterns": list(ELSEWHERE),
}


class NotHereError(WrongUseError):
    """A model of the hub that was not fetched to this machine, or not as a whole."""


def files_here(options: LocalOptions) -> ModelFiles:
    """Return the files of a model, without any connection; absent ones raise."""
    folder = folder_of(options.model)
    if folder is not None:
        return model_files(folder.name, folder)
    return model_files(options.model, _cached(options))


def files_fetched(
    options: LocalOptions, progress: Progress, cancelled: threading.Event
) -> ModelFiles:
    """Return the files of a model, fetched from the hub where that is allowed."""
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
    import httpx2
    import huggingface_hub
    from huggingface_hub import errors

    try:
        received = _Received(_size_at_hub(options), progress, cancelled)
        return Path(
            huggingface_hub.snapshot_download(
                options.model,
                revision=options.revision,
                **_WHICH,
                tqdm_class=_bar(received),
            )
        )
    except errors.GatedRepoError as error:
        raise WrongUseError(
            f"The hub gives {options.model} only to those who accepted its terms.",
            "Accept them on the model's page, log in with 'hf auth login', try again.",
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise WrongUseError(
            f"The hub knows no model {options.model} of this revision.",
            "Check the name and the revision.",
        ) from error
    except (OSError, httpx2.HTTPError) as error:
        raise WrongUseError(
            f"The model {options.model} could not be fetched from the hub "
            f"({type(error).__name__}).",
            "Check the connection, or give the folder that holds its config.json and "
            "*.safetensors as model.",
        ) from error


def _size_at_hub(options: LocalOptions) -> int:
    """Return the bytes of the files that will be fetched."""
    import huggingface_hub

    told = huggingface_hub.HfApi().model_info(
        options.model, revision=options.revision, files_metadata=True
    )
    return sum(
        file.size or 0 for file in told.siblings or () if _is_fetched(file.rfilename)
    )


def _is_fetched(name: str) -> bool:
    def matches(patterns: tuple[str, ...]) -> bool:
        return any(fnmatch(name, pattern) for pattern in patterns)

    return matches(PATTERNS) and not matches(ELSEWHERE)


class _Received:
    """Tells how much of a download is here; several bars may count the same bytes."""

    def __init__(
        self, total: int, progress: Progress, cancelled: threading.Event
    ) -> None:
        self._total, self._progress, self._cancelled = total, progress, cancelled
        self._most = 0.0

    def count(self, n: float) -> None:
        """Take note that a bar stands at ``n`` bytes."""
        check_cancelled(self._cancelled)
        if n > self._most and self._total:
            self._most = n
            self._progress(min(n / self._total, 1.0), "downloading")


def _bar(received: _Received) -> Foreign:
    """Return a progress bar that draws nothing and tells its bytes."""
    base: Foreign = importlib.import_module("tqdm.auto").tqdm

    class Bar(base):  # type: ignore[misc]
        def __init__(self, *args: object, **settings: object) -> None:
            self._counts_bytes = settings.get("unit") == "B"
            settings.pop("name", None)
            super().__init__(*args, **{**settings, "disable": True})

        def update(self, n: float | None = 1) -> None:
            """Count what arrived."""
            self.n += n or 0
            if self._counts_bytes:
                received.count(self.n)

    return Bar
