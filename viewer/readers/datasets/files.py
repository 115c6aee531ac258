"""File access shared by the data-set readers: finding, hashing, reading headers."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.case import Dataset, DatasetImage, ImageHeader, Notice
from viewer.domain.errors import NotAnImageError, OverreadError, UnreadableInputError
from viewer.domain.item import Item
from viewer.domain.reference import Mask
from viewer.readers.catalog import read_headers
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import refusing
from viewer.readers.files.regular import regular_file
from viewer.readers.pixels import FileKind, file_kind
from viewer.readers.volumes.volume import volume_parts

Progress = Callable[[int, int], None]
"""Called with the number of files read so far and of all files."""

_CHUNK = 1 << 20
_WORKERS = 2


@dataclass(frozen=True)
class FileFacts:
    """An image file's hash and headers.

    ``problem`` is a sentence on why it cannot be read, "" if it can; ``headers`` has
    one entry per frame and is empty if there is a problem; ``sha256`` is "" if not even
    the bytes can be read. ``is_image`` is False if it is known to be something else.
    """

    sha256: str
    headers: tuple[ImageHeader, ...] = ()
    problem: str = ""
    is_image: bool = True


@dataclass(frozen=True)
class FoundBelow:
    """The contents of a folder tree: its files, and what is neither file nor folder."""

    files: tuple[Path, ...]
    odd: tuple[Path, ...]


def files_below(root: Path) -> tuple[Path, ...]:
    """Return every file below a folder, sorted, without hidden files and folders.

    Anything that is neither file nor folder is left out (`found_below` returns it).
    """
    return found_below(root).files


_Listings = dict[Path, FoundBelow]
_listings: ContextVar[_Listings | None] = ContextVar("listings", default=None)


@contextmanager
def each_folder_listed_once() -> Iterator[None]:
    """Cache listings of folder trees meanwhile; several readers need the same one."""
    token = _listings.set({})
    try:
        yield
    finally:
        _listings.reset(token)


def found_below(root: Path) -> FoundBelow:
    """Return the files below a folder, and what is not a file, each sorted.

    Not files are pipes, devices and dangling links, folders that cannot be listed, and
    links to folders, which are not followed.
    """
    listings = _listings.get()
    if listings is None:
        return _search(root)
    if root not in listings:
        listings[root] = _search(root)
    return listings[root]


def _search(root: Path) -> FoundBelow:
    if not root.is_dir():
        raise UnreadableInputError(
            f"There is no folder '{root}'.", "Name the folder that holds the data set."
        )
    files: list[Path] = []
    odd: list[Path] = []
    folders = [root]
    while folders:  # folders may lie deeper than functions may call themselves
        folder = folders.pop()
        try:
            entries = _shown_entries(folder)
        except OSError as error:
            if folder == root:
                raise UnreadableInputError(
                    f"The folder '{root}' cannot be listed: {error.strerror}.",
                    "Allow reading it, or choose another folder.",
                ) from error
            odd.append(folder)
            continue
        for entry in entries:
            # A link may lead back to a folder above, and so on without an end.
            if entry.is_dir(follow_symlinks=False):
                folders.append(folder / entry.name)
            else:
                (files if _is_file(entry) else odd).append(folder / entry.name)
    return FoundBelow(_sorted(files), _sorted(odd))


def _shown_entries(folder: Path) -> "list[os.DirEntry[str]]":
    with os.scandir(folder) as entries:
        return [entry for entry in entries if not entry.name.startswith(".")]


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads round in a circle
        return False


def _sorted(paths: list[Path]) -> tuple[Path, ...]:
    """Return paths sorted by a key, which is faster than comparing paths in Python."""
    return tuple(sorted(paths, key=lambda path: path.parts))


def image_sha256(parts: Sequence[Path]) -> str:
    """Return the hash of all files that an image consists of.

    For a single file it is the file's; for several it is that of one line for each,
    with its hash and its name.
    """
    if len(parts) == 1:
        return file_sha256(parts[0])
    lines = (f"{file_sha256(path)} {path.name}\n" for path in parts)
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal, read in chunks.

    A file without an end, such as a pipe, raises UnreadableInputError.
    """
    regular_file(path)
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_facts(
    paths: Sequence[Path], progress: Progress | None = None
) -> Mapping[Path, FileFacts]:
    """Hash files and read their headers, two at a time; every file has a result.

    An exception in ``progress`` ends it at once.
    """
    facts: dict[Path, FileFacts] = {}
    pool = ThreadPoolExecutor(_WORKERS)
    try:
        for path, found in zip(paths, pool.map(_facts_of, paths), strict=True):
            facts[path] = found
            if progress:
                progress(len(facts), len(paths))
    finally:
        # Otherwise a cancelled import would still wait for every file.
        pool.shutdown(cancel_futures=True)
    return facts


