"""Listing of files in folders, without those that nobody means to open."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Final

from viewer.readers.mask_folders import masks_in_folders, names_masks
from viewer.readers.pixels import RASTER_SUFFIXES

_IGNORED: Final = frozenset({"DICOMDIR", "THUMBS.DB", "DESKTOP.INI"})
"""Names, in capitals, that no one means when opening a folder."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file, and its folder's name relative to the folder that was opened."""

    path: Path
    folder: str


def list_files(
    paths: Sequence[Path], stopped: Callable[[], bool] = lambda: False
) -> Iterator[ListedFile]:
    """Yield each file once, in natural order, until ``stopped``.

    Folders are listed recursively. Hidden files, DICOMDIR and masks are skipped: those
    that lie next to an image as ``NAME.<finding>.png`` (or in another picture format),
    and those in a folder of masks (`readers.mask_folders`). Links to folders are not
    followed; they, pipes and devices are yielded as files, which readers refuse.
    """
    seen: set[Path] = set()
    for root in paths:
        top = (root if root.is_dir() else root.parent).resolve().name
        found = _below(root, top) if root.is_dir() else iter([ListedFile(root, top)])
        for file in _without_masks(root, found):
            if stopped():
                return
            if file.path not in seen:
                seen.add(file.path)
                yield file


def listed_as(paths: Sequence[Path], wanted: Path) -> ListedFile | None:
    """Return what `list_files` yields for a file, without listing its folder.

    None if it lies in none of the paths.
    """
    for root in paths:
        if root == wanted or root in wanted.parents:
            folder = root if root.is_dir() else root.parent
            below = wanted.parent.relative_to(folder)
            name = (PurePath(folder.resolve().name) / below).as_posix()
            return ListedFile(wanted, name)
    return None


def _without_masks(root: Path, files: Iterator[ListedFile]) -> Iterator[ListedFile]:
    """Yield what is in no folder of masks, then what is in one but no mask."""
    images, doubtful = list[Path](), list[ListedFile]()
    for file in files:
        if not _is_called_masks(file.folder):
            images.append(file.path)
            yield file
        else:
            doubtful.append(file)
    if doubtful:
        found = masks_in_folders(root, [*images, *(file.path for file in doubtful)])
        masks = {mask.path for mask in found}
        yield from (file for file in doubtful if file.path not in masks)


@lru_cache(maxsize=64)
def _is_called_masks(folder: str) -> bool:
    """Tell whether a folder, named from the opened one down, may hold masks."""
    return any(map(names_masks, folder.split("/")[1:]))


def _below(folder: Path, name: str) -> Iterator[ListedFile]:
    """Yield the files of a folder; an unlistable folder is yielded like a file.

    Folders may be nested deeper than Python's recursion limit.
    """
    open_folders = [_listed(folder, name)]
    while open_folders:
        entry = next(open_folders[-1], None)
        if entry is None:
            open_folders.pop()
        elif isinstance(entry, ListedFile):
            yield entry
        else:
            open_folders.append(_listed(*entry))


def _listed(folder: Path, name: str) -> Iterator[ListedFile | tuple[Path, str]]:
    """Yield the entries of a folder: files, and folders with their names."""
    try:
        entries = _entries(folder)
    except OSError:
        yield ListedFile(folder, name)
        return
    stems = {PurePath(entry.name).stem for entry in entries}
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield folder / entry.name, f"{name}/{entry.name}"
        elif not _is_sidecar(entry.name, stems):
            yield ListedFile(folder / entry.name, name)


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    with os.scandir(folder) as entries:
        meant = [entry for entry in entries if _is_meant(entry.name)]
    return sorted(meant, key=lambda entry: _natural(entry.name))


def _is_meant(name: str) -> bool:
    return not name.startswith(".") and name.upper() not in _IGNORED


def _is_sidecar(name: str, stems: set[str]) -> bool:
    """Tell whether ``NAME.<finding>.png`` lies beside an image ``NAME``."""
    mask = PurePath(name)
    image = PurePath(mask.stem)
    is_picture = mask.suffix.lower() in RASTER_SUFFIXES
    return is_picture and names_finding(image.suffix[1:]) and image.stem in stems


def names_finding(part: str) -> bool:
    """Tell whether a part of a file's name may be a finding rather than a number."""
    return bool(part) and not part.replace(".", "").isdecimal()


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key by which 2 comes before 10."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", name)
    )
