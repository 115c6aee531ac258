"""Images with the boxes that outputs drew: error cards (figure 4), and examples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from viewer.domain.answer import LabelledBox, ReportAnswer
from viewer.domain.figure import (
    Card,
    CardFigure,
    FigureHead,
    GalleryFigure,
    Picture,
    Tile,
)
from viewer.domain.image import Raster
from viewer.domain.report_study import StudyImage
from viewer.domain.result import TrialResult
from viewer.domain.rubric import CODE_WORDS, FailureCode
from viewer.domain.task_selection import Category
from viewer.imaging.bitmap_font import text_mask
from viewer.imaging.resample import shrunk
from viewer.studies.packs import PackInput
from viewer.studies.rubric_reading.outputs import excerpt
from viewer.studies.rubric_reading.params import read_params
from viewer.studies.rubric_reading.plan import Asked, tasks_of
from viewer.studies.rubric_reading.supplement import Row
from viewer.studies.steps import Sources

_MOST_CARDS: Final = 4
_MOST_OF_A_KIND: Final = 4
_KINDS: Final[Mapping[Category, str]] = {
    Category.BROAD: "broad query",
    Category.REASONING: "reasoning",
    Category.MEASUREMENT: "measurement",
}
"""What each category is called where there is little room."""

Output = tuple[str, str, int]
"""A model, an item and a repeat."""


@dataclass(frozen=True)
class _Drawn:
    """An output with boxes: its task, and the images that its model was shown."""

    result: TrialResult
    asked: Asked
    boxes: tuple[LabelledBox, ...]
    images: tuple[StudyImage, ...]

    @property
    def output(self) -> Output:
        """Its model, item and repeat."""
        return self.result.model, self.result.item, self.result.repeat

    def on(self, place: int) -> tuple[LabelledBox, ...]:
        """Return the boxes on an image, counted from 0."""
        return tuple(box for box in self.boxes if box.image == place)


def error_cards(given: PackInput, rows: Sequence[Row]) -> tuple[CardFigure, ...]:
    """Return figure 4, a card for each output with a concern; none without.

    ``rows`` are those of error_cards.csv. The first of each kind of failure come first.
    """
    drawn = {one.output: one for one in _drawn(given)}
    results = {(one.model, one.item, one.repeat): one for one in given.results}
    cards = []
    for of in islice(_varied(_by_output(rows)), _MOST_CARDS):
        output = _output(of[0])
        card = _card(of, drawn.get(output), given.sources)
        if output in results:
            card = _with_returned(card, of, given.returned(results[output]))
        cards.append(card)
    head = FigureHead(
        "figure_4",
        "Figure 4",
        "Error examples",
        "Outputs that readers had concerns about: the boxes that the model drew, the "
        "picture that it returned, an excerpt of its text, and what readers said. One "
        "of each kind of failure comes first; every card is in "
        "error_cards.csv.",
    )
    return (CardFigure(head, tuple(cards)),) if cards else ()


def boxed_outputs(given: PackInput) -> tuple[GalleryFigure, ...]:
    """Return outputs with their boxes, four of each category; none without any."""
    tiles = tuple(_examples(given))
    head = FigureHead(
        "boxed_outputs",
        "",
        "Outputs with boxes",
        "The first image that an output drew on, with its labels in order; up to four "
        "per category.",
    )
    return (GalleryFigure(head, tiles),) if tiles else ()


def _output(card: Row) -> Output:
    return card["model"], card["item"], card["repeat"]


def _by_output(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the remarks of every reader on an output together, in their order."""
    found: dict[Output, list[Row]] = {}
    for row in rows:
        found.setdefault(_output(row), []).append(row)
    return list(found.values())


def _varied(outputs: Sequence[list[Row]]) -> list[list[Row]]:
    """Return outputs with the first of each kind of failure before the others."""
    seen: set[str] = set()
    first: list[list[Row]] = []
    others: list[list[Row]] = []
    for of in outputs:
        kind = next((row["codes"] for row in of if row["codes"]), "")
        (others if kind in seen else first).append(of)
        seen.add(kind)
    return [*first, *others]


def _card(of: Sequence[Row], drawn: _Drawn | None, sources: Sources | None) -> Card:
    """Return the card of an output, with the image that a remark names."""
    row, boxes, picture = of[0], tuple[LabelledBox, ...](), None
    if drawn and sources:
        named = (one["image"] - 1 for one in of if one["image"] is not None)
        place = next((p for p in named if drawn.on(p)), drawn.boxes[0].image)
        boxes = drawn.on(place)
        picture = boxed(sources.raster(drawn.images[place].key), boxes)
    labels = tuple(box.label or "a box" for box in boxes)
    said = tuple(dict.fromkeys(remark for one in of for remark in _remarks(one)))
    where = (row["item"], row["task"], row["model"])
    return Card(*where, picture, labels, row["excerpt"], said)


