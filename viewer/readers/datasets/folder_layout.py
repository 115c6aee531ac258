"""Which files of a plain folder are images, and which are masks of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Final

from viewer.domain.case import Notice
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.files import found_below
from viewer.readers.datasets.findings import display_name, is_known
from viewer.readers.files.regular import regular_file
from viewer.readers.folders import names_finding
from viewer.readers.mask_folders import FolderMask, masks_in_folders
from viewer.readers.pixels import RASTER_SUFFIXES

IMAGE_SUFFIXES = (
    ".nii.gz", ".nii", ".nrrd", ".mha", ".mhd", ".dcm", ".dicom", *RASTER_SUFFIXES,
    ".svs", ".ndpi", ".mrxs", ".scn", ".bif", ".svslide", ".vms", ".vmu", ".czi",
)  # fmt: skip
ANATOMY_FOLDER: Final = "anatomy_masks"
"""The folder whose pictures are masks of anatomies (`viewer.readers.datasets.anatomy`).

They are no images of the data set.
"""
_UNNAMED: Final = "Finding"
"""What masks show whose names do not say it."""
_PREAMBLE = 128
"""A DICOM file has ``DICM`` after 128 bytes (PS3.10, 7.1)."""


@dataclass(frozen=True)
class ImageFile:
    """An image file, its id and its masks by display name.

    A finding is in ``ambiguous`` if other images have the same name, so that it is
    unclear whose mask it is.
    """

    path: Path
    key: str
    masks: Mapping[str, Path]
    ambiguous: frozenset[str]


@dataclass(frozen=True)
class FolderLayout:
    """The images of a folder, and the files that are neither image nor mask."""

    images: tuple[ImageFile, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class _MaskFile:
    path: Path
    finding: str
    owners: tuple[Path, ...]


def find_images(root: Path) -> FolderLayout:
    """Sort every file below a folder into images, masks and the rest."""
    found = found_below(root)
    files = [p for p in found.files if not is_anatomy_mask(p, root)]
    pictures = [p for p in files if _suffix(p) or _is_dicom(p)]
    known = set(pictures)
    others = [p for p in files if p not in known]
    apart = masks_in_folders(root, pictures)
    of_folders = {mask.path for mask in apart}
    masks = _mask_files([p for p in pictures if p not in of_folders])
    masks += [_in_folder(mask) for mask in apart]
    mask_paths = {mask.path for mask in masks}
    images = [p for p in pictures if p not in mask_paths]
    keys = _keys(root, images)
    notices = [_no_image(root, path) for path in others]
    notices += [_no_file(root, path) for path in found.odd]
    notices += [_lonely(root, mask) for mask in masks if not mask.owners]
    notices += _repeated(keys, masks)
    notices += _unnamed(root, apart)
    masks_by_image = _by_owner(masks)
    return FolderLayout(
        tuple(_image_file(p, keys[p], masks_by_image.get(p, ())) for p in images),
        tuple(notices),
    )


def is_anatomy_mask(path: Path, root: Path) -> bool:
    """Tell whether a file below a data set's folder is a mask of an anatomy."""
    return ANATOMY_FOLDER in path.relative_to(root).parts[:-1]


def image_file(path: Path) -> ImageFile:
    """Return one image with the masks beside it."""
    # A name may hold glob's own characters, such as [1].
    beside = sorted(path.parent.glob(f"{escape(_stem(path))}.*.*"))
    masks = _mask_files([path, *(p for p in beside if p != path)])
    return _image_file(path, _stem(path), _by_owner(masks).get(path, ()))


def _suffix(path: Path) -> str:
    name = path.name.lower()
    return next((suffix for suffix in IMAGE_SUFFIXES if name.endswith(suffix)), "")


def _stem(path: Path) -> str:
    return path.name[: len(path.name) - len(_suffix(path))]


def _is_dicom(path: Path) -> bool:
    # A UID as a name, such as 1.2.840.1, ends in what looks like a suffix.
    if path.suffix and not path.suffix[1:].isdecimal():
        return False
    try:
        with path.open("rb") as stream:
            return stream.read(_PREAMBLE + 4)[_PREAMBLE:] == b"DICM"
    except OSError:
        return False


