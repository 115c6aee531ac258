"""The page of a run's figures, each as it is printed: view, copy and save.

The worker draws them: the window shows its pictures, and loads no library to draw.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QImage, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.plain import made
from viewer.services.commands import FigureCard, FigureCommand
from viewer.services.worker.background import WorkerDied, WorkerReply
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.charts.figure_view import FigureView
from viewer.ui.widgets import theme
from viewer.ui.widgets.file_choice import choose_to_write
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.plain_text import Label

# Print's page is 183 mm wide (writers/figures_style).
_PAGE_INCH: Final = 183 / 25.4
_FILES: Final = (
    "PDF (*.pdf);;SVG (*.svg);;PNG (*.png);;Numbers (*.csv);;Python script (*.py)"
)
_LIST, _PICTURE = "list", "picture"
Reply = Mapping[str, Any]


class FiguresPage(QWidget):
    """The paper's figures of a run: a choice above, words below.

    They are computed in the worker when the page is first looked at.
    """

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._background_tasks = BackgroundTasks(self)
        self._run: int | None = None
        self._cards: tuple[FigureCard, ...] = ()
        self._asked: dict[str, tuple[int, Callable[[Reply], None]]] = {}
        self._stale, self._ground = False, theme.current().name
        self.choice, self.export = LongChoice(), QPushButton("Export figure…")
        self.order, self.view = OrderChoice(), FigureView()
        self._title, self._caption, self._missing = Label(), Label(), Label()
        self._actions = self._offer_actions()
        context.worker.message.connect(self._hear)
        self._prepare()
        self._lay_out()

    @property
    def card(self) -> FigureCard | None:
        """The figure on the screen."""
        place = self.choice.currentIndex()
        return self._cards[place] if 0 <= place < len(self._cards) else None

    @property
    def words(self) -> str:
        """The text under the figure, or in its place."""
        return str(self._caption.text()) or self.view.words

    @property
    def table(self) -> Self:
        """The widget with the focus, which is copied like the tables of other pages."""
        return self

    def show_run(self, run: int) -> None:
        """List the figures of a run and keep the one that was shown."""
        if run != self._run:
            self._missing.hide()
            self.show_figures(())
        self._run = run
        self._title.setText(f"Computing the figures of run {run} …")
        self._await(_LIST, self._context.worker.figures(run), self._take_list)

    def copy(self) -> None:
        """Copy the figure as a picture, as it is printed."""
        self._fetch("copy", "png", self._copy_picture)

    def copy_script(self) -> None:
        """Copy a Python script that draws the figure."""
        self._fetch("copy", "py", self._copy_script)

    def export_to(self, path: Path) -> None:
        """Save the figure; the file's suffix gives the format."""
        kind = path.suffix.removeprefix(".").lower()
        self._fetch("save", kind, lambda reply: self._save(reply, path))

    def ask_where_to_export(self) -> None:
        """Ask for the file to save the figure to."""
        card = self.card
        if card is not None:
            name = f"{card.name}.pdf"
            choose_to_write(self, "Export figure", name, _FILES, self.export_to)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Redraw if the theme changed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.isVisible():
            self._draw()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Redraw if the theme changed while hidden."""
        super().showEvent(event)
        if self._ground != theme.current().name:
            self._draw()

    def show_figures(self, cards: tuple[FigureCard, ...]) -> None:
        """Offer figures; keep the one that was shown."""
        chosen = self.card.name if self.card else ""
        names = [card.name for card in cards]
        self._cards = cards
        with QSignalBlocker(self.choice):
            self.choice.clear()
            self.choice.addItems([card.called for card in cards])
            place = names.index(chosen) if chosen in names else 0
            self.choice.setCurrentIndex(place)
        for widget in (self.choice, self.export):
            widget.setEnabled(bool(cards))
        for action in self._actions:
            action.setEnabled(bool(cards))
        self._choose(anew=chosen not in names)

    def _offer_actions(self) -> tuple[QAction, ...]:
        made = []
        for text, do in (
            ("Copy picture", self.copy),
            ("Copy as Python script", self.copy_script),
            ("Export figure…", self.ask_where_to_export),
        ):
            action = QAction(text, self)
            action.triggered.connect(lambda _=False, do=do: do())
            made.append(action)
        return tuple(made)

    def _prepare(self) -> None:
        self.choice.setAccessibleName("Figure")
        self.choice.setMinimumWidth(self.choice.minimumSizeHint().width())
        self.choice.setSizeAdjustPolicy(LongChoice.SizeAdjustPolicy.AdjustToContents)
        self.choice.currentIndexChanged.connect(lambda _: self._choose())
        self.order.changed.connect(self._draw)
        self.export.setToolTip(
            "Save this figure as PDF, SVG or PNG, its numbers as CSV, or a Python"
            " script that draws it"
        )
        self.export.clicked.connect(self.ask_where_to_export)
        self.view.offer(self._actions)
        self.view.redraw_wanted.connect(self._draw)
        self._title.setFont(theme.title_font(self.font()))
        for label in (self._caption, self._missing):
            label.setFont(theme.caption_font(self.font()))
            label.setWordWrap(True)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self.choice)
        head.addWidget(self.export)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 8, 0, 0)
        box.setSpacing(8)
        box.addLayout(head)
        box.addWidget(self.order, alignment=Qt.AlignmentFlag.AlignRight)
        box.addWidget(self._missing)
        self._missing.hide()
        box.addWidget(self.view, 1000)
        box.addWidget(self._caption)
        box.addStretch(1)
        self.show_figures(())

    def _choose(self, *, anew: bool = True) -> None:
        """Offer the orders of the chosen figure, and draw it."""
        card = self.card
        self.order.offer(card.orders if card else ())
        self._caption.setText(card.words if card else "")
        self.view.setAccessibleDescription(
            f"{card.called}. {card.words}" if card else ""
        )
        if card is None or anew:
            self.view.show_words("Drawing the figure …" if card else "")
        self._draw()

    def _draw(self) -> None:
        """Have the figure drawn for the screen, one picture at a time."""
        if self.card is None:
            self._asked.pop(_PICTURE, None)
            return
        self._stale = _PICTURE in self._asked
        if self._stale:
            return
        wanted, width = self._command("png"), self.view.page_px
        self._ground = theme.current().name
        drawn = replace(wanted, ground=self._ground, dpi=width / _PAGE_INCH)
        self._await(
            _PICTURE,
            self._context.worker.draw_figure(drawn),
            lambda reply: self._show_picture(reply, wanted, width),
        )

    def _command(self, kind: str) -> FigureCommand:
        name = self.card.name if self.card else ""
        return FigureCommand(self._run or 0, name, kind, order=self.order.chosen)

    def _fetch(self, what: str, kind: str, then: Callable[[Reply], None]) -> None:
        """Request the figure as a file of a kind, as it is printed."""
        if self.card is not None:
            number = self._context.worker.draw_figure(self._command(kind))
            self._await(what, number, then)

    def _await(self, what: str, number: int, then: Callable[[Reply], None]) -> None:
        self._asked[what] = number, then

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerDied) and self._asked:
            what = _LIST if _LIST in self._asked else _PICTURE
            self._asked.clear()
            self._fail(what, message.sentence)
        elif isinstance(message, WorkerReply):
            of = {number: what for what, (number, _) in self._asked.items()}
            if message.id in of:
                self._take(of[message.id], message)

    def _take(self, what: str, reply: WorkerReply) -> None:
        _, then = self._asked.pop(what)
        if reply.ok is None:
            self._fail(what, reply.sentence)
        else:
            then(reply.ok)
        if what == _PICTURE and self._stale:
            self._draw()

    def _take_list(self, reply: Reply) -> None:
        cards = tuple(
            made(FigureCard, one, where="the list of figures")
            for one in reply["figures"]
        )
        missing = tuple(reply["missing"])
        run = self._run
        words = f"Figures of run {run}" if cards else f"Run {run} has no figures yet."
        self._title.setText(words)
        self.show_figures(cards)
        if not cards:
            self.view.show_words(" ".join(missing))
        self._missing.setText(_listed(missing))
        self._missing.setVisible(bool(cards and missing))

    def _show_picture(self, reply: Reply, wanted: FigureCommand, width: int) -> None:
        """Show a drawn picture, unless another figure was chosen meanwhile."""
        if self._command("png") == wanted:
            self._caption.setText(reply["words"])
            self.view.show_picture(QImage.fromData(_content(reply)), width)

    def _copy_picture(self, reply: Reply) -> None:
        QGuiApplication.clipboard().setImage(QImage.fromData(_content(reply)))
        self._context.notices.say("Copied the figure as a picture.")

    def _copy_script(self, reply: Reply) -> None:
        QGuiApplication.clipboard().setText(_content(reply).decode())
        self._context.notices.say("Copied a Python script that draws the figure.")

    def _save(self, reply: Reply, path: Path) -> None:
        from viewer.services.worker.figures import save_figure

        self._background_tasks.start(
            ("save", path),
            lambda: save_figure(path, _content(reply)),
            lambda _: self._context.notices.say(f"{path.name} has been saved."),
            lambda error: tell_error(self._context, error),
        )

    def _fail(self, what: str, sentence: str) -> None:
        if what not in {_LIST, _PICTURE}:
            self._context.notices.say(sentence)
            return
        if what == _LIST:
            self._title.setText("The figures could not be computed.")
        self._caption.clear()
        self.view.show_words(sentence)


def _content(reply: Reply) -> bytes:
    return base64.b64decode(reply["content"])


def _listed(missing: tuple[str, ...]) -> str:
    """Return why figures are missing: a sentence, or a list if there are several."""
    head = "Some figures are missing."
    if len(missing) < 2:
        return " ".join((head, *missing)) if missing else ""
    return "\n".join((head, *(f"•  {why}" for why in missing)))


_TIP: Final = "Groups by (first − second) / second, greatest first"


class OrderChoice(QWidget):
    """Two lists: the groups are ordered by (first − second) / second."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.above, self.below = LongChoice(_TIP), LongChoice(_TIP)
        self.above.setAccessibleName("Order by the difference of")
        self.below.setAccessibleName("to")
        box = QHBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(Label("Order by"))
        box.addWidget(self.above)
        box.addWidget(Label("over"))
        box.addWidget(self.below)
        for combo in (self.above, self.below):
            combo.currentIndexChanged.connect(self.changed)

    @property
    def chosen(self) -> tuple[str, str] | None:
        """The two series, None if there is nothing to choose."""
        if self.isHidden() or not self.above.count():
            return None
        return self.above.currentText(), self.below.currentText()

    def offer(self, names: tuple[str, ...]) -> None:
        """Offer a figure's series; keep the choice if it is still there."""
        self.setVisible(bool(names))
        if names:
            for combo, first in ((self.above, 0), (self.below, 1)):
                _fill(combo, names, first)


def _fill(combo: QComboBox, names: tuple[str, ...], first: int) -> None:
    chosen = combo.currentText()
    combo.blockSignals(True)
    combo.clear()
    combo.addItems(list(names))
    combo.setCurrentIndex(names.index(chosen) if chosen in names else first)
    combo.blockSignals(False)
