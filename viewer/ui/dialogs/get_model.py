"""Get a model: what it is and needs, how much has arrived, Pause and Resume.

It comes from the hub, or from an Ollama on this computer by a name that the user types.
"""

from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.foot import Foot
from viewer.ui.widgets.labels import caption, selectable, title
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.services.configuring.model_download import Download

_SIZE: Final = (560, 320)
_TOLD_EVERY_MS: Final = 100
_PARTS: Final = 1000
_PATIENT: Final = -1
"""Below what the user waits for: a download takes a thread for minutes or hours."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model comes from.

    ``find`` takes its name and asks what it is and needs; None if all of it is here.
    """

    name: str
    about: str
    paused: str
    find: "Callable[[str], Download | None]"


def hub(revision: str = "") -> Source:
    """Return Hugging Face, for a branch, tag or commit; "" for the newest."""

    def find(model: str) -> "Download | None":
        from viewer.services.configuring.model_download import is_here, model_download

        return None if is_here(model, revision) else model_download(model, revision)

    return Source(
        "Hugging Face",
        "The model's files are downloaded from huggingface.co to this computer. No "
        "images or questions are sent.",
        "Paused. What has been downloaded is kept.",
        find,
    )


def ollama(base_url: str) -> Source:
    """Return the Ollama at an address of this computer."""

    def find(model: str) -> "Download | None":
        from viewer.services.configuring.model_download import OllamaDownload

        return OllamaDownload(base_url, model)

    return Source(
        "Ollama",
        "Ollama downloads the model to this computer; https://ollama.com/search lists "
        "the names. No images or questions are sent.",
        "Paused. Ollama keeps what has been downloaded; some versions first finish the "
        "file that they had begun.",
        find,
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
    """The page; the window stays usable, and closing the page pauses the download.

    Parameters
    ----------
    source : Source
        Where the model comes from.
    model : str, optional
        Its name there, such as google/medgemma-4b-it; "" if the user types it.
    """

    fetched = Signal()
    """Every file of the model is on this computer."""
    declined = Signal()
    """The user wants to fill in the settings without a download."""

    def __init__(
        self, source: Source, model: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Get a model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._source, self._typed = source, not model
        self._found: Download | None = None
        self._stop, self._arrived = Event(), _Arrived()
        self._background_tasks = BackgroundTasks(self)
        self._watch = QTimer(self, interval=_TOLD_EVERY_MS)
        self.name = QLineEdit(model, placeholderText="medgemma:4b")
        self.name.setAccessibleName("Name of the model")
        self.about, self.foot = selectable(), Foot("Download")
        self.without = QPushButton("Settings only…")
        self.key = QPushButton("Save a token…")
        self._lay_out()
        self._connect()
        if self._typed:
            self._named(model)
        else:
            self.look()

    def _lay_out(self) -> None:
        self.foot.stop.setText("Pause")
        for button in (self.without, self.key):
            button.setAutoDefault(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(
            title(self.name.text() or f"Get a model from {self._source.name}")
        )
        column.addWidget(caption(self._source.about))
        column.addWidget(self.name)
        column.addWidget(self.about)
        column.addStretch(1)
        also = QHBoxLayout()
        for button in (self.key, self.without):
            also.addWidget(button)
        also.addStretch(1)
        column.addLayout(also)
        column.addWidget(self.foot)
        self.key.hide()
        self.name.setVisible(self._typed)
        self.without.setVisible(not self._typed)
        resize_on_screen(self, *_SIZE)

    def _connect(self) -> None:
        self.name.textChanged.connect(self._named)
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
        asked = partial(self._source.find, self.name.text().strip())
        self.key.hide()
        self.about.setText(
            f"Asking {self._source.name} what this model is and what it needs…"
        )
        self.name.setEnabled(False)
        self.foot.go.setEnabled(False)
        self._background_tasks.start("look", asked, self._offer, self._fail)

    def _named(self, name: str) -> None:
        """Forget the model of another name."""
        self._found = None
        self.about.setText("")
        self.foot.sentence.setText("")
        self.foot.go.setText("Download")
        self.foot.go.setEnabled(bool(name.strip()))

    def _offer(self, found: "Download | None") -> None:
        if found is None:
            self._end()
            return
        self._found = found
        lines = [f"{line[:1].upper()}{line[1:]}" for line in found.lines()]
        self.about.setText("\n".join(lines))
        self.foot.go.setText("Download")
        self.foot.go.setEnabled(True)
        if not lines:  # nothing to read first
            self._go()

    def _go(self) -> None:
        """Download what was found, or ask again after an error."""
        if self._found is None:
            self.look()
            return
        self._stop.clear()
        self._arrived = _Arrived()
        self.name.setEnabled(False)
        self.foot.busy(f"Contacting {self._source.name}…")
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
        self.name.setEnabled(True)
        if not isinstance(error, OverreadError):
            raise error
        if was_paused(error):
            self.foot.go.setText("Resume")
            self.foot.sentence.setText(self._source.paused)
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
