from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import everything_is_remote, write_images
from tests.helpers.window_parts import IdleWorker
from viewer.domain.case import ImageRef, View
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Photometric, PixelImage, Raster
from viewer.domain.plain import plain
from viewer.domain.privacy import ReviewDecision, pixels_sha256
from viewer.readers.pixels import load_pixels
from viewer.services.commands import PixelLook
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.worker.background import AskCommand, WorkerDied, WorkerReply
from viewer.settings import Settings
from viewer.store import consents
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.dialogs.consent import ConsentDialog
from viewer.ui.dialogs.pixel_boxes import PixelBoxes
from viewer.ui.dialogs.pixel_review import PixelReviewDialog, PixelsDecided
from viewer.ui.panels.asking.answering import PixelReviews
from viewer.ui.panels.asking.permissions import Permissions
from viewer.ui.panels.asking.pixel_looks import PixelLooks
from viewer.ui.panels.read.lightbox import Lightbox

MODELS = """
[[model]]
name = "far"
adapter = "openai_api"
base_url = "http://127.0.0.1:8131/v1"
model = "tiny-vlm"
"""
BOX = BoxPx(10, 12, 60, 30)

_Dialog = TypeVar("_Dialog", bound=QDialog)


class Asked:
    """A Permissions with an idle worker, and what came of it."""

    def __init__(self, qtbot: QtBot, settings: Settings, ref: ImageRef) -> None:
        self.qtbot, self.settings, self.ref = qtbot, settings, ref
        self.workers: list[IdleWorker] = []
        self.context = AppContext(settings, WorkerBridge(settings.store, self._make))
        self.parent = QWidget()
        qtbot.addWidget(self.parent)
        self.leaving = Permissions(self.context, self.parent)
        self.asked: list[AskCommand] = []
        self.stayed: list[str] = []
        self.leaving.may_ask.connect(self.asked.append)
        self.leaving.stayed.connect(self.stayed.append)
        self.image = load_pixels(ref)
        self.command = AskCommand(ref, "Edema", ("far",), view=View.FRONTAL)

    def _make(self, store: Path, listener: Callable[[object], None]) -> IdleWorker:
        self.workers.append(IdleWorker(store, listener))
        return self.workers[-1]

    def look(self, *proposed: BoxPx, reason: str = "", decision: str = "") -> None:
        """Begin, and let the worker find these boxes."""
        self.leaving.check(self.command, self.image)
        worker = self.workers[0]
        assert worker.told[-1] == ("look", self.ref)
        sha256 = pixels_sha256(self.image)
        look = PixelLook(sha256, proposed, (), reason, "", decision)
        worker.listener(WorkerReply(len(worker.told), plain(look), ""))

    def _wait_for(self, kind: type[_Dialog]) -> _Dialog:
        def found() -> _Dialog | None:
            dialog = self.parent.findChild(kind)
            return dialog if isinstance(dialog, kind) else None

        self.qtbot.waitUntil(lambda: found() is not None)
        dialog = found()
        assert dialog is not None
        return dialog

    def review(self) -> PixelReviewDialog:
        return self._wait_for(PixelReviewDialog)

    def consent(self) -> ConsentDialog:
        return self._wait_for(ConsentDialog)

    def consents(self) -> list[tuple[str, str | None]]:
        with open_store(self.settings.store) as store:
            return [(c.endpoint, c.dataset) for c in consents.standing_consents(store)]

    def decision(self) -> ReviewDecision | None:
        with open_store(self.settings.store) as store:
            found = consents.reviews(store).get(pixels_sha256(self.image))
        return found.decision if found else None


