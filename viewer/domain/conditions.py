"""Window, boxes, prompt variant and control of a condition, beside the study's own."""

from collections.abc import Sequence
from typing import Final

from viewer.domain.geometry import BoxPx
from viewer.domain.image import VoiFunction, Window
from viewer.domain.run import Condition

_BOXES: Final = "boxes"
_PROMPT: Final = "prompt"
_VARIANT: Final = f" {_PROMPT}="
_CONTROL: Final = "control"
_UNDER: Final = f" {_CONTROL}="


def with_window(condition: Condition, window: Window) -> Condition:
    """Return a condition in which a window replaces the file's VOI transformation."""
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
    """Return the window that a condition sets, None if the file's VOI applies."""
    params = dict(condition.params)
    if "window_width" not in params:
        return None
    return Window(
        float(params["window_center"]),
        float(params["window_width"]),
        VoiFunction(str(params["window_function"])),
    )


def with_boxes(condition: Condition, boxes: Sequence[BoxPx]) -> Condition:
    """Return a condition in which a model is asked about boxes in native pixels."""
    coordinates = " ".join(f"{b.x0!r},{b.y0!r},{b.x1!r},{b.y1!r}" for b in boxes)
    params = (*condition.params, (_BOXES, coordinates))
    return Condition(f"{condition.name} boxes={coordinates}", params)


def boxes_of(condition: Condition) -> tuple[BoxPx, ...]:
    """Return the boxes that a condition asks about, empty if it names none."""
    text = str(dict(condition.params).get(_BOXES, ""))
    return tuple(BoxPx(*map(float, box.split(","))) for box in text.split())


def with_variant(condition: Condition, variant: str) -> Condition:
    """Return a condition that uses a variant of the prompts."""
    params = (*condition.params, (_PROMPT, variant))
    return Condition(f"{condition.name}{_VARIANT}{variant}", params)


def variant_of(name: str) -> str:
    """Return the prompt variant in a condition's name, "" for the run's own prompts."""
    return name.partition(_VARIANT)[2]


def name_without_variant(name: str) -> str:
    """Return a condition's name with the run's own prompts instead of a variant."""
    return name.partition(_VARIANT)[0]


def under_control(condition: Condition, control: str, shown: Condition) -> Condition:
    """Return a condition under a control, which the study shows as another condition.

    That is the same for all controls but those of options.
    """
    params = (*shown.params, (_CONTROL, control))
    return Condition(f"{condition.name}{_UNDER}{control}", params)


def control_of(name: str) -> str:
    """Return the control in a condition's name, "" for none."""
    return name.partition(_UNDER)[2]


def name_without_control(name: str) -> str:
    """Return the name of the same condition without a control."""
    return name.partition(_UNDER)[0]


def is_studys_own(name: str) -> bool:
    """Tell whether a condition has neither a control nor a variant of the prompts."""
    return not (control_of(name) or variant_of(name))


def studys_own(condition: Condition) -> Condition:
    """Return a condition as its study knows it, without control and variant."""
    if is_studys_own(condition.name):
        return condition
    beside = {_PROMPT, _CONTROL}
    params = tuple(one for one in condition.params if one[0] not in beside)
    return Condition(name_without_control(name_without_variant(condition.name)), params)
