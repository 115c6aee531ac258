"""A trial to look at: boxes where they were named, passes side by side."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QGuiApplication, QImage, QTransform
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from tests.helpers.evidence_cases import cases_dataset
from tests.helpers.heal_run import heal_dataset, heal_spec
from tests.helpers.item_datasets import report_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from tests.helpers.window_story import found
from viewer import app
from viewer.domain.answer import LabelledBox, Status
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image import Raster
from viewer.domain.plain import plain as as_list
from viewer.domain.reference import Mask
from viewer.domain.result import Score
from viewer.domain.styles import looks_of, rgb_of
from viewer.imaging.png import encode_png
from viewer.services.inspecting.marked_images import marked_images
from viewer.services.inspecting.runs import trial_rows_at
from viewer.services.inspecting.trial_detail import TrialDetail, trial_detail
from viewer.services.inspecting.written_answers import written_of_trial
from viewer.services.viewing.decoding import LocalDecoder
from viewer.services.viewing.returned_pictures import Returned
from viewer.settings import Settings
from viewer.store import cases, trials
from viewer.store.database import open_store
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marked_picture import MarkedPicture
from viewer.ui.canvas.overlays.report_answer import ReportShape
from viewer.ui.dialogs.what_model_saw import WhatModelSaw
from viewer.ui.panels.asking.answers_panel import AnswersPanel, provenance
from viewer.ui.panels.asking.stored_answers import load_about, newest_per_model
from viewer.ui.panels.measure.film_picture import FilmPictures, of_words
from viewer.ui.panels.measure.filmstrip import WordsWanted
from viewer.ui.panels.measure.trial_page import TrialPage
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.ui.workspaces.read import ReadWorkspace

_FILL = 0.15
BOXES = {
    "boxes": [
        {"image": 1, "label": "effusion", "box": [110, 235, 610, 705]},
        {"image": 2, "label": "", "box": [500, 500, 1000, 1000]},
    ]
}
SAYS = f"An effusion.\n{json.dumps(BOXES)}"


def told_of(store: Path, run: int) -> Mapping[str, TrialDetail]:
    """Return a run's trials by item, condition and model."""
    with open_store(store) as opened:
        ids = [one.id for one in trials.scored_trials(opened, run)]
    told = [trial_detail(store, one) for one in ids]
    return {f"{t.trial.item} {t.trial.condition.name} {t.trial.model}": t for t in told}


@pytest.fixture
def drawn(settings: Settings, tmp_path: Path) -> TrialDetail:
    """Ask about studies of 20 × 30 pixels, of which two images are shown."""
    with open_store(settings.store) as opened:
        cases.add_dataset(opened, report_dataset(tmp_path / "studies"))
        models = [
            ModelProfile("first", "scripted", {"answer": "Nothing."}),
            ModelProfile("draws", "scripted", {"answer": SAYS}),
        ]
        spec = a_spec(models, study="rubric_reading", dataset="studies", params={})
        run = plan_and_finish(opened, spec)
    return told_of(settings.store, run)["s1|t1 plain draws"]


def painted(picture: MarkedPicture, ratio: int) -> npt.NDArray[np.float64]:
    """Return what a picture shows, (rows, columns, RGB), at a screen's ratio."""
    image = QImage(picture.size() * ratio, QImage.Format.Format_RGB888)
    image.setDevicePixelRatio(ratio)
    picture.render(image)
    size = QSize(image.width(), image.height())
    rows = np.frombuffer(image.constBits(), np.uint8)
    rows = rows.reshape(size.height(), image.bytesPerLine())[:, : 3 * size.width()]
    return rows.reshape(size.height(), size.width(), 3).astype(np.float64)


def line_at(cover: npt.NDArray[np.float64], expected: float) -> float:
    """Return where the middle of a line lies near a place, in pixels from the edge."""
    near = slice(max(0, round(expected) - 5), round(expected) + 6)
    strong = np.clip(cover[near] - 2 * _FILL, 0, None)
    assert strong.max() > 0.3
    at = np.arange(len(cover))[near] + 0.5
    return float((strong * at).sum() / strong.sum())


