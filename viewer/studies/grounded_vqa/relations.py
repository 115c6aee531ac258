"""Which finding is in which anatomy: boxes over anatomy masks (E002-01, E002-02)."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from viewer.domain import rle
from viewer.domain.case import DatasetImage, Notice
from viewer.domain.errors import WrongUseError
from viewer.domain.finding_names import plain_name
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Mask
from viewer.domain.report import Table
from viewer.studies.grounded_vqa.params import Params, RelationRule, Touching

Pair = tuple[str, str]
"""An anatomy and a finding."""
_Ints = npt.NDArray[np.int64]
_HALF = 0.5
_TWO_RUNS = re.compile("(?:[P-o]*[0-O]){2}")
"""Two groups of COCO's code, of which each ends with a character below P."""
CURVE: tuple[float, ...] = tuple(round(0.01 * i, 2) for i in range(100))
"""Thresholds of the sensitivity curve."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much a finding's box covers an anatomy, by both rules, each 0 to 1.

    For several boxes of a finding the maximum of each counts.
    """

    anatomy: str
    finding: str
    iou: float
    ioa: float

    def of(self, rule: RelationRule) -> float:
        """Return the overlap that a rule measures."""
        return self.iou if rule is RelationRule.IOU else self.ioa

    def related(self, rule: RelationRule, threshold: float) -> bool:
        """Tell whether the finding is in the anatomy: IoU > θ, or IoA >= θ."""
        strict = rule is RelationRule.IOU
        return self.of(rule) > threshold if strict else self.of(rule) >= threshold

    @property
    def pair(self) -> Pair:
        """Anatomy and finding."""
        return self.anatomy, self.finding


@dataclass(frozen=True)
class Charted:
    """One image's anatomies with a mask, its findings, and how they overlap.

    ``findings`` are those with a box, ``anatomies`` those that can be asked about, of
    which ``outlined`` have a mask with a pixel.
    """

    image: str
    patient: str
    view: str
    anatomies: tuple[str, ...]
    findings: tuple[str, ...]
    overlaps: tuple[Overlap, ...]
    outlined: tuple[str, ...]


@dataclass(frozen=True)
class Chart:
    """Every image's relations under one rule and threshold.

    ``notices`` say which image has no mask, or an empty one, of an anatomy.
    """

    rule: RelationRule
    threshold: float
    touching: Touching
    images: tuple[Charted, ...]
    notices: tuple[Notice, ...] = ()
    _by_key: Mapping[str, Charted] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_key = {image.image: image for image in self.images}
        object.__setattr__(self, "_by_key", by_key)

    def image(self, key: str) -> Charted:
        """Return the relations of the image with a key."""
        return self._by_key[key]

    def related(self, key: str) -> tuple[Pair, ...]:
        """Return the pairs that are present in an image."""
        return self._related[key]

    @cached_property
    def _related(self) -> Mapping[str, tuple[Pair, ...]]:
        rule, threshold = self.rule, self.threshold
        return {
            image.image: tuple(
                o.pair for o in image.overlaps if o.related(rule, threshold)
            )
            for image in self.images
        }

    def unclear(self, key: str) -> frozenset[Pair]:
        """Return the pairs that are neither present nor, by the setting, absent."""
        return self._unclear.get(key, frozenset())

    @cached_property
    def _unclear(self) -> Mapping[str, frozenset[Pair]]:
        if self.touching is Touching.ABSENT:
            return {}
        return {
            image.image: frozenset(o.pair for o in image.overlaps if o.ioa > 0)
            - set(self.related(image.image))
            for image in self.images
        }

    def findings_in(self, key: str, anatomy: str) -> tuple[str, ...]:
        """Return the findings of an image that are in an anatomy."""
        return tuple(f for a, f in self.related(key) if a == anatomy)

    def is_healthy(self, key: str, anatomy: str) -> bool:
        """Tell whether an anatomy with a mask has no finding, and no doubtful one."""
        doubted = {a for a, _ in self.unclear(key)}
        has_mask = anatomy in self.image(key).anatomies
        return (
            has_mask and anatomy not in doubted and not self.findings_in(key, anatomy)
        )

    @cached_property
    def healthy(self) -> Mapping[str, tuple[Charted, ...]]:
        """The images, by anatomy, in which it has a mask and no finding, in order."""
        found: dict[str, list[Charted]] = defaultdict(list)
        for image in self.images:
            for anatomy in image.anatomies:
                if self.is_healthy(image.image, anatomy):
                    found[anatomy].append(image)
        return {anatomy: tuple(of) for anatomy, of in found.items()}

    @cached_property
    def present_in(self) -> Mapping[Pair, tuple[Charted, ...]]:
        """The images in which each pair is present, in order."""
        found: dict[Pair, list[Charted]] = defaultdict(list)
        for image in self.images:
            for pair in self.related(image.image):
                found[pair].append(image)
        return {pair: tuple(of) for pair, of in found.items()}

    @cached_property
    def co_occurring(self) -> tuple[Pair, ...]:
        """The pairs that are present in at least one image, sorted."""
        return tuple(sorted({p for i in self.images for p in self.related(i.image)}))


