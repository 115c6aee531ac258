"""The workspace Models: every model with its state, its settings, its memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMessageBox, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.plain import plain
from viewer.services.configuring.model_list import ModelLine, model_lines
from viewer.services.configuring.model_profiles import (
    ModelsEdit,
    apply_edit,
    deleting,
    free_name,
    saving,
)
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.choices import restored
from viewer.ui.application.layout_memory import Choices
from viewer.ui.application.notices import Notice
from viewer.ui.application.tell import tell_error
from viewer.ui.dialogs.housekeeping import ask_to_delete_model
from viewer.ui.dialogs.unsaved_models import ask_about_unsaved
from viewer.ui.panels.models.calibration_book import CalibrationBook, CalibrationFailed
from viewer.ui.panels.models.calls import (
    Checking,
    connect_calibration,
    connect_endpoint,
    connect_memory,
    show_found,
)
from viewer.ui.panels.models.connecting import Connecting, ModelConnected, ModelWanted
from viewer.ui.panels.models.endpoint_book import EndpointBook, EndpointFailed
from viewer.ui.panels.models.list import (
    DeleteWanted,
    DuplicateWanted,
    ModelsList,
)
from viewer.ui.panels.models.loaded_models import HoldingFailed, LoadedModels
from viewer.ui.panels.models.profile import (
    Draft,
    DraftEdited,
    ModelProfilePanel,
    SaveWanted,
    line_of,
)
from viewer.ui.tables.models_model import ModelRow
from viewer.ui.widgets.drop_target import DropTarget
from viewer.ui.widgets.lighter import Splitter

_WIDTHS: Final = (820, 620)


@dataclass(frozen=True, slots=True)
class ModelsChoice:
    """What the user looked at and has not saved yet, as it is remembered."""

    chosen: str = ""
    drafts: tuple[Draft, ...] = ()


class ModelsWorkspace(QWidget):
    """The table at the left, the chosen model at the right.

    What is edited and not saved is kept as a draft while another model is looked at.
    """

    models_changed = Signal()
    """Other models are known, or their states are others."""
    connected = Signal(object)
    """ModelConnected"""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._file = context, context.settings.models_file
        self._lines: tuple[ModelLine, ...] = ()
        self._drafts: dict[str, Draft] = {}
        self._numbers = count(1)
        self._wanted = ""
        self._fresh = False
        self._asked: QMessageBox | None = None
        self._background_tasks = BackgroundTasks(self)
        self._tell = partial(tell_error, context)
        self.book = LoadedModels(context.worker, self)
        self.endpoints = EndpointBook(context.worker, self)
        self.connecting = Connecting(context, self.endpoints, self)
        self.calibrations = CalibrationBook(context.worker, self)
        self.checking = Checking(context, self.calibrations, self)
        self.list, self.profile = ModelsList(), ModelProfilePanel(self._file)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        across = Splitter(Qt.Orientation.Horizontal)
        across.setObjectName("modelsSplitter")
        across.setChildrenCollapsible(False)
        across.addWidget(self.list)
        across.addWidget(self.profile)
        across.setStretchFactor(0, 1)
        across.setSizes(_WIDTHS)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(across)

    def _connect(self) -> None:
        DropTarget(self).dropped.connect(self.connecting.take)
        self.list.model_chosen.connect(lambda _: self._show_current())
        self.list.connect_wanted.connect(self.connecting.show)
        self.connecting.wanted.connect(self._add)
        self.connecting.fetched.connect(self.book.look)
        self.profile.memory.get_wanted.connect(self.connecting.get)
        self.list.duplicate_wanted.connect(self._duplicate)
        self.list.delete_wanted.connect(self._delete)
        self.profile.edited.connect(self._keep_draft)
        self.profile.save_wanted.connect(self._save)
        self.profile.revert_wanted.connect(self._revert)
        self.profile.key_kept.connect(self.refresh)
        connect_memory(self.profile, self.book)
        connect_endpoint(self.profile, self.endpoints)
        connect_calibration(self.profile, self.calibrations, self.checking)
        self.calibrations.changed.connect(self._show_tests)
        self.calibrations.checked.connect(self._look_again)
        self.calibrations.failed.connect(self._tell_failed)
        self.endpoints.changed.connect(self._show_tests)
        self.endpoints.failed.connect(self._tell_failed)
        self.book.changed.connect(self._show_states)
        self.book.failed.connect(self._tell_failed)
        self.list.view.addAction(self._context.actions["model.purge"])
        self._context.changes.models_written.connect(self._look_again)

    def handlers(self) -> Handlers:
        """Return this workspace's handlers by the action's id."""
        return {
            "model.new": self.connecting.show,
            "model.duplicate": self.list.ask_to_duplicate,
            "model.delete": self.list.ask_to_delete,
            "model.purge": lambda: ask_to_delete_model(
                self.window(), self._context, self.list.current
            ),
            "model.save": self.profile.ask_to_save,
            "model.test": self.test,
            "model.calibrate": self.calibrate,
            "model.load": self.profile.memory.ask_to_load,
            "model.unload": self.profile.memory.ask_to_unload,
        }

    @property
    def choices(self) -> Choices:
        """The user's choices, for the next start."""
        row = self.list.current
        chosen = row.key if row else self._wanted
        drafts = tuple(self._drafts.values())
        return {"models": plain(ModelsChoice(chosen, drafts))}

    def recall(self, choices: Choices) -> None:
        """Restore the choices of the previous session."""
        choice = restored(ModelsChoice(), choices.get("models"))
        self._wanted = choice.chosen
        for draft in choice.drafts:  # left by a window that was killed
            key = draft.replaced or f"new {next(self._numbers)}"
            self._drafts[key] = draft

    def may_close(self, close: Callable[[], object]) -> bool:
        """Return whether every model is saved; else ask, then call ``close``."""
        if not self._drafts:
            return True
        if self._asked is None:
            names = [str(d.table.get("name", "")) for d in self._drafts.values()]
            self._asked = ask_about_unsaved(
                names,
                partial(self._save_all, close),
                partial(self._discard_all, close),
                self.window(),
            )
            self._asked.finished.connect(self._forget_asked)
        return False

    def _forget_asked(self, _result: int) -> None:
        self._asked = None

    def _save_all(self, close: Callable[[], object]) -> None:
        """Save all changes, then call ``close``; stop at the first that fails."""
        for key, draft in tuple(self._drafts.items()):
            edit = self._edit_of(draft)
            if edit is None or not self._apply(edit, ""):
                self._context.actions.run("window.models")
                self.list.show_rows(self._rows(), key)
                return
            del self._drafts[key]
        close()

    def _discard_all(self, close: Callable[[], object]) -> None:
        self._drafts.clear()
        close()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Focus the list."""
        self.list.view.setFocus(event.reason())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Read the models when shown: packages may have been added or removed."""
        super().showEvent(event)
        if not self._fresh:
            self._fresh = True
            self.book.look()
        self.refresh()

    def refresh(self, chosen: str = "") -> None:
        """Read the models and their states again; ``chosen`` becomes the current."""
        self._wanted = chosen or self._wanted
        settings = self._context.settings
        self._background_tasks.start(
            "lines", lambda: model_lines(settings), self._show_lines, self._tell
        )

    def _look_again(self, *_: object) -> None:
        """Read models written by another program, once they are shown."""
        settings = self._context.settings
        if self.isVisible():
            self._background_tasks.start(
                "lines", lambda: model_lines(settings), self._show_others, self._tell
            )

    def _show_lines(self, lines: tuple[ModelLine, ...]) -> None:
        self._take_in(lines)
        self._show_current()

    def _show_others(self, lines: tuple[ModelLine, ...]) -> None:
        """Show what another program wrote; keep what is being typed."""
        before, draft = self.list.current, self._current_draft
        if lines == self._lines:
            return
        self._take_in(lines)
        now = self.list.current
        edited = draft is not None and draft is self._current_draft
        if now is not None and edited:
            self.profile.show_state(now)
        elif now != before:
            self._show_current()

    @property
    def _current_draft(self) -> Draft | None:
        row = self.list.current
        return None if row is None else self._drafts.get(row.key)

    def _take_in(self, lines: tuple[ModelLine, ...]) -> None:
        """List models; an edited one that no longer exists becomes a new one."""
        changed, self._lines = lines != self._lines and bool(self._lines), lines
        known = {line.name for line in lines}
        for key, draft in self._drafts.items():
            if draft.replaced is not None and key not in known:
                self._drafts[key] = replace(draft, replaced=None)
        self._show_rows()
        if changed:
            self.models_changed.emit()

    def _show_rows(self) -> None:
        wanted, self._wanted = self._wanted, ""
        self.list.show_rows(self._rows(), wanted)

    def _rows(self) -> list[ModelRow]:
        drafts = self._drafts
        new = [(k, line_of(d)) for k, d in drafts.items() if d.replaced is None]
        known = [(line.name, line) for line in self._lines]
        return [self._row(key, line) for key, line in (*new, *known)]

    def _row(self, key: str, line: ModelLine) -> ModelRow:
        draft = self._drafts.get(key)
        if draft is not None:
            line = replace(line, name=str(draft.table.get("name")))
        return ModelRow(
            key,
            line,
            edited=draft is not None,
            held=self.book.held.get(key),
            step=self.book.steps.get(key),
        )

    def _show_states(self) -> None:
        self.list.show_rows(self._rows())
        if self.list.current is not None:
            self.profile.show_state(self.list.current)
            self._show_tests()

    def _show_current(self) -> None:
        row = self.list.current
        if row is not None:
            saved = Draft(row.line.table, row.key) if row.line.own else None
            self.profile.show_model(row, self._drafts.get(row.key, saved))
            self._show_tests()

    def _add(self, event: ModelWanted) -> None:
        """Save a model of which everything is known; begin any other as a draft."""
        if not event.complete:
            self._draft_new(event.name, event.table)
            return
        name = self._free(event.name)
        edit = name and self._edit_of(Draft({**event.table, "name": name}, None))
        if edit:
            self._do(f"connection of {name}", edit, name, "")
            self._context.notices.say(f"{name} is connected; Edit ▸ Undo removes it.")
            self.connected.emit(ModelConnected(name))
            self.checking.check(name)

    def _free(self, wanted: str) -> str:
        """Return an unused name, "" after telling why the file cannot be read."""
        try:
            return free_name(wanted, self._file)
        except OverreadError as error:
            self._context.notices.error(error)
            return ""

    def _duplicate(self, event: DuplicateWanted) -> None:
        row = self.list.current
        if row is not None and row.key == event.key:
            draft = self._drafts.get(row.key)
            table = draft.table if draft else row.line.table
            self._draft_new(row.line.name, table)

    def _draft_new(self, name: str, table: Mapping[str, object]) -> None:
        """Start a model that is not in the file yet, and focus its name."""
        free = self._free(name)
        if not free:
            return
        key = f"new {next(self._numbers)}"
        self._drafts[key] = Draft({**table, "name": free}, None)
        self.list.show_rows(self._rows(), key)
        self._show_current()
        self.profile.name.setFocus()
        self.profile.name.selectAll()

    def _keep_draft(self, event: DraftEdited) -> None:
        row = self.list.current
        if row is None:
            return
        if event.draft.replaced == row.key and event.draft.table == row.line.table:
            self._drafts.pop(row.key, None)  # it was changed back by hand
        else:
            self._drafts[row.key] = event.draft
        self._show_states()

    def _revert(self, _event: object) -> None:
        row = self.list.current
        if row is not None and row.key in self._drafts:
            self._drop_draft(row, "discarding of the changes to")

    def _drop_draft(self, row: ModelRow, words: str) -> None:
        draft = self._drafts[row.key]

        def drop() -> None:
            self._drafts.pop(row.key, None)
            self.list.show_rows(self._rows())
            self._show_current()

        def put_back() -> None:
            self._drafts[row.key] = draft
            self.list.show_rows(self._rows(), row.key)
            self._show_current()

        self._context.undo.do(f"{words} {row.line.name}", drop, put_back)

    def _save(self, event: SaveWanted) -> None:
        row, draft = self.list.current, event.draft
        if row is None:
            return
        name = str(draft.table["name"])
        edit = self._edit_of(draft)
        if edit is not None:
            self._drafts.pop(row.key, None)
            self._do(f"change of {name}", edit, name, draft.replaced or "")

    def _edit_of(self, draft: Draft) -> ModelsEdit | None:
        """Return the edit that saves the form, or show why it cannot be saved."""
        try:
            return saving(draft.table, draft.replaced, self._file)
        except OverreadError as error:
            self._context.notices.error(error)
            return None

    def _delete(self, event: DeleteWanted) -> None:
        row = self.list.current
        if row is None or row.key != event.key:
            return
        draft = self._drafts.get(row.key)
        if draft is not None and draft.replaced is None:
            self._drop_draft(row, "deletion of")
            return
        try:
            edit = deleting(row.key, self._file)
        except OverreadError as error:
            self._context.notices.error(error)
            return
        self._drafts.pop(row.key, None)
        self._do(f"deletion of {row.key}", edit, "", row.key)
        self._context.notices.say(f"{row.key} is deleted; Edit ▸ Undo restores it.")

    def _do(self, text: str, edit: ModelsEdit, after: str, before: str) -> None:
        """Change the file; ``after`` and ``before`` are looked up when that is done."""
        self._context.undo.do(
            text,
            partial(self._apply, edit, after),
            partial(self._apply, edit.back, before),
        )

    def _apply(self, edit: ModelsEdit, chosen: str) -> bool:
        """Change the file; if that fails, say why and return False."""
        done = True
        try:
            apply_edit(edit, self._file)
        except OverreadError as error:
            self._context.notices.error(error)
            done = False
        self.refresh(chosen)
        return done

    def test(self) -> None:
        """Test the chosen model's endpoint, if any, and show its capabilities."""
        if self.profile.tabs.isVisible():
            self.profile.tabs.setCurrentIndex(1)
            self.profile.test.ask_to_test()

    def _show_tests(self) -> None:
        row = self.list.current
        if row is None:
            return
        show_found(self.profile, row, self.endpoints, self.calibrations)

    def calibrate(self) -> None:
        """Calibrate the chosen model's coordinates, if it has any."""
        if self.profile.tabs.isVisible():
            self.profile.tabs.setCurrentIndex(1)
            self.profile.calibration.ask_to_calibrate()

    def _tell_failed(
        self, event: HoldingFailed | EndpointFailed | CalibrationFailed
    ) -> None:
        self._context.notices.post(Notice(event.sentence))