@pytest.mark.statement("E001-09")
@pytest.mark.parametrize("ratio", [1, 2])
def test_that_a_box_lies_within_half_a_pixel_of_where_it_was_named(
    drawn: TrialDetail, qtbot: QtBot, ratio: int
) -> None:
    page = TrialPage(drawn)
    qtbot.addWidget(page)
    (step,) = page.steps
    picture = step.pictures[0]
    with_box = painted(picture, ratio)
    page.draw.setChecked(False)
    without = painted(picture, ratio)
    color = QColor(looks_of(drawn.models)[drawn.trial.model].colour)
    ink = np.array([color.red(), color.green(), color.blue()], np.float64)
    far = int(np.abs(ink - without[0, 0]).argmax())
    cover = (with_box - without)[..., far] / (ink - without)[..., far]
    rows, columns = cover.shape
    corners = BoxPx(0.110 * columns, 0.235 * rows, 0.610 * columns, 0.705 * rows)
    across = cover[round(0.6 * rows)]
    down = cover[:, round(0.5 * columns)]
    assert line_at(across, corners.x0) == pytest.approx(corners.x0, abs=0.5)
    assert line_at(across, corners.x1) == pytest.approx(corners.x1, abs=0.5)
    assert line_at(down, corners.y0) == pytest.approx(corners.y0, abs=0.5)
    assert line_at(down, corners.y1) == pytest.approx(corners.y1, abs=0.5)
    middle = cover[round(0.6 * rows), round(0.35 * columns)]
    assert middle == pytest.approx(_FILL, abs=0.02)


@pytest.mark.statement("E001-09")
def test_that_a_returned_picture_stands_below_the_images_that_were_sent(
    drawn: TrialDetail, qtbot: QtBot
) -> None:
    png = encode_png(Raster(np.full((30, 50), 200, np.uint8)))
    missing = ("A picture at example.org was not fetched.",)
    (step,) = drawn.steps
    returned = replace(step, returned=Returned((png,), missing))
    page = TrialPage(replace(drawn, steps=(returned,)))
    qtbot.addWidget(page)
    page.show()
    (view,) = page.steps
    (picture,) = view.returned
    assert picture.accessibleName() == "A picture that the model returned"
    assert picture.y() > view.pictures[-1].y()
    told = [label.text() for label in page.findChildren(QLabel)]
    assert f"Returned by {step.model}, 50 × 30 px" in told
    assert missing[0] in view.text.toPlainText()


def test_that_each_box_stands_with_its_label_on_its_own_image(
    drawn: TrialDetail, qtbot: QtBot
) -> None:
    assert drawn.is_marked
    first, second = drawn.looked_at
    assert [box.label for box in first.boxes] == ["effusion"]
    assert second.boxes[0].box == BoxPx(10, 15, 20, 30)
    page = TrialPage(drawn)
    qtbot.addWidget(page)
    page.show()
    told = [label.text() for label in page.findChildren(QLabel)]
    assert "Image 1 of 2. 20 × 30 px. Drawn: effusion" in told
    assert "Image 2 of 2. 20 × 30 px. Drawn: a box" in told
    assert page.steps[0].pictures[0].accessibleDescription() == "Boxes: effusion"
    assert page.draw.isVisible()
    assert "An effusion." in page.steps[0].text.toPlainText()
    (copy,) = (b for b in page.findChildren(QPushButton) if b.text() == "Copy text")
    copy.click()
    assert SAYS in QGuiApplication.clipboard().text()
    exactly = next(
        b for b in page.findChildren(QPushButton) if b.text() == "Exactly as sent…"
    )
    exactly.click()
    sent = page.findChild(WhatModelSaw)
    assert isinstance(sent, WhatModelSaw)
    assert sent.images == (first.png, second.png)
    assert sent.request_sha256 == drawn.request_sha256
    sent.close()


def test_that_labels_stand_inside_the_picture_and_long_ones_are_cut() -> None:
    area = QRectF(0, 0, 300, 200)
    native = QTransform()
    everywhere = LabelledBox(BoxPx(0, 0, 300, 200), "whole image")
    long = LabelledBox(BoxPx(280, 10, 300, 40), "a label that goes on " * 4)
    shape = ReportShape([everywhere, long, LabelledBox(BoxPx(5, 5, 9, 9), "")])
    labels = dict(shape.labels(native, area))
    assert list(labels) == ["whole image", "a label that goes on a label that goes o…"]
    assert all(area.contains(place) for place in labels.values())
    assert shape.frames(native) == (area,)
    assert area == shape.extent
    assert shape.outline(native).contains(QPointF(290, 20))
    assert ReportShape([]).extent.isNull()


def test_that_tiles_have_the_boxes_of_one_answer_and_of_a_pair(
    drawn: TrialDetail, settings: Settings
) -> None:
    (row,) = trial_rows_at(settings.store, [drawn.id])
    tile = FilmPictures(settings.store, LocalDecoder()).draw(row, 120).raster
    # 20 × 30 pixels stand 80 wide on a square of 120, from column 20 on
    ink = rgb_of(looks_of(drawn.models)[drawn.trial.model].colour)
    inked = (tile.pixels == ink).all(axis=-1)
    rows, columns = np.nonzero(inked)
    assert (rows.min(), rows.max()) == (28, 84)  # 0.235 and 0.705 of 120
    assert (columns.min(), columns.max()) == (29, 68)  # 0.11 and 0.61 of 80
    told = told_of(settings.store, drawn.run)["s1|t1 plain first"]
    pair = of_words(told, 120, drawn).raster
    assert ((pair.pixels == ink).all(axis=-1) == inked).all()
    first = rgb_of(looks_of(drawn.models)[told.trial.model].colour)
    assert first != ink
    assert not (pair.pixels == first).all(axis=-1).any()