def _mask_files(pictures: Sequence[Path]) -> list[_MaskFile]:
    by_stem: dict[tuple[Path, str], list[Path]] = {}
    for path in pictures:
        by_stem.setdefault((path.parent, _stem(path)), []).append(path)
    found = (_mask_file(path, by_stem) for path in pictures)
    return [mask for mask in found if mask]


def _mask_file(
    path: Path, by_stem: Mapping[tuple[Path, str], list[Path]]
) -> _MaskFile | None:
    if _suffix(path) not in RASTER_SUFFIXES:
        return None
    parts = _stem(path).split(".")
    # The longest name first: a.b.Edema.png is of a.b.png, though a.png is there.
    for n in range(len(parts) - 1, 0, -1):
        owners = by_stem.get((path.parent, ".".join(parts[:n])))
        if owners and names_finding(".".join(parts[n:])):
            return _MaskFile(path, display_name(".".join(parts[n:])), tuple(owners))
    if len(parts) > 1 and is_known(parts[-1]):
        return _MaskFile(path, display_name(parts[-1]), ())
    return None


def _in_folder(mask: FolderMask) -> _MaskFile:
    finding = display_name(mask.finding) if mask.finding else _UNNAMED
    return _MaskFile(mask.path, finding, mask.owners)


def _keys(root: Path, images: Sequence[Path]) -> dict[Path, str]:
    short = {
        path: (path.parent.relative_to(root) / _stem(path)).as_posix()
        for path in images
    }
    uses = Counter(short.values())
    return {
        path: key if uses[key] == 1 else path.relative_to(root).as_posix()
        for path, key in short.items()
    }


def _by_owner(masks: Sequence[_MaskFile]) -> dict[Path, list[_MaskFile]]:
    masks_by_image: dict[Path, list[_MaskFile]] = {}
    for mask in masks:
        for owner in mask.owners:
            masks_by_image.setdefault(owner, []).append(mask)
    return masks_by_image


def _image_file(path: Path, key: str, masks: Sequence[_MaskFile]) -> ImageFile:
    return ImageFile(
        path,
        key,
        # Reversed, so that the first mask of a finding by name stays.
        {m.finding: m.path for m in reversed(masks) if len(m.owners) == 1},
        frozenset(m.finding for m in masks if len(m.owners) > 1),
    )


def _repeated(keys: Mapping[Path, str], masks: Sequence[_MaskFile]) -> list[Notice]:
    uses = Counter((owner, mask.finding) for mask in masks for owner in mask.owners)
    return [
        Notice(
            "repeated_masks",
            keys[owner],
            f"There are several masks of {finding}; the first by name is used.",
        )
        for (owner, finding), n in uses.items()
        if n > 1 and owner in keys
    ]


def _no_image(root: Path, path: Path) -> Notice:
    subject = path.relative_to(root).as_posix()
    return Notice("not_an_image", subject, "It is not an image of a known kind.")


def _no_file(root: Path, path: Path) -> Notice:
    try:
        regular_file(path)
        why = f"{path.name} cannot be listed."  # a folder, of which links are refused
    except UnreadableInputError as error:
        why = error.what
    return Notice("unreadable", path.relative_to(root).as_posix(), why)


def _unnamed(root: Path, masks: Sequence[FolderMask]) -> list[Notice]:
    paths = [mask.path for mask in masks if not mask.finding]
    if not paths:
        return []
    verb = "names" if len(paths) == 1 else "name"
    text = (
        f"{counted(len(paths), 'mask')} {verb} no finding, so it is called {_UNNAMED}: "
        f"{paths[0].relative_to(root).as_posix()} is one. Name the folder after it, "
        "such as nodule_masks."
    )
    return [Notice("finding_unnamed", "", text)]


def _lonely(root: Path, mask: _MaskFile) -> Notice:
    subject = mask.path.relative_to(root).as_posix()
    text = f"It is a mask of {mask.finding}, but its image is not there."
    return Notice("mask_without_image", subject, text)
