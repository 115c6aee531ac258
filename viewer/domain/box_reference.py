"""Reference boxes of several readers, and the mask that a rule derives from them.

Everything is computed on the edges of the boxes: nothing changes between two
neighbouring edges, so no area or vote is computed pixel by pixel.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain import rle
from viewer.domain.case import Dataset, DatasetImage, ReferenceBox
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Mask

ANY: Final = "any"
MAJORITY: Final = "majority"
BY_RULE: Final = "(by rule)"
"""Stands where a reader's name does, of the boxes that a rule of readers leaves."""
NOT_BY_READER: Final = "not_by_reader"
"""Why an item is excluded that the chosen reader did not mark."""
NO_MAJORITY: Final = "no_majority"
"""Why an item is excluded of which no pixel was marked by half of the readers."""

_Bools = npt.NDArray[np.bool_]
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Patches:
    """Pixels that at least ``needed`` readers marked, on a grid of patches.

    ``rows`` (r + 1,) and ``columns`` (c + 1,) are the patches' edges in pixels, from
    edge to edge of the image; ``inside`` (r, c) is bool.
    """

    rows: _Ints
    columns: _Ints
    inside: _Bools


def readers_of(boxes: Mapping[str, Sequence[ReferenceBox]]) -> tuple[str, ...]:
    """Return the readers who drew any of the boxes, sorted."""
    return tuple(sorted({box.reader for of in boxes.values() for box in of}))


def referenced(dataset: Dataset, rule: str) -> Dataset:
    """Return a data set with masks derived from boxes by the rule for readers.

    ``rule`` is ``any`` (marked by at least one reader), ``majority`` (by at least half
    of those who read the image) or a reader's name. Findings that already have a mask
    keep it. If the rule leaves nothing of a finding, the image's defects say why.
    """
    if not any(image.boxes for image in dataset.images):
        return dataset
    images = tuple(with_masks(image, rule) for image in dataset.images)
    return replace(dataset, images=images)


def check_rule(dataset: Dataset, rule: str) -> None:
    """Raise WrongUseError if a rule names a reader without readings."""
    readers = sorted({name for image in dataset.images for name in _readers(image)})
    if rule in {ANY, MAJORITY, *readers}:
        return
    known = f", or one of its readers: {', '.join(readers)}" if readers else ""
    raise WrongUseError(
        f"The data set '{dataset.name}' has no boxes by reader '{rule}'.",
        f"Set reader_rule to {ANY} or {MAJORITY}{known}.",
    )


def boxes_by_rule(image: DatasetImage, finding: str, rule: str) -> tuple[BoxPx, ...]:
    """Return a finding's boxes on an image according to the rule.

    With one reader, or one chosen, these are the boxes as drawn; with several, those
    around the connected parts of what the rule leaves.
    """
    boxes = image.boxes.get(finding, ())
    if rule not in {ANY, MAJORITY}:
        return tuple(b.box for b in boxes if b.reader == rule)
    patches = _patches(image.size, boxes, _needed(image, rule))
    if len({*image.readers, *(b.reader for b in boxes)}) <= 1:  # nobody to agree with
        return tuple(b.box for b in boxes)
    return tuple(_boxes_around(patches))


def boxes_to_find(
    image: DatasetImage, finding: str, rule: str
) -> dict[str, tuple[BoxPx, ...]]:
    """Return a finding's boxes by the rule, and by each reader if there are several.

    Findings that are absent have none; no reader is listed without boxes.
    """
    boxes, is_there = image.boxes.get(finding, ()), finding in image.masks
    readers = (
        image.readers if len(image.readers) > 1 and (boxes or not is_there) else ()
    )
    if not is_there:
        return dict.fromkeys((BY_RULE, *readers), ())
    return {
        BY_RULE: boxes_by_rule(image, finding, rule),
        **{name: tuple(b.box for b in boxes if b.reader == name) for name in readers},
    }


def mask_by_rule(
    size: SizePx, boxes: Sequence[ReferenceBox], readers: Sequence[str], rule: str
) -> Mask | None:
    """Return the mask that a rule derives from a finding's boxes, None without boxes.

    ``readers`` are all who read the image.
    """
    named = {*readers, *(box.reader for box in boxes)}
    needed = max(1, math.ceil(len(named) / 2)) if rule == MAJORITY else 1
    everyone = rule in {ANY, MAJORITY}
    counted = tuple(box for box in boxes if everyone or box.reader == rule)
    found = mask_of(size, counted, needed) if counted else None
    return None if found is None or found.is_empty else found


@lru_cache(maxsize=4096)
def mask_of(size: SizePx, boxes: tuple[ReferenceBox, ...], needed: int) -> Mask:
    """Return the pixels whose centres lie in boxes of at least ``needed`` readers."""
    found = _patches(size, boxes, needed)
    runs: list[int] = []
    for column, width in enumerate(np.diff(found.columns)):
        runs += _column_runs(found, column) * int(width)
    return Mask(size, rle.encode_runs(_joined(runs)))


