"""COCO's instances: boxes, outlines and run-length codes in one JSON file.

``images`` (``id``, ``file_name``, ``width``, ``height``), ``categories`` (``id``,
``name``: the findings) and ``annotations`` (``image_id``, ``category_id``, ``bbox`` as
x, y, width, height in pixels, ``segmentation`` as outlines or as ``size`` and
``counts``, a text or a list, and ``iscrowd``); format of cocodataset.org. All shapes of
a finding on an image are its mask together; a crowd is in the mask, but is not a box,
as COCO's own evaluation asks for none there. An annotation without a segmentation is a
box. COCO says what is on an image, not what is not, so no label is negative. COCO has
no patient and no view; ``patient_id``, ``patient`` or ``subject_id``, and ``view``,
``view_position`` or ``ViewPosition`` of an image are read as these.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from viewer.domain.case import Dataset, Notice, ReferenceBox, View
from viewer.domain.errors import OverreadError, UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.annotated import (
    Annotated,
    Collection,
    assembled,
    without_repeats,
)
from viewer.readers.datasets.coco_shapes import Shape, mask_maker, shape_of
from viewer.readers.datasets.csv_tables import split_of
from viewer.readers.datasets.files import Progress, files_below
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.image_files import root_of, stem_of
from viewer.readers.datasets.segmentations import read_json_object

KEYS = ("images", "annotations", "categories")
_PATIENT = ("patient_id", "patient", "subject_id")
_VIEW = ("view", "view_position", "ViewPosition")


@dataclass
class _Image:
    """An image of the file, with its annotations by finding."""

    file: str
    size: SizePx | None
    patient: str = ""
    view: str = ""
    shapes: dict[str, list[Shape]] = field(default_factory=lambda: defaultdict(list))
    broken: dict[str, str] = field(default_factory=dict)


def looks(path: Path) -> bool:
    """Tell whether a folder or file contains such a JSON file."""
    is_json = path.is_dir() or path.suffix.lower() == ".json"
    try:
        return is_json and bool(_contents(path))
    except OverreadError:
        return False


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the JSON files below a folder, or one, with the images they name.

    Parameters
    ----------
    root : Path
        The folder, or one JSON file to read it alone.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of images that do not say it.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        No file holds images, annotations and categories, or a named one is not JSON.
    """
    folder = root_of(root)
    contents = _contents(root)
    if not contents:
        raise _none_found(root)
    images: dict[str, _Image] = {}
    notices: list[Notice] = []
    for path, content in contents.items():
        found, about = _read_file(path, content)
        notices += [_repeated_image(path, f) for f in found if f in images]
        images.update((f, image) for f, image in found.items() if f not in images)
        notices += about
    entries: list[Annotated] = []
    keys = _keys(images)
    for file, image in images.items():
        entry, about = _entry(keys[file], image)
        entries.append(entry)
        notices += about
    collection = Collection(
        name, "coco", folder, view or View.UNKNOWN, split_of(contents)
    )
    return assembled(collection, entries, notices, progress)


def _contents(path: Path) -> dict[Path, Mapping[str, object]]:
    """Return the contents of every such file; a named file must be readable."""
    if path.is_file():
        content = read_json_object(path)
        return {path: content} if _is_coco(content) else {}
    below = [p for p in files_below(path) if p.suffix.lower() == ".json"]
    held = ((p, _object_in(p)) for p in below)
    return {p: content for p, content in held if content and _is_coco(content)}


def _object_in(path: Path) -> Mapping[str, object] | None:
    try:
        return read_json_object(path)
    except OverreadError:
        return None  # another file of the folder, which need not be ours


def _is_coco(content: Mapping[str, object]) -> bool:
    return all(isinstance(content.get(key), list) for key in KEYS)


def _none_found(root: Path) -> UnreadableInputError:
    where = f"'{root.name}' holds" if root.is_file() else f"No JSON below '{root}' has"
    return UnreadableInputError(
        f"{where} {'no ' if root.is_file() else ''}COCO images, annotations and "
        "categories.",
        "Name the instances file or its folder, or import another format.",
    )


def _read_file(
    path: Path, content: Mapping[str, object]
) -> tuple[dict[str, _Image], list[Notice]]:
    by_id, notices = _images_by_id(path, content)
    findings: dict[object, str] = {
        _id(row): display_name(name)
        for row in _rows(content, "categories")
        if isinstance(name := row.get("name"), str)
    }
    notices += _unknown_ids(path, content, by_id, findings)
    for row in _rows(content, "annotations"):
        image, finding = by_id.get(_image_of(row)), findings.get(_category(row))
        if image is not None and finding is not None:
            _take(row, image, finding)
    files: dict[str, _Image] = {}
    for image in by_id.values():
        files.setdefault(image.file, image)
    return files, [*notices, *_never(path, files, findings)]