@pytest.fixture
def asked(
    qtbot: QtBot, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Asked:
    everything_is_remote(monkeypatch)
    folder = write_images(tmp_path / "films", 1)
    settings.home.mkdir(exist_ok=True)
    settings.models_file.write_text(MODELS)
    with open_store(settings.store) as store:
        import_dataset(store, "folder", folder, "films")
    return Asked(qtbot, settings, ImageRef(folder / "patient00000_frontal.png"))


def test_that_nothing_is_asked_before_a_person_saw_what_leaves(asked: Asked) -> None:
    asked.look()
    dialog = asked.consent()
    assert dialog.windowTitle() == "Send to http://127.0.0.1:8131?"
    assert "Edema" in dialog.text.toPlainText()
    assert dialog.this_set.isChecked()
    assert asked.asked == []
    assert asked.consents() == []
    dialog.unencrypted.click()
    dialog.send.click()
    asked.qtbot.waitUntil(lambda: bool(asked.asked))
    assert asked.asked == [asked.command]
    assert asked.consents() == [("http://127.0.0.1:8131", "films")]


def test_that_consent_may_be_for_any_image(asked: Asked) -> None:
    asked.look()
    dialog = asked.consent()
    dialog.any.setChecked(True)
    dialog.unencrypted.click()
    dialog.send.click()
    asked.qtbot.waitUntil(lambda: bool(asked.asked))
    assert asked.consents() == [("http://127.0.0.1:8131", None)]


def test_that_what_can_be_read_on_its_way_is_sent_only_where_a_person_says_so(
    asked: Asked,
) -> None:
    asked.look()
    dialog = asked.consent()
    assert not dialog.unencrypted.isHidden()
    assert not dialog.send.isEnabled()
    dialog.unencrypted.click()
    assert dialog.send.isEnabled()
    dialog.unencrypted.click()
    assert not dialog.send.isEnabled()
    dialog.keep.click()
    assert asked.consents() == []


def test_that_who_says_no_sends_nothing(asked: Asked) -> None:
    asked.look()
    asked.consent().keep.click()
    assert asked.stayed == ["Nothing was sent."]
    assert asked.asked == []
    assert asked.consents() == []


def test_that_an_allowed_endpoint_is_not_asked_for_again(asked: Asked) -> None:
    with open_store(asked.settings.store) as store:
        consents.add_consent(store, "http://127.0.0.1:8131", "films", "", granted=True)
    asked.look()
    asked.qtbot.waitUntil(lambda: bool(asked.asked))
    assert asked.parent.findChild(ConsentDialog) is None


def test_that_found_text_is_blacked_out_before_the_preview(asked: Asked) -> None:
    asked.look(BOX, reason="there is text in its pixels")
    dialog = asked.review()
    assert dialog.canvas.boxes == (BOX,)
    assert dialog.allow.text() == "Black out 1 box"
    dialog.allow.click()
    preview = asked.consent()
    assert asked.decision() is ReviewDecision.BLACKED_OUT
    preview.keep.click()
    assert asked.asked == []


def test_that_an_image_kept_here_is_not_previewed(asked: Asked) -> None:
    asked.look(BOX, reason="there is text in its pixels")
    asked.review().block.click()
    asked.qtbot.waitUntil(lambda: bool(asked.stayed))
    assert asked.decision() is ReviewDecision.BLOCKED
    assert asked.parent.findChild(ConsentDialog) is None


def test_that_cancelling_a_review_decides_nothing(asked: Asked) -> None:
    asked.look(reason="its header says that text is burned in")
    dialog = asked.review()
    assert dialog.allow.text() == "Nothing identifies a person"
    dialog.cancel.click()
    assert asked.stayed == ["Nothing was sent."]
    assert asked.decision() is None


def test_that_boxes_are_drawn_and_taken_away(asked: Asked, qtbot: QtBot) -> None:
    asked.look(BOX, reason="there is text in its pixels")
    dialog = asked.review()
    qtbot.waitExposed(dialog)
    canvas = dialog.canvas
    at = canvas.mapFromScene(70, 50), canvas.mapFromScene(95, 80)
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(canvas.viewport(), left, none, at[0])
    QTest.mouseMove(canvas.viewport(), at[1])
    QTest.mouseRelease(canvas.viewport(), left, none, at[1])
    drawn = canvas.boxes[1]
    expected = (canvas.mapToScene(at[0]), canvas.mapToScene(at[1]))
    assert (drawn.x0, drawn.y0) == pytest.approx(expected[0].toTuple())
    assert (drawn.x1, drawn.y1) == pytest.approx(expected[1].toTuple())
    assert dialog.allow.text() == "Black out 2 boxes"
    QTest.mouseClick(canvas.viewport(), left, none, canvas.mapFromScene(5, 5))
    assert len(canvas.boxes) == 2
    QTest.mouseClick(canvas.viewport(), left, none, canvas.mapFromScene(30, 20))
    QTest.keyClick(canvas, Qt.Key.Key_Delete)
    assert list(canvas.boxes) == [drawn]
    dialog.boxes.setCurrentRow(0)
    dialog.remove.click()
    assert list(canvas.boxes) == []
    dialog.cancel.click()


def test_that_what_the_worker_cannot_read_is_said(asked: Asked) -> None:
    asked.leaving.check(asked.command, asked.image)
    (worker,) = asked.workers
    worker.listener(WorkerReply(len(worker.told), None, "It is damaged."))
    asked.qtbot.waitUntil(lambda: asked.stayed == ["It is damaged."])
    asked.leaving.check(asked.command, asked.image)
    worker.listener(WorkerDied("It died."))
    asked.qtbot.waitUntil(lambda: len(asked.stayed) == 2)
    assert asked.stayed == ["It is damaged.", "It died."]


def test_that_a_restricted_image_stays_with_its_sentence(asked: Asked) -> None:
    with open_store(asked.settings.store) as store:
        consents.set_restricted(store, "films", restricted=True)
    asked.look()
    asked.qtbot.waitUntil(lambda: bool(asked.stayed))
    assert "'films' is restricted" in asked.stayed[0]


def test_that_a_colour_image_can_be_reviewed(qtbot: QtBot) -> None:
    pixels = np.zeros((40, 60, 3), np.uint8)
    look = PixelLook("0" * 64, (BOX,), (BOX,), "", "It needs a package.", "")
    dialog = PixelReviewDialog(look, PixelImage(pixels, Photometric.RGB))
    qtbot.addWidget(dialog)
    dialog.as_sent.setChecked(True)
    dialog.show()
    shown = dialog.canvas.grab().toImage()
    assert shown.pixelColor(QPoint(2, 2)).isValid()
    dialog.close()


def test_that_pixels_are_reviewed_in_the_patients_proportions(qtbot: QtBot) -> None:
    """Of 20 × 40 pixels, each three times as high as wide, the left half is white."""
    pixels = np.zeros((20, 40), np.uint8)
    pixels[:, :20] = 255
    canvas = PixelBoxes(Raster(pixels, 3.0))
    qtbot.addWidget(canvas)
    canvas.resize(800, 800)
    canvas.show()
    first, last = canvas.mapFromScene(0, 0), canvas.mapFromScene(40, 20)
    assert last.y() - first.y() == pytest.approx(800, abs=3)
    assert last.x() - first.x() == pytest.approx(800 * 40 / 60, abs=3)
    QTest.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, pos=first)
    QTest.mouseMove(canvas.viewport(), (first + last) / 2)
    QTest.mouseRelease(
        canvas.viewport(), Qt.MouseButton.LeftButton, pos=(first + last) / 2
    )
    (box,) = canvas.boxes
    assert (box.x1, box.y1) == pytest.approx((20, 10), abs=0.5)


