"""B15, B20, B23, B24: text over the image (IHE BIR 5.7, 5.8)."""

from pathlib import Path

from tests.ui.bir.conftest import Open
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Detail, Preferences
from viewer.ui.canvas.image_view import ImageView


def _written(view: ImageView) -> list[str]:
    assert view._annotations is not None
    return [line.text for line in view._annotations._lines]


def _corner(view: ImageView, *, right: bool, bottom: bool) -> list[str]:
    assert view._annotations is not None
    middle = view.area.center()
    return [
        line.text
        for line in view._annotations._lines
        if (line.ground.center().x() > middle.x()) == right
        and (line.ground.center().y() > middle.y()) == bottom
    ]


def test_b15_lossy_compression_is_shown_with_ratio_and_method(
    opened: Open, radiograph: Path
) -> None:
    view = opened(radiograph)
    assert "Lossy 9:1 JPEG" in _corner(view, right=True, bottom=True)
    assert "Pixels compressed with loss, interpolated" in _written(view)


def test_b23_each_corner_has_what_the_profile_puts_there(
    opened: Open, series: Path
) -> None:
    view = opened(series)
    assert _corner(view, right=False, bottom=False) == [
        "Doe, Jane", "somebody", "F, 67 y, born 1958-03-02",
    ]  # fmt: skip
    assert _corner(view, right=True, bottom=False) == [
        "A hospital", "CT chest", "Study ST7", "Accession A123", "2026-03-02 10:15",
    ]  # fmt: skip
    assert _corner(view, right=True, bottom=True) == [
        "Series 2 Axial", "CT", "Image 1", "Contrast Iohexol", "Thickness 5 mm",
        "Location 0.0 mm",
    ]  # fmt: skip


def test_b24_text_is_full_minimal_or_none(
    opened: Open, context: AppContext, radiograph: Path, series: Path
) -> None:
    view = opened(series)
    key = context.actions["image.detail"]
    key.trigger()
    assert _written(view) == ["Doe, Jane", "somebody"]
    key.trigger()
    assert _written(view) == []
    assert view._annotations is not None
    assert view._annotations._letters == ()
    key.trigger()
    assert len(_written(view)) > 10
    preferences.use(Preferences(detail=Detail.MINIMAL))
    assert _written(opened(radiograph)) == ["somebody", "Lossy 9:1 JPEG"]


def test_that_the_badge_says_what_the_screen_does_to_the_pixels(
    opened: Open, series: Path
) -> None:
    view = opened(series)
    view.one_to_one()
    assert "Pixels as stored" in _written(view)
    view.zoom_by(0.5)
    assert "Pixels reduced" in _written(view)
    view.zoom_by(4.0)
    assert "Pixels interpolated" in _written(view)
    preferences.use(Preferences(nearest_pixel=True))
    view.redraw()
    assert "Pixels as stored" in _written(view)
