"""Get a model: what it is and needs, how much has arrived, Pause and Resume."""

from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.errors import OverreadError
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.foot import Foot
from viewer.ui.widgets.labels import caption, selectable, title
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from viewer.services.configuring.model_download import ModelDownload

_SIZE: Final = (560, 320)
_TOLD_EVERY_MS: Final = 100
_PARTS: Final = 1000
_PATIENT: Final = -1
"""Below what the user waits for: a download takes a thread for minutes or hours."""
_ASKING: Final = "Asking Hugging Face what this model is and what it needs…"
_FROM: Final = (
    "The model's files come from huggingface.co to this computer. No image and no "
    "question is sent."
)


@dataclass(slots=True)
class _Arrived:
    """How much has arrived, 0 to 1, as the thread that downloads it last said."""

    part: float = 0.0
    words: str = ""

    def take(self, part: float, words: str) -> None:
        """Take what is new."""
        self.part, self.words = part, words


class GetModel(QDialog):
    """The page; the window stays free beside it, and closing it pauses.

    Parameters
    ----------
    model : str
        The model's name on the hub, such as google/medgemma-4b-it.
    revision : str, optional
        Its branch, tag or commit; "" for the newest.
    """

    fetched = Signal()
    """Every file of the model is on this computer."""
    declined = Signal()
    """The user fills in the settings without the download."""

    def __init__(
        self, model: str, revision: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Get a model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._model, self._revision = model, revision
        self._found: ModelDownload | None = None
        self._stop, self._arrived = Event(), _Arrived()
        self._background_tasks = BackgroundTasks(self)
        self._watch = QTimer(self, interval=_TOLD_EVERY_MS)
        self.about, self.foot = selectable(), Foot("Download")
        self.without = QPushButton("Settings only…")
        self.key = QPushButton("Save a token…")
        self._lay_out()
        self._connect()
        self.look()

    def _lay_out(self) -> None:
        self.foot.stop.setText("Pause")
        for button in (self.without, self.key):
            button.setAutoDefault(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(title(self._model))
        column.addWidget(caption(_FROM))
        column.addWidget(self.about)
        column.addStretch(1)
        also = QHBoxLayout()
        for button in (self.key, self.without):
            also.addWidget(button)
        also.addStretch(1)
        column.addLayout(also)
        column.addWidget(self.foot)
        self.key.hide()
        resize_on_screen(self, *_SIZE)

    def _connect(self) -> None:
        self.foot.go.clicked.connect(self._go)
        self.foot.stop.clicked.connect(self.pause)
        self.foot.leave.clicked.connect(self.reject)
        self.without.clicked.connect(self._decline)
        self.key.clicked.connect(self._ask_for_token)
        self._watch.timeout.connect(self._tell)
        # The program waits for its threads at the end, and this one has long to go.
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.pause)

    def look(self) -> None:
        """Ask what the model is and needs, unless all of it is here."""
        model, revision = self._model, self._revision

        def asked() -> "ModelDownload | None":
            from viewer.services.configuring.model_download import (
                is_here,
                model_download,
            )

            return None if is_here(model, revision) else model_download(model, revision)

        self.key.hide()
        self.about.setText(_ASKING)
        self.foot.go.setEnabled(False)
        self._background_tasks.start("look", asked, self._offer, self._fail)

    def _offer(self, found: "ModelDownload | None") -> None:
        if found is None:
            self._end()
            return
        self._found = found
        lines = (f"{line[:1].upper()}{line[1:]}" for line in found.lines())
        self.about.setText("\n".join(lines))
        self.foot.go.setText("Download")
        self.foot.go.setEnabled(True)

    def _go(self) -> None:
        """Download what was found, or ask again after an error."""
        if self._found is None:
            self.look()
            return
        self._stop.clear()
        self._arrived = _Arrived()
        self.foot.busy("Contacting Hugging Face…")
        self._watch.start()
        fetch = partial(self._found.fetch, self._arrived.take, self._stop)
        self._background_tasks.start(
            "fetch", fetch, self._end, self._fail, priority=_PATIENT
        )

    def _tell(self) -> None:
        here = self._arrived
        if here.words:
            words = f"{here.words[:1].upper()}{here.words[1:]}"
            self.foot.tell(round(here.part * _PARTS), _PARTS, words)

    def pause(self) -> None:
        """Stop the download, if one is running; what has arrived is kept."""
        self._stop.set()

    def _end(self, _folder: str = "") -> None:
        self._watch.stop()
        self.fetched.emit()
        self.close()

    def _fail(self, error: Exception) -> None:
        from viewer.services.configuring.model_download import wants_token, was_paused

        self._watch.stop()
        self.foot.ready()
        self.foot.go.setEnabled(True)
        if not isinstance(error, OverreadError):
            raise error
        if was_paused(error):
            self.foot.go.setText("Resume")
            self.foot.sentence.setText("Paused. What has arrived is kept.")
            return
        self._found = None
        self.foot.go.setText("Try again")
        self.foot.sentence.setText("")
        self.about.setText(str(error))
        self.key.setVisible(wants_token(error))

    def _ask_for_token(self) -> None:
        from viewer.services.configuring.model_download import HUB_TOKEN
        from viewer.ui.dialogs.key_entry import KeyEntry

        entry = KeyEntry(HUB_TOKEN, self)
        entry.kept.connect(self.look)
        entry.show()

    def _decline(self) -> None:
        self.declined.emit()
        self.reject()

    def reject(self) -> None:
        """Close, and pause the download."""
        self.pause()
        super().reject()
