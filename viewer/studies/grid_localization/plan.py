"""The trials of a run, fixed before the first question is asked."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from viewer.domain.box_reference import check_rule, referenced
from viewer.domain.case import Dataset, DatasetImage, View
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.finding_names import concept, own_word, plain_name
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.plain import did_you_mean
from viewer.domain.reference import Mask
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.imaging.grid_overlay import drawn_label_height_px
from viewer.metrics.coverage import column_segments
from viewer.studies.exclusions import NO_REFERENCE
from viewer.studies.grid_localization.absent import absent
from viewer.studies.grid_localization.findings import KNOWN, NINE, SPELLINGS
from viewer.studies.grid_localization.params import (
    LEVELS,
    OutsideCrop,
    Params,
    read_params,
)
from viewer.studies.grid_localization.reference import grid_of, reference_of, style_of

_GRID: Final = "grid="
_VARIED_WORDS: Final = {
    "letters": "axis of the letters",
    "labels": "place of the names",
    "render_scale": "enlargement",
}


@dataclass(frozen=True, slots=True)
class Item:
    """A question about where a finding is on an image.

    ``exclusion`` says why it cannot be scored, "" if it can; ``mask`` is None if the
    data set has none that could be used. ``absent`` is True if the label says that the
    finding is absent (E000-32).
    """

    key: str
    patient: str
    image: str
    view: str
    finding: str
    geometry: ImageGeometry
    mask: Mask | None
    exclusion: str
    absent: bool = False


def plan(dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return every trial in the order image, finding, condition, repeat, model."""
    params = read_params(spec.preset, spec.params)
    models = tuple(profile.name for profile in spec.models)
    _refuse_twice("model", models)
    items = items_of(dataset, params)[: spec.limit]
    return tuple(
        _trial(item, condition, repeat, model)
        for item in items
        for condition, repeat, model in product(
            conditions_of(item, params), range(spec.repeats), models
        )
    )


@lru_cache(maxsize=64)
def conditions(params: Params) -> tuple[Condition, ...]:
    """Return one condition for each grid, in the order of the parameters.

    In an ablation each grid's own is followed by every combination of what is varied,
    except those in which names would not fit their cells.
    """
    size = SizePx(params.side, params.side)
    return tuple(
        one
        for one in _combinations(params)
        if not is_varied(one.name)
        or drawn_label_height_px(grid_of(one, params), size, style_of(one, params))
    )


def _combinations(params: Params) -> Iterator[Condition]:
    own = {name: str(getattr(params, name)) for name in params.ablation}
    levels = [
        dict.fromkeys((base, *map(str, LEVELS[name]))) for name, base in own.items()
    ]
    for grid, *combination in product(params.grids, *levels):
        changed = set(zip(own, combination, strict=True)) - set(own.items())
        yield _condition(params, grid, tuple(changed))


@lru_cache(maxsize=256)
def condition_named(name: str, params: Params) -> Condition:
    """Return the grid condition of a name, without its other parts."""
    grid, _, rest = name.removeprefix(_GRID).partition(" ")
    pairs = (part.partition("=") for part in rest.split())
    return _condition(params, grid, [(n, v) for n, _, v in pairs if n in LEVELS])


def varied_in_words(params: Params) -> str:
    """Return what an ablation varies, and in how many ways; "" without one."""
    if not params.ablation:
        return ""
    names = {**_VARIED_WORDS, "grids": "grid"}
    parts = ("grids", *params.ablation)
    listed = "; ".join(
        f"{names[part]} {', '.join(map(str, LEVELS.get(part, params.grids)))}"
        for part in parts
    )
    number, every = len(conditions(params)), len([*_combinations(params)])
    said = f"Every item is asked in {number} ways, each combination of {listed}."
    if number == every:
        return said
    left = counted(every - number, "combination is", "combinations are")
    return f"{said} {left} left out, because names would not fit their cells."


def is_varied(condition: str) -> bool:
    """Tell whether a condition has its grid otherwise than the run's settings."""
    return any(f" {name}=" in condition for name in LEVELS)


def levels_of(condition: str, params: Params) -> dict[str, str]:
    """Return the grid of a condition and what is varied beside it, by name."""
    of = dict(condition_named(condition, params).params)
    grid, _, _ = condition.removeprefix(_GRID).partition(" ")
    own = {name: str(of.get(name, getattr(params, name))) for name in params.ablation}
    return {"grid": grid, **own}


def conditions_of(item: Item, params: Params) -> tuple[Condition, ...]:
    """Return the conditions under which an item is asked."""
    every = conditions(params)
    return tuple(map(absent, every)) if item.absent else every


