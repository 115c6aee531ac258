"""One file of a model on the hub: its download, continued and verified."""

import hashlib
import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.models.keys import key_named
from viewer.models.transformers_local.foreign import Foreign

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_GIT_SHA1: Final = re.compile(r"[0-9a-f]{40}")
_NAME: Final = re.compile(r"[0-9A-Za-z._-]{1,200}")
_PART: Final = ".part"
_PARTIAL_CONTENT: Final = 206
_STALLED_S: Final = 30.0
_READ: Final = 1 << 20

TOKEN: Final = "HF_TOKEN"  # noqa: S105 - its name
"""The key of the hub: a name in the keyring, or an environment variable."""

Received = Callable[[int], None]
"""Called with the number of bytes just received; may raise to stop the download."""


@dataclass(frozen=True)
class Wanted:
    """A file of a model on the hub, and where the cache stores it."""

    url: str
    blob: Path
    size: int

    @property
    def missing(self) -> int:
        """The bytes that are not on this machine yet."""
        if self.blob.exists():
            return 0
        here = self.part.stat().st_size if self.part.exists() else 0
        return max(self.size - here, 0)

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


def hub_token() -> str | None:
    """Return the user's token for the hub, None to leave it to huggingface_hub."""
    return key_named(TOKEN) or None


def wanted_of(repo: str, revision: str, name: str) -> Wanted | None:
    """Return a file on the hub, None if its cache would not recognise it."""
    import huggingface_hub
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    url = huggingface_hub.hf_hub_url(repo, name, revision=revision)
    metadata = huggingface_hub.get_hf_file_metadata(url, token=hub_token())
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
    sent = utils.build_hf_headers(token=hub_token())
    headers = {**sent, "Accept-Encoding": "identity"}
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
    if size < wanted.size:
        raise ConnectionError(f"{wanted.url} ended early")  # its beginning may be right
    if size > wanted.size or not _is_as_named(wanted):
        wanted.part.unlink()
        raise DamagedError(f"{wanted.url} arrived damaged")


def _is_as_named(wanted: Wanted) -> bool:
    """Tell whether a file's hash is its tag; true for a tag that is no hash.

    The tag of a large file is its SHA-256, that of a small one the SHA-1 of its blob
    in Git, which begins with its length.
    """
    tag = wanted.blob.name
    if _SHA256.fullmatch(tag):
        return _hash(wanted.part, hashlib.sha256()) == tag
    if _GIT_SHA1.fullmatch(tag):
        blob = hashlib.sha1(f"blob {wanted.size}\0".encode(), usedforsecurity=False)
        return _hash(wanted.part, blob) == tag
    return True


def _hash(path: Path, whole: "hashlib._Hash") -> str:
    with path.open("rb") as file:
        while block := file.read(_READ):
            whole.update(block)
    return whole.hexdigest()