def _images_by_id(
    path: Path, content: Mapping[str, object]
) -> tuple[dict[object, _Image], list[Notice]]:
    by_id: dict[object, _Image] = {}
    notices: list[Notice] = []
    for row in _rows(content, "images"):
        number, file = _id(row), row.get("file_name")
        if number is None or not isinstance(file, str) or not file:
            notices.append(_odd(path, "An image has no id or no file name"))
        elif number in by_id:
            text = (
                f"The image id {number} is used more than once; the first image keeps "
                "it."
            )
            notices.append(Notice("repeated_image", file, text))
        else:
            patient, view = _first(row, _PATIENT), _first(row, _VIEW)
            by_id[number] = _Image(file, _size(row), patient, view)
    return by_id, notices


def _take(row: Mapping[str, object], image: _Image, finding: str) -> None:
    try:
        image.shapes[finding].append(shape_of(row))
    except UnreadableInputError as error:
        image.broken.setdefault(finding, error.what.rstrip("."))


def _unknown_ids(
    path: Path,
    content: Mapping[str, object],
    images: Mapping[object, _Image],
    findings: Mapping[object, str],
) -> Iterator[Notice]:
    rows = list(_rows(content, "annotations"))
    for kind, of, known, ids in (
        ("image", "an image", images, [_image_of(row) for row in rows]),
        ("category", "a category", findings, [_category(row) for row in rows]),
    ):
        lost = [json.dumps(number) for number in ids if number not in known]
        if lost:
            some = f"{len(lost)} annotations name"
            n = "1 annotation names" if len(lost) == 1 else some
            names = ", ".join(list(dict.fromkeys(lost))[:3])
            text = f"{n} {of} that is not in the file ({names}) and is not used."
            yield Notice(f"unknown_{kind}", path.name, text)


def _never(
    path: Path, files: Mapping[str, _Image], findings: Mapping[object, str]
) -> Iterator[Notice]:
    seen = {name for image in files.values() for name in (*image.shapes, *image.broken)}
    for name in sorted(set(findings.values()) - seen):
        text = f"No image has {name}, though it is among the categories."
        yield Notice("no_positives", path.name, text)


def _entry(key: str, image: _Image) -> tuple[Annotated, list[Notice]]:
    shapes = {n: s for n, s in image.shapes.items() if s and n not in image.broken}
    drawn = {
        name: [ReferenceBox(s.box) for s in of if s.box and not s.crowd]
        for name, of in shapes.items()
    }
    boxes, notices = without_repeats(key, {n: of for n, of in drawn.items() if of})
    crowds = sum(s.crowd for of in shapes.values() for s in of)
    if crowds:
        text = f"It has {crowds} crowd region(s): part of the masks, but no boxes."
        notices.append(Notice("crowd", key, text))
    entry = Annotated(
        key=key,
        file=image.file,
        size=image.size,
        labels=dict.fromkeys(sorted({*image.shapes, *image.broken}), True),
        boxes=boxes,
        masks={
            name: mask_maker(of)
            for name, of in shapes.items()
            if any(shape.has_pixels for shape in of)
        },
        broken=image.broken,
        patient=image.patient,
        view=image.view,
    )
    return entry, notices


def _keys(images: Mapping[str, _Image]) -> dict[str, str]:
    """Return each image's key: its file's path, without suffix if that is unique."""
    uses = Counter(stem_of(file) for file in images)
    return {f: stem_of(f) if uses[stem_of(f)] == 1 else f for f in images}


def _rows(content: Mapping[str, object], key: str) -> Iterator[Mapping[str, object]]:
    listed = content[key]
    if isinstance(listed, Sequence):
        yield from (row for row in listed if isinstance(row, dict))


def _id(row: Mapping[str, object]) -> int | str | None:
    number = row.get("id")
    return number if isinstance(number, int | str) else None


def _first(row: Mapping[str, object], keys: Sequence[str]) -> str:
    """Return a row's first text or integer under one of several keys."""
    found = (row.get(key) for key in keys)
    texts = (str(v).strip() for v in found if isinstance(v, str) or type(v) is int)
    return next((text for text in texts if text), "")


def _image_of(row: Mapping[str, object]) -> object:
    number = row.get("image_id")
    return number if isinstance(number, int | str) else None


def _category(row: Mapping[str, object]) -> object:
    number = row.get("category_id")
    return number if isinstance(number, int | str) else None


def _size(row: Mapping[str, object]) -> SizePx | None:
    height, width = row.get("height"), row.get("width")
    if isinstance(height, int) and isinstance(width, int) and min(height, width) > 0:
        return SizePx(height, width)
    return None


def _odd(path: Path, what: str) -> Notice:
    return Notice("odd_row", path.name, f"{what}; it is not used.")


def _repeated_image(path: Path, file: str) -> Notice:
    text = f"{path.name} lists it again; the first file's annotations are used."
    return Notice("repeated_image", stem_of(file), text)