def turned_notices(key: str, header: ImageHeader | None) -> Iterator[Notice]:
    """Return notices of images with locations whose file says that they are turned.

    A tool that ignores the Orientation draws locations elsewhere.
    """
    if header and header.geometry.stored_orientation != 1:
        number = header.geometry.stored_orientation
        text = (
            f"It is rotated for display (Orientation {number}); masks and boxes are "
            "taken to match the rotated image."
        )
        yield Notice("turned", key, text)


def without_tables(dataset: Dataset, tables: Iterable[Path]) -> Iterator[Notice]:
    """Yield a data set's notices but those that call one of its tables no image."""
    known = {path.relative_to(dataset.root).as_posix() for path in tables}
    for notice in dataset.notices:
        if notice.kind != "not_an_image" or notice.subject not in known:
            yield notice


def unknown_patients(images: Sequence[DatasetImage]) -> Iterator[Notice]:
    """Return a notice of how many images count as a patient of their own."""
    alone = [image.key for image in images if image.patient == image.key]
    if alone:
        n = "1 image says" if len(alone) == 1 else f"{len(alone)} images say"
        text = f"{n} nothing about the patient; each counts as a separate patient."
        yield Notice("unknown_patient", "", text)


def content_sha256(images: Iterable[DatasetImage], items: Iterable[Item] = ()) -> str:
    """Return the hash that identifies a data set's content, wherever its folder is.

    SHA-256 over one line of JSON per image, sorted by key: key, patient, view, file
    hash, labels, run-length codes and defects; boxes and readers only if there are any,
    so that data sets without them keep their earlier hash. The same applies to items,
    with one line each, sorted by key, at the end.
    """
    digest = hashlib.sha256()
    for image in sorted(images, key=lambda image: image.key):
        line = json.dumps(_content(image), sort_keys=True, separators=(",", ":"))
        digest.update(line.encode() + b"\n")
    for item in sorted(items, key=lambda item: item.key):
        # Prefixed, so that an item's line is never equal to an image's.
        digest.update(b"item " + item.content.encode() + b"\n")
    return digest.hexdigest()


def _facts_of(path: Path) -> FileFacts:
    try:
        headers = read_headers(path)
        parts = files_of_image(path)
        problem = "" if headers else "The file contains no image."
    except NotAnImageError as error:
        return FileFacts("", problem=error.what, is_image=False)
    except OverreadError as error:
        headers, parts, problem = (), (path,), error.what
    try:
        return FileFacts(image_sha256(parts), headers, problem)
    except OSError as error:
        return FileFacts("", problem=f"The file cannot be read: {error.strerror}.")
    except OverreadError as error:
        return FileFacts("", problem=problem or error.what)


def _content(image: DatasetImage) -> dict[str, object]:
    return {
        "key": image.key,
        "patient": image.patient,
        "view": image.view.value,
        "frame": image.ref.frame,
        "file": image.sha256,
        "labels": dict(image.labels),
        "masks": _codes(image.masks),
        "zero": sorted(image.zero_masks),
        "anatomy": _codes(image.anatomy),
        "defects": dict(image.defects),
        **_boxes(image),
    }


def _boxes(image: DatasetImage) -> dict[str, object]:
    boxes = {
        name: [[b.reader, b.box.x0, b.box.y0, b.box.x1, b.box.y1] for b in of]
        for name, of in image.boxes.items()
    }
    found = {"boxes": boxes, "readers": list(image.readers)}
    return {name: value for name, value in found.items() if value}


def _codes(masks: Mapping[str, Mask]) -> dict[str, list[object]]:
    return {
        name: [mask.size.rows, mask.size.columns, mask.counts]
        for name, mask in masks.items()
    }


@isolated
def files_of_image(path: Path) -> tuple[Path, ...]:
    """Return the files that an image's pixels are read from.

    Raises
    ------
    UnreadableInputError
        If one of them must not be read.
    """
    kind = file_kind(path)
    with refusing(path):
        if kind is FileKind.VOLUME:
            return volume_parts(path)
        if kind is FileKind.SLIDE:
            from viewer.readers.slides.slide import slide_parts

            return slide_parts(path)
    return (path,)
