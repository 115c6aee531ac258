"""File layout of a CheXlocalize folder, and the meaning of its file names.

The published download has ``CheXlocalize/gt_segmentations_{val,test}.json`` beside
``CheXpert/{val,test}/patient…/study…/view…`` and ``CheXpert/{val,test}_labels.csv``; a
split without its segmentations may have ``gt_annotations_{val,test}.json``. CheXpert
itself uses ``valid`` for ``val``. Any nesting of these is found, including a flat
folder of ``patient…_study…_view….jpg``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from viewer.domain.case import Notice, View
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.files import files_below
from viewer.readers.datasets.image_files import missing_path

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".dcm")
_SPLITS = {"train": "train", "val": "val", "valid": "val", "test": "test"}
_PATIENT = re.compile(r"patient\d+")
_ID = re.compile(r"(patient\d+)_(study\d+)_(view\d+_(?:frontal|lateral))")
_ROLES = {
    "segmentations": re.compile(r"gt_segmentations_(val|valid|test)\.json"),
    "outlines": re.compile(r"gt_annotations_(val|valid|test)\.json"),
    "anatomy": re.compile(r"anatomy_(val|valid|test)\.json"),
    "human_points": re.compile(r"hb_salient_pt_(val|valid|test)\.json"),
    "labels": re.compile(r"(val|valid|test)(?:_labels)?\.csv"),
}


@dataclass(frozen=True)
class Layout:
    """The files of a CheXlocalize folder; ``images`` by image id.

    ``outlines`` has the files of splits without ``segmentations``.
    """

    root: Path
    splits: tuple[str, ...]
    segmentations: tuple[Path, ...]
    outlines: tuple[Path, ...]
    anatomy: tuple[Path, ...]
    human_points: tuple[Path, ...]
    labels: tuple[Path, ...]
    images: Mapping[str, Path]
    notices: tuple[Notice, ...]


def image_id(path: PurePath) -> str | None:
    """Return path components from the patient on, joined by ``_`` (E000-02)."""
    parts = path.with_suffix("").parts
    starts = [i for i, part in enumerate(parts) if _PATIENT.match(part)]
    return "_".join(parts[starts[0] :]) if starts else None


def patient_of(key: str) -> str:
    """Return an image id's ``patient…`` part; an id without one is its own patient."""
    found = _PATIENT.match(key)
    return found.group() if found else key


def study_of(key: str) -> str:
    """Return an image id's ``patient…_study…`` part, else the id."""
    found = _ID.fullmatch(key)
    return f"{found[1]}_{found[2]}" if found else key


def view_of(key: str) -> View:
    """Return the view that an image id ends in."""
    ending = key.rsplit("_", 1)[-1]
    return View(ending) if ending in {View.FRONTAL, View.LATERAL} else View.UNKNOWN


def find_layout(path: Path) -> Layout:
    """Find a data set's files below a folder, or those of one mask file's split."""
    named = _split_of_masks(path.name) if path.is_file() else None
    if path.is_file() and named is None:
        raise UnreadableInputError(
            f"'{path.name}' is not a mask file of CheXlocalize.",
            "Name the folder, or gt_segmentations_val.json or gt_segmentations_test"
            ".json in it, or gt_annotations of either.",
        )
    root = _root_of(path)
    files = files_below(root)
    # Whoever names the outlines wants them, though masks of the split are there.
    if path.is_file() and _split_of_role("outlines", path.name):
        files = tuple(p for p in files if not _split_of_role("segmentations", p.name))
    splits = (named,) if named else _splits(files)
    if not splits:
        raise UnreadableInputError(
            "There is no gt_segmentations_val.json or gt_segmentations_test.json, "
            f"nor gt_annotations of either, below '{path}'.",
            "Name the folder that holds CheXlocalize, or import another format.",
        )
    return _layout(root, splits, files)


def expected_path(layout: Layout, key: str) -> Path:
    """Return where a missing image should be, judging by the other images."""
    match = _ID.fullmatch(key)
    if match is None or not layout.images:
        return missing_path(layout.root, f"{key}.jpg")
    other_key, other = next(iter(layout.images.items()))
    if image_id(PurePath(other.name)) == other_key:
        return other.with_name(key + other.suffix)
    parents = [parent for parent in other.parents if _PATIENT.match(parent.name)]
    return parents[-1].parent / match[1] / match[2] / f"{match[3]}{other.suffix}"


def _root_of(path: Path) -> Path:
    if not path.is_file():
        return path
    beside = path.parent
    has_images = any(_is_image(p, beside) for p in files_below(beside))
    return beside if has_images else beside.parent


def _splits(files: Iterable[Path]) -> tuple[str, ...]:
    found = {_split_of_masks(path.name) for path in files}
    return tuple(sorted(split for split in found if split))


def _split_of_masks(name: str) -> str | None:
    roles = ("segmentations", "outlines")
    return next((s for role in roles if (s := _split_of_role(role, name))), None)


def _split_of_role(role: str, name: str) -> str | None:
    found = _ROLES[role].fullmatch(name)
    return _SPLITS[found[1]] if found else None


def _layout(root: Path, splits: Sequence[str], files: Sequence[Path]) -> Layout:
    images, notices = _images(root, splits, files)
    if len(splits) > 1:
        notices.append(_several_splits(splits))
    roles = {
        role: tuple(p for p in files if _split_of_role(role, p.name) in splits)
        for role in _ROLES
    }
    coded = {_split_of_role("segmentations", p.name) for p in roles["segmentations"]}
    roles["outlines"] = tuple(
        p for p in roles["outlines"] if _split_of_role("outlines", p.name) not in coded
    )
    return Layout(
        root=root,
        splits=tuple(splits),
        images=images,
        notices=tuple(notices),
        **roles,
    )


def _images(
    root: Path, splits: Sequence[str], files: Sequence[Path]
) -> tuple[dict[str, Path], list[Notice]]:
    copies: dict[str, list[Path]] = {}
    for path in files:
        key = image_id(path.relative_to(root))
        if key and _is_image(path, root) and _in_splits(path, root, splits):
            copies.setdefault(key, []).append(path)
    images = {key: max(found, key=_bytes_in) for key, found in copies.items()}
    notices = [
        _several_files(key, images[key]) for key in copies if len(copies[key]) > 1
    ]
    return images, notices


def _is_image(path: Path, root: Path) -> bool:
    if path.suffix.lower() not in IMAGE_SUFFIXES:
        return False
    inside = path.relative_to(root)
    return "seg" not in inside.parts[:-1] and image_id(inside) is not None


def _in_splits(path: Path, root: Path, splits: Sequence[str]) -> bool:
    named = [part for part in path.relative_to(root).parts if part in _SPLITS]
    return not named or _SPLITS[named[-1]] in splits


def _bytes_in(path: Path) -> tuple[int, str]:
    # The path decides between files of one size, so that imports are alike.
    return path.stat().st_size, path.as_posix()


def _several_files(key: str, used: Path) -> Notice:
    return Notice(
        "several_files",
        key,
        f"There are several files for this image; the largest, {used.suffix[1:]} in "
        f"'{used.parent.name}', is read.",
    )


def _several_splits(splits: Sequence[str]) -> Notice:
    return Notice(
        "several_splits",
        ", ".join(splits),
        "Several splits are read as one data set; import one gt_segmentations file by "
        "name to read its split alone.",
    )
