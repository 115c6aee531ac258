"""Masks in a folder of their own, beside the images they belong to.

A folder of masks is called ``masks``, ``lung_masks`` or ``segmentations``, in any
spelling. A picture in it is a mask of the image whose name it has, or begins with up to
``.``, ``_``, ``-`` or a space: ``lung_masks/007_left.png`` is of ``images/007.jpg``.
What follows names the finding; without that, the folders between do
(``masks/nodule/007.png``), and else the folder itself (``lung``).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.readers.pixels import RASTER_SUFFIXES

_FOLDER: Final = re.compile(r"(.*?)[ ._-]*(?:masks?|segmentations?)", re.IGNORECASE)
_NO_FINDING: Final = re.compile(
    r"[ ._-]*(?:masks?|segmentations?|seg|gt)?[ .\d_-]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FolderMask:
    """A mask in a folder of masks.

    ``finding`` is as it is written, "" if nothing names it; ``owners`` are the images
    of its name: none, or several where the name is not unique.
    """

    path: Path
    finding: str
    owners: tuple[Path, ...]


def masks_in_folders(root: Path, files: Sequence[Path]) -> tuple[FolderMask, ...]:
    """Return which of the files below a folder lie in a folder of masks.

    A folder none of whose pictures has the name of an image elsewhere is no folder of
    masks, whatever it is called.
    """
    inside: dict[Path, list[Path]] = {}
    images: list[Path] = []
    tops: dict[Path, Path | None] = {}
    for path in files:
        if path.parent not in tops:
            tops[path.parent] = _mask_folder(root, path.parent)
        top = tops[path.parent]
        if top is None:
            images.append(path)
        elif path.suffix.lower() in RASTER_SUFFIXES:
            inside.setdefault(top, []).append(path)
    if not inside:
        return ()
    named = _by_name(images)
    return tuple(mask for top in inside for mask in _masks(top, inside[top], named))


def names_masks(folder: str) -> bool:
    """Tell whether a folder of this name may be one of masks."""
    return _FOLDER.fullmatch(folder) is not None


def _mask_folder(root: Path, folder: Path) -> Path | None:
    """Return the topmost folder of masks, below the root, that a folder is or is in."""
    above = [folder, *folder.parents]
    below = above[: above.index(root)] if root in above else []
    return next((one for one in reversed(below) if names_masks(one.name)), None)


def _by_name(images: Sequence[Path]) -> Mapping[str, list[Path]]:
    """Return the images by name, with and without suffix: a UID ends in none."""
    named: dict[str, list[Path]] = {}
    for path in images:
        for name in {path.name, path.stem}:
            named.setdefault(name, []).append(path)
    return named


def _masks(
    top: Path, pictures: Sequence[Path], named: Mapping[str, list[Path]]
) -> Iterator[FolderMask]:
    masks = [_mask(top, path, named) for path in pictures]
    if any(mask.owners for mask in masks):
        yield from masks


def _mask(top: Path, path: Path, named: Mapping[str, list[Path]]) -> FolderMask:
    stem = path.stem
    cuts = [len(stem), *(m.start() for m in reversed([*re.finditer("[ ._-]", stem)]))]
    # The longest name first: a_b_left.png is of a_b.png, though a.png is there.
    for cut in cuts:
        near = [p for p in named.get(stem[:cut], ()) if top.parent in p.parents]
        if near:
            owners = _same(path, near)
            return FolderMask(path, _finding(top, path, stem[cut:], owners), owners)
    return FolderMask(path, _finding(top, path, "", ()), ())


def _same(mask: Path, images: Sequence[Path]) -> tuple[Path, ...]:
    """Return the images whose folder is called like the mask's, if there are any."""
    alike = tuple(path for path in images if path.parent.name == mask.parent.name)
    return alike or tuple(images)


def _finding(top: Path, path: Path, rest: str, owners: Sequence[Path]) -> str:
    """Return what the end of a mask's name, or a folder above it, calls the finding.

    A folder that the images are in as well, such as ``train``, names none.
    """
    shared = {folder.name for owner in owners for folder in owner.parents}
    within = [f.name for f in path.parents if top in f.parents and f.name not in shared]
    for name in (rest, *within, top.name):
        found = _FOLDER.fullmatch(name)
        written = (found[1] if found else name).strip(" ._-")
        if not _NO_FINDING.fullmatch(written):
            return written
    return ""
