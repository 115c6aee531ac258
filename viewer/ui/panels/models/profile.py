"""The settings of the chosen model, in a form built from the table of settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.probe import ProbeRow
from viewer.services.commands import CalibrationStep
from viewer.services.configuring.dropped_models import projector_beside
from viewer.services.configuring.model_list import ModelLine, Readiness
from viewer.services.configuring.model_profiles import check_model, settings_fields
from viewer.ui.panels.models.calibration import ModelCalibration
from viewer.ui.panels.models.calibration_book import FoundConvention
from viewer.ui.panels.models.checking import ModelCheckCard
from viewer.ui.panels.models.memory import ModelMemory
from viewer.ui.panels.models.testing import ModelTest, keep_room
from viewer.ui.tables.models_model import ModelRow
from viewer.ui.widgets.field_editors import Line, PathLine
from viewer.ui.widgets.labels import caption, primary, selectable, title
from viewer.ui.widgets.params_form import ParamsForm, explained_by
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import scrolled

_SETTLED_MS: Final = 150
_CONVENTION: Final = "convention"
_KEY: Final = "api_key_env"
_PROJECTOR: Final = "projector"
_NAME: Final = "What lists and study files call the model."
_COMES_WITH: Final = "It is built in and has no settings."
_CHOSEN: Final = "The administrator of this computer chose it; you cannot change it."


@dataclass(frozen=True)
class Draft:
    """A model as a person edits it: its table, and the name of the one it replaces.

    ``replaced`` is None for a model that the file does not hold yet.
    """

    table: Mapping[str, object]
    replaced: str | None


@dataclass(frozen=True)
class DraftEdited:
    """The user changed the form."""

    draft: Draft


@dataclass(frozen=True)
class SaveWanted:
    """The user wants to save the model in the form."""

    draft: Draft


@dataclass(frozen=True, slots=True)
class RevertWanted:
    """The user wants to discard unsaved changes."""


@dataclass(frozen=True)
class ListWanted:
    """The user wants the list of models on the server of this table."""

    table: Mapping[str, object]


def line_of(draft: Draft) -> ModelLine:
    """Return the row key of a model that is not in the file yet."""
    return ModelLine(
        name=str(draft.table.get("name", "")),
        adapter=str(draft.table.get("adapter", "")),
        summary="",
        readiness=Readiness.UNUSABLE,
        state="new",
        own=True,
        table=draft.table,
    )


class ModelProfilePanel(QWidget):
    """Name, settings and memory of one model; shows errors at once.

    Parameters
    ----------
    models_file : Path
        Where the person's models stand; relative paths start from its folder.
    """

    edited = Signal(object)
    """DraftEdited"""
    save_wanted = Signal(object)
    """SaveWanted"""
    revert_wanted = Signal(object)
    """RevertWanted"""
    list_wanted = Signal(object)
    """ListWanted"""
    key_kept = Signal()

    def __init__(self, models_file: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models_file = models_file
        self._shown = Draft({}, None)
        self._unshown: tuple[str, ...] = ()
        self.head, self.summary = title(""), caption()
        self.standing = selectable()
        self.memory, self.check_card = ModelMemory(), ModelCheckCard()
        self.name, self.form = QLineEdit(), ParamsForm(explained=True)
        self._name_label = Label("Name")
        self.hint = Label(wordWrap=True)
        self.save, self.revert = primary("Save"), QPushButton("Revert")
        self.tabs, self._pages = QTabBar(), QStackedWidget()
        self.test, self.calibration = ModelTest(), ModelCalibration()
        for name in ("Settings", "Test and calibration"):
            self.tabs.addTab(name)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName("Settings or tests")
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        self._check_soon = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._lay_out()
        self._check_soon.timeout.connect(self.check)
        self.name.textEdited.connect(self._edit)
        self.form.edited.connect(self._edit)
        self.save.clicked.connect(self.ask_to_save)
        self.revert.clicked.connect(lambda: self.revert_wanted.emit(RevertWanted()))

    def _lay_out(self) -> None:
        self.name.setAccessibleName("Name")
        names = QHBoxLayout()
        names.setSpacing(8)
        names.addWidget(self._name_label, 0, Qt.AlignmentFlag.AlignTop)
        names.addWidget(explained_by(self.name, _NAME), 1)
        inside = QWidget()
        rows = QVBoxLayout(inside)
        rows.setContentsMargins(0, 0, 8, 0)
        rows.addWidget(self.check_card)  # scrolls, as low windows have no room
        rows.addLayout(names)
        rows.addWidget(self.form)
        rows.addStretch(1)
        self.scroll_area = scrolled(inside)
        self.scroll_area.setHorizontalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        buttons = QHBoxLayout()
        buttons.addWidget(self.hint, 1)
        buttons.addWidget(self.revert)
        buttons.addWidget(self.save)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(12, 8, 12, 8)
        self.column.setSpacing(8)
        for widget in (
            self.head, self.summary, self.standing, self.memory, self.tabs
        ):  # fmt: skip
            self.column.addWidget(widget)
        self._pages.addWidget(self.scroll_area)
        self._pages.addWidget(self._page_of_tests())
        self._fixed, self._chosen = map(_page_that_says, (_COMES_WITH, _CHOSEN))
        self._pages.addWidget(self._fixed)
        self._pages.addWidget(self._chosen)
        self.column.addWidget(self._pages, 1)
        self.column.addLayout(buttons)

    def _page_of_tests(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        column.addWidget(self.calibration)
        column.addWidget(self.test, 1)
        keep_room(self.test)
        return page

    @property
    def draft(self) -> Draft:
        """The model in the form."""
        before = self._shown.table
        changed = self.form.changed()
        values = {
            name: value
            for name, value in self.form.values().items()
            if (name in before or name in changed) and value not in ("", None)
        }
        table = {"name": self.name.text().strip(), "adapter": before.get("adapter")}
        in_order = {name: values[name] for name in before if name in values}
        return Draft({**table, **in_order, **values}, self._shown.replaced)

    def show_model(self, row: ModelRow, draft: Draft | None) -> None:
        """Show a model; a user's model, ``draft``, can be edited."""
        self.show_state(row)
        is_draft = draft is not None
        for widget in (self.hint, self.save, self.revert):
            widget.setVisible(is_draft)
        if draft is None:
            self.tabs.hide()
            self.check_card.hide()
            of_policy = bool(row.line.table)
            self._pages.setCurrentWidget(self._chosen if of_policy else self._fixed)
            return
        self._pages.setCurrentIndex(self.tabs.currentIndex())
        self._shown = draft
        self.form.blockSignals(True)
        fields = settings_fields(str(draft.table.get("adapter", "")))
        made = self.form.show_fields(fields)
        self._unshown = self.form.set_values(_settings(draft.table))
        self.form.blockSignals(False)
        self._name_label.setFixedWidth(self.form.label_width)
        if made:
            self._add_help()
        self._show_tabs()
        self.name.setText(str(draft.table.get("name", "")))
        self.check()

    def show_state(self, row: ModelRow) -> None:
        """Show a changed state of the model, without its settings."""
        self.head.setText(row.line.name)
        self.summary.setText(row.line.summary)
        self.summary.setVisible(bool(row.line.summary))
        self.memory.show_row(row)
        is_shown = row.held is not None and (row.line.can_ask or bool(row.held.error))
        self.standing.setText(row.line.state)
        self.standing.setVisible(not is_shown)
        self.revert.setEnabled(row.edited)
        self.save.setText(f"Save {row.line.name}")

    def _find_projector(self) -> None:
        """Put the projector next to the chosen model file into its field."""
        values = self.form.values()
        if values.get(_PROJECTOR) == "":
            found = projector_beside(Path(str(values["model"])))
            if found is not None:
                self.form.set_values({_PROJECTOR: str(found)})

    def show_test(self, found: Sequence[ProbeRow], *, running: bool) -> None:
        """Show the test results of the model's endpoint, if it has one."""
        self.test.show_found(
            self._saved_name, found, running=running, saved=self._is_saved
        )

    def show_calibration(
        self, found: FoundConvention | None, step: CalibrationStep | None
    ) -> None:
        """Show the model's calibration."""
        self.calibration.show_model(self._saved_name, found, step, saved=self._is_saved)

    def show_check(
        self, line: ModelLine, failed: str, step: CalibrationStep | None
    ) -> None:
        """Show the model's last check, why one failed, and the progress of one."""
        self.check_card.show_model(line, failed, step, saved=self._is_saved)

    @property
    def _is_saved(self) -> bool:
        return self._shown.replaced is not None and not self.revert.isEnabled()

    @property
    def _saved_name(self) -> str:
        return str(self._shown.table.get("name", ""))

    def set_convention(self, convention: str) -> None:
        """Put a convention into the form, without saving it."""
        self.form.set_values({_CONVENTION: convention})
        self.tabs.setCurrentIndex(0)

    def _add_help(self) -> None:
        """Help to fill in the fields: find what belongs together, list, ask."""
        model = self.form.editors.get("model")
        if isinstance(model, PathLine):
            model.chosen.connect(self._find_projector)
        if "base_url" in self.form.editors:
            self._offer(
                "model",
                "format-list-bulleted",
                "List the server's models",
                self.ask_to_list,
            )
            self._offer(
                _KEY, "key-outline", "Save the key of this name…", self.ask_for_key
            )

    def _show_tabs(self) -> None:
        """If a server is asked, offer a test."""
        asks = "base_url" in self.form.editors
        writes = _CONVENTION in self.form.editors
        self.tabs.setVisible(asks or writes)
        self.test.setVisible(asks)
        self.calibration.setVisible(writes)
        self.check_card.setVisible(writes)
        if not (asks or writes):
            self.tabs.setCurrentIndex(0)

    def _offer(self, name: str, sign: str, tip: str, act: Callable[[], None]) -> None:
        """Add a button to the end of a field."""
        field = self.form.editors.get(name)
        if isinstance(field, Line):
            field.add_button(sign, tip, act)

    def ask_for_key(self) -> None:
        """Let the user type the key that is named in the form."""
        name = str(self.form.values().get(_KEY) or "").strip()
        if not name:
            self.hint.setText("Name the key first, such as MY_SERVER_KEY.")
            return
        from viewer.ui.dialogs.key_entry import KeyEntry

        entry = KeyEntry(name, self)
        entry.kept.connect(self.key_kept)
        entry.show()

    def ask_to_list(self) -> None:
        """Request the models of the server in the form."""
        self.list_wanted.emit(ListWanted(self.draft.table))

    def offer_models(self, names: Sequence[str]) -> None:
        """Let the user choose one of the server's models."""
        model = self.form.editors.get("model")
        if not isinstance(model, Line):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in names:
            menu.addAction(name).triggered.connect(partial(model.setText, name))
        menu.popup(model.mapToGlobal(model.rect().bottomLeft()))

    def check(self) -> bool:
        """Show what is wrong with the settings; return whether they can be saved."""
        draft = self.draft
        problem = ""
        try:
            check_model(draft.table, draft.replaced, self._models_file)
        except OverreadError as error:
            problem = str(error)
        dropped = ", ".join(self._unshown)
        self.hint.setText(
            problem or (f"Saving removes what fits no setting: {dropped}."
                        if dropped else "")
        )  # fmt: skip
        self.save.setEnabled(not problem and self.revert.isEnabled())
        return not problem

    def ask_to_save(self) -> None:
        """Request saving of the model, if it has no errors."""
        if self.save.isVisible() and self.check():
            self.save_wanted.emit(SaveWanted(self.draft))

    def _edit(self) -> None:
        self._check_soon.start()
        self.edited.emit(DraftEdited(self.draft))


def _settings(table: Mapping[str, object]) -> dict[str, object]:
    return {k: v for k, v in table.items() if k not in ("name", "adapter")}


def _page_that_says(words: str) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(Label(words, wordWrap=True))
    column.addStretch(1)
    return page
