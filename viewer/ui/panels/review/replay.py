"""What was on screen while a case was read, played again, and for how long."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPainterPath, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.geometry import BoxPx
from viewer.domain.reading import SessionId
from viewer.domain.telemetry import Look, Sight, lined_up
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.canvas.overlays.heat_map_answer import MapPicture
from viewer.ui.canvas.overlays.rects import rect_of
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.widgets.labels import caption, primary, title
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.plain_text import Label

if TYPE_CHECKING:
    from viewer.domain.case import ImageRef
    from viewer.services.readings.telemetry import Replay

_STEP_MS: Final = 40
_PAGE_MS: Final = 5_000
_COLUMNS: Final = 2
_FINEST: Final = 2_048
"""Elements of a dwell map on the screen, along its longer side."""
_SPEEDS: Final = {"1": "1×", "4": "4×", "16": "16×"}
_Recorded = tuple["Replay", dict["ImageRef", OpenedImage]]
"""A recording, and the images that were shown."""


class ReplayView(ReviewImage):
    """Shows an image as it was seen: what was not in sight is black."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sight: Sight | None = None
        self._map: MapPicture | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_sight(self, opened: OpenedImage, sight: Sight) -> None:
        """Show an image with the part, the window and the sense of a sight."""
        self._open(opened)
        self.sight = sight
        first = self.first_window
        if first is not None and sight.center is not None and sight.width is not None:
            self.set_window(replace(first, center=sight.center, width=sight.width))
        if self.inverted != sight.inverted:
            self.invert()
        self.frame_area(sight.seen)
        self.redraw()

    def show_map(self, opened: OpenedImage, seconds: npt.NDArray[np.float64]) -> None:
        """Show a whole image, and over it for how long each part was in sight."""
        self._open(opened)
        size = opened.shown.image.size
        whole = rect_of(BoxPx(0, 0, size.columns, size.rows))
        self._map = MapPicture(seconds.astype(np.float32), whole)
        self.fit()
        self.redraw()

    def _open(self, opened: OpenedImage) -> None:
        self.sight, self._map = None, None
        if self.shown_ref != opened.shown.ref:
            self.show_exhibit(opened)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the part that was in sight in sight."""
        super().resizeEvent(event)
        if self.sight is not None:
            self.frame_area(self.sight.seen)

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:  # noqa: N802
        """Cover what was not in sight, or draw the dwell map."""
        super().drawForeground(painter, rect)
        native = self.native_transform
        if self._map is not None:
            self._map.paint(painter, native, self.area)
        elif self.sight is not None:
            beside, seen = QPainterPath(), QPainterPath()
            beside.addRect(self.area)
            seen.addRect(native.mapRect(rect_of(self.sight.seen)))
            painter.fillPath(beside.subtracted(seen), Qt.GlobalColor.black)


class ReplayPage(QWidget):
    """A recorded case with a slider, and a choice of its session's recorded cases."""

    left = Signal()
    """Back to what there is to review."""

    def __init__(
        self, store: Path, decoder: Decoder, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._store, self._decoder = store, decoder
        self._session = SessionId(0)
        self._replay: Replay | None = None
        self._opened: Mapping[ImageRef, OpenedImage] = {}
        self._begins: list[list[tuple[int, Look]]] = []
        self._maps: dict[int, npt.NDArray[np.float64]] = {}
        self._background_tasks = BackgroundTasks(self)
        self._tick = QTimer(self, interval=_STEP_MS)
        self.heading, self.cases = title(""), LongChoice("Case")
        self.map, self.about = QCheckBox("Dwell map"), caption()
        self.problem, self.views = Label(), list[ReplayView]()
        self.play, self.time = QPushButton("Play"), Label()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.speed, self.back = NamedChoice(), primary("Back to Review")
        self._grid = QGridLayout()
        self._fill()
        self._lay_out()
        self._connect()

    def _fill(self) -> None:
        self.slider.setRange(0, 0)
        self.slider.setSingleStep(_STEP_MS)
        self.slider.setPageStep(_PAGE_MS)
        self.speed.offer(_SPEEDS)
        self.problem.setWordWrap(True)
        self.map.setToolTip("For how long each part of the image was in sight")
        for widget, name in (
            (self.cases, "Recorded case"),
            (self.slider, "Time"),
            (self.speed, "Speed"),
        ):
            widget.setAccessibleName(name)

    def _lay_out(self) -> None:
        top, foot, column = QHBoxLayout(), QHBoxLayout(), QVBoxLayout(self)
        for widget in (self.heading, self.cases, self.map):
            top.addWidget(widget)
        top.addStretch(1)
        top.addWidget(self.back)
        foot.addWidget(self.play)
        foot.addWidget(self.slider, 1)
        foot.addWidget(self.time)
        foot.addWidget(self.speed)
        column.setContentsMargins(12, 8, 12, 12)
        column.addLayout(top)
        column.addWidget(self.problem)
        column.addLayout(self._grid, 1)
        column.addWidget(self.about)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.back.clicked.connect(self.left)
        self.cases.currentIndexChanged.connect(self._read)
        self.slider.valueChanged.connect(self._show)
        self.map.toggled.connect(self._show)
        self.play.clicked.connect(lambda: self.run(not self._tick.isActive()))
        self._tick.timeout.connect(self._step)

    def open(self, session: SessionId, words: str, cases: Sequence[int]) -> None:
        """Show the recorded cases of a session, of which the first is chosen."""
        self._session = session
        self.heading.setText(words)
        self.cases.blockSignals(True)
        self.cases.clear()
        for position in cases:
            self.cases.addItem(f"Case {position + 1}", position)
        self.cases.blockSignals(False)
        self._read()

    def close_recording(self) -> None:
        """Release what is shown."""
        self.run(False)
        self._background_tasks.cancel_all()
        self._replay, self._opened, self._begins = None, {}, []
        self._maps.clear()
        self.slider.setRange(0, 0)
        for view in self.views:
            view.clear()

    def _read(self) -> None:
        """Read a case's recording, and the images that were shown."""
        from viewer.services.readings.telemetry import replay

        self.close_recording()
        session, position = self._session, self.cases.currentData()
        self._say("Opening the case…")

        def read() -> "_Recorded":
            found = replay(self._store, session, position)
            refs = {found.images[look.sight.image] for look in found.looks}
            return found, {ref: self._decoder.open(ref) for ref in refs}

        self._background_tasks.start("read", read, self._offer, self._fail)

    def _offer(self, found: "_Recorded") -> None:
        self._replay, self._opened = found
        lined = list(lined_up(self._replay.looks))
        count = 1 + max(look.sight.viewport for _, look in lined)
        self._begins = [
            [one for one in lined if one[1].sight.viewport == number]
            for number in range(count)
        ]
        while len(self.views) < count:
            number = len(self.views)
            self.views.append(ReplayView())
            self._grid.addWidget(self.views[-1], *divmod(number, _COLUMNS))
        for number, view in enumerate(self.views):
            view.setVisible(number < count)
        self._say(self._replay.problem)
        self.slider.setRange(0, max(begin + one.duration_ms for begin, one in lined))
        self.slider.setValue(0)
        self._show()

    def run(self, running: bool) -> None:
        """Play, from the start again at the end, or pause."""
        if running and self.slider.value() == self.slider.maximum():
            self.slider.setValue(0)
        (self._tick.start if running else self._tick.stop)()
        self.play.setText("Pause" if running else "Play")

    def _step(self) -> None:
        self.slider.setValue(self.slider.value() + _STEP_MS * int(self.speed.name))
        if self.slider.value() == self.slider.maximum():
            self.run(False)

    def _show(self) -> None:
        """Show what was seen at the slider's time."""
        at, end = self.slider.value(), self.slider.maximum()
        self.time.setText(f"{at / 1000:.1f} of {end / 1000:.1f} s")
        words = []
        for view, looks in zip(self.views, self._begins, strict=False):
            look = _at(looks, at, last=at == end)
            if look is None:
                view.clear()
            elif self.map.isChecked():
                words.append(self._show_map(view, look.sight.image))
            elif look.sight is not view.sight:
                view.show_sight(self._image_of(look), look.sight)
        self.about.setText("  ".join(words))

    def _show_map(self, view: ReplayView, image: int) -> str:
        from viewer.services.readings.telemetry import dwell_map

        assert self._replay is not None  # noqa: S101 - a look of it is shown
        if image not in self._maps:
            self._maps[image] = dwell_map(self._replay, image, _FINEST)
        seconds = self._maps[image]
        view.show_map(self._opened[self._replay.images[image]], seconds)
        low, high = seconds.min(), seconds.max()
        if low == high:
            return f"Every part was in sight for {high:.1f} s."
        return (
            f"Each part was in sight for {low:.1f} s (clear) to {high:.1f} s (yellow)."
        )

    def _image_of(self, look: Look) -> OpenedImage:
        assert self._replay is not None  # noqa: S101 - the look is of it
        return self._opened[self._replay.images[look.sight.image]]

    def _say(self, words: str) -> None:
        self.problem.setText(words)
        self.problem.setVisible(bool(words))

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._say(f"{error.what} {error.how}")


def _at(looks: Sequence[tuple[int, Look]], at: int, *, last: bool) -> Look | None:
    """Return the look at a millisecond; the very last one also at its end."""
    number = bisect_right([begin for begin, _ in looks], at) - 1
    if number < 0:
        return None
    begin, look = looks[number]
    return look if at < begin + look.duration_ms or last else None
