"""A form built from a study's description of its parameters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFormLayout, QVBoxLayout, QWidget

from viewer.services.configuring.form_field import FormField
from viewer.ui.widgets.field_editors import (
    UNSET,
    Line,
    SomeOf,
    Widget,
    editor,
    label_of,
    reset,
)
from viewer.ui.widgets.labels import as_caption, link
from viewer.ui.widgets.plain_text import Label

_CLOSE: Final = 2


class ParamsForm(QWidget):
    """A study's parameters, one row each.

    Parameters
    ----------
    explained : bool, optional
        Whether each has its sentence below it, not only those seldom needed.
    """

    edited = Signal()

    def __init__(
        self, parent: QWidget | None = None, *, explained: bool = False
    ) -> None:
        super().__init__(parent)
        self._explained = explained
        self._fields: tuple[FormField, ...] = ()
        self._editors: dict[str, Widget] = {}
        self._defaults: dict[str, object] = {}
        self._unfolded, self._folded = False, range(0)
        self.rows = QFormLayout(self)
        self.rows.setContentsMargins(0, 0, 0, 0)
        self.rows.setSpacing(8)

    @property
    def editors(self) -> Mapping[str, Widget]:
        """The widgets by the parameter's name."""
        return self._editors

    def show_fields(self, fields: Sequence[FormField]) -> bool:
        """Show the form of some fields, at their defaults.

        Return whether its widgets are new: a hundred of them take a while to make, and
        stay where the fields are those that are shown already.
        """
        if fields and tuple(fields) == self._fields:
            self._reset()
            return False
        self._fields = tuple(fields)
        self._build(fields)
        return True

    def _reset(self) -> None:
        blocked = self.blockSignals(True)
        for field in self._fields:
            reset(self._editors[field.name], field)
        self.blockSignals(blocked)

    def _build(self, fields: Sequence[FormField]) -> None:
        while self.rows.rowCount():
            # Deletes the row's widgets as well.
            self.rows.removeRow(0)
        self._editors = {field.name: editor(field) for field in fields}
        # As the fields give them back, so that a field's rounding is no change.
        self._defaults = self.values()
        for field in (f for f in fields if not f.more):
            self._add_row(field, explained=self._explained)
        self._add_more([field for field in fields if field.more])
        align([self.rows])  # also with rows that are folded

    def _add_row(self, field: FormField, *, explained: bool) -> None:
        widget = self._editors[field.name]
        widget.edited.connect(self.edited)
        if not explained:
            self.rows.addRow(label_of(field), widget)
            return
        if isinstance(widget, Line):
            widget.setPlaceholderText(UNSET)  # what it means stands below
        self.rows.addRow(label_of(field), explained_by(widget, field.sentence))

    def _add_more(self, fields: Sequence[FormField]) -> None:
        """Add the fields that are seldom needed, each with a sentence, folded."""
        if not fields:
            return
        self.more = link("", "Show or fold the settings that are seldom needed")
        self.more.setCheckable(True)
        self.more.setChecked(self._unfolded)
        self.rows.addRow("", self.more)
        start = self.rows.rowCount()
        for field in fields:
            self._add_row(field, explained=True)
        self._folded = range(start, self.rows.rowCount())
        self.more.toggled.connect(self._fold)
        self._fold(self._unfolded)

    def _fold(self, unfolded: bool) -> None:
        self._unfolded = unfolded
        self.more.setText("Fewer settings" if unfolded else "More settings")
        for row in self._folded:
            self.rows.setRowVisible(row, unfolded)

    def show_lacking(self, name: str, lacking: Mapping[str, str]) -> None:
        """Grey choices of a parameter that come to nothing, each with the reason."""
        shown = self._editors.get(name)
        if isinstance(shown, SomeOf):
            shown.show_lacking(lacking)

    @property
    def label_width(self) -> int:
        """The width of the label column, for rows above the form."""
        return max((each.sizeHint().width() for each in _labels(self.rows)), default=0)

    def changed(self) -> dict[str, object]:
        """Return the parameters that differ from their default."""
        return {n: v for n, v in self.values().items() if v != self._defaults[n]}

    def set_values(self, values: Mapping[str, object]) -> tuple[str, ...]:
        """Show these values; return the names of those the form cannot show."""
        return tuple(n for n, value in values.items() if not self._set(n, value))

    def _set(self, name: str, value: object) -> bool:
        if name not in self._editors:
            return False
        try:
            self._editors[name].set_value(value)
        except ValueError:
            return False
        return True

    def values(self) -> dict[str, object]:
        """Return every parameter."""
        return {name: widget.value() for name, widget in self._editors.items()}


def explained_by(widget: QWidget, sentence: str) -> QWidget:
    """Return a cell of a form: a widget with what it means below it."""
    cell = QWidget()
    column = QVBoxLayout(cell)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(_CLOSE)
    # Else a scrolled form gets less than it wants, and squeezes all of its rows.
    widget.setMinimumHeight(widget.sizeHint().height())
    column.addWidget(widget)
    column.addWidget(_Sentence(sentence))
    return cell


class _Sentence(Label):
    """A caption as high as its lines need at its width, neither more nor less."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, wordWrap=True)
        as_caption(self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Take the height of its lines."""
        super().resizeEvent(event)
        self.setFixedHeight(self.heightForWidth(event.size().width()))


def align(forms: Sequence[QFormLayout]) -> None:
    """Give the labels of stacked forms the same width."""
    labels = [label for form in forms for label in _labels(form)]
    width = max((each.sizeHint().width() for each in labels), default=0)
    for label in labels:
        label.setMinimumWidth(width)


def _labels(form: QFormLayout) -> Iterator[QWidget]:
    for row in range(form.rowCount()):
        cell = form.itemAt(row, QFormLayout.ItemRole.LabelRole)
        label = cell.widget() if cell is not None else None
        if label is not None:
            yield label
