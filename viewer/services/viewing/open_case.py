"""Opening files and folders as cases, while they are being found.

The window imports this module before its first image; readers are imported on demand,
or stay in another process altogether.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import Final

from viewer.domain.case import Case
from viewer.domain.errors import UnreadableInputError
from viewer.domain.file_header import FileHeader
from viewer.readers.folders import ListedFile, list_files, listed_as
from viewer.readers.index import Index, OtherFile
from viewer.services.viewing.header_chunks import (
    Headers,
    ReadChunk,
    Refused,
    read_carefully,
    read_chunk,
)

__all__ = ["Index", "IndexState", "Indexed", "OtherFile", "open_case", "open_cases"]

_FIRST_CHUNK: Final = 8
"""Files of the first chunk, so that an image is found at once."""
_CHUNK_S: Final = 0.02
"""What further chunks should take, as an image may wait for one."""
_LARGEST_CHUNK: Final = 256
_PATIENCE_S: Final = 0.05
"""Once listing takes longer than this, reading starts before it is complete."""
_TELL_S: Final = 0.25
_SHARE: Final = 10
"""Grouping may take at most one part in this many of the indexing time."""
_HOW: Final = "Choose DICOM, PNG, JPEG, TIFF, NIfTI, NRRD or MetaImage files."


class IndexState(StrEnum):
    """Whether there is more to come."""

    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Indexed:
    """Progress of opening: everything found so far, and ``done`` of ``total`` files.

    ``total`` is 0 while files are still being listed.
    ``cases`` and ``others`` are everything in the index, including what was open
    before; ``seconds`` is the duration so far.
    """

    done: int
    total: int
    cases: tuple[Case, ...]
    others: tuple[OtherFile, ...]
    state: IndexState
    seconds: float


def open_cases(
    paths: Sequence[Path],
    cancelled: Event,
    index: Index | None = None,
    read: ReadChunk = read_chunk,
    wanted: Path | None = None,
) -> Iterator[Indexed]:
    """Index files and folders, pixels undecoded, and yield what was found so far.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders with all that lies below.
    cancelled : Event
        Once set, no further file is read; files found so far stay.
    index : Index, optional
        What is open already; it grows.
    read : callable, optional
        Reads the headers of some files, by default in this process.
    wanted : Path, optional
        A file to read before the others, because it is about to be shown.

    Yields
    ------
    Indexed
        After the first few files, then about four times a second, and at the end.

    Raises
    ------
    UnreadableInputError
        If a path does not exist, or none contains an image; for a single file with the
        reason why it cannot be read.
    """
    index = Index() if index is None else index
    _check(paths)
    opening = _Opening(index, cancelled)
    yield from opening.list_files(paths, wanted, read)
    yield from opening.read_all(read)
    if not cancelled.is_set() and not opening.images:
        raise _nothing(paths, opening.last_refusal)


class _Opening:
    """The state of one call of open_cases: files left to read, and when to report."""

    def __init__(self, index: Index, cancelled: Event) -> None:
        self._index, self._cancelled = index, cancelled
        self._files: list[ListedFile] = []
        self._early: list[ListedFile] = []
        self._new: list[ListedFile] = []
        self._looked = self._done = 0
        self._started = time.perf_counter()
        self.images = 0
        self.last_refusal: Refused | None = None

    def list_files(
        self, paths: Sequence[Path], wanted: Path | None, read: ReadChunk
    ) -> Iterator[Indexed]:
        """List all files, for the total number and their order.

        If that takes long, the wanted or the first files are read meanwhile.
        """
        there = wanted is not None and wanted.is_file()
        first = listed_as(paths, wanted) if wanted is not None and there else None
        for file in list_files(paths, self._cancelled.is_set):
            self._files.append(file)
            late = time.perf_counter() - self._started > _PATIENCE_S
            if late and not self.images:
                yield from self._read_early(first, read)
        self._index.place(self._files, self._new)
        if not self._cancelled.is_set():
            self._index.retain(filter(Path.is_dir, paths), self._files)
        early = {file.path for file in self._early}
        self._files.sort(key=lambda f: (f.path not in early, f.path != wanted))
        self._done = sum(file.path in early for file in self._files)

    def _read_early(
        self, first: ListedFile | None, read: ReadChunk
    ) -> Iterator[Indexed]:
        """Read a few of the files that have been listed so far."""
        if first is not None and not self._early:
            chunk = [first]
        else:
            chunk = self._files[self._looked : self._looked + _FIRST_CHUNK]
            if len(chunk) < _FIRST_CHUNK:
                return
            self._looked += len(chunk)
        found = self._read(chunk, read)
        if self._cancelled.is_set():
            return
        self._new += [file for file in chunk if file.path not in self._index]
        self._early += chunk
        self._add(chunk, found)
        if self.images:
            so_far = self._so_far(len(self._early), IndexState.RUNNING)
            yield replace(so_far, total=0)

    def read_all(self, read: ReadChunk) -> Iterator[Indexed]:
        """Read chunk after chunk, and yield the progress often enough."""
        done, size, tell_at = self._done, _FIRST_CHUNK, 0.0
        while done < len(self._files) and not self._cancelled.is_set():
            began = time.perf_counter()
            chunk = self._files[done : done + size]
            found = self._read(chunk, read)
            if self._cancelled.is_set():
                break
            self._add(chunk, found)
            done += len(chunk)
            now = time.perf_counter()
            size = _next_size(len(chunk), now - began)
            if now >= tell_at and self.images and done < len(self._files):
                yield self._so_far(done, IndexState.RUNNING)
                took = time.perf_counter() - now
                # Grouping takes longer the more is found, so it is done more rarely.
                tell_at = now + max(_TELL_S, _SHARE * took)
        if self.images or self._cancelled.is_set():
            ended = done >= len(self._files)
            state = IndexState.FINISHED if ended else IndexState.CANCELLED
            yield self._so_far(done, state)

    def _read(self, files: Sequence[ListedFile], read: ReadChunk) -> Headers:
        paths = tuple(file.path for file in files)
        return read_carefully(paths, read, self._cancelled.is_set)

    def _add(
        self, files: Sequence[ListedFile], read: Sequence[FileHeader | Refused]
    ) -> None:
        for file, result in zip(files, read, strict=True):
            if isinstance(result, Refused):
                self._index.add_other(file, result.what)
                self.last_refusal = result
            else:
                self._index.add(file, result)
                self.images += 1

    def _so_far(self, done: int, state: IndexState) -> Indexed:
        seconds = time.perf_counter() - self._started
        index = self._index
        return Indexed(
            done, len(self._files), index.cases(), index.others, state, seconds
        )


def _next_size(size: int, took_s: float) -> int:
    """Return how many files to read next, so that they take about ``_CHUNK_S``."""
    fitting = round(size * _CHUNK_S / max(took_s, 1e-6))
    return min(max(1, fitting), 4 * size, _LARGEST_CHUNK)


def _check(paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise UnreadableInputError(
                f"{path.name} does not exist.",
                "Check the path, or whether it was moved.",
            )


def _nothing(paths: Sequence[Path], refused: Refused | None) -> UnreadableInputError:
    if len(paths) == 1 and refused is not None and not paths[0].is_dir():
        return UnreadableInputError(refused.what, refused.how)
    names = ", ".join(path.name for path in paths)
    return UnreadableInputError(
        f"There is no readable image in {names or 'an empty list of paths'}.", _HOW
    )


def open_case(paths: Sequence[Path]) -> tuple[Case, ...]:
    """Return the cases in files and folders, as `open_cases` finds them in the end."""
    *_, last = open_cases(paths, Event())
    return last.cases