def overlap_of(box: BoxPx, size: SizePx, ends: _Ints) -> tuple[float, float]:
    """Return (IoU, IoA) of a box with the mask of an image whose runs end there.

    Both count the pixels of the image whose centres they hold; a box without one has 0.
    """
    rows = _centres(box.y0, box.y1, size.rows)
    columns = _centres(box.x0, box.x1, size.columns)
    in_box = (rows.stop - rows.start) * (columns.stop - columns.start)
    first = np.arange(columns.start, columns.stop) * size.rows
    above, below = (_set_before(first + row, ends) for row in (rows.start, rows.stop))
    both = int((below - above).sum())
    union = in_box + int(_set_before(ends[-1:], ends)[0]) - both
    return (both / union if union else 0.0, both / in_box if in_box else 0.0)


def ends_of(mask: Mask) -> _Ints:
    """Return where a mask's runs end, counted down the columns, background first."""
    return np.cumsum(rle.decode_runs(mask.counts))


def _set_before(places: _Ints, ends: _Ints) -> _Ints:
    """Return how many pixels are set before each place, counted down the columns.

    ``ends`` are where the runs end, background first.
    """
    lengths = np.diff(ends, prepend=0)
    # Every other run is background, from the first on.
    lengths[::2] = 0
    whole = np.concatenate(([0], np.cumsum(lengths)))
    # A place at which a run ends is the first of the next run that is not empty.
    run = np.searchsorted(ends, places, side="right")
    starts = np.concatenate(([0], ends))[run]
    return np.asarray(whole[run] + np.where(run % 2, places - starts, 0))


