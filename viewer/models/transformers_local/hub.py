"""Models on the hub: those on this machine, and their download with progress."""

import errno
import hashlib
import importlib
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import DiskFullError, OverreadError, WrongUseError
from viewer.models.loaded import Progress, check_cancelled, until_cancelled
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
_MB: Final = 1e6


class NotHereError(WrongUseError):
    """A model on the hub that was not downloaded to this machine, or incompletely."""


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
    import httpx2
    from huggingface_hub import errors

    try:
        return until_cancelled(
            lambda: _fetched(options, progress, cancelled), cancelled
        )
    except errors.GatedRepoError as error:
        raise WrongUseError(
            f"The hub gives {options.model} only to those who accepted its terms.",
            "Accept them on the model's page, log in with 'hf auth login', and try "
            "again.",
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise WrongUseError(
            f"The hub has no model {options.model} with this revision.",
            "Check the name and the revision.",
        ) from error
    except (OSError, httpx2.HTTPError) as error:
        raise _not_fetched(options.model, error) from error


def _not_fetched(model: str, error: Exception) -> OverreadError:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return DiskFullError(
            f"The disk is full, so the model {model} could not be downloaded.",
            "Free some space and try again; what was downloaded is kept.",
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
    info = huggingface_hub.HfApi().model_info(
        options.model, revision=options.revision, files_metadata=True
    )
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    wanted = {name: size for name, size in sizes.items() if _is_fetched(name)}
    commit = str(info.sha or options.revision or "main")
    received = _Received(sum(wanted.values()), progress, cancelled)
    for name in wanted:
        received.take(0)
        file = wanted_of(options.model, commit, name)
        if file is not None:
            fetch(file, received.take)
    return Path(  # which finds them, and names them as the hub does
        huggingface_hub.snapshot_download(
            options.model,
            revision=options.revision,
            **_WHICH,
            tqdm_class=_silent_bar(),
        )
    )


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


def received_words(here: int, total: int) -> str:
    """Return progress as text, such as ``downloading, 12.3 of 25.0 MB``."""
    if total <= 0:
        return f"downloading, {here / _MB:.1f} MB"
    return f"downloading, {here / _MB:.1f} of {total / _MB:.1f} MB"


def _silent_bar() -> Foreign:
    """Return a progress bar that draws nothing."""
    base: Foreign = importlib.import_module("tqdm.auto").tqdm

    class Bar(base):  # type: ignore[misc]
        def __init__(self, *args: object, **settings: object) -> None:
            settings.pop("name", None)
            super().__init__(*args, **{**settings, "disable": True})

    return Bar


_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_NAME: Final = re.compile(r"[0-9A-Za-z._-]{1,200}")
_PART: Final = ".part"
_PARTIAL_CONTENT: Final = 206
_STALLED_S: Final = 30.0
_READ: Final = 1 << 20

Received = Callable[[int], None]
"""Called with the number of bytes just received; may raise to stop the download."""


@dataclass(frozen=True)
class Wanted:
    """A file of a model on the hub, and where the cache stores it."""

    url: str
    blob: Path
    size: int

    @property
    def part(self) -> Path:
        """The path of its partial download."""
        return self.blob.with_name(self.blob.name + _PART)

    @property
    def lock(self) -> Path:
        """The lock held during the download, the same as huggingface_hub's."""
        home, repo = self.blob.parents[2], self.blob.parents[1].name
        return home / ".locks" / repo / f"{self.blob.name}.lock"


class DamagedError(OSError):
    """The bytes received differ from the hub's; they are deleted."""


def wanted_of(repo: str, revision: str, name: str) -> Wanted | None:
    """Return a file on the hub, None if its cache would not recognise it."""
    import huggingface_hub
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    url = huggingface_hub.hf_hub_url(repo, name, revision=revision)
    metadata = huggingface_hub.get_hf_file_metadata(url)
    if not metadata.etag or not _NAME.fullmatch(metadata.etag) or metadata.size is None:
        return None
    folder = repo_folder_name(repo_id=repo, repo_type="model")
    blob = Path(constants.HF_HUB_CACHE) / folder / "blobs" / metadata.etag
    return Wanted(url, blob, metadata.size)


def fetch(wanted: Wanted, received: Received) -> None:
    """Download a file, or the rest of it, into the cache's blobs.

    Raises
    ------
    DamagedError
        If the bytes received differ from the hub's.
    OSError, httpx2.HTTPError
        If the download fails; the part received is kept for the next time.
    """
    utils: Foreign = importlib.import_module("huggingface_hub.utils")
    if wanted.blob.exists():
        received(wanted.size)
        return
    for needed in (wanted.blob, wanted.lock):
        needed.parent.mkdir(parents=True, exist_ok=True)
    with utils.WeakFileLock(wanted.lock):
        _receive(wanted, received)
        _check(wanted)
        # Only now under the cache's name, where every program takes it as complete.
        wanted.part.replace(wanted.blob)


def _receive(wanted: Wanted, received: Received) -> None:
    import httpx2

    utils: Foreign = importlib.import_module("huggingface_hub.utils")
    here = wanted.part.stat().st_size if wanted.part.exists() else 0
    if here == wanted.size:
        received(here)
        return
    # Of a compressed transfer, no byte offset would say where to continue.
    headers = {**utils.build_hf_headers(), "Accept-Encoding": "identity"}
    if 0 < here < wanted.size:
        headers["Range"] = f"bytes={here}-"
    timeout = httpx2.Timeout(_STALLED_S)
    with utils.get_session().stream(
        # The hub sends large files by a redirect to its storage.
        "GET",
        wanted.url,
        headers=headers,
        timeout=timeout,
        follow_redirects=True,
    ) as answer:
        utils.hf_raise_for_status(answer)
        # A server may ignore Range and send everything with 200 (RFC 9110, 14.2).
        goes_on = answer.status_code == _PARTIAL_CONTENT
        _write(answer, wanted.part, here if goes_on else 0, received)


def _write(answer: Foreign, part: Path, here: int, received: Received) -> None:
    with part.open("r+b" if here else "wb") as file:
        file.seek(here)
        received(here)
        for chunk in answer.iter_bytes():
            received(len(chunk))
            file.write(chunk)


def _check(wanted: Wanted) -> None:
    """Delete a file whose length or hash differs from the hub's, and raise."""
    size = wanted.part.stat().st_size
    digest = wanted.blob.name
    # The tag of a small file is Git's SHA-1 of its blob; only LFS names a SHA-256.
    hashed = _SHA256.fullmatch(digest) is not None
    if size != wanted.size or (hashed and _sha256(wanted.part) != digest):
        wanted.part.unlink()
        raise DamagedError(f"{wanted.url} arrived damaged")


def _sha256(path: Path) -> str:
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ):
            whole.update(block)
    return whole.hexdigest()