def items_of(dataset: Dataset, params: Params) -> tuple[Item, ...]:
    """Return the items of a data set; WrongUseError if there are none."""
    _refuse_twice("image", tuple(image.key for image in dataset.images))
    check_rule(dataset, params.reader_rule)
    dataset = referenced(dataset, params.reader_rule)
    names = _findings_in(dataset)
    findings = tuple(_asked_finding(name, names, params) for name in params.findings)
    _refuse_twice("finding", tuple(map(concept, findings)))
    items = tuple(
        item
        for image in dataset.images
        for item in _image_items(image, findings, params)
    )
    if not items:
        raise WrongUseError(
            f"The data set '{dataset.name}' has none of the requested findings and "
            "views.",
            f"It has {_named(names)}, "
            f"in images of view {' and '.join(_views_in(dataset)) or 'unknown'}.",
        )
    return items


def _condition(
    params: Params, name: str, changed: Collection[tuple[str, str]] = ()
) -> Condition:
    grid = params.grid(name)
    size = (("rows", grid.rows), ("columns", grid.columns))
    varied = sorted(changed, key=lambda one: [*LEVELS].index(one[0]))
    words = "".join(f" {what}={level}" for what, level in varied)
    return Condition(f"{_GRID}{grid.name}{words}", (*size, *varied))


def _trial(item: Item, condition: Condition, repeat: int, model: str) -> Trial:
    return Trial(
        item.key,
        item.patient,
        item.image,
        item.view,
        item.finding,
        condition,
        repeat,
        model,
        item.exclusion,
    )


def _image_items(
    image: DatasetImage, findings: tuple[str, ...], params: Params
) -> Iterator[Item]:
    if image.view is not View.UNKNOWN and image.view not in params.views:
        return
    masks, labels, defects = image.masks, image.labels, image.defects
    for finding in findings:
        mask, why = masks.get(finding), defects.get("*") or defects.get(finding)
        if finding in masks or labels.get(finding) or finding in defects:
            yield _item(image, finding, mask, why or _exclusion(image, mask, params))
        elif params.absent_findings and labels.get(finding) is False:
            yield _item(image, finding, None, why or _unknown_view(image), absent=True)


def _item(
    image: DatasetImage,
    finding: str,
    mask: Mask | None,
    exclusion: str,
    *,
    absent: bool = False,
) -> Item:
    return Item(
        f"{image.key}|{image.word_for(finding)}",
        image.patient,
        image.key,
        str(image.view),
        finding,
        image.geometry,
        mask,
        exclusion,
        absent,
    )


def _unknown_view(image: DatasetImage) -> str:
    return "unknown_view" if image.view is View.UNKNOWN else ""


def _exclusion(image: DatasetImage, mask: Mask | None, params: Params) -> str:
    """Return why an item cannot be scored, "" if it can."""
    if image.view is View.UNKNOWN:
        return _unknown_view(image)
    if mask is None:
        return NO_REFERENCE
    if mask.size != image.size:
        return "mask_size"
    try:
        # A broken run-length code is found only when it is decoded, as here.
        return _lost_in_crop(mask, image.geometry, params)
    except UnreadableInputError:
        return "mask_unreadable"


def _lost_in_crop(mask: Mask, geometry: ImageGeometry, params: Params) -> str:
    """Return why nothing of a mask is left after cropping, "" if some is."""
    if column_segments(mask).x.size == 0:
        return NO_REFERENCE
    # Any grid will do: whether the mask is on the square at all, no grid changes.
    reference = reference_of(mask, geometry, conditions(params)[0], params)
    if any(reference.covered) or params.outside_crop is OutsideCrop.MISS:
        return ""
    return "gt_outside_crop" if reference.fraction_outside == 1.0 else "gt_too_small"


def _views_in(dataset: Dataset) -> list[str]:
    return sorted({image.view.value for image in dataset.images})


def _named(findings: Collection[str]) -> str:
    """Return what a data set says on findings, in words; a label may deny one."""
    if not findings:
        return "no reference at all"
    return f"labels or outlines of {', '.join(sorted(findings))}"


def _findings_in(dataset: Dataset) -> set[str]:
    """Return a data set's own names of its findings."""
    return {
        name
        for image in dataset.images
        for name in (*image.masks, *image.labels, *image.defects)
        if name != "*"
    }


def _asked_finding(name: str, names: Collection[str], params: Params) -> str:
    """Return the word used to ask about a finding.

    It is the word in the settings, in the data set's spelling. The paper's default nine
    are named as in the data set.
    """
    own = own_word(name, names)
    if own and (plain_name(own) == plain_name(name) or params.findings == NINE):
        return own
    if own or plain_name(name) in SPELLINGS:
        return SPELLINGS.get(plain_name(name), name)
    known = tuple(dict.fromkeys((*names, *KNOWN)))
    raise WrongUseError(
        f"The finding '{name}' is not known and does not occur in the data set.",
        f"{did_you_mean(name, known)}Choose among {', '.join(known)}.",
    )


def _refuse_twice(what: str, names: tuple[str, ...]) -> None:
    if len(set(names)) == len(names):
        return
    twice = next(name for name in names if names.count(name) > 1)
    raise WrongUseError(
        f"The {what} '{twice}' is named more than once.", "Name each one once."
    )
