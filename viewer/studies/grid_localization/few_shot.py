"""Few-shot examples at the start of a question, from a validation split (E000-11).

Each is an image of another patient with the same finding and view, drawn like the one
asked about, and the cell that its mask covers most, or for a model that answers in
coordinates the box around the largest part of its mask. The draw depends on the run's
seed, the finding and the view alone, so that all questions about a finding begin alike.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.finding_names import concept
from viewer.domain.geometry import BoxPx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.run import Condition, Trial
from viewer.metrics.parts import boxes_around
from viewer.metrics.regions import mask_of_boxes
from viewer.metrics.seeding import generator
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.spec import ListSpec, Shown
from viewer.studies.grid_localization.params import OutsideCrop, Params
from viewer.studies.grid_localization.plan import Item, conditions, items_of
from viewer.studies.grid_localization.reference import field_of, reference_of
from viewer.studies.places import GridReference

EXAMPLES: Final = "examples"
_TEST = "test"
_Asked = Collection[tuple[str, str]]


@dataclass(frozen=True)
class _Content:
    """A data set, hashed by its content, so that its items can be cached."""

    root_sha256: str
    dataset: Dataset = field(compare=False, repr=False)


@dataclass(frozen=True)
class ExampleItem:
    """An example: an image of the examples' data set, and its answer as a cell.

    ``box`` is around the largest part of its mask that is sent, in native pixels.
    """

    image: str
    answer: str
    box: BoxPx
    geometry: ImageGeometry


@dataclass(frozen=True)
class GridExamples:
    """The source of examples, with a run's settings."""

    params: Params

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.params.examples_dataset

    def check(
        self, validation: Dataset, asked: Dataset, trials: Sequence[Trial]
    ) -> None:
        """Raise if there are too few examples, or they would reveal answers."""
        _check(validation, asked, trials, self.params)


def _check(
    validation: Dataset, asked: Dataset, trials: Sequence[Trial], params: Params
) -> None:
    if validation.split == _TEST:
        raise WrongUseError(
            f"'{validation.name}' is a test split, and examples are not taken from "
            "one.",
            "Name a validation split as examples_dataset.",
        )
    _check_disjoint(validation, asked)
    wanted = {(t.finding, t.view) for t in trials if not t.exclusion}
    for finding, view in sorted(wanted):
        eligible = _eligible(_content(validation), params, finding, view)
        patients = len({item.patient for item in eligible})
        if patients < params.examples:
            raise WrongUseError(
                f"'{validation.name}' has {patients} {view} examples of "
                f"{finding.lower()}, each of a different patient, but "
                f"{params.examples} are needed.",
                "Ask for fewer examples, or leave the finding out.",
            )


def examples(
    validation: Dataset, trial: Trial, params: Params, seed: int
) -> tuple[ExampleItem, ...]:
    """Return a trial's examples in the order shown, from different patients."""
    drawn = _drawn(validation, trial.finding, trial.view, params, seed)
    return tuple(_example(item, trial.condition, params) for item in drawn)


def example_frame(
    validation: Dataset | None, params: Params, seed: int, asked: _Asked
) -> Frame:
    """Return the examples shown; nothing if there were none.

    ``asked`` holds each finding and view that was asked about.
    """
    header = ("finding", "view", "condition", "number", "image", "patient", "answer")
    rows = (
        (finding, view, condition.name, number, item.image, item.patient, answer)
        for finding, view in sorted(asked)
        if validation is not None and params.examples
        for condition in conditions(params)
        for number, item in enumerate(
            _drawn(validation, finding, view, params, seed), 1
        )
        for answer in [_example(item, condition, params).answer]
    )
    return frame_of_rows(header, rows)


def examples_spec(params: Params) -> ListSpec:
    """Return the examples that questions began with."""
    return ListSpec(
        EXAMPLES,
        title="Examples shown",
        text=f"Every question began with {params.examples}, each of a different "
        f"patient, drawn from {params.examples_dataset} with the run's seed.",
        frame=EXAMPLES,
        shown=(
            *("finding", "view", Shown("condition", "Grid"), "number"),
            *("image", "patient", "answer"),
        ),
    )


def _drawn(
    validation: Dataset, finding: str, view: str, params: Params, seed: int
) -> tuple[Item, ...]:
    """Return the items shown before questions about a finding in a view."""
    eligible = _eligible(_content(validation), params, finding, view)
    chosen: dict[str, Item] = {}
    for i in generator(seed, "examples", finding, view).permutation(len(eligible)):
        chosen.setdefault(eligible[i].patient, eligible[i])
    return tuple(chosen.values())[: params.examples]


def _check_disjoint(validation: Dataset, asked: Dataset) -> None:
    """Refuse patients or files that are in both data sets."""
    patients = _patients(validation) & _patients(asked)
    files = {i.sha256 for i in validation.images} & {i.sha256 for i in asked.images}
    if patients:
        raise WrongUseError(
            f"Of the patients of '{validation.name}', {len(patients)} are also in "
            f"'{asked.name}', so examples would reveal answers.",
            "Name a data set of other patients as examples_dataset.",
        )
    if files - {""}:
        raise WrongUseError(
            f"'{validation.name}' and '{asked.name}' contain the same image under two "
            "names, so examples would reveal answers.",
            "Name a data set of other images as examples_dataset.",
        )


def _patients(dataset: Dataset) -> set[str]:
    return {image.patient for image in dataset.images}


def _content(dataset: Dataset) -> _Content:
    return _Content(dataset.root_sha256, dataset)


@lru_cache(maxsize=128)
def _eligible(
    content: _Content, params: Params, finding: str, view: str
) -> tuple[Item, ...]:
    """Return the items that can be examples, by key."""
    # Whatever is asked: an example needs a mask, and some of it on the picture.
    present = replace(params, absent_findings=False, outside_crop=OutsideCrop.EXCLUDE)
    items = items_of(content.dataset, present)
    usable = (
        item
        for item in items
        if (concept(item.finding), item.view) == (concept(finding), view)
        and not item.exclusion
    )
    return tuple(sorted(usable, key=lambda item: item.key))


def _example(item: Item, condition: Condition, params: Params) -> ExampleItem:
    if item.mask is None:
        raise ValueError("an example without a mask has no answer")
    reference = reference_of(item.mask, item.geometry, condition, params)
    box = _largest(item.mask, field_of(item.geometry, params))
    return ExampleItem(item.image, _best(reference), box, item.geometry)


@lru_cache(maxsize=512)
def _largest(mask: Mask, field: BoxPx) -> BoxPx:
    """Return the box around the largest part of a mask inside a field, by its box."""
    parts = boxes_around(mask.array() & mask_of_boxes((field,), mask.size))
    return max(parts, key=lambda box: (box.x1 - box.x0) * (box.y1 - box.y0))


def _best(reference: GridReference) -> str:
    """Return the cell that a mask covers most, the first in row-major order."""
    shares = [c / a for c, a in zip(reference.covered, reference.area, strict=True)]
    cells = reference.grid.cells()
    return reference.grid.label(cells[shares.index(max(shares))])