def test_that_a_tile_of_a_trial_that_was_not_asked_says_so(drawn: TrialDetail) -> None:
    excluded = replace(drawn, steps=(), score=Score(Status.EXCLUDED))
    assert of_words(excluded, 120).asked == "Excluded, not asked"
    pending = replace(drawn, steps=(), score=Score(Status.PENDING))
    assert of_words(pending, 120).asked == "Not asked yet"


@pytest.mark.statement("E002-14")
def test_that_every_pass_and_composite_is_seen_side_by_side(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    with open_store(settings.store) as opened:
        heal_dataset(opened, tmp_path, 5)
        model = ModelProfile(
            "looks", "scripted", {"answer": "Yes [100, 200, 500, 600]"}
        )
        arms = {"arms": ["plain", "vpt", "crop"], "perturb_regions": True}
        run = plan_and_finish(opened, heal_spec([model], arms))
    told = told_of(settings.store, run)
    edited = next(
        t for t in told.values() if t.trial.condition.name == "vpt/crop" and t.steps
    )
    page = TrialPage(edited)
    qtbot.addWidget(page)
    assert [s.name for s in edited.steps] == [
        "locate",
        "base",
        "locate edited",
        "answer",
    ]
    assert [len(step.pictures) for step in page.steps] == [1, 2, 1, 2]
    located, base, again, answer = edited.steps
    (box,) = located.marked[0].boxes
    assert box.label
    corners = as_list(located.marked[0].on_picture(box.box, SizePx(1000, 1000)))
    assert corners == pytest.approx((100, 200, 500, 600))
    assert base.images[0] != answer.images[0]  # the composite
    assert edited.looked_at[0].png == answer.images[0]
    assert again.images[0] == answer.images[0]
    others = {other.called: other for other in edited.otherwise}
    alone = others["healthy donor pasted"]
    assert told[f"{edited.trial.item} vpt looks"].id == alone.trial
    assert told[f"{edited.trial.item} vpt looks"].score == alone.score
    links = (
        b for b in page.findChildren(QPushButton) if b.text().startswith("healthy")
    )
    with qtbot.waitSignal(page.other_wanted) as wanted:
        next(links).click()
    assert wanted.args == [WordsWanted(alone.trial)]
    plain = told[f"{edited.trial.item.partition('|')[0]} plain looks"]
    assert [other.called for other in plain.otherwise] == ["region enlarged"]
    nothing = TrialPage(replace(edited, steps=()))
    qtbot.addWidget(nothing)
    assert nothing.steps == ()
    assert nothing.told.looked_at == ()


def test_that_a_highlighted_and_an_outlined_region_are_drawn(
    drawn: TrialDetail, qtbot: QtBot
) -> None:
    png = drawn.looked_at[0].png
    region = np.zeros((30, 20), np.bool_)
    region[10:20, 5:15] = True
    mask = Mask.of_array(region)
    light = {"mask": {"size": [30, 20], "counts": mask.counts}, "image": 0}
    (lit,) = marked_images([png], {"highlight": light}, None)
    assert lit.region == mask
    (outlined,) = marked_images([], {}, ModelReply("", mask=mask), before=lit)
    assert (outlined.png, outlined.region) == (png, mask)
    assert marked_images([], {}, ModelReply("")) == ()
    (tile,) = lit.regions(30)
    assert (tile[:, 5:25] == region).all()
    picture = MarkedPicture(lit, "#E69F00", 300)
    qtbot.addWidget(picture)
    seen = painted(picture, 1)
    picture.show_marks(False)
    changed = (seen != painted(picture, 1)).any(axis=-1)
    rows, columns = np.nonzero(changed)
    assert abs(rows.min() - 100) <= 1
    assert abs(rows.max() - 199) <= 1
    assert abs(columns.min() - 50) <= 1
    assert abs(columns.max() - 149) <= 1


def test_that_its_boxes_are_shown_in_read_on_each_image_they_were_named_on(
    drawn: TrialDetail, settings: Settings, qtbot: QtBot
) -> None:
    assert drawn.opens
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    window.show()
    measure, read = found(window, MeasureWorkspace), found(window, ReadWorkspace)
    measure.told.show(WordsWanted(drawn.id))
    qtbot.waitUntil(lambda: measure.told.shown is not None, timeout=20_000)
    page = measure.told.shown
    assert page is not None
    (button,) = (
        b for b in page.findChildren(QPushButton) if b.text() == "Show in Read"
    )
    button.click()
    page.close()
    view = read.lightbox.view
    qtbot.waitUntil(lambda: len(view.answer_items) == 1, timeout=20_000)
    (item,) = view.answer_items
    assert item.answer.written is not None
    assert [box.label for box in item.answer.written.boxes] == ["effusion"]
    box = item.answer.written.boxes[0].box
    assert as_list(box) == pytest.approx((2.2, 7.05, 12.2, 21.15))
    with_box = grabbed(view)
    view.hide_overlays(True)
    cover = np.abs(with_box - grabbed(view)).sum(axis=-1)
    first = view.to_view(PointPx(box.x0, box.y0))
    last = view.to_view(PointPx(box.x1, box.y1))
    across = cover[round((first.y() + 3 * last.y()) / 4)]
    beside = slice(round(first.x()) - 4, round(last.x()) + 5)  # no line of the grid
    across = (1 - _FILL) * across / across[beside].max()
    assert line_at(across, first.x()) == pytest.approx(first.x(), abs=0.5)
    assert line_at(across, last.x()) == pytest.approx(last.x(), abs=0.5)
    window.close()


def grabbed(view: ImageView) -> npt.NDArray[np.float64]:
    """Return what the view shows, (rows, columns, RGB)."""
    image = (
        view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    )
    rows = np.frombuffer(image.constBits(), np.uint8)
    rows = rows.reshape(image.height(), image.bytesPerLine())[:, : 3 * image.width()]
    return rows.reshape(image.height(), image.width(), 3).astype(np.float64)


def test_that_answers_with_boxes_are_listed_about_their_image_and_nowhere_else(
    drawn: TrialDetail, settings: Settings, tmp_path: Path
) -> None:
    about = {
        name: load_about(settings.store, ImageRef(tmp_path / "studies" / "s1" / name))
        for name in ("pa.png", "lateral.png", "old.png")
    }
    named = {name: {a.trial for a in found.answers} for name, found in about.items()}
    assert drawn.id in named["pa.png"] & named["lateral.png"]
    assert drawn.id not in named["old.png"]
    lateral = next(a for a in about["lateral.png"].answers if a.trial == drawn.id)
    assert lateral.written is not None
    assert lateral.written.boxes == (LabelledBox(BoxPx(10, 15, 20, 30), "", 1),)
    assert "Grid" not in dict(provenance(lateral))
    assert dict(provenance(lateral))["Model"] == "draws"
    first = written_of_trial(settings.store, drawn.id)
    assert (first.ref.path.name, first.score) == ("pa.png", drawn.score)
    silent = told_of(settings.store, drawn.run)["s1|t1 plain first"]
    assert not silent.opens
    with pytest.raises(WrongUseError, match="No box was named"):
        written_of_trial(settings.store, silent.id)


def test_that_written_answers_stand_apart_from_places(
    drawn: TrialDetail, settings: Settings, qtbot: QtBot
) -> None:
    one = written_of_trial(settings.store, drawn.id)
    other = replace(one, trial=one.trial + 1000, model="another")
    panel = AnswersPanel()
    qtbot.addWidget(panel)
    panel.blinding.answers.setChecked(True)
    panel.set_answers((one, other), frozenset({one.trial, other.trial}), one.trial)
    row = panel.tree.topLevelItem(0)
    assert row is not None
    assert "2 boxes: not graded, Broad abnormality query" in row.text(0)
    assert " × " not in row.text(0)
    assert panel.agreement.isHidden()
    assert newest_per_model((one, other), "Edema") == {one.trial, other.trial}


def test_that_a_page_names_what_was_asked_once_and_begins_with_capitals(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    model = ModelProfile("lists", "scripted", {"answer": "Sarcoidosis"})
    params = {"tasks": ["open_fdx"], "arms": ["raw"]}
    spec = a_spec([model], study="evidence_diagnosis", dataset="cases", params=params)
    with open_store(settings.store) as opened:
        cases.add_dataset(opened, cases_dataset(tmp_path / "cases", 1))
        run = plan_and_finish(opened, spec)
    (asked,) = told_of(settings.store, run).values()
    page = TrialPage(asked)
    qtbot.addWidget(page)
    words = [label.text() for label in page.findChildren(QLabel)]
    head = "case-0001 · Final diagnosis, open · English · "
    assert any(text.startswith(head) for text in words)
    assert {"1. Differential: lists", "2. Final: lists"} <= {*words}
