"""The line over a case under review: progress, estimated time, forecast."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from viewer.domain.counting import counted
from viewer.domain.reading import Forecast, Progress, SessionSummary
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.review.texts import CaseTexts
from viewer.ui.widgets.labels import caption, link, title
from viewer.ui.widgets.lighter import ProgressBar
from viewer.ui.widgets.plain_text import Label, as_tip

if TYPE_CHECKING:
    from viewer.ui.panels.review.session import Session

_BAR_WIDTH: Final = 120
_WIDE: Final = 900
"""Pixels: with less room there is none for words beside the title."""
_MEANING: Final = (
    "{}: the shares of position and anatomy errors among all complete misses, per "
    "model and finding, estimated from the reviewed ones (exact hypergeometric 95 % "
    "intervals). Assumes that further reviews find what was found so far."
)


class ReviewBar(QFrame):
    """Title, reader, progress and estimated time; names no model."""

    left = Signal()
    """The reader goes back to what there is to review."""
    skipped = Signal()
    """The reader leaves the case for later."""
    withdrawal_wanted = Signal()
    """The reader wants to take all answers back."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.reader = title(""), caption()
        self.place, self.words, self.forecast = Label(), caption(), caption()
        self.bar = ProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(_BAR_WIDTH)
        self.bar.setAccessibleName("Cases done")
        self.skip = link("Skip", "Leave this case for later (Right)")
        self.leave = link(
            "Pause", "Go back; everything is kept, and you can continue later (Esc)"
        )
        self.withdraw = link("Withdraw…", "Stop, and take all your answers back")
        self.skip.clicked.connect(self.skipped)
        self.leave.clicked.connect(self.left)
        self.withdraw.clicked.connect(self.withdrawal_wanted)
        for label in (self.reader, self.words, self.place, self.forecast):
            label.setWordWrap(False)
        for label in (self.title, self.reader, self.words, self.forecast):
            label.setMinimumWidth(1)  # or longer words would widen the window
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(12)
        row.addWidget(self.title)
        row.addWidget(self.reader)
        row.addStretch(1)
        row.addWidget(self.place)
        row.addWidget(self.words)
        row.addWidget(self.forecast)
        row.addWidget(self.bar)
        for button in (self.skip, self.leave, self.withdraw):
            row.addWidget(button)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show only what has room; the reader and the times are told on the bar."""
        super().resizeEvent(event)
        for label in (self.reader, self.words, self.forecast):
            label.setVisible(self.width() >= _WIDE)

    def add(self, button: QWidget) -> None:
        """Add a button at the right end."""
        self._row.addWidget(button)

    def show_session(self, summary: SessionSummary) -> None:
        """Show what is reviewed and the reader."""
        self.title.setText(summary.title)
        self.title.setToolTip(as_tip(summary.title))  # a narrow bar cuts it off
        self.reader.setText(f"read by {summary.reader}")

    def show_position(self, position: int, planned: int) -> None:
        """Show which case this is; ``position`` counts from 0."""
        self.place.setText(f"Case {position + 1} of {planned}")

    def show_progress(self, progress: Progress) -> None:
        """Show the session's progress and its estimated remaining time."""
        self.words.setText(progress_words(progress))
        self.words.setToolTip(as_tip(self.words.text()))
        self.bar.setToolTip(as_tip(f"{self.reader.text()}\n{self.words.text()}"))
        self.bar.setMaximum(max(1, progress.planned))
        self.bar.setValue(progress.done)

    def show_forecast(self, forecast: Forecast) -> None:
        """Show what more reviews would gain."""
        self.forecast.setText(forecast_words(forecast))
        text = self.forecast.text()
        self.forecast.setToolTip(as_tip(_MEANING.format(text) if text else ""))


def progress_words(progress: Progress) -> str:
    """Return the progress of a session, such as ``12 done · about 18 min left``."""
    words = [f"{progress.done} done"]
    if progress.unresolved:
        words.append(f"{progress.unresolved} unsure")
    if progress.median_s is not None:
        words.append(f"{progress.median_s:.0f} s a case")
    if progress.left_s is not None and progress.left:
        words.append(f"about {duration_words(progress.left_s)} left")
    return " · ".join(words)


def forecast_words(forecast: Forecast) -> str:
    """Return the gain of more reviews in words, "" without an estimate."""
    if not forecast.strata:
        return ""
    points = f"±{100 * forecast.half_width:.0f} points"
    if not forecast.wide:
        return f"every share is known to {points}"
    more = counted(forecast.more, "more review")
    return f"{more} until every share is known to {points}"


def duration_words(seconds: float) -> str:
    """Return a duration in words: ``40 s``, ``18 min``, ``2 h 5 min``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


class SessionSums:
    """Shows in the bar, and above the case, what is counted over a whole session.

    ``fail`` is given the errors of counting.
    """

    def __init__(
        self,
        bar: ReviewBar,
        texts: CaseTexts,
        background_tasks: BackgroundTasks,
        fail: Callable[[Exception], None],
    ) -> None:
        self._bar, self._texts = bar, texts
        self._background_tasks, self._fail = background_tasks, fail
        self._session: Session | None = None

    def open(self, session: "Session") -> None:
        """Count a session from now on."""
        self._session = session
        self.show_forecast()

    def close(self) -> None:
        """Count no more."""
        self._session = None

    def show_position(self, position: int, cases: int) -> None:
        """Show which case is on the screen, and how far the reader is."""
        if self._session is not None:
            self._bar.show_position(position, cases)
            self._background_tasks.start(
                "progress", self._session.progress, self._show, self._fail
            )

    def _show(self, progress: Progress) -> None:
        self._bar.show_progress(progress)
        self._texts.overview.show_exhibits(progress.overview)

    def show_forecast(self) -> None:
        """Show how much further reviews would add."""
        if self._session is not None:
            self._background_tasks.start(
                "forecast", self._session.forecast, self._bar.show_forecast, self._fail
            )
