"""Files of replies that a store could not take: JSON lines, flushed at once.

A *reply file* is beside its store during a run and takes the replies that cannot be
stored at the moment; the next process that opens the store stores them. A *rescue file*
has the replies of a store that is gone. Both begin with a line that names the store.
"""

import contextlib
import json
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from viewer.domain.errors import StoreError, UnreadableInputError, WrongUseError
from viewer.domain.plain import made, plain
from viewer.private_files import open_private
from viewer.store.locks import hold_file
from viewer.store.reply_rows import ReplyRecord

_SUFFIX: Final = ".replies"
_FORMAT: Final = "overread replies 1"
_RESERVE: Final = 256 * 1024
"""Bytes that a reply file reserves, so that it has space when the disk is full."""


@dataclass(frozen=True)
class SavedReply:
    """A reply with its attempt in the store that its file names, 0 for none."""

    attempt: int
    request_sha256: str
    record: ReplyRecord


@dataclass(frozen=True)
class SavedFile:
    """The content of a file of saved replies; ``store`` is the name in its mark."""

    store: str
    replies: tuple[SavedReply, ...]


class ReplyFile:
    """The reply file of one run, removed at its end unless it contains replies."""

    def __init__(self, store_path: Path, store_name: str) -> None:
        name = f"{store_path.name}.{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"
        self._path = store_path.with_name(name)
        self._head = _line({"format": _FORMAT, "store": store_name})
        self.held: dict[int, SavedReply] = {}
        """The replies that only this file and this process have, by attempt."""
        self.failed = False
        """True once a reply could not be written either."""

    def __enter__(self) -> Self:
        try:
            self._file = open_private(self._path, "xb")
        except OSError as error:
            raise StoreError(
                f"No file can be created next to the store ({error.strerror}).",
                "Make the store's folder writable, and check that its disk has space.",
            ) from error
        # As long as the run lives: other processes take in only files nobody holds.
        hold_file(self._file)
        with contextlib.suppress(OSError):  # a full disk: it may have room later
            self._write(0, bytes(_RESERVE))
        self._end = 0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
        if not self.held or self.failed:
            self._path.unlink(missing_ok=True)

    def keep(self, replies: Iterable[SavedReply]) -> None:
        """Write replies that are not in it yet, and flush them to disk."""
        new = {r.attempt: r for r in replies if r.attempt not in self.held}
        self.held |= new
        try:
            self._append(b"".join(_line(_as_json(r)) for r in new.values()))
        except OSError:
            self.failed = True

    def _append(self, lines: bytes) -> None:
        if lines:
            # The head comes with the first reply: until then the file counts as empty.
            self._write_at(self._end, lines if self._end else self._head + lines)

    def _write_at(self, place: int, content: bytes) -> None:
        self._write(place, content)
        os.fsync(self._file.fileno())
        self._end = place + len(content)

    def _write(self, place: int, content: bytes) -> None:
        """Write unbuffered: a buffer would keep what a full disk refused."""
        descriptor, left = self._file.fileno(), memoryview(content)
        os.lseek(descriptor, place, os.SEEK_SET)
        while left:
            left = left[os.write(descriptor, left) :]

    def give_up(self) -> tuple[SavedReply, ...]:
        """Return the replies to be saved elsewhere, and empty the file."""
        held = tuple(self.held.values())
        self.held.clear()
        return held

    def forget(self, attempts: Iterable[int]) -> None:
        """Drop replies that are stored now."""
        if not self.held:
            return
        for attempt in attempts:
            self.held.pop(attempt, None)
        if not self.held:
            with contextlib.suppress(OSError):  # to be taken in twice does no harm
                # Zeros instead of truncation, so that the space stays reserved.
                self._write_at(0, bytes(self._end))
                self._end = 0


def write_rescue_file(path: Path, store: str, replies: Iterable[SavedReply]) -> None:
    """Write a rescue file that nobody but this user can read, and flush it to disk."""
    file = open_private(path, "xb")
    try:
        with file:
            file.write(_line({"format": _FORMAT, "store": store}))
            file.writelines(_line(_as_json(reply)) for reply in replies)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink()
        raise