def _with_returned(card: Card, of: Sequence[Row], returned: Sequence[Raster]) -> Card:
    """Return a card with the returned picture that a remark names, else the first."""
    if not returned:
        return card
    named = (one["image"] - 1 for one in of if one["image"] is not None)
    place = next((p for p in named if p < len(returned)), 0)
    return replace(card, returned=boxed(returned[place], ()))


def _remarks(row: Row) -> Iterator[str]:
    """Yield the reader's concerns and comments, then the failure codes in words."""
    yield from filter(None, (*row["concerns"].split("; "), row["comments"]))
    codes = filter(None, row["codes"].split("; "))
    yield from (CODE_WORDS[FailureCode(code)].capitalize() for code in codes)


def _examples(given: PackInput) -> Iterator[Tile]:
    if given.sources is None:
        return
    seen: dict[str, int] = {}
    for one in _drawn(given):
        if one.result.repeat:
            continue
        kind = _KINDS[one.asked.task.category]
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= _MOST_OF_A_KIND:
            place = one.boxes[0].image
            words = ", ".join(box.label for box in one.on(place))
            yield _tile(one, place, kind, words, given.sources)


def _drawn(given: PackInput) -> Iterator[_Drawn]:
    """Yield the outputs with a box on an image that was shown."""
    params = read_params(given.spec.preset, given.spec.params)
    tasks = {asked.name: asked for asked in tasks_of(given.dataset.items)}
    for result in given.results:
        answer, asked = result.said, tasks.get(result.item)
        if asked is None or not isinstance(answer, ReportAnswer):
            continue
        images = asked.shown_to(result.model, params).images
        boxes = tuple(box for box in answer.boxes if box.image < len(images))
        if boxes:
            yield _Drawn(result, asked, boxes, images)


def _tile(one: _Drawn, place: int, kind: str, words: str, sources: Sources) -> Tile:
    return Tile(
        boxed(sources.raster(one.images[place].key), one.on(place)),
        kind,
        one.result.item,
        excerpt(one.asked.task.task, 6),
        one.result.model,
        excerpt(words, 4),
        str(one.result.score.status),
    )


COLOURS: Final = ((213, 94, 0), (0, 114, 178), (0, 158, 115), (230, 159, 0))
"""Of the first box, the second and so on, told apart by colour-blind readers."""
_LINE: Final = 3
_LONGEST: Final = 480


def boxed(raster: Raster, boxes: Sequence[LabelledBox]) -> Picture:
    """Return an image (rows, columns, 3) with boxes numbered from 1.

    ``boxes`` are in the raster's own pixels; the picture's longer side is 480 at most.
    """
    small = shrunk(raster, _LONGEST)
    pixels = np.asarray(small.pixels)
    shown = pixels.copy() if pixels.ndim == 3 else np.stack([pixels] * 3, axis=-1)
    across = small.size.columns / raster.size.columns
    down = small.size.rows / raster.size.rows
    for number, one in enumerate(boxes, 1):
        colour = COLOURS[(number - 1) % len(COLOURS)]
        x0, x1 = round(across * one.box.x0), round(across * one.box.x1)
        y0, y1 = round(down * one.box.y0), round(down * one.box.y1)
        _frame(shown, (max(x0, 0), max(y0, 0), x1, y1), colour)
        _number(shown, (max(x0, 0), max(y0, 0)), str(number), colour)
    return shown


def _frame(
    shown: Picture, corners: tuple[int, int, int, int], colour: tuple[int, int, int]
) -> None:
    x0, y0, x1, y1 = corners
    shown[y0 : y0 + _LINE, x0:x1] = colour
    shown[max(y0, y1 - _LINE) : y1, x0:x1] = colour
    shown[y0:y1, x0 : x0 + _LINE] = colour
    shown[y0:y1, max(x0, x1 - _LINE) : x1] = colour


def _number(
    shown: Picture, corner: tuple[int, int], text: str, colour: tuple[int, int, int]
) -> None:
    """Write a number inside a box's upper left corner, as far as it fits."""
    ink = text_mask(text, 2)
    left, top = (value + 2 * _LINE for value in corner)
    area = shown[top : top + ink.shape[0], left : left + ink.shape[1]]
    area[ink[: area.shape[0], : area.shape[1]]] = colour
