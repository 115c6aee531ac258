"""Which reader of a name it is, asked before a session of theirs is opened."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QWidget

from viewer.domain.reading import KnownReader, NameTakenError

_COUNTED = "In all results, the answers of one name are those of one reader. "


def ask_who_reads(
    window: QWidget,
    taken: NameTakenError,
    known: Callable[[str], None],
    new: Callable[[str], None],
) -> None:
    """Ask whether it is one of those known, whose name is given, or somebody new.

    Return and Esc cancel.
    """
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("Who reads?")
    box.setTextFormat(Qt.TextFormat.PlainText)
    one = taken.people[0]
    box.setText(
        f"Are you the {one.name} who has read before?"
        if len(taken.people) == 1
        else f"Which {one.name} are you?"
    )
    told = "\n".join(map(_told, taken.people))
    box.setInformativeText(
        f"{told}\n\n{_COUNTED}Another reader is called {taken.free} in them."
    )
    for person in taken.people:
        button = box.addButton(_literal(person.name), QMessageBox.ButtonRole.YesRole)
        button.clicked.connect(lambda _, name=person.name: known(name))
    other = box.addButton("Another reader", QMessageBox.ButtonRole.NoRole)
    other.clicked.connect(lambda: new(taken.free))
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    for each in box.buttons():
        each.setIcon(QIcon())  # no other button of the window has one
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.setEscapeButton(cancel)
    box.open()


def _told(person: KnownReader) -> str:
    if person.dataset:
        return f"{person.name}: in a file of the data set {person.dataset}"
    many = len(person.sessions) > 1
    numbers = ", ".join(map(str, person.sessions))
    return (
        f"{person.name}: session{'s' if many else ''} {numbers}, "
        f"{'the last ' if many else ''}opened on {person.last[:10]}"
    )


def _literal(name: str) -> str:
    """Return a name whose ampersands are no keys."""
    return name.replace("&", "&&")
