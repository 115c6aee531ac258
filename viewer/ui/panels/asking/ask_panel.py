"""The Ask panel: which finding, which models, and the button that names its count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.case import View
from viewer.domain.counting import counted
from viewer.services.running.batch_form import ModelState
from viewer.ui.widgets.labels import caption, link, primary, title
from viewer.ui.widgets.lighter import ProgressBar
from viewer.ui.widgets.name_box import NameBox
from viewer.ui.widgets.plain_text import as_tip

_UNASKED: Final = "choose the view…"
_RESTRICTED: Final = "not asked: restricted data set"
_STATE: Final = "modelState"


@dataclass(frozen=True, slots=True)
class AskWanted:
    """The user asks these models where the finding is; ``view`` is never unknown."""

    finding: str
    models: tuple[str, ...]
    view: View


@dataclass(frozen=True, slots=True)
class AskChoice:
    """The settings of the panel as remembered; the names of ticked models."""

    finding: str = ""
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelsTicked:
    """Other models are ticked; ``hosts`` are the other machines they are asked at.

    ``restricted`` names the data set that keeps the image here, "" for none.
    """

    hosts: tuple[str, ...]
    restricted: str = ""


@dataclass(frozen=True, slots=True)
class ConnectWanted:
    """The user wants to see which models can be connected."""


@dataclass(frozen=True, slots=True)
class CancelWanted:
    """The user wants no further answers to the running question."""


class AskPanel(QWidget):
    """Asks about the current image, or says why it cannot."""

    ask_wanted = Signal(object)
    """Carries an AskWanted."""
    cancel_wanted = Signal(object)
    """Carries a CancelWanted."""
    models_ticked = Signal(object)
    """Carries a ModelsTicked."""
    connect_wanted = Signal(object)
    """Carries a ConnectWanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("askPanel")
        self._image_open, self._running = False, False
        self._view = self._registered = View.UNKNOWN
        self._waits_for = self._restricted = ""
        self._models: tuple[tuple[ModelState, QCheckBox], ...] = ()
        self.finding = QComboBox(editable=True)
        self.finding.setAccessibleName("Finding")
        self.finding.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.view = QComboBox()
        self.view.setAccessibleName("View")
        for words, view in (
            (_UNASKED, View.UNKNOWN),
            ("frontal", View.FRONTAL),
            ("lateral", View.LATERAL),
            ("other: not a radiograph", View.OTHER),
        ):
            self.view.addItem(words, view)
        self.connecting = link("Connect a model…", "Add a model to this list")
        self.ask = primary("Ask")
        self.cancel = QPushButton("Cancel")
        self.cancel.setToolTip("Stop the question, or the loading of its model (Esc)")
        self.progress = ProgressBar(minimum=0, maximum=0, textVisible=False)
        self.part, self.hint = caption(), caption()
        self._lay_out()
        self._connect()
        self._update()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._form, self._model_rows = QFormLayout(), QVBoxLayout()
        self._form.addRow("Finding", self.finding)
        self._form.addRow("View", self.view)
        self._model_rows.setSpacing(4)
        buttons = QHBoxLayout()
        buttons.addWidget(self.ask, 1)
        buttons.addWidget(self.cancel)
        column.addWidget(title("Ask"))
        column.addLayout(self._form)
        column.addLayout(self._model_rows)
        column.addWidget(self.connecting, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.part)
        column.addLayout(buttons)
        column.addWidget(self.progress)
        column.addWidget(self.hint)

    def _connect(self) -> None:
        self.finding.currentTextChanged.connect(self._update)
        self.view.currentIndexChanged.connect(self._update)
        self.ask.clicked.connect(self.send)
        self.connecting.clicked.connect(
            lambda: self.connect_wanted.emit(ConnectWanted())
        )
        self.cancel.clicked.connect(lambda: self.cancel_wanted.emit(CancelWanted()))

    def set_findings(self, names: Sequence[str], chosen: str = "") -> None:
        """Offer findings; any other may be typed."""
        # Taken first: clear() empties the field as well.
        text = chosen or self.finding.currentText()
        self.finding.clear()
        self.finding.addItems(list(names))
        self.finding.setCurrentText(text or (names[0] if names else ""))

    def set_models(
        self, states: Sequence[ModelState], ticked: Sequence[str] = ()
    ) -> None:
        """List the models with their state in words; one not ready cannot be ticked."""
        while (row := self._model_rows.takeAt(0)) is not None:
            if (widget := row.widget()) is not None:
                widget.deleteLater()
        self._models = tuple((state, self._add_model(state)) for state in states)
        before: QWidget = self.view
        for state, box in self._models:
            box.setChecked(state.ready and state.name in ticked)
            self.setTabOrder(before, box)
            before = box
        self.setTabOrder(before, self.connecting)
        self.setTabOrder(self.connecting, self.ask)
        self._tick()

    def _add_model(self, state: ModelState) -> QCheckBox:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        box, words = NameBox(state.name), caption(state.state)
        words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        words.setObjectName(_STATE)
        box.toggled.connect(self._tick)
        line.addWidget(box)
        line.addWidget(words, 1)
        self._model_rows.addWidget(row)
        return box

    def set_restricted(self, dataset: str) -> None:
        """Keep the image from other machines: it is in a data set that is restricted.

        "" for one that may be sent. What is ticked stays so for the next image.
        """
        if dataset != self._restricted:
            self._restricted = dataset
            self._tick()

    def _is_kept(self, state: ModelState) -> bool:
        """Tell whether the image must not be sent to a model."""
        return bool(self._restricted and state.host)

    def _tick(self, *_: object) -> None:
        for state, box in self._models:
            self._show_state(state, box)
        self._update()
        asked = set(self.ticked)
        hosts = (s.host for s, _ in self._models if s.name in asked and s.host)
        self.models_ticked.emit(
            ModelsTicked(tuple(dict.fromkeys(hosts)), self._restricted)
        )

    def _show_state(self, state: ModelState, box: QCheckBox) -> None:
        """Show what keeps a model from being asked, or where it runs."""
        restricted, row = self._is_kept(state), box.parentWidget()
        words = row.findChild(QLabel, _STATE) if row is not None else None
        if isinstance(words, QLabel):
            words.setText(_RESTRICTED if restricted else state.state)
        for widget in (box, words):
            if widget is not None:
                tip = _why_kept(self._restricted) if restricted else state.summary
                widget.setToolTip(as_tip(f"{state.name}: {tip}"))
                widget.setEnabled(state.ready and not restricted)

    @property
    def ticked(self) -> tuple[str, ...]:
        """The names of the models that would be asked."""
        return tuple(
            state.name
            for state, box in self._models
            if box.isChecked() and not self._is_kept(state)
        )

    @property
    def choice(self) -> AskChoice:
        """The current settings of the panel."""
        ticked = (state.name for state, box in self._models if box.isChecked())
        return AskChoice(self.asked_finding, tuple(ticked))

    def set_choice(self, choice: AskChoice) -> None:
        """Set finding and models; those no longer there or not ready are left out."""
        if choice.finding:
            self.finding.setCurrentText(choice.finding)
        known = {state.name for state, _ in self._models if state.ready}
        if known & set(choice.models):
            for state, box in self._models:
                box.setChecked(state.ready and state.name in choice.models)

    @property
    def asked_finding(self) -> str:
        """The finding in the field, without outer spaces."""
        return self.finding.currentText().strip()

    def set_image(self, view: View | None) -> None:
        """Say which projection the current image shows; None without an image."""
        self._image_open = view is not None
        self._view, self._registered = view or View.UNKNOWN, View.UNKNOWN
        self.view.setCurrentIndex(0)
        self._update()

    def set_part(self, words: str) -> None:
        """Say which part of the image is asked about, "" for the whole of it."""
        self.part.setText(words)
        self.part.setVisible(bool(words))

    def set_registered(self, view: View) -> None:
        """Say which projection the image's data set gives, which counts first."""
        self._registered = view
        self._update()

    def set_running(self, running: bool, words: str = "") -> None:
        """Show whether a question is running, with Cancel."""
        # Once the button is disabled Qt moves the focus on, wherever that is.
        held = self.ask.hasFocus()
        self._running = running
        self.show_waiting("", 0.0)
        if running and held:
            self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)
        if words:
            self.hint.setText(words)
            self.hint.show()

    def show_waiting(self, words: str, part: float) -> None:
        """Show what the running question waits for, and the fraction done.

        Without words its models are being asked.
        """
        self._waits_for = words
        # From 0 to 0 Qt shows that something goes on, without how far.
        self.progress.setMaximum(1000 if words else 0)
        self.progress.setValue(round(1000 * part) if words else 0)
        self._update()

    def send(self) -> None:
        """Ask if everything needed is there; else show and focus what is missing."""
        missing = self._missing()
        if missing:
            self.hint.setText(missing)
            self._go_to_missing()
            return
        self.ask_wanted.emit(AskWanted(self.asked_finding, self.ticked, self._asked()))

    def _asked(self) -> View:
        known = (self._registered, self._view, View(self.view.currentData()))
        return next((view for view in known if view is not View.UNKNOWN), View.UNKNOWN)

    def _known(self) -> bool:
        return {self._registered, self._view} != {View.UNKNOWN}

    def _go_to_missing(self) -> None:
        if not self._image_open or self._running:
            return
        if not self.asked_finding:
            self.finding.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.ticked and self._asked() is View.UNKNOWN:
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _missing(self) -> str:
        checks = (
            (self._image_open, "Choose an image to ask about."),
            (bool(self.asked_finding), "Name a finding to ask for."),
            (bool(self.ticked), self._none_ticked()),
            (
                self._asked() is not View.UNKNOWN,
                "The file does not say which view it shows. Choose it above.",
            ),
            (
                not self._running,
                "A question is running. Cancel it or wait for its answer.",
            ),
        )
        return next((words for ok, words in checks if not ok), "")

    def _none_ticked(self) -> str:
        restricted = any(
            box.isChecked() and self._is_kept(s) for s, box in self._models
        )
        if not restricted:
            return "Tick at least one model."
        return f"{_why_kept(self._restricted)}. Tick a model on this machine."

    def _update(self, *_: object) -> None:
        n = len(self.ticked)
        self.ask.setText(f"Ask {counted(n, 'model')}" if n else "Ask")
        missing = self._missing()
        self.ask.setEnabled(not missing)
        running = self._waits_for or "Asking…"
        self.hint.setText(running if self._running else missing)
        self.hint.setVisible(bool(self.hint.text()))
        self.cancel.setVisible(self._running)
        self.progress.setVisible(self._running)
        self._form.setRowVisible(self.view, self._image_open and not self._known())


def _why_kept(dataset: str) -> str:
    return f"'{dataset}' is restricted: its images stay on this machine"
