import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QImage, QPainter, QTransform
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui.canvas.conftest import MakeAnswer, MakeShown, pixels
from viewer.domain.annotation import CornerLine, CornerText
from viewer.domain.answer import Status
from viewer.domain.case import ReferenceBox
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid, LetterAxis
from viewer.domain.image import Window
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.domain.mark import Mark, MarkKind
from viewer.domain.reference import Mask
from viewer.domain.result import Outcome, Score
from viewer.domain.styles import MODELS, know_models
from viewer.imaging.grid_overlay import LabelStyle
from viewer.imaging.outline_loops import outline_loops
from viewer.ui.canvas.display import Camera
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays import corner_text
from viewer.ui.canvas.overlays.answer_item import (
    FILL_ALPHA,
    model_colors,
    provenance,
)
from viewer.ui.canvas.overlays.cell_answer import answer_rect
from viewer.ui.canvas.overlays.grid import GridItem, GridOverlay, cell_rect
from viewer.ui.canvas.overlays.halo import LETTER, TEXT, Face, text_size
from viewer.ui.canvas.overlays.label_places import (
    SeenGrid,
    axis_names,
    cell_labels,
    margin_labels,
    name_place,
)
from viewer.ui.canvas.overlays.letters import edge_letters, laterality_text
from viewer.ui.canvas.overlays.letters import layout as letters_layout
from viewer.ui.canvas.overlays.outcome_glyph import Glyph, glyph_of, words_of
from viewer.ui.canvas.overlays.outline import Outline
from viewer.ui.canvas.overlays.reference_boxes import ReferenceBoxesItem
from viewer.ui.canvas.overlays.scale_bar import scale_bar

FIELD = BoxPx(0, 50, 500, 550)


def _seen(grid: Grid) -> SeenGrid:
    return SeenGrid.under(grid, QTransform())


def blob(seed: int, shape: tuple[int, int] = (24, 19)) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < 0.45


def load_all(view: ImageView, make_answer: MakeAnswer) -> None:
    mask = np.zeros((600, 500), bool)
    mask[200:320, 120:260] = True
    view.set_grid(GridOverlay(Grid(8, 8), FIELD, LabelStyle.BOTH))
    view.set_reference(Mask.of_array(mask))
    refused = make_answer("", None, Status.REFUSED, "another")
    view.set_answers((make_answer(), refused))
    view.marks.add(Mark(MarkKind.LENGTH, (PointPx(100, 100), PointPx(300, 250))))
    view.marks.add(Mark(MarkKind.ELLIPSE, (PointPx(300, 300), PointPx(400, 390))))


def test_that_hidden_overlays_leave_not_a_byte(
    view: ImageView, make_shown: MakeShown, make_answer: MakeAnswer
) -> None:
    view.show_image(make_shown(geometry={"patient_orientation": ("L", "F")}))
    bare = pixels(view)
    load_all(view, make_answer)
    assert (pixels(view) != bare).any()
    view.hide_overlays(True)
    assert pixels(view).tobytes() == bare.tobytes()
    view.hide_overlays(False)
    assert (pixels(view) != bare).any()


@pytest.mark.parametrize("seed", range(8))
def test_that_a_held_key_shows_what_a_view_without_overlays_shows(
    qtbot: QtBot, make_shown: MakeShown, make_answer: MakeAnswer, seed: int
) -> None:
    """Byte for byte, at any zoom, pan and window, against a view never loaded."""
    random = np.random.default_rng(seed)
    size, zoom = (
        random.integers((300, 260), (900, 700)).tolist(),
        random.uniform(0.3, 9),
    )
    pan = random.integers(-90, 90, 2).tolist()
    seen: list[bytes] = []
    for loaded in (False, True):
        view = ImageView()
        qtbot.addWidget(view)
        view.resize(*size)
        view.show()
        view.show_image(make_shown(geometry={"patient_orientation": ("L", "F")}))
        if loaded:
            load_all(view, make_answer)
        view.zoom_by(zoom)
        view.pan_by(*pan)
        view.set_window(Window(1000 + 100 * seed, 900))
        view.clearFocus()
        if loaded:
            assert pixels(view).tobytes() != seen[0]
            view.hide_overlays(True)
        seen.append(pixels(view).tobytes())
    assert seen[0] == seen[1]


