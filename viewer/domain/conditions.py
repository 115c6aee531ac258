"""The parts of a condition besides its study's own: window, boxes, prompt variant."""

from collections.abc import Sequence
from typing import Final

from viewer.domain.geometry import BoxPx
from viewer.domain.image import VoiFunction, Window
from viewer.domain.run import Condition

_BOXES: Final = "boxes"
_PROMPT: Final = "prompt"
_VARIANT: Final = f" {_PROMPT}="


def with_window(condition: Condition, window: Window) -> Condition:
    """Return a condition under which a window replaces the file's own VOI."""
    return Condition(
        f"{condition.name} window={window.center:g}/{window.width:g}",
        (
            *condition.params,
            ("window_center", window.center),
            ("window_width", window.width),
            ("window_function", window.function.value),
        ),
    )


def window_of(condition: Condition) -> Window | None:
    """Return the window that a condition sets, None if the file's own holds."""
    params = dict(condition.params)
    if "window_width" not in params:
        return None
    return Window(
        float(params["window_center"]),
        float(params["window_width"]),
        VoiFunction(str(params["window_function"])),
    )


def with_boxes(condition: Condition, boxes: Sequence[BoxPx]) -> Condition:
    """Return a condition under which a model is asked about boxes in native pixels."""
    told = " ".join(f"{b.x0!r},{b.y0!r},{b.x1!r},{b.y1!r}" for b in boxes)
    params = (*condition.params, (_BOXES, told))
    return Condition(f"{condition.name} boxes={told}", params)


def boxes_of(condition: Condition) -> tuple[BoxPx, ...]:
    """Return the boxes that a condition asks about, none if it names none."""
    told = str(dict(condition.params).get(_BOXES, ""))
    return tuple(BoxPx(*map(float, box.split(","))) for box in told.split())


def with_variant(condition: Condition, variant: str) -> Condition:
    """Return a condition under which a variant of the prompts is asked with."""
    params = (*condition.params, (_PROMPT, variant))
    return Condition(f"{condition.name}{_VARIANT}{variant}", params)


def variant_of(name: str) -> str:
    """Return the variant of the prompts in a condition's name, "" for the run's own."""
    return name.partition(_VARIANT)[2]


def name_without_variant(name: str) -> str:
    """Return the name of the same condition with the run's own prompts."""
    return name.partition(_VARIANT)[0]


def without_variant(condition: Condition) -> Condition:
    """Return the same condition with the run's own prompts."""
    if not variant_of(condition.name):
        return condition
    params = tuple(one for one in condition.params if one[0] != _PROMPT)
    return Condition(name_without_variant(condition.name), params)
