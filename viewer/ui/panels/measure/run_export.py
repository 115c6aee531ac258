"""The selected run written: its answers, all of it as a bundle, cases to ask again.

What is written stays with the services; here stand the words that a person sees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject

from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError
from viewer.services.worker.background import WorkerDied, WorkerReply
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.notices import Notice
from viewer.ui.panels.measure.run_list import RunList
from viewer.ui.widgets.file_choice import Purpose, choose_folder, choose_to_write


@dataclass(frozen=True)
class ExportForm:
    """A form that a run can be written in.

    ``file_name`` has ``{run}`` for the run's number, ``files`` is the dialog's filter;
    without a name a folder is chosen. ``write`` takes the store, the run and the path,
    and returns a notice of what became of it; None if the worker writes it, which takes
    long, so the window says so before.
    """

    action: str
    title: str
    file_name: str
    files: str
    write: Callable[[Path, int, Path], Notice] | None


class RunExport(QObject):
    """Asks where to write the selected run of a list, and writes it there.

    Parameters
    ----------
    context : AppContext
        What the workspaces share.
    runs : RunList
        The list of runs; its menu offers it too.
    form : ExportForm
        What is written.
    """

    def __init__(self, context: AppContext, runs: RunList, form: ExportForm) -> None:
        super().__init__(runs)
        self._context, self._runs, self._form = context, runs, form
        self._background_tasks = BackgroundTasks(self)
        self._asked: dict[int, Path] = {}
        context.worker.message.connect(self._hear)
        runs.view.addAction(context.actions[form.action])

    def ask(self) -> None:
        """Ask for the file; do nothing without a run."""
        run = self._runs.selected
        if run is None:
            self._context.notices.say("Select a run first.")
            return
        number = run.id
        if not self._form.file_name:
            choose_folder(
                self._runs,
                self._form.title,
                lambda folder: self.export_to(number, folder),
                Purpose.RESULTS,
            )
            return
        choose_to_write(
            self._runs,
            self._form.title,
            self._form.file_name.format(run=number),
            self._form.files,
            lambda path: self.export_to(number, path),
        )

    def export_to(self, run: int, path: Path) -> None:
        """Write a run, and report the result in the window."""
        store, write = self._context.settings.store, self._form.write
        if write is None:
            self._context.notices.say(f"Saving {path.name} …")
            self._asked[self._context.worker.write_bundle(run, path)] = path
            return
        self._background_tasks.start(
            path,
            lambda: write(store, run, path),
            self._context.notices.post,
            self._fail,
        )

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerDied) and self._asked:
            self._asked.clear()
            self._context.notices.say(message.sentence)
        elif isinstance(message, WorkerReply) and message.id in self._asked:
            path = self._asked.pop(message.id)
            refused = message.ok is None
            self._context.notices.say(message.sentence if refused else _of_bundle(path))

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._context.notices.error(error)


def _write_answers(store: Path, run: int, path: Path) -> Notice:
    from viewer.services.exporting.export_answers import export_stored_answers

    written = export_stored_answers(store, run, path)
    left_out = f"; {written.left_out}" if written.pending else ""
    answers = counted(written.trials, "answer")
    return Notice(f"Saved {path.name}: {answers}{left_out}.", warning=False)


def _write_shortcuts(store: Path, run: int, folder: Path) -> Notice:
    """Write the table of shortcuts, or the cases; what is found stays to be read."""
    from viewer.services.exporting.export_shortcuts import export_stored_shortcuts

    found = export_stored_shortcuts(store, run, folder)
    after = f" Import '{folder.name}' as MEDSYN." if found.written else ""
    how, problems = f"{found.written_to(folder)}{after}", "\n".join(found.problems)
    return Notice(found.sentence, how, problems, warning=found.shortcuts > 0)


def _of_bundle(path: Path) -> str:
    return (
        f"Saved {path.name}, without pixels and with pseudonyms. Anybody can verify "
        f"it: python verify.py {path.name}"
    )


ANSWERS: Final = ExportForm(
    "file.answers",
    "Export answers",
    "run-{run}-answers.csv",
    "Tables (*.csv)",
    _write_answers,
)
"""What the models answered, as a table."""
BUNDLE: Final = ExportForm(
    "file.bundle",
    "Export bundle",
    "run-{run}.zip",
    "Bundles (*.zip)",
    None,
)
"""The whole run, as one file that anybody can verify."""
SHORTCUTS: Final = ExportForm(
    "file.shortcuts",
    "Folder for the table and the cases",
    "",
    "",
    _write_shortcuts,
)
"""The cases that are solved from their options alone, to revise and to ask again."""
FORMS: Final = (ANSWERS, BUNDLE, SHORTCUTS)