def test_that_any_image_on_the_screen_can_be_reviewed(asked: Asked) -> None:
    looks, decided = PixelLooks(asked.context, asked.parent), list[PixelsDecided]()
    looks.decided.connect(decided.append)
    looks.look(asked.ref, asked.image, always=True)
    (worker,) = asked.workers
    look = PixelLook(pixels_sha256(asked.image), (), (), "", "", "clean")
    worker.listener(WorkerReply(len(worker.told), plain(look), ""))
    asked.review().block.click()
    asked.qtbot.waitUntil(lambda: bool(decided))
    assert asked.decision() is ReviewDecision.BLOCKED
    looks.stop()


def test_that_nobody_decides_about_pixels_other_than_those_shown(asked: Asked) -> None:
    looks, refused = PixelLooks(asked.context, asked.parent), list[str]()
    looks.refused.connect(refused.append)
    looks.look(asked.ref, asked.image, always=True)
    (worker,) = asked.workers
    look = PixelLook("1" * 64, (), (), "", "", "")
    worker.listener(WorkerReply(len(worker.told), plain(look), ""))
    asked.qtbot.waitUntil(lambda: bool(refused))
    assert "changed since it was opened" in refused[0]
    assert asked.parent.findChild(PixelReviewDialog) is None


def test_that_review_says_that_an_image_is_needed(
    qtbot: QtBot, settings: Settings
) -> None:
    context, parent = AppContext(settings, WorkerBridge(settings.store)), QWidget()
    qtbot.addWidget(parent)
    said: list[str] = []
    context.notices.posted.connect(lambda notice: said.append(notice.what))
    lightbox = Lightbox()
    qtbot.addWidget(lightbox)
    PixelReviews(context, lightbox, parent).show()
    assert said == ["Open an image first to review its pixels."]


def test_that_an_image_of_no_data_set_leaves_one_choice_and_says_so(
    asked: Asked, tmp_path: Path
) -> None:
    alone = write_images(tmp_path / "alone", 1) / "patient00000_frontal.png"
    alone.write_bytes(alone.read_bytes() + b"\0")  # another file than the data set's
    asked.ref = ImageRef(alone)
    asked.image = load_pixels(asked.ref)
    asked.command = AskCommand(asked.ref, "Edema", ("far",), view=View.FRONTAL)
    asked.look()
    dialog = asked.consent()
    assert not dialog.this_set.isVisibleTo(dialog)
    assert not dialog.any.isVisibleTo(dialog)
    dialog.unencrypted.click()
    dialog.send.click()
    asked.qtbot.waitUntil(lambda: bool(asked.asked))
    assert asked.consents() == [("http://127.0.0.1:8131", None)]