def chart(
    images: Sequence[DatasetImage],
    params: Params,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Chart:
    """Return the relations of images that can be read; defects leave one out.

    ``progress`` is called with how many images of how many are charted.

    Raises
    ------
    WrongUseError
        No image has a mask of any of the anatomies, or every mask of them is empty.
    """
    usable = [image for image in images if "*" not in image.defects]
    masked = _masked(usable, params.anatomies)
    charted, notices = [], list(_unmasked(usable, params.anatomies))
    for done, image in enumerate(usable, 1):
        one, about = _charted(image, masked)
        charted.append(one)
        notices += about
        progress(done, len(usable))
    return Chart(
        params.relation_rule,
        params.threshold,
        params.touching,
        tuple(charted),
        tuple(notices),
    )


def threshold_curve(
    found: Chart, rule: RelationRule, thresholds: Sequence[float] = CURVE
) -> Table:
    """Return how many relations there are above each threshold (E002-02)."""
    overlaps = [overlap for image in found.images for overlap in image.overlaps]
    rows = [
        (str(rule), threshold, sum(o.related(rule, threshold) for o in overlaps))
        for threshold in thresholds
    ]
    return Table("threshold_curve", ("rule", "threshold", "relations"), tuple(rows))


@dataclass(frozen=True, slots=True)
class RuleLoss:
    """The effect of a rule on the finding boxes in a data set.

    Of ``findings`` with a box, counted once per image, ``placed`` are in an anatomy;
    ``lost`` are not, although a box lies wholly inside one. ``doubtful`` are anatomies
    without a finding that contain at least half of a box.
    """

    rule: RelationRule
    threshold: float
    findings: int
    placed: int
    lost: int
    doubtful: int


def rule_losses(found: Chart, params: Params) -> tuple[RuleLoss, ...]:
    """Return the findings that each rule loses, at its own threshold."""
    return tuple(
        _loss(replace(found, rule=rule, threshold=params.threshold_of(rule)))
        for rule in RelationRule
    )


def _loss(found: Chart) -> RuleLoss:
    boxed = {(i.image, finding) for i in found.images for finding in i.findings}
    placed = {(i.image, f) for i in found.images for _, f in found.related(i.image)}
    held = [(i.image, o) for i in found.images for o in i.overlaps if o.ioa >= _HALF]
    inside = {(image, o.finding) for image, o in held if o.ioa == 1}
    doubtful = {
        (image, o.anatomy) for image, o in held if found.is_healthy(image, o.anatomy)
    }
    lost = inside - placed
    return RuleLoss(
        *(found.rule, found.threshold, len(boxed), len(placed), len(lost)),
        len(doubtful),
    )


def _charted(
    image: DatasetImage, anatomies: tuple[str, ...]
) -> tuple[Charted, list[Notice]]:
    masks, notices = _masks(image, anatomies)
    findings = tuple(sorted(set(image.boxes) - set(image.defects)))
    overlaps = [
        overlap
        for anatomy, mask in (masks.items() if findings else ())
        for overlap in _overlaps(image, findings, anatomy, mask)
    ]
    one = Charted(
        *(image.key, image.patient, image.view.value),
        tuple(masks),
        findings,
        tuple(overlaps),
        outlined=tuple(masks),
    )
    return one, notices


def _overlaps(
    image: DatasetImage, findings: Sequence[str], anatomy: str, mask: Mask
) -> Iterator[Overlap]:
    """Yield how each finding with a pixel in an anatomy overlaps it."""
    ends = ends_of(mask)
    for finding in findings:
        each = [overlap_of(r.box, mask.size, ends) for r in image.boxes[finding]]
        iou, ioa = (max(values) for values in zip(*each, strict=True))
        if ioa > 0:
            yield Overlap(anatomy, finding, iou, ioa)


def _masks(
    image: DatasetImage, anatomies: tuple[str, ...]
) -> tuple[dict[str, Mask], list[Notice]]:
    masks: dict[str, Mask] = {}
    notices: list[Notice] = []
    for anatomy in anatomies:
        mask = image.anatomy.get(anatomy)
        if mask is None:
            text = f"It has no mask of {anatomy}, so that anatomy is not used for it."
            notices.append(Notice("no_anatomy_mask", image.key, text))
        elif _is_empty(mask):
            text = (
                f"Its mask of {anatomy} is empty, so that anatomy is not used for it."
            )
            notices.append(Notice("empty_anatomy_mask", image.key, text))
        else:
            masks[anatomy] = mask
    return masks, notices


def _is_empty(mask: Mask) -> bool:
    """Tell whether a mask has no pixel; mostly its first two runs tell."""
    first = _TWO_RUNS.match(mask.counts)
    if first and rle.decode_runs(first[0])[1] > 0:
        return False
    return mask.is_empty


def _masked(
    images: Sequence[DatasetImage], anatomies: Sequence[str]
) -> tuple[str, ...]:
    """Return the anatomies that an image has a mask of, one of them with a pixel."""
    there = {name for image in images for name in image.anatomy}
    masked = tuple(anatomy for anatomy in anatomies if anatomy in there)
    if not masked:
        raise _no_mask(anatomies, there)
    masks = (i.anatomy[a] for i in images for a in masked if a in i.anatomy)
    if all(map(_is_empty, masks)):
        raise WrongUseError(
            f"Every mask of {_either(masked)} in the data set is empty.",
            "Remove it from the anatomies, or import masks of it.",
        )
    return masked


def _unmasked(
    images: Sequence[DatasetImage], anatomies: Sequence[str]
) -> Iterator[Notice]:
    """Yield a notice of each anatomy that no image has a mask of."""
    there = {name for image in images for name in image.anatomy}
    others = ", ".join(sorted(there - {*anatomies}))
    also = f"; there are masks of {others}" if others else ""
    for anatomy in anatomies:
        if anatomy not in there:
            text = f"No image has a mask of it, so it is not asked about{also}."
            yield Notice("anatomy_without_masks", anatomy, text)


def _no_mask(anatomies: Sequence[str], there: set[str]) -> WrongUseError:
    wanted = {plain_name(anatomy) for anatomy in anatomies}
    alike = sorted(name for name in there if plain_name(name) in wanted)
    names = ", ".join(alike or sorted(there))
    how = f"Name one that it has: {names}." if there else "Import masks of anatomies."
    return WrongUseError(
        f"No image of the data set has a mask of {_either(anatomies)}.", how
    )


def _either(names: Sequence[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)


def _centres(low: float, high: float, count: int) -> slice:
    first = min(max(math.ceil(low - 0.5), 0), count)
    return slice(first, min(max(math.ceil(high - 0.5), first), count))
