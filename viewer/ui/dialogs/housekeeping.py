"""Deletion from the store, and its backup, restore and compaction, in the window."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QWidget

from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.dialogs.confirm import confirm
from viewer.ui.widgets.file_choice import choose_to_read, choose_to_write

if TYPE_CHECKING:
    from viewer.services.housekeeping.backup import StoreContent
    from viewer.services.housekeeping.delete import Deletion, Target
    from viewer.ui.tables.models_model import ModelRow

_T = TypeVar("_T")
_KINDS: Final = "Stores (*.sqlite);;All files (*)"
_MOST_LINES: Final = 12


def handlers(window: QWidget, context: AppContext) -> Handlers:
    """Return what the commands about the store's own file do."""
    store = context.settings.store

    def back_up(path: Path) -> None:
        from viewer.services.housekeeping.backup import back_up as write

        _run(
            window,
            context,
            lambda: write(store, path),
            lambda made: context.notices.say(f"Backed up in {path.name}: {made}."),
        )

    def compact() -> None:
        from viewer.services.housekeeping.backup import compact as rewrite

        def say(sizes: tuple[int, int]) -> None:
            before, after = (size / 1e6 for size in sizes)
            context.notices.say(
                f"The store was compacted: {before:.1f} MB before, {after:.1f} MB now."
            )

        _run(window, context, lambda: rewrite(store), say)

    return {
        "store.backup": lambda: choose_to_write(
            window, "Back up the store", "overread backup.sqlite", _KINDS, back_up
        ),
        "store.restore": lambda: choose_to_read(
            window,
            "Restore a backup",
            _KINDS,
            lambda path: _ask_to_restore(window, context, path),
        ),
        "store.compact": compact,
        "dataset.delete": lambda: _choose_dataset(window, context),
    }


def ask_to_delete(window: QWidget, context: AppContext, target: "Target") -> None:
    """Tell what would go and what would stay, and delete it if the user agrees."""
    from viewer.services.housekeeping.delete import (
        StillReadError,
        delete,
        preview_deletion,
    )

    def forget(told: "Deletion") -> None:
        context.changes.deleted.emit(frozenset(told.paths))
        context.changes.look()

    def done(told: "Deletion") -> None:
        context.notices.say(f"Deleted: {told.target}.")
        forget(told)

    def go_on(told: "Deletion") -> None:
        def failed(error: Exception) -> None:
            tell_error(context, error)
            if isinstance(error, StillReadError):
                forget(told)

        run_for(window, lambda: delete(context.settings, target), done, failed)

    def ask(told: "Deletion") -> None:
        words = _words(told)
        confirm(window, f"Delete {target}?", words, "Delete", lambda: go_on(told))

    _run(window, context, lambda: preview_deletion(context.settings, target), ask)


def ask_to_delete_reply(
    window: QWidget, context: AppContext, trial: int | None
) -> None:
    """Ask about deleting the reply to a trial; None if none is chosen."""
    from viewer.services.housekeeping.delete import Kind, Target

    if trial is None:
        context.notices.say("Choose an answer first, then delete its reply.")
    else:
        ask_to_delete(window, context, Target(Kind.REPLY, str(trial)))


def ask_to_delete_model(
    window: QWidget, context: AppContext, row: "ModelRow | None"
) -> None:
    """Ask about deleting a model with its runs; those of the program stay."""
    from viewer.services.housekeeping.delete import Kind, Target

    if row is None or not row.line.own:
        context.notices.say("Choose a model of your own; those of the program stay.")
    else:
        ask_to_delete(window, context, Target(Kind.MODEL, row.line.name))


def ask_to_delete_case(window: QWidget, context: AppContext, path: Path) -> None:
    """Ask about deleting the case of an image file, in each data set that has it."""
    from viewer.services.housekeeping.delete import cases_of_image

    def ask(targets: "tuple[Target, ...]") -> None:
        for target in targets:
            ask_to_delete(window, context, target)
        if not targets:
            context.notices.say(
                "Nothing is kept of this case: no data set has it, and nobody asked "
                "about it."
            )

    _run(window, context, lambda: cases_of_image(context.settings, path), ask)


def _words(told: "Deletion") -> str:
    parts = [f"Goes for good:\n{_listed(told.goes)}"]
    if told.stays:
        parts.append(f"Stays:\n{_listed(told.stays)}")
    return "\n\n".join(parts)


def _listed(lines: tuple[str, ...]) -> str:
    more = len(lines) - _MOST_LINES
    last = (f"and {more} more",) if more > 0 else ()
    return "\n".join(f"• {line}" for line in (*lines[:_MOST_LINES], *last))


def _choose_dataset(window: QWidget, context: AppContext) -> None:
    from viewer.services.housekeeping.delete import (
        Kind,
        Target,
        deletable_datasets,
    )

    def choose(names: tuple[str, ...]) -> None:
        if not names:
            context.notices.say("There is no data set to delete.")
            return
        dialog = QInputDialog(window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Delete data set")
        dialog.setLabelText("What goes with it is shown before anything is deleted.")
        dialog.setComboBoxItems(names)
        dialog.setOkButtonText("Continue…")
        dialog.textValueSelected.connect(
            lambda name: ask_to_delete(window, context, Target(Kind.DATASET, name))
        )
        dialog.open()

    _run(window, context, lambda: deletable_datasets(context.settings), choose)


def _ask_to_restore(window: QWidget, context: AppContext, path: Path) -> None:
    from viewer.services.housekeeping.backup import content_of, restore

    store = context.settings.store

    def contents() -> "tuple[StoreContent, StoreContent]":
        return content_of(store), content_of(path)

    def done(_: object) -> None:
        context.notices.say(
            "The backup was restored; close Overread and open it again to see it."
        )
        context.changes.look()

    def ask(both: "tuple[StoreContent, StoreContent]") -> None:
        now, then = both
        confirm(
            window,
            f"Restore {path.name}?",
            f"Goes for good:\n• {now}\n\nComes in its place:\n• {then}",
            "Restore",
            lambda: _run(window, context, lambda: restore(path, store), done),
        )

    _run(window, context, contents, ask)


def _run(
    window: QWidget,
    context: AppContext,
    work: Callable[[], _T],
    on_done: Callable[[_T], None],
) -> None:
    run_for(window, work, on_done, lambda error: tell_error(context, error))
