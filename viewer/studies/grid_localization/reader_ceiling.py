"""How often a reader meets what the other readers marked, and a model beside it.

A reference that several readers marked is not certain. Each reader in turn is left
out: what the others marked, any of them, is the reference, and the centre of the
largest box of the one left out is that reader's answer. How often its cell is a hit is
the most to expect of a model, whose answers are compared with the same references.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import BoxesAnswer
from viewer.domain.box_reference import ANY, mask_by_rule, readers_of
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.reference import Mask
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import NOT_COUNTED
from viewer.results.spec import OF_WHOM, Cell, Key, Shown, TableSpec
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.placed import PlacedTrial, located_answer
from viewer.studies.grid_localization.places import GridPlaces
from viewer.studies.grid_localization.plan import condition_named
from viewer.studies.grid_localization.shown import FINDING, interval, percent
from viewer.studies.places import measured
from viewer.studies.protocol import ABSENT_SUFFIX
from viewer.studies.tables import MICRO

CEILINGS: Final = "ceilings"
_HEADER: Final = (
    *("item", "patient", "finding", "grid", "model", "reader"),
    *("reader_hit", "model_hit", "every"),
)
READER_CEILING: Final = TableSpec(
    "reader_ceiling",
    (
        Key("finding", total=MICRO, ascending=True),
        Key("grid"),
        Key("model"),
    ),
    (
        Cell("distinct", ("items",), ("item",)),
        Cell(
            "rate",
            ("reader_k", "n", "readers", "readers_low", "readers_high", "method"),
            ("reader_hit", *OF_WHOM),
        ),
        Cell(
            "rate",
            (
                *("model_k", "model_n", "model_rate", "model_low", "model_high"),
                "model_method",
            ),
            ("model_hit", *OF_WHOM),
        ),
        Cell(
            "mean of pooled rates",
            ("share_of_readers",),
            ("model_hit", "reader_hit"),
            options={"by": "every", "among": (True,)},
        ),
    ),
    "Models against the agreement of readers",
    "Hit rates in per cent against what the other readers marked: of each reader in "
    "turn (the centre of the largest box) and of the model, on the same images and "
    "references. The last column is the model's rate in per cent of the readers'.",
    CEILINGS,
    sets=(("finding", "grid", "model"), ("grid", "model")),
    shown=(
        *(FINDING, "grid", "model", Shown("items", "Items")),
        percent("readers", "Readers %"),
        interval("readers"),
        percent("model_rate", "Model %"),
        interval("model"),
        percent("share_of_readers", "Of readers' %"),
    ),
)


def ceiling_frame(
    results: Sequence[PlacedTrial], params: Params, dataset: Dataset
) -> Frame:
    """Return a row for each trial and each of several readers of its finding."""
    images = {one.key: one for one in dataset.images}
    rows = (
        row
        for one in results
        if one.score.status not in NOT_COUNTED
        and not one.condition.endswith(ABSENT_SUFFIX)
        and one.image in images
        for row in _rows(one, params, images[one.image])
    )
    return frame_of_rows(_HEADER, rows)


def _rows(
    one: PlacedTrial, params: Params, image: DatasetImage
) -> Iterator[tuple[object, ...]]:
    answer = located_answer(one, params)
    places = GridPlaces(params)
    condition = condition_named(one.condition, params)
    for reader, mask in _left_out(image, one.finding).items():
        drawn = image.boxes[one.finding]
        own = BoxesAnswer(tuple(b.box for b in drawn if b.reader == reader))
        marked = measured(places, condition, mask, own, image.geometry)
        if marked is None:
            continue  # nothing that the others marked was sent
        said = (
            measured(places, condition, mask, answer, image.geometry)
            if answer is not None
            else None
        )
        yield (
            *(one.item, one.patient, one.finding),
            *(one.condition.removeprefix("grid="), one.model, reader),
            *(marked.cell_hit, said is not None and said.cell_hit, True),
        )


def _left_out(image: DatasetImage, finding: str) -> Mapping[str, Mask]:
    """Return, for each reader who marked a finding, what the others marked."""
    boxes = image.boxes.get(finding, ())
    readers = readers_of({finding: boxes})
    if len(readers) < 2:
        return {}
    masks = {
        reader: mask_by_rule(
            image.size, tuple(b for b in boxes if b.reader != reader), (), ANY
        )
        for reader in readers
    }
    return {reader: mask for reader, mask in masks.items() if mask is not None}