def test_that_another_image_takes_answers_and_reference_away(
    view: ImageView, make_shown: MakeShown, make_answer: MakeAnswer
) -> None:
    view.show_image(make_shown(series_key="other"))
    bare = pixels(view)
    view.show_image(make_shown())
    load_all(view, make_answer)
    view.show_image(make_shown(series_key="other"))
    view.reset()
    assert pixels(view).tobytes() == bare.tobytes()


@given(
    rows=st.integers(2, 26),
    columns=st.integers(2, 26),
    scale=st.floats(0.05, 30),
    pan=st.tuples(st.integers(-3000, 3000), st.integers(-3000, 3000)),
    screen=st.tuples(st.integers(100, 3000), st.integers(100, 4000)),
    ratio=st.sampled_from([1.0, 1.25, 1.5, 2.0]),
    aspect=st.sampled_from([1.0, 2.0, 0.7]),
)
def test_that_drawn_cell_corners_lie_on_their_native_pixels(
    rows: int,
    columns: int,
    scale: float,
    pan: tuple[int, int],
    screen: tuple[int, int],
    ratio: float,
    aspect: float,
) -> None:
    """The way back from the screen is the cursor's own, in device pixels."""
    size = SizePx(2500, 2048)
    camera = Camera.centred(size, SizePx(*screen), aspect, scale).panned(*pan)
    grid = Grid(rows, columns)
    drawn = camera.transform(ratio)
    for cell in (Cell(0, 0), Cell(rows - 1, columns - 1), Cell(rows // 2, 0)):
        box = grid.box(cell, SizePx(2048, 2048))
        rect = cell_rect(grid, BoxPx(0, 226, 2048, 2274), cell)
        for native, x, y in (
            (rect.topLeft(), box.x0, box.y0 + 226),
            (rect.bottomRight(), box.x1, box.y1 + 226),
        ):
            at = drawn.map(native)
            back = camera.to_native(at.x() * ratio, at.y() * ratio)
            assert abs(back.x - x) <= 0.5
            assert abs(back.y - y) <= 0.5


@pytest.mark.parametrize("seed", range(6))
def test_that_the_outline_encloses_exactly_the_mask(seed: int) -> None:
    mask = blob(seed)
    path = Outline(mask).path
    inside = [
        [path.contains(QPointF(x + 0.5, y + 0.5)) for x in range(mask.shape[1])]
        for y in range(mask.shape[0])
    ]
    np.testing.assert_array_equal(np.array(inside), mask)


def test_that_every_edge_of_the_mask_is_outlined_once() -> None:
    mask = blob(9)
    wide = np.pad(mask, 1).astype(int)
    edges = np.abs(np.diff(wide, axis=0)).sum() + np.abs(np.diff(wide, axis=1)).sum()
    length = 0
    for loop in outline_loops(mask):
        ends = [*loop[1:], loop[0]]
        steps = zip(loop, ends, strict=True)
        length += sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in steps)
    assert length == edges
    assert outline_loops(np.zeros((5, 5), bool)) == []


def test_that_letters_are_the_files_own_and_their_opposites() -> None:
    def letters(*values: str) -> tuple[str, str, str, str]:
        found = edge_letters(ImageGeometry(SizePx(4, 4), patient_orientation=values))
        return found.left, found.right, found.top, found.bottom

    assert letters("L", "F") == ("R", "L", "H", "F")
    assert letters("P", "FR") == ("A", "P", "HL", "FR")
    assert letters() == ("", "", "", "")
    assert letters("L") == ("R", "L", "", "")
    assert letters("LE", "F") == ("", "", "H", "F")
    assert laterality_text(ImageGeometry(SizePx(4, 4), laterality="L")) == "Left"
    assert laterality_text(ImageGeometry(SizePx(4, 4), laterality="U")) == ""


@pytest.mark.usefixtures("qapp")
def test_that_a_letter_goes_past_the_name_of_a_cell() -> None:
    area = QRectF(0, 0, 400, 400)
    geometry = ImageGeometry(SizePx(4, 4), patient_orientation=("L", "F"))
    free = letters_layout(geometry, area, LETTER)
    names = tuple(line.ground.adjusted(-9, -4, 9, 4) for line in free)
    moved = letters_layout(geometry, area, LETTER, names)
    assert [line.text for line in moved] == ["R", "L", "H", "F"]
    middle, aside = area.center(), [line.ground.center() for line in moved]
    assert not any(n.intersects(line.ground) for n in names for line in moved)
    assert not any(line.on_names for line in moved)
    assert [at.x() == middle.x() for at in aside] == [False, False, True, True]
    assert [at.y() == middle.y() for at in aside] == [True, True, False, False]
    everywhere = letters_layout(geometry, area, LETTER, (area,))
    assert [line.at for line in everywhere] == [line.at for line in free]
    assert all(line.on_names for line in everywhere)


def test_that_a_scale_bar_needs_a_spacing_and_says_where_it_holds() -> None:
    assert scale_bar(None, 1.0) is None
    at_detector = scale_bar(Spacing(0.15, 0.15, SpacingMeaning.DETECTOR), 0.5)
    assert at_detector is not None
    assert at_detector.text == "20 mm at detector"
    assert at_detector.length == pytest.approx(20 / 0.15 * 0.5)
    slide = scale_bar(Spacing(0.0005, 0.0005, SpacingMeaning.PATIENT), 1.0)
    assert slide is not None
    assert slide.text == "50 µm"
    tall = scale_bar(Spacing(1.0, 0.5, SpacingMeaning.CALIBRATED), 1.0)
    assert tall is not None
    assert tall.length == pytest.approx(100.0)


def test_that_a_scale_bar_a_hair_below_a_round_length_has_it() -> None:
    """140 px are 99.99999999999999 mm there, of which the logarithm is 2."""
    bar = scale_bar(Spacing(0.35, 0.35, SpacingMeaning.PATIENT), 0.49)
    assert bar is not None
    assert bar.text == "100 mm"


def test_that_rows_and_columns_are_named_by_the_orientation() -> None:
    assert axis_names(_seen(Grid(2, 3))) == (("A", "B"), ("1", "2", "3"))
    assert axis_names(_seen(Grid(2, 3, LetterAxis.COLUMN))) == (
        ("1", "2"),
        ("A", "B", "C"),
    )


@pytest.mark.parametrize(
    ("score", "glyph", "words"),
    [
        (Score(Status.SCORED_CORRECT, outcome=Outcome.FULL), "◼", "full hit"),
        (Score(Status.SCORED_CORRECT, outcome=Outcome.PARTIAL), "◧", "partial hit"),
        (Score(Status.SCORED_WRONG, outcome=Outcome.MISS), "◇", "miss"),
        (Score(Status.AMBIGUOUS), "?", "unparsed: ambiguous"),
        (Score(Status.REFUSED), "⊘", "refused"),
        (Score(Status.EXCLUDED, "no_gt", "D4"), "", "no reference"),
    ],
)
def test_that_an_outcome_is_told_by_shape_and_words(
    score: Score, glyph: str, words: str
) -> None:
    assert (glyph_of(score), words_of(score)) == (Glyph(glyph), words)


def test_that_a_fill_lets_the_image_through() -> None:
    assert FILL_ALPHA / 255 <= 0.2


def test_that_models_keep_their_colours() -> None:
    know_models({"c": 1})
    colors = model_colors(["b", "a", "b", "c", "d"])
    assert colors == dict(zip("bacd", (MODELS[n] for n in (0, 2, 1, 3)), strict=True))


def test_that_one_hover_tells_where_an_answer_comes_from(
    view: ImageView, make_shown: MakeShown, make_answer: MakeAnswer
) -> None:
    answer = make_answer()
    text = provenance(answer)
    for part in ("asymmetry", "asymmetry-1.2", "ab" * 8, "temperature 0", "Run: 3"):
        assert part in text
    view.show_image(make_shown())
    view.set_answers((answer,))
    centre = view.to_view(PointPx(93.75, 206.25))
    items = view.stage.items(centre)
    assert [item.toolTip() for item in items if item.toolTip()] == [text]


def test_that_an_answer_without_a_cell_has_no_rectangle(
    make_answer: MakeAnswer,
) -> None:
    assert answer_rect(make_answer("C2")) == QRectF(62.5, 175, 62.5, 62.5)
    assert answer_rect(make_answer("")).isEmpty()
    assert answer_rect(make_answer("Z9")).isEmpty()


def test_that_tags_and_labels_do_not_cover_each_other(
    view: ImageView, make_shown: MakeShown, make_answer: MakeAnswer
) -> None:
    view.resize(900, 800)
    view.show_image(make_shown(geometry={"patient_orientation": ("L", "F")}))
    answers = [make_answer(label, model=label) for label in ("C2", "C3", "C4", "D3")]
    answers += [make_answer("", None, Status.REFUSED, f"m{n}") for n in range(3)]
    view.set_answers(tuple(answers))
    tags = [item.tag for item in view.answer_items]
    for i, tag in enumerate(tags):
        assert view.area.contains(tag)
        assert not any(tag.intersects(other) for other in tags[:i])


@pytest.mark.parametrize("width", [160, 240, 320, 1000])
@pytest.mark.usefixtures("qapp")
def test_that_corner_text_never_overlaps_in_a_narrow_view(width: int) -> None:
    patient, place = (
        CornerLine("NAME^SOMEBODY, 12345"),
        CornerLine("A long institution"),
    )
    live = (CornerLine("W 256 L 128"), CornerLine("Pixels compressed with loss"))
    corners = CornerText((patient,), (place,), (), (CornerLine("Lossy JPEG"),))
    area = QRectF(0, 0, width, 300)
    lines = corner_text.layout(corners, live, area, TEXT)
    pairs = itertools.combinations(lines, 2)
    inner = [(a.ground.adjusted(0, 2, 0, -2), b.ground) for a, b in pairs]
    assert not any(a.intersects(b) for a, b in inner)
    assert all(area.contains(line.ground.adjusted(2, 2, -2, -2)) for line in lines)
    first, *_, badge, lossy = lines
    assert first.text == patient.text or first.text.endswith("…")
    assert first.at.y() == corner_text.MARGIN
    assert (lossy.text, badge.text[:6]) == ("Lossy JPEG", "Pixels")
    assert (badge.at.y() < lossy.at.y()) is (width < 320)


@pytest.mark.parametrize("height", [50, 90, 130, 170, 400])
@pytest.mark.parametrize("width", [120, 200, 320])
@pytest.mark.usefixtures("qapp")
def test_that_corner_text_of_a_low_view_leaves_out_what_does_not_fit(
    width: int, height: int
) -> None:
    corners = CornerText(
        tuple(map(CornerLine, ("张伟 欧阳娜娜", "P" * 60, "1950-01-01", "CT", "A 7"))),
        tuple(map(CornerLine, ("An institution", "A machine", "2026-01-01"))),
        (CornerLine("State"),),
        (CornerLine("Lossy JPEG"),),
    )
    live = tuple(map(CornerLine, ("W 256 L 128", "Zoom 41%", "Pixels reduced")))
    area = QRectF(0, 0, width, height)
    lines = corner_text.layout(corners, live, area, TEXT)
    pairs = itertools.combinations(lines, 2)
    inner = [(a.ground.adjusted(0, 2, 0, -2), b.ground) for a, b in pairs]
    assert not any(a.intersects(b) for a, b in inner)
    assert all(area.contains(line.ground.adjusted(2, 2, -2, -2)) for line in lines)
    assert lines[0].text == "张伟 欧阳娜娜"
    assert len(lines) == 13 or height < 400


@pytest.mark.usefixtures("qapp")
def test_that_a_line_wider_than_the_view_ends_in_an_ellipsis_and_is_told_whole() -> (
    None
):
    long = CornerLine("An institution whose name no narrow view can hold", "Tag")
    area = QRectF(0, 0, 150, 300)
    (line,) = corner_text.layout(CornerText((), (long,)), (), area, TEXT)
    assert line.text.endswith("…")
    assert long.text.startswith(line.text[:-1])
    assert line.source == f"{long.text}\nTag"
    wide = QRectF(0, 0, 900, 300)
    (line,) = corner_text.layout(CornerText((), (long,)), (), wide, TEXT)
    assert (line.text, line.source) == (long.text, "Tag")


@pytest.mark.parametrize("labels", list(LabelStyle))
@pytest.mark.parametrize("side", [4, 8, 16])
def test_that_corner_text_goes_past_the_names_of_cells_which_stay_in_their_corner(
    view: ImageView, make_shown: MakeShown, side: int, labels: LabelStyle
) -> None:
    view.resize(420, 420)
    view.show_image(make_shown())
    grid = Grid(side, side)
    view.set_grid(GridOverlay(grid, FIELD, labels))
    names = _cells(view)
    assert view._annotations is not None
    lines = view._annotations._lines
    assert len(lines) >= 3
    for line in lines:
        inner = line.ground.adjusted(0, 2, 0, -2)
        assert view.area.contains(inner)
        if side < 16:  # between the names of smaller cells is no room for a line
            assert not any(name.intersects(inner) for name in names), line.text
    if labels is LabelStyle.CELL and len(names) == side * side:
        tops = {round(name.top(), 3) for name in names}
        assert len(tops) == side  # each row of names at one height
    view.hide_overlays(hidden=True)
    hidden = view._annotations._lines
    view.set_grid(None)
    assert hidden == view._annotations._lines


def test_that_corner_text_is_laid_out_only_where_it_changes(
    view: ImageView, make_shown: MakeShown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reference, answers and marks of an image come one after another."""
    view.resize(420, 420)
    view.show_image(make_shown())
    times: list[int] = []
    layout = corner_text.layout

    def counted(
        corners: CornerText, live: tuple[CornerLine, ...], area: QRectF,
        face: Face, names: tuple[QRectF, ...],
    ) -> tuple[corner_text.Line, ...]:  # fmt: skip
        times.append(1)
        return layout(corners, live, area, face, names)

    monkeypatch.setattr(corner_text, "layout", counted)
    for _ in range(3):
        view.redraw()
    assert times == []
    view.zoom_by(1.5)
    assert len(times) == 1
    view.set_window(Window(10.0, 20.0))
    assert len(times) == 2
    for side in (410, 400):
        view.resize(side, side)
    QApplication.processEvents()
    assert len(times) == 3
    view.turn(6)
    assert len(times) == 4


@pytest.mark.parametrize("width", [400, 520, 700])
@pytest.mark.parametrize("height", [320, 400, 540])
@pytest.mark.parametrize("far", [True, False])
def test_that_no_text_covers_the_names_of_rows_and_columns(
    view: ImageView, make_shown: MakeShown, width: int, height: int, *, far: bool
) -> None:
    view.resize(width, height)
    view.show_image(make_shown())
    labels = LabelStyle.BOTH if far else LabelStyle.MARGIN
    view.set_grid(GridOverlay(Grid(20, 20), FIELD, labels))
    assert view._annotations is not None
    texts = view._annotations.grounds
    for name in _cells(view):
        assert view.area.intersects(name)
        assert not any(name.intersects(text) for text in texts)


def test_that_corner_text_has_a_halo_on_white(qapp: object) -> None:
    del qapp
    canvas = QImage(200, 60, QImage.Format.Format_RGB32)
    canvas.fill(0xFFFFFFFF)
    painter = QPainter(canvas)
    line = corner_text.Line("W 350", QPointF(10, 10), QRectF(10, 10, 60, 20))
    corner_text.paint(painter, (line,), TEXT)
    painter.end()
    values = np.frombuffer(canvas.constBits(), np.uint8).reshape(60, 200, 4)[..., 0]
    assert values.min() < 60
    assert values[:, 120:].min() == 255


@pytest.mark.parametrize("zoom", [1.0, 3.0])
def test_that_a_reference_that_was_moved_is_drawn_as_one_that_was_not(
    view: ImageView, make_shown: MakeShown, zoom: float
) -> None:
    """Its picture is kept while it moves; what differs is a rounding of its edge."""
    mask = np.zeros((600, 500), bool)
    mask[210:320, 130:260] = blob(3, (110, 130))
    seen = []
    for steps in ((7, -4), (3, -2), (7, -4)):
        view.show_image(make_shown())
        view.fit()
        view.zoom_by(zoom)
        view.set_reference(Mask.of_array(mask))
        pixels(view)
        pixels(view)
        view.pan_by(*steps)
        if steps == (3, -2):
            pixels(view)
            view.pan_by(4, -2)
        seen.append(pixels(view).astype(int))
    assert np.abs(seen[1] - seen[0]).max() <= 2
    np.testing.assert_array_equal(seen[2], seen[0])


def test_that_labels_step_aside_from_the_reference(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.resize(700, 700)
    view.show_image(make_shown())
    box = view.to_view(PointPx(0, 50)), view.to_view(PointPx(500, 550))
    grid, over = Grid(4, 4), QRectF(*box)
    lesion = QRectF(over.left(), over.top(), 60, 60)
    plain = {
        t: (x, y) for t, x, y in cell_labels(_seen(grid), over, view.area, (), TEXT)
    }
    aside = {
        t: (x, y)
        for t, x, y in cell_labels(_seen(grid), over, view.area, (lesion,), TEXT)
    }
    assert plain.keys() == aside.keys() == {grid.label(c) for c in grid.cells()}
    assert lesion.contains(*plain["A1"])
    assert not lesion.contains(*aside["A1"])
    assert {t for t in plain if plain[t] != aside[t]} == {"A1"}


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("box", [QRectF(50, 50, 256, 256), QRectF(80, 0, 256, 256)])
def test_that_names_along_the_edge_of_small_cells_stay_apart(
    qtbot: QtBot,  # noqa: ARG001 - fonts need the application
    box: QRectF,
    *,
    far: bool,
) -> None:
    names = list(
        margin_labels(_seen(Grid(16, 16)), box, QRectF(0, 0, 400, 400), TEXT, far=far)
    )
    rows, columns = (
        [
            QRectF(QPointF(name.x, name.y), text_size(name.text, TEXT))
            for name in names
            if name.text.isalpha() is letters
        ]
        for letters in (True, False)
    )
    assert len(rows) >= 15
    assert len(columns) == 16
    assert not any(row.intersects(column) for row in rows for column in columns)


def test_that_reference_boxes_are_drawn_as_boxes_each_reader_with_a_line_of_its_own(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown())
    plain = pixels(view)
    drawn = {}
    for reader in ("R1", "R2"):
        boxes = (
            ReferenceBox(BoxPx(100, 100, 220, 260), "R1"),
            ReferenceBox(BoxPx(300, 300, 420, 460), reader),
        )
        view.set_reference(None, boxes)
        drawn[reader] = pixels(view)
    assert (drawn["R1"] != plain).any()
    assert (drawn["R1"] != drawn["R2"]).any()
    top_left, bottom_right = (
        view.to_view(PointPx(x, y)) for x, y in ((300, 300), (420, 460))
    )
    inside = np.s_[
        int(top_left.y()) + 6 : int(bottom_right.y()) - 6,
        int(top_left.x()) + 6 : int(bottom_right.x()) - 6,
    ]
    assert (drawn["R2"][inside] == plain[inside]).all()
    view.set_reference(None)
    assert (pixels(view) == plain).all()


def _names(view: ImageView) -> list[tuple[str, QRectF]]:
    (item,) = (i for i in view.scene().items() if isinstance(i, ReferenceBoxesItem))
    return list(item.names(item.sceneTransform() * view.viewportTransform()))


def _cells(view: ImageView) -> list[QRectF]:
    (item,) = (i for i in view.scene().items() if isinstance(i, GridItem))
    native = item.sceneTransform() * view.viewportTransform()
    return list(item.names(native, QRectF(view.viewport().rect())))


@pytest.mark.parametrize("side", [8, 16])
@pytest.mark.parametrize("labels", list(LabelStyle))
@pytest.mark.parametrize("grid_first", [True, False])
def test_that_readers_names_step_aside_for_the_names_of_cells(
    view: ImageView,
    make_shown: MakeShown,
    side: int,
    labels: LabelStyle,
    *,
    grid_first: bool,
) -> None:
    view.show_image(make_shown())
    overlay = GridOverlay(Grid(side, side), FIELD, labels)
    corners = ((62, 112), (190, 240), (250, 300), (64, 425))
    boxes = tuple(
        ReferenceBox(BoxPx(x, y, x + 90, y + 80), reader)
        for x, y in corners
        for reader in ("R1", "R2")
    )
    if grid_first:
        view.set_grid(overlay)
    view.set_reference(None, boxes)
    view.set_grid(overlay)
    names, cells = _names(view), _cells(view)
    assert [name for name, _ in names] == ["R1", "R2"] * len(corners)
    assert cells
    clashes = [n for n, place in names if any(map(place.intersects, cells))]
    assert clashes == []
    places = [place for _, place in names]
    assert not any(
        a.intersects(b) for i, a in enumerate(places) for b in places[i + 1 :]
    )


def test_that_a_name_without_a_free_place_stands_where_it_covers_least() -> None:
    box, size = QRectF(50, 50, 40, 40), QSizeF(20, 10)
    assert name_place(box, size, ()) == QRectF(50, 40, 20, 10)
    over = QRectF(0, 0, 200, 50)
    assert name_place(box, size, (over,)) == QRectF(50, 90, 20, 10)
    everything = QRectF(0, 0, 200, 200)
    least = name_place(box, size, (everything, QRectF(0, 0, 80, 200)))
    assert least == QRectF(70, 40, 20, 10)


@pytest.mark.usefixtures("qapp")
def test_that_text_that_must_lie_over_names_of_cells_gets_a_dark_ground() -> None:
    area = QRectF(0, 0, 300, 300)
    words = CornerText((CornerLine("Doe, Jane"),), (CornerLine("CHEST PA"),))
    names = tuple(
        QRectF(x, y, 20, 18) for x in range(0, 300, 22) for y in range(2, 290, 18)
    )
    free = corner_text.layout(words, (), area, TEXT)
    assert not any(line.on_names for line in free)
    lines = corner_text.layout(words, (), area, TEXT, names)
    assert all(line.on_names for line in lines)
    picture = QImage(300, 300, QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    corner_text.paint(painter, lines, TEXT)
    painter.end()
    ground = lines[0].ground.toRect()
    assert QColor(picture.pixel(ground.left(), ground.center().y())).lightness() < 60


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("width", [120, 184, 400, 900])
def test_that_the_names_of_narrow_columns_never_run_into_one_another(
    width: int,
) -> None:
    seen = SeenGrid.under(Grid(16, 16), QTransform())
    box, area = QRectF(50, 50, width, width), QRectF(0, 0, 1000, 1000)
    labels = list(margin_labels(seen, box, area, TEXT, far=False))
    numbers = [label for label in labels if label.text.isdecimal()]
    assert numbers[0].text == "1"
    assert len(numbers) == 16 or width < 300
    for left, right in itertools.pairwise(numbers):
        assert left.x + text_size(left.text, TEXT).width() - 4 <= right.x + 0.01


@pytest.mark.usefixtures("qapp")
def test_that_a_scale_bar_stands_above_every_line_that_reaches_under_it() -> None:
    area = QRectF(0, 0, 190, 300)
    live = (CornerLine("Pixels reduced"),)
    words = CornerText((), (), (), (CornerLine("Series 1 Thorax PA"),))
    lines = corner_text.layout(words, live, area, TEXT)
    above = corner_text.lowest_free(lines, area, 140)
    highest = min(line.ground.top() for line in lines)
    assert above == area.bottom() - corner_text.MARGIN - highest
    wide = QRectF(0, 0, 900, 300)
    apart = corner_text.layout(words, live, wide, TEXT)
    assert corner_text.lowest_free(apart, wide, 140) < above
