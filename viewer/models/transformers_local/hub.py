"""Models of the hub: those on this machine, and their download with progress."""

import importlib
import threading
from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.models.loaded import Progress, check_cancelled
from viewer.models.transformers_local.files import (
    PATTERNS,
    ModelFiles,
    folder_of,
    model_files,
)
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.options import LocalOptions


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
    if folder_of(options.model) is not None or not options.download:
        return files_here(options)
    return model_files(options.model, _download(options, progress, cancelled))


def _cached(options: LocalOptions) -> Path:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found = huggingface_hub.snapshot_download(
            options.model, revision=options.revision, local_files_only=True
        )
    except LocalEntryNotFoundError as error:
        raise WrongUseError(
            f"The model {options.model} is not on this machine.",
            "Give the folder that holds its config.json and *.safetensors as model, "
            "or set download = true.",
        ) from error
    return Path(found)


def _download(
    options: LocalOptions, progress: Progress, cancelled: threading.Event
) -> Path:
    import huggingface_hub
    from huggingface_hub import errors

    try:
        return Path(
            huggingface_hub.snapshot_download(
                options.model,
                revision=options.revision,
                allow_patterns=list(PATTERNS),
                tqdm_class=_bar(progress, cancelled),
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
    except (errors.HfHubHTTPError, errors.OfflineModeIsEnabled, OSError) as error:
        raise WrongUseError(
            f"The model {options.model} could not be fetched from the hub "
            f"({type(error).__name__}).",
            "Check the connection, or give the folder that holds its config.json and "
            "*.safetensors as model.",
        ) from error


def _bar(progress: Progress, cancelled: threading.Event) -> Foreign:
    """Return a progress bar that draws nothing, tells its bytes and heeds a flag."""
    base: Foreign = importlib.import_module("tqdm.auto").tqdm

    class Bar(base):  # type: ignore[misc]
        def __init__(self, *args: object, **settings: object) -> None:
            self._counts_bytes = settings.get("unit") == "B"
            settings.pop("name", None)
            super().__init__(*args, **{**settings, "disable": True})

        def update(self, n: float | None = 1) -> None:
            check_cancelled(cancelled)
            self.n += n or 0
            if self._counts_bytes and self.total:
                progress(min(self.n / self.total, 1.0), "downloading")

    return Bar
