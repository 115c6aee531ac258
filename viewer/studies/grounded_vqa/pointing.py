"""The boxes that first passes came to, for whoever looks at a trial (E002-14)."""

from collections.abc import Iterator

from viewer.domain.answer import LabelledBox
from viewer.domain.geometry import BoxPx
from viewer.studies.asking import Pointed, Turn
from viewer.studies.grounded_vqa.arms import change_of
from viewer.studies.grounded_vqa.items import area_of, native_size
from viewer.studies.grounded_vqa.localizing import EDITED, LOCATE, located_box
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.request import readable


def pointed(turn: Turn, params: Params) -> tuple[Pointed, ...]:
    """Return the box of each pass that named one, on the image that it was shown."""
    return tuple(_pointed(turn, params))


def _pointed(turn: Turn, params: Params) -> Iterator[Pointed]:
    size = native_size(turn.item)
    field = BoxPx(0, 0, size.columns, size.rows)
    for suffix in ("", EDITED):
        first = turn.reply_to(LOCATE + suffix)
        box = located_box(first.text, size) if first else None
        if box:
            boxes = (LabelledBox(box, _anatomy(turn, params, suffix)),)
            native = area_of(turn.item) is not None and not suffix
            key = readable(turn, params).image if native else ""
            yield Pointed(LOCATE + suffix, 0, field, boxes, key)


def _anatomy(turn: Turn, params: Params, suffix: str) -> str:
    """Return the anatomy that a pass was asked to locate."""
    change = change_of(turn.trial.item, turn.trial.condition.name)
    if suffix and change.pair:
        return change.pair[0]
    return readable(turn, params).anatomy