class _Masks(Mapping[str, Mask]):
    """An image's masks by finding; those derived from boxes are computed on access."""

    def __init__(self, image: DatasetImage, keys: tuple[str, ...], rule: str) -> None:
        self._image, self._keys, self._rule = image, keys, rule

    def __getitem__(self, finding: str) -> Mask:
        if finding not in self._keys:
            raise KeyError(finding)
        if finding in self._image.masks:
            return self._image.masks[finding]
        boxes = _counted(self._image, finding, self._rule)
        return mask_of(self._image.size, boxes, _needed(self._image, self._rule))

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def with_masks(image: DatasetImage, rule: str) -> DatasetImage:
    """Return an image with masks derived from its boxes, see ``referenced``."""
    if not image.boxes:
        return image
    boxed = [f for f in image.boxes if f not in image.masks]
    left = [f for f in boxed if _is_left(image, f, rule)]
    why = NO_MAJORITY if rule == MAJORITY else NOT_BY_READER
    lost = {f: why for f in boxed if f not in left and f not in image.defects}
    masks = _Masks(image, (*image.masks, *left), rule)
    return replace(image, masks=masks, defects={**image.defects, **lost})


def _is_left(image: DatasetImage, finding: str, rule: str) -> bool:
    boxes = _counted(image, finding, rule)
    if rule == MAJORITY:
        return bool(_patches(image.size, boxes, _needed(image, rule)).inside.any())
    # A box that lies between the centres of pixels marks none.
    return any(_holds_a_pixel(box.box, image.size) for box in boxes)


def _holds_a_pixel(box: BoxPx, size: SizePx) -> bool:
    return all(first < last for first, last in _pixels(box, size))


def _counted(image: DatasetImage, finding: str, rule: str) -> tuple[ReferenceBox, ...]:
    """Return the boxes that count under a rule."""
    boxes = image.boxes[finding]
    if rule in {ANY, MAJORITY}:
        return boxes
    return tuple(box for box in boxes if box.reader == rule)


def _needed(image: DatasetImage, rule: str) -> int:
    """Return how many readers must have marked a pixel; half of them is rounded up."""
    if rule != MAJORITY:
        return 1
    return max(1, math.ceil(len(_readers(image)) / 2))


def _readers(image: DatasetImage) -> set[str]:
    return {*image.readers, *readers_of(image.boxes)}


def _patches(size: SizePx, boxes: Sequence[ReferenceBox], needed: int) -> _Patches:
    spans = [(_pixels(b.box, size), b.reader) for b in boxes]
    rows = _edges(size.rows, [n for (r, _), _ in spans for n in r])
    columns = _edges(size.columns, [n for (_, c), _ in spans for n in c])
    votes = np.zeros((len(rows) - 1, len(columns) - 1), dtype=np.int64)
    for reader in dict.fromkeys(reader for _, reader in spans):
        # Boxes of one reader may overlap: together they are one vote.
        marked = np.zeros(votes.shape, dtype=np.bool_)
        for (r, c), _ in (span for span in spans if span[1] == reader):
            marked[_between(rows, r), _between(columns, c)] = True
        votes += marked
    return _Patches(rows, columns, votes >= needed)


def _pixels(box: BoxPx, size: SizePx) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the half-open rows and columns of pixels whose centres lie in a box."""
    return (
        _centres(box.y0, box.y1, size.rows),
        _centres(box.x0, box.x1, size.columns),
    )


def _centres(low: float, high: float, count: int) -> tuple[int, int]:
    # The centre of pixel i is at i + 0.5: low <= i + 0.5 < high.
    first = min(max(math.ceil(low - 0.5), 0), count)
    return first, min(max(math.ceil(high - 0.5), first), count)


def _edges(count: int, inner: Sequence[int]) -> _Ints:
    return np.unique(np.array([0, count, *inner], dtype=np.int64))


def _between(edges: _Ints, span: tuple[int, int]) -> slice:
    first, last = np.searchsorted(edges, span)
    return slice(int(first), int(last))


def _column_runs(found: _Patches, column: int) -> list[int]:
    """Return one column's run lengths, alternating and starting with background."""
    runs = [0, 0]
    for is_set, height in zip(
        found.inside[:, column], np.diff(found.rows), strict=True
    ):
        if is_set == (len(runs) % 2 == 0):
            runs[-1] += int(height)
        else:
            runs.append(int(height))
    return runs if len(runs) % 2 == 0 else [*runs, 0]


def _joined(runs: list[int]) -> list[int]:
    """Merge neighbouring runs separated by empty ones; the first may be 0."""
    out = runs[:1]
    for i in range(1, len(runs)):
        kind = i % 2
        if not runs[i]:
            continue
        if (len(out) - 1) % 2 == kind:
            out[-1] += runs[i]
        else:
            out.append(runs[i])
    return out


def _boxes_around(found: _Patches) -> Iterator[BoxPx]:
    """Yield the bounding box of each 8-connected group of patches."""
    left = {(int(r), int(c)) for r, c in np.argwhere(found.inside)}
    while left:
        part, open_ = set[tuple[int, int]](), {min(left)}
        while open_:
            r, c = open_.pop()
            part.add((r, c))
            left.discard((r, c))
            near = {(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)}
            open_ |= near & left
        rows, columns = {r for r, _ in part}, {c for _, c in part}
        yield BoxPx(
            float(found.columns[min(columns)]),
            float(found.rows[min(rows)]),
            float(found.columns[max(columns) + 1]),
            float(found.rows[max(rows) + 1]),
        )
