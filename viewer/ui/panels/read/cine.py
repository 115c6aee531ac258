"""Cine: the images of a viewport played one after the other (IHE BIR 5.9)."""

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QToolButton, QWidget

from viewer.domain.annotation import Tag
from viewer.services.viewing.view_image import tags_of
from viewer.ui.application.background_tasks import run_for
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.number_box import WholeBox
from viewer.ui.widgets.plain_text import Label, as_tip

_RATE, _FASTEST = 15, 60
_SECOND_MS: Final = 1000
_RATES: Final = ("RecommendedDisplayFrameRate", "CineRate")
_FRAME_TIME: Final = "FrameTime"
"""In milliseconds (PS3.3 C.7.6.5)."""


class CineBar(QWidget):
    """Plays the active viewport; hidden until it is first wanted.

    An image that is still being decoded is waited for, so none is left out.
    """

    def __init__(self, lightbox: Lightbox) -> None:
        super().__init__()
        self._lightbox, self._viewport = lightbox, lightbox.active
        self._key = ""
        self.timer = QTimer(self)
        self.timer.timeout.connect(self._tick)
        self.rate, self.loop = WholeBox(1, _FASTEST), QCheckBox("Loop")
        self.rate.setValue(_RATE)
        self.rate.setSuffix(" per second")
        self.rate.setAccessibleName("Frame rate")
        self.rate.valueChanged.connect(self._set_rate)
        self.loop.setChecked(True)
        self.buttons = {
            name: self._button(name, mark, tip, act)
            for name, mark, tip, act in (
                ("first", "skip-backward", "First image", partial(self._go, 0)),
                ("back", "step-backward", "Back one image", partial(self._step, -1)),
                ("play", "pause", "Play or pause (C)", self._play_or_pause),
                ("stop", "stop", "Stop, and go to the first image", self.stop),
                ("step", "step-forward", "On one image", partial(self._step, 1)),
                ("last", "skip-forward", "Last image", partial(self._go, -1)),
            )
        }
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        for widget in (*self.buttons.values(), Label("Rate"), self.rate, self.loop):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self._button("close", "close", "Close cine", self.close_bar))
        lightbox.active_changed.connect(self._leave)
        self.hide()

    @property
    def playing(self) -> bool:
        """Whether images follow one another."""
        return self.timer.isActive()

    def toggle(self) -> bool:
        """Play at once, or pause; return False if there is only one image."""
        if not self.playing and len(self._lightbox.active.stack_images) < 2:
            return False
        self.show()
        self._play_or_pause()
        return True

    def stop(self) -> None:
        """Stop, and go to the first image."""
        self._pause()
        self._go(0)

    def close_bar(self) -> None:
        """Pause, and hide the bar."""
        self._pause()
        self.hide()

    def _button(
        self, name: str, mark: str, tip: str, act: Callable[[], object]
    ) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setIcon(icon(mark))
        button.setToolTip(as_tip(tip))
        button.setAccessibleName(tip)
        button.clicked.connect(lambda _: act())
        return button

    def _play_or_pause(self) -> None:
        if self.playing:
            self._pause()
            return
        self._viewport = self._lightbox.active
        if len(self._viewport.stack_images) < 2:
            return
        if self._viewport.place != self._key:
            self._key = self._viewport.place
            self._ask_rate(self._viewport)
        if self._at_end:
            self._go(0)
        self.timer.start(_SECOND_MS // self.rate.value())
        self.buttons["play"].setIcon(icon("pause"))

    def _pause(self) -> None:
        self.timer.stop()
        self.buttons["play"].setIcon(icon("play"))

    def _leave(self, *_: object) -> None:
        """Pause when another viewport gets the focus."""
        if self._lightbox.active is not self._viewport:
            self._pause()
            self._viewport = self._lightbox.active

    @property
    def _at_end(self) -> bool:
        return self._viewport.position >= len(self._viewport.stack_images) - 1

    def _tick(self) -> None:
        viewport = self._viewport
        if viewport.place != self._key:
            self._pause()  # another series hangs there
        elif viewport.shown is None or viewport.header is None:
            viewport.scroll_by(1)  # an image that cannot be shown
        elif viewport.shown.ref != viewport.header.ref:
            return
        elif not self._at_end:
            viewport.scroll_by(1)
        elif self.loop.isChecked():
            viewport.go_to(0)
        else:
            self._pause()

    def _go(self, position: int) -> None:
        last = len(self._viewport.stack_images) - 1
        self._viewport.go_to(position if position >= 0 else last)

    def _step(self, steps: int) -> None:
        self._pause()
        self._viewport.scroll_by(steps)

    def _set_rate(self, rate: int) -> None:
        self.timer.setInterval(_SECOND_MS // rate)

    def _ask_rate(self, viewport: Viewport) -> None:
        """Play at the file's own rate, if it names one."""
        shown = viewport.shown
        if shown is not None and shown.header.frames > 1:
            run_for(self, partial(tags_of, shown.ref), self._take_rate, lambda _: None)

    def _take_rate(self, tags: tuple[Tag, ...]) -> None:
        rate = file_rate(tags)
        if rate:
            self.rate.setValue(rate)


def file_rate(tags: tuple[Tag, ...]) -> int:
    """Return the frames per second that a file recommends, 0 if it names none."""
    named = {tag.keyword: tag.value for tag in tags if tag.depth == 0}
    try:
        for keyword in _RATES:
            if named.get(keyword):
                return round(float(named[keyword]))
        time = float(named.get(_FRAME_TIME) or 0)
    except ValueError:
        return 0
    return round(_SECOND_MS / time) if time > 0 else 0
