"""Asking about what is seen of a whole slide, or about a region drawn on it."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.make_slide import pyramid, tissue, write_svs
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.slide import SlideMap, is_region
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.overlays.cell_answer import answer_rect
from viewer.ui.canvas.overlays.grid import cell_rect
from viewer.ui.panels.read.asked_part import asked_part
from viewer.ui.workspaces.read import ReadWorkspace

pytest.importorskip("openslide")
_PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    levels = pyramid(tissue(3000, 5000), 2)
    facts = "|AppMag = 20|MPP = 0.5"
    return write_svs(tmp_path_factory.mktemp("slide") / "a.svs", levels, facts)


@pytest.fixture
def slide(qtbot: QtBot, read: ReadWorkspace, path: Path) -> SlideMap:
    read.furnish()
    read.open_paths([path])
    qtbot.waitUntil(
        lambda: read.lightbox.active.shown is not None, timeout=_PATIENCE_MS
    )
    read.ask.finding.setCurrentText("Mitosis")
    shown = read.lightbox.active.shown
    assert shown is not None
    assert shown.slide is not None
    return shown.slide


def _ask(qtbot: QtBot, read: ReadWorkspace) -> StoredAnswer:
    known = {item.answer.trial for item in read.lightbox.view.answer_items}
    with qtbot.waitSignal(read.answering.asking.questions.ended, timeout=_PATIENCE_MS):
        read.handlers()["ask.ask"]()
    qtbot.waitUntil(
        lambda: any(
            item.answer.trial not in known for item in read.lightbox.view.answer_items
        ),
        timeout=_PATIENCE_MS,
    )
    answer = read.answers.current
    assert answer is not None
    return answer


def _drawn_on_scan(read: ReadWorkspace, slide: SlideMap, answer: StoredAnswer) -> BoxPx:
    """Return where the screen shows an answer's cell, in pixels of the scan."""
    items = read.lightbox.view.answer_items
    item = next(item for item in items if item.answer.trial == answer.trial)
    on_view = item.sceneTransform().mapRect(answer_rect(answer))
    corners = (
        read.lightbox.view.native_at(c)
        for c in (on_view.topLeft(), on_view.bottomRight())
    )
    a, b = (slide.on_slide(0, corner) for corner in corners)
    return BoxPx(a.x, a.y, b.x, b.y)


def _cell_on_scan(slide: SlideMap, answer: StoredAnswer) -> BoxPx:
    """Return the cell of an answer in pixels of the scan, from its region alone."""
    named = answer.grid.cell(answer.score.answer or "")
    assert named is not None
    cell = cell_rect(answer.grid, answer.field, named)
    box = BoxPx(cell.left(), cell.top(), cell.right(), cell.bottom())
    return slide.to_scan(answer.ref.frame).apply_box(box)


def _near(box: BoxPx, off: float) -> object:
    return pytest.approx((box.x0, box.y0, box.x1, box.y1), abs=off)


def _sides(box: BoxPx) -> tuple[float, float, float, float]:
    return box.x0, box.y0, box.x1, box.y1


def test_that_the_field_of_view_is_asked_about_and_keeps_its_answer_in_place(
    qtbot: QtBot, read: ReadWorkspace, slide: SlideMap
) -> None:
    view = read.lightbox.view
    view.look_at(PointPx(900, 500), view.scan_zoom or 0.0)
    seen = slide.to_scan(0).apply_box(view.seen)
    side = min(seen.x1 - seen.x0, seen.y1 - seen.y0)
    words = f"Asks about the field of view: {side / 2:.0f} × {side / 2:.0f} µm from 20x"
    assert read.ask.part.text() == words
    grid = view._layers.grid
    assert grid is not None
    on_scan = slide.to_scan(0).apply_box(grid.field)
    assert on_scan.x1 - on_scan.x0 == pytest.approx(side, abs=2)
    answer = _ask(qtbot, read)
    assert is_region(answer.ref.frame)
    there = _cell_on_scan(slide, answer)
    assert _sides(_drawn_on_scan(read, slide, answer)) == _near(there, 0.01)
    assert seen.x0 <= there.x0 < there.x1 <= seen.x1
    view.look_at(PointPx(700, 700), 0.8)
    assert _sides(_drawn_on_scan(read, slide, answer)) == _near(there, 0.01)
    view.fit()
    assert read.ask.part.text() == ""
    part = asked_part(read.lightbox.active)
    assert part is not None
    assert part.ref == answer.ref.listed


def test_that_a_drawn_rectangle_is_asked_about(
    qtbot: QtBot, read: ReadWorkspace, slide: SlideMap
) -> None:
    view, left = read.lightbox.view, Qt.MouseButton.LeftButton
    read.lightbox.set_tool(Tool.RECTANGLE)
    a, b = (view.to_view(PointPx(x, y)).toPoint() for x, y in ((400, 300), (600, 500)))
    QTest.mousePress(view.viewport(), left, pos=a)
    QTest.mouseMove(view.viewport(), b)
    QTest.mouseRelease(view.viewport(), left, pos=b)
    assert read.ask.part.text().startswith("Asks about the marked region: ")
    mark = view.marks.chosen
    assert mark is not None
    assert mark.box is not None
    drawn = slide.to_scan(0).apply_box(mark.box)
    answer = _ask(qtbot, read)
    field = slide.to_scan(answer.ref.frame).apply_box(answer.field)
    assert drawn.x0 - 1 <= field.x0 < field.x1 <= drawn.x1 + 1
    assert drawn.y0 - 1 <= field.y0 < field.y1 <= drawn.y1 + 1
    there = _cell_on_scan(slide, answer)
    assert _sides(_drawn_on_scan(read, slide, answer)) == _near(there, 0.01)
    QTest.mouseClick(view.viewport(), left, pos=QPoint(5, 5))
    assert not read.ask.part.text().startswith("Asks about the marked region: ")


def test_that_an_answer_chosen_in_the_list_brings_its_region_in_sight(
    qtbot: QtBot, read: ReadWorkspace, slide: SlideMap
) -> None:
    view = read.lightbox.view
    view.look_at(PointPx(900, 500), view.scan_zoom or 0.0)
    first = _ask(qtbot, read)
    view.look_at(PointPx(300, 200), view.scan_zoom or 0.0)
    second = _ask(qtbot, read)
    for answer in (first, second, first):
        read.answers.choose(answer)
        seen = slide.to_scan(0).apply_box(view.seen)
        region = slide.to_scan(answer.ref.frame).apply_box(answer.field)
        assert seen.x0 - 1 <= region.x0 < region.x1 <= seen.x1 + 1
        assert seen.y0 - 1 <= region.y0 < region.y1 <= seen.y1 + 1
    view.fit()
    read.answers.choose(second)
    assert not view.fitted  # the region would be a dot
