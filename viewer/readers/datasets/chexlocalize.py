"""CheXlocalize: chest radiographs with masks of ten findings (Saporta et al. 2022).

Statements E000-01 to E000-06 of the study's specification. Every image of the split is
kept, whatever is wrong with it; missing or contradictory data become notices.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from viewer.domain.case import Dataset, DatasetImage, ImageRef, Notice, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.finding_names import FINDINGS, SYNONYMS
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.readers.datasets.chexpert_layout import (
    Layout,
    expected_path,
    find_layout,
    patient_of,
    study_of,
    view_of,
)
from viewer.readers.datasets.files import (
    FileFacts,
    Progress,
    content_sha256,
    read_facts,
)
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.labels import read_labels
from viewer.readers.datasets.segmentations import (
    MaskSet,
    read_json_object,
    read_mask_file,
)

_NO_MASKS = MaskSet()
_UNKNOWN_SIZE = SizePx(0, 0)


@dataclass(frozen=True)
class _Truth:
    """The data set's tables by image id; ``labelled`` is True if there are labels."""

    masks: Mapping[str, MaskSet]
    anatomy: Mapping[str, MaskSet]
    labels: Mapping[str, Mapping[str, bool]]
    labelled: bool
    notices: tuple[Notice, ...]


def looks(path: Path) -> bool:
    """Tell whether a folder contains such mask files, or a file is one."""
    try:
        layout = find_layout(path)
    except UnreadableInputError:
        return False
    return bool(layout.segmentations or layout.outlines)


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the splits found below a folder, or the split of one mask file.

    Parameters
    ----------
    root : Path
        A folder that holds ``gt_segmentations_{val,test}.json`` and the images, at
        any depth, or one such file to read its split alone. The outlines of
        ``gt_annotations_{val,test}.json`` are filled where a split has no
        segmentations, or where that file is named.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of images whose id does not end in one.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        No mask file is found, or a mask or label file cannot be read at all.
    """
    layout = find_layout(root)
    truth = _read_truth(layout)
    facts = read_facts(tuple(layout.images.values()), progress)
    images: list[DatasetImage] = []
    notices = [*layout.notices, *truth.notices]
    for key in sorted({*layout.images, *truth.masks, *truth.labels}):
        image = _image(key, layout, truth, facts, view)
        images.append(image)
        notices.extend(_notices(image, truth, facts.get(image.ref.path)))
    return Dataset(
        name=name,
        format="chexlocalize",
        root=layout.root,
        images=tuple(images),
        notices=tuple(notices),
        root_sha256=content_sha256(images),
        split=layout.splits[0] if len(layout.splits) == 1 else "",
    )


def _read_truth(layout: Layout) -> _Truth:
    masks, repeated = _read_masks(layout.segmentations, read_mask_file)
    drawn, repeated_outlines = _read_masks(layout.outlines, read_outline_file)
    masks = {**drawn, **masks}
    anatomy, repeated_anatomy = _read_masks(layout.anatomy, read_mask_file)
    tables = [read_labels(path) for path in layout.labels]
    labels: dict[str, Mapping[str, bool]] = {}
    # Reversed, so that the first table's row of an image stays, as with masks.
    for table in reversed(tables):
        labels |= table.rows
    labels = _in_words_of(masks, labels)
    notices = [*repeated, *repeated_outlines, *repeated_anatomy]
    notices += map(_filled, layout.outlines)
    for table in tables:
        notices.extend(table.notices)
    if not tables:
        notices.append(_no_labels(layout))
    for path in layout.human_points:
        notices.extend(_human_notices(path, masks))
    return _Truth(masks, anatomy, labels, bool(tables), tuple(notices))


def _in_words_of(
    masks: Mapping[str, MaskSet], labels: Mapping[str, Mapping[str, bool]]
) -> dict[str, Mapping[str, bool]]:
    """Rename labels' findings to the names that the collection's masks use."""
    words = {name for found in masks.values() for name in (*found.masks, *found.zero)}
    other = {theirs: own for own, theirs in SYNONYMS.items() if own in words}
    return {
        key: {other.get(name, name): value for name, value in row.items()}
        for key, row in labels.items()
    }


def _filled(path: Path) -> Notice:
    text = (
        "Its split has no readable gt_segmentations; its outlines are filled instead."
    )
    return Notice("outlines_filled", path.name, text)


def _read_masks(
    paths: Sequence[Path], read_file: Callable[[Path], Mapping[str, MaskSet]]
) -> tuple[dict[str, MaskSet], list[Notice]]:
    masks: dict[str, MaskSet] = {}
    notices: list[Notice] = []
    for path in paths:
        for key, found in read_file(path).items():
            if key in masks:
                text = f"{path.name} repeats its masks; the first ones are used."
                notices.append(Notice("repeated_masks", key, text))
            masks.setdefault(key, found)
    return masks, notices


def _image(
    key: str,
    layout: Layout,
    truth: _Truth,
    facts: Mapping[Path, FileFacts],
    view: View | None,
) -> DatasetImage:
    path = layout.images.get(key) or expected_path(layout, key)
    found = facts.get(path)
    coded = truth.masks.get(key, _NO_MASKS)
    anatomy = truth.anatomy.get(key, _NO_MASKS)
    geometry = _geometry(found, coded, anatomy)
    size = geometry.size
    return DatasetImage(
        key=key,
        patient=patient_of(key),
        study=study_of(key),
        view=_view(key, found, view),
        ref=ImageRef(path),
        geometry=geometry,
        sha256=found.sha256 if found else "",
        labels=truth.labels.get(key, {}),
        masks=_fitting(coded.masks, size),
        zero_masks=frozenset(coded.zero),
        anatomy=_fitting(anatomy.masks, size),
        defects=_defects(found, coded, size),
    )


def _geometry(
    found: FileFacts | None, coded: MaskSet, anatomy: MaskSet
) -> ImageGeometry:
    if found and found.headers:
        return found.headers[0].geometry
    return ImageGeometry(coded.size or anatomy.size or _UNKNOWN_SIZE)


def _view(key: str, found: FileFacts | None, view: View | None) -> View:
    named = view_of(key)
    if named is not View.UNKNOWN:
        return named
    written = _written_view(found)
    return written if written is not View.UNKNOWN else view or View.UNKNOWN


def _written_view(found: FileFacts | None) -> View:
    return found.headers[0].view if found and found.headers else View.UNKNOWN


def _fitting(masks: Mapping[str, Mask], size: SizePx) -> dict[str, Mask]:
    return {name: mask for name, mask in masks.items() if mask.size == size}


def _defects(found: FileFacts | None, coded: MaskSet, size: SizePx) -> dict[str, str]:
    defects = {name: "mask_unreadable" for name in coded.broken if name != "*"}
    defects |= {
        name: "mask_size" for name, mask in coded.masks.items() if mask.size != size
    }
    if found is None:
        defects["*"] = "missing_file"
    elif not found.headers:
        defects["*"] = "unreadable"
    return defects


def _notices(
    image: DatasetImage, truth: _Truth, found: FileFacts | None
) -> Iterator[Notice]:
    yield from _file_notices(image, found)
    yield from _mask_notices(image, truth.masks.get(image.key, _NO_MASKS), "mask")
    yield from _mask_notices(image, truth.anatomy.get(image.key, _NO_MASKS), "anatomy")
    if truth.labelled:
        yield from _label_notices(image, truth)


def _file_notices(image: DatasetImage, found: FileFacts | None) -> Iterator[Notice]:
    if found is None:
        text = f"Its file {image.ref.path.name} is not in the folder."
        yield Notice("missing_file", image.key, text)
        return
    if not found.headers:
        yield Notice("unreadable", image.key, found.problem)
    if len(found.headers) > 1:
        text = f"Its file has {len(found.headers)} frames; the first is read."
        yield Notice("several_frames", image.key, text)
    written = _written_view(found)
    if image.view is View.UNKNOWN:
        text = "Neither its id nor its file says the view; choose one on import."
        yield Notice("unknown_view", image.key, text)
    elif written not in {View.UNKNOWN, image.view}:
        text = f"Its id says {image.view}, its View Position {written}; the id is used."
        yield Notice("view_disagrees", image.key, text)


def _mask_notices(image: DatasetImage, coded: MaskSet, what: str) -> Iterator[Notice]:
    for name, why in sorted(coded.broken.items()):
        subject = "Its masks" if name == "*" else f"The mask of {name}"
        yield Notice(f"{what}_unreadable", image.key, f"{subject}: {why.rstrip('.')}.")
    for name, mask in sorted({**coded.masks, **coded.zero}.items()):
        if mask.size != image.size:
            yield Notice(
                f"{what}_size",
                image.key,
                f"The mask of {name} is {mask.size.words}, but the image is "
                f"{image.size.words}; it is not used.",
            )


def _label_notices(image: DatasetImage, truth: _Truth) -> Iterator[Notice]:
    if image.key not in truth.labels:
        yield Notice("no_labels", image.key, "The label table has no row for it.")
        return
    coded = truth.masks.get(image.key)
    positive = sorted(f for f in FINDINGS if image.labels.get(f))
    if coded is None and positive:
        text = f"Labelled {', '.join(positive)}, but the mask file has no entry for it."
        yield Notice("image_without_masks", image.key, text)
        return
    known = coded or _NO_MASKS
    for finding in sorted({*positive} - {*known.masks, *known.broken}):
        yield Notice("label_without_mask", image.key, _label_text(finding, known))
    for finding in sorted(known.masks):
        if not image.labels.get(finding):
            text = f"{finding} has a mask, but is not labelled positive."
            yield Notice("mask_without_label", image.key, text)


def _label_text(finding: str, known: MaskSet) -> str:
    if finding in known.zero:
        return f"{finding} is labelled positive, but its mask is empty."
    return f"{finding} is labelled positive, but has no mask."


def _no_labels(layout: Layout) -> Notice:
    text = "There is no label table; masks alone say which findings are present."
    return Notice("no_label_table", ", ".join(layout.splits), text)


def _human_notices(path: Path, masks: Iterable[str]) -> list[Notice]:
    try:
        human = set(read_json_object(path))
    except UnreadableInputError as error:
        return [Notice("human_points_unreadable", path.name, error.what)]
    segmented = set(masks)
    extra = [
        Notice(
            "human_points_without_masks",
            key,
            f"It is in {path.name}, but in no mask file.",
        )
        for key in sorted(human - segmented)
    ]
    lacking = [
        Notice("masks_without_human_points", key, f"It is missing from {path.name}.")
        for key in sorted(segmented - human)
    ]
    return extra + lacking


_SIZE = "img_size"
_LEAST_POINTS = 3
_LARGEST = 65_535
"""Pixels along a side, and how far a point may lie from the origin."""

Polygon = Sequence[tuple[float, float]]
"""A closed outline of points (x, y); the last joins the first."""


def read_outline_file(path: Path) -> Mapping[str, MaskSet]:
    """Return each image's filled outlines; a broken one is kept with its reason.

    An entry without a usable size becomes one broken mask named ``*``.
    """
    return {key: _mask_set(entry) for key, entry in read_json_object(path).items()}


def filled(polygons: Sequence[Polygon], size: SizePx) -> npt.NDArray[np.bool_]:
    """Return the (rows, columns) pixels inside polygons and on their outlines."""
    canvas = Image.new("1", (size.columns, size.rows))
    draw = ImageDraw.Draw(canvas)
    for polygon in polygons:
        draw.polygon(list(polygon), fill=1, outline=1)
    return np.asarray(canvas, dtype=np.bool_)


def _mask_set(entry: object) -> MaskSet:
    if not isinstance(entry, dict):
        return MaskSet(broken={"*": "its entry holds no outlines by finding"})
    size = _size_of(entry.get(_SIZE))
    if size is None:
        return MaskSet(broken={"*": "its img_size is not [height, width] in pixels"})
    masks: dict[str, Mask] = {}
    zero: dict[str, Mask] = {}
    broken: dict[str, str] = {}
    for written, drawn in entry.items():
        if written == _SIZE:
            continue
        name = display_name(written)
        try:
            mask = Mask.of_array(filled(_polygons(drawn), size))
        except UnreadableInputError as error:
            broken[name] = error.what
        else:
            (zero if mask.is_empty else masks)[name] = mask
    return MaskSet(masks, zero, broken)


def _size_of(value: object) -> SizePx | None:
    pair = value if isinstance(value, list) else []
    # Not isinstance(): true in JSON would be an int too.
    sides = [n for n in pair if type(n) is int and 0 < n <= _LARGEST]
    return SizePx(sides[0], sides[1]) if len(sides) == len(pair) == 2 else None


def _polygons(drawn: object) -> tuple[Polygon, ...]:
    if not isinstance(drawn, list):
        raise _broken("it is not a list of outlines")
    return tuple(_polygon(points) for points in drawn)


def _polygon(points: object) -> Polygon:
    if not isinstance(points, list) or len(points) < _LEAST_POINTS:
        raise _broken("an outline has fewer than three points")
    return [_point(point) for point in points]


def _point(point: object) -> tuple[float, float]:
    pair = point if isinstance(point, list) else []
    numbers = [n for n in pair if type(n) in {int, float} and math.isfinite(n)]
    if len(numbers) != 2 or len(pair) != 2:
        raise _broken("a point of an outline is not [x, y]")
    if any(abs(n) > _LARGEST for n in numbers):
        raise _broken("a point of an outline lies far outside the image")
    return float(numbers[0]), float(numbers[1])


def _broken(why: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"An outline cannot be read: {why}.",
        "Write each finding's outlines as [[[x, y], [x, y], [x, y]]].",
    )
