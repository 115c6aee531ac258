"""Every file dialog: none blocks the window; each opens where its purpose last was."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QWidget


class Purpose(StrEnum):
    """What a file is chosen for; each purpose remembers its own folder."""

    DATA = "data"
    """Data sets, predictions, replies, study files, models."""
    RESULTS = "results"
    """Whatever is saved."""


_LOCATION: Final = QStandardPaths.StandardLocation
_LAST: Final[dict[str, str]] = {}


def last_folders() -> Mapping[str, str]:
    """Return by purpose the folder that was last used."""
    return dict(_LAST)


def set_last_folders(folders: Mapping[str, str]) -> None:
    """Set by purpose the folder that was last used; others are forgotten."""
    _LAST.clear()
    _LAST.update({purpose: str(folder) for purpose, folder in folders.items()})


def start_folder(purpose: Purpose) -> Path:
    """Return the folder last used for a purpose, or the user's documents."""
    last = [Path(_LAST[purpose])] if purpose in _LAST else []
    return _first_folder(last, _LOCATION.DocumentsLocation)


def _first_folder(
    wanted: Sequence[Path], otherwise: QStandardPaths.StandardLocation
) -> Path:
    """Return the first that exists, else one of the user's own."""
    own = QStandardPaths.writableLocation(otherwise)
    places = (*wanted, *([Path(own)] if own else ()))
    return next((place for place in places if place.is_dir()), Path.home())


def choose_to_write(
    parent: QWidget, title: str, name: str, kinds: str, then: Callable[[Path], None]
) -> None:
    """Ask where to write, and whether an existing file may be replaced.

    Parameters
    ----------
    parent : QWidget
        Whose window the dialog belongs to.
    title : str
        The dialog's title.
    name : str
        The file name that is offered; its ending is added where a person gives none.
    kinds : str
        Qt's filter of file names, "Tables (*.csv)", or several, ";;" between them.
    then : callable
        Gets the chosen file; nobody is called where the person cancels.
    """
    dialog = _dialog(parent, title, start_folder(Purpose.RESULTS))
    dialog.setNameFilter(kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(name).suffix)
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(_ending(kind)))
    dialog.selectFile(name)
    _open(dialog, Purpose.RESULTS, then)


def choose_to_read(
    parent: QWidget,
    title: str,
    kinds: str,
    then: Callable[[Path], None],
    purpose: Purpose = Purpose.DATA,
    here: Path | None = None,
) -> None:
    """Ask for one file to read; parameters as in `choose_to_write`.

    ``here`` is the folder to begin in, unless that of the purpose is meant.
    """
    dialog = _dialog(parent, title, here or start_folder(purpose))
    dialog.setNameFilter(kinds)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    _open(dialog, purpose, then)


def choose_images(
    parent: QWidget,
    lately: Sequence[Path],
    then: Callable[[Sequence[Path]], None],
    *,
    folder: bool = False,
) -> None:
    """Ask for files of images, or a folder of them, to open.

    Parameters
    ----------
    parent : QWidget
        Whose window the dialog belongs to.
    lately : sequence of Path
        What was opened lately, the newest first; the dialog begins there, or else at
        the user's pictures.
    then : callable
        Gets what is chosen.
    folder : bool
        Whether to ask for a folder.
    """
    mode = QFileDialog.FileMode
    start = _first_folder([p.parent for p in lately], _LOCATION.PicturesLocation)
    dialog = _dialog(parent, "Open folder" if folder else "Open files", start)
    dialog.setFileMode(mode.Directory if folder else mode.ExistingFiles)
    dialog.filesSelected.connect(lambda names: then([Path(name) for name in names]))
    dialog.open()


def choose_folder(
    parent: QWidget,
    title: str,
    then: Callable[[Path], None],
    purpose: Purpose = Purpose.DATA,
    here: Path | None = None,
) -> None:
    """Ask for a folder; parameters as in `choose_to_read`."""
    dialog = _dialog(parent, title, here or start_folder(purpose))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    _open(dialog, purpose, then)


def _ending(kind: str) -> str:
    """Return the ending of the files of a kind, such as "csv"."""
    return kind.rpartition(".")[2].rstrip(")")


def _dialog(parent: QWidget, title: str, start: Path) -> QFileDialog:
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setDirectory(str(start))
    return dialog


def _open(dialog: QFileDialog, purpose: Purpose, then: Callable[[Path], None]) -> None:
    def take(name: str) -> None:
        _LAST[purpose] = str(Path(name).parent)
        then(Path(name))

    dialog.fileSelected.connect(take)
    dialog.open()