@contextlib.contextmanager
def abandoned_reply_files(store_path: Path) -> Iterator[tuple[SavedFile, ...]]:
    """Yield the replies in files of ended runs; remove the files if all went well.

    The reply file of a run in progress is left alone.
    """
    with contextlib.ExitStack() as stack:
        files = [(path, _claimed(stack, path)) for path in _reply_files(store_path)]
        ours = [(path, content) for path, content in files if content is not None]
        yield tuple(_parsed(content) for _, content in ours if content)
    for path, _ in ours:
        with contextlib.suppress(OSError):
            path.unlink()


def has_abandoned_reply_files(store_path: Path) -> bool:
    """Tell whether any reply file of an ended run contains replies."""
    with contextlib.ExitStack() as stack:
        return any(_claimed(stack, path) for path in _reply_files(store_path))


def _reply_files(store_path: Path) -> list[Path]:
    start = f"{store_path.name}."
    with contextlib.suppress(OSError), os.scandir(store_path.parent) as entries:
        names = [e.name for e in entries if e.name.endswith(_SUFFIX)]
        return sorted(store_path.with_name(n) for n in names if n.startswith(start))
    return []


def _claimed(stack: contextlib.ExitStack, path: Path) -> bytes | None:
    """Return the content of a reply file that no process holds, else None."""
    try:
        file = stack.enter_context(path.open("r+b"))
        hold_file(file)
        # The reserve is zeros, which JSON escapes and so never contains.
        return file.read().partition(b"\0")[0]
    except OSError:
        return None


def _parsed(content: bytes) -> SavedFile:
    """Parse a reply file; a last line cut off by a kill was never flushed."""
    first, *lines = content.split(b"\n")[:-1] or [b"{}"]
    replies = []
    for line in lines:
        with contextlib.suppress(*_MALFORMED):
            replies.append(_of_json(json.loads(line)))
    store = ""
    with contextlib.suppress(*_MALFORMED):
        store = str(json.loads(first)["store"])
    return SavedFile(store, tuple(replies))


def read_rescue_file(path: Path) -> SavedFile:
    """Parse a rescue file or a reply file; UnreadableInputError for an invalid line."""
    try:
        content = path.read_bytes().partition(b"\0")[0]
    except OSError as error:
        raise UnreadableInputError(
            f"The rescue file '{path.name}' cannot be read ({error.strerror}).",
            "Name the file from the message at the end of the run.",
        ) from error
    first, *lines = content.split(b"\n")
    try:
        head = json.loads(first)
        if head["format"] != _FORMAT:
            raise ValueError(head["format"])
        store = str(head["store"])
    except _MALFORMED as error:
        raise UnreadableInputError(
            f"'{path.name}' is not a rescue file.",
            "Name the file from the message at the end of the run.",
        ) from error
    return SavedFile(store, tuple(_checked_replies(path, lines)))


def _checked_replies(path: Path, lines: list[bytes]) -> Iterator[SavedReply]:
    for number, line in enumerate(lines, 2):
        if line:
            try:
                yield _of_json(json.loads(line))
            except _MALFORMED as error:
                raise UnreadableInputError(
                    f"Line {number} of the rescue file '{path.name}' is not a reply.",
                    "Use the file as it was written; nothing was recovered from it.",
                ) from error


_MALFORMED: Final = (
    ValueError,
    KeyError,
    TypeError,
    RecursionError,
    WrongUseError,
    zlib.error,
)


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode() + b"\n"


def _as_json(saved: SavedReply) -> dict[str, Any]:
    return plain(_with_body(saved, zlib.compress(saved.record.raw.body, 1)))


def _of_json(value: object) -> SavedReply:
    saved = made(SavedReply, value, where="the line")
    # A wrong key would never be asked for, and the reply be lost without a word.
    if len(bytes.fromhex(saved.request_sha256)) != 32:
        raise ValueError(saved.request_sha256)
    return _with_body(saved, zlib.decompress(saved.record.raw.body))


def _with_body(saved: SavedReply, body: bytes) -> SavedReply:
    record = saved.record
    return replace(saved, record=replace(record, raw=replace(record.raw, body=body)))
