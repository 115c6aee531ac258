from viewer.domain.conditions import (
    boxes_of,
    control_of,
    is_studys_own,
    studys_own,
    under_control,
    variant_of,
    window_of,
    with_boxes,
    with_variant,
    with_window,
)
from viewer.domain.geometry import BoxPx
from viewer.domain.image import VoiFunction, Window
from viewer.domain.run import Condition

GRID = Condition("grid=8", (("rows", 8), ("columns", 8)))


def test_that_a_condition_keeps_its_window_and_boxes() -> None:
    window = Window(40.5, 400, VoiFunction.SIGMOID)
    boxes = (BoxPx(0.1, 2, 3, 4), BoxPx(5, 6, 7, 8.25))
    asked = with_boxes(with_window(GRID, window), boxes)
    assert window_of(asked) == window
    assert boxes_of(asked) == boxes
    assert asked.params[:2] == GRID.params
    assert asked.name.startswith("grid=8 window=40.5/400 boxes=0.1,2,3,4 ")


def test_that_a_plain_condition_has_neither() -> None:
    assert window_of(GRID) is None
    assert boxes_of(GRID) == ()


def test_that_a_variant_of_the_prompts_is_put_on_and_taken_off() -> None:
    varied = with_variant(GRID, "terse")
    assert variant_of(varied.name) == "terse"
    assert variant_of(GRID.name) == ""
    assert varied.params != GRID.params
    assert studys_own(varied) == studys_own(GRID) == GRID


def test_that_a_control_is_put_on_and_taken_off_what_is_shown() -> None:
    other = Condition("grid=4", (("rows", 4), ("columns", 4)))
    hidden = under_control(GRID, "no_image", GRID)
    turned = under_control(GRID, "shuffled_options", other)
    assert (hidden.name, control_of(hidden.name)) == (
        "grid=8 control=no_image",
        "no_image",
    )
    assert not is_studys_own(hidden.name)
    assert is_studys_own(GRID.name)
    assert studys_own(hidden) == GRID
    assert studys_own(turned) == Condition("grid=8", other.params)
