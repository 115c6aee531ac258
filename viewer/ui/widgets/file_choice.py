"""File dialogs for reading and writing that do not block the window."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


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
    dialog = _dialog(parent, title, kinds, then)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(name).suffix)
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(_ending(kind)))
    dialog.selectFile(name)
    dialog.open()


def choose_to_read(
    parent: QWidget, title: str, kinds: str, then: Callable[[Path], None]
) -> None:
    """Ask for one file to read; parameters as in `choose_to_write`."""
    dialog = _dialog(parent, title, kinds, then)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.open()


def choose_folder(parent: QWidget, title: str, then: Callable[[Path], None]) -> None:
    """Ask for a folder; parameters as in `choose_to_write`."""
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.fileSelected.connect(lambda name: then(Path(name)))
    dialog.open()


def _ending(kind: str) -> str:
    """Return the ending of the files of a kind, such as "csv"."""
    return kind.rpartition(".")[2].rstrip(")")


def _dialog(
    parent: QWidget, title: str, kinds: str, then: Callable[[Path], None]
) -> QFileDialog:
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setNameFilter(kinds)
    dialog.fileSelected.connect(lambda name: then(Path(name)))
    return dialog
