"""Copies a script that prints the results of the selected run."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from viewer.services.inspecting.runs import run_table_script
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.measure.run_list import RunList


class ScriptCopy:
    """Creates the script in the background, on behalf of a widget."""

    def __init__(self, context: AppContext, owner: QWidget, runs: RunList) -> None:
        self._context, self._runs = context, runs
        self._background_tasks = BackgroundTasks(owner)

    def copy(self) -> None:
        """Copy a Python script that prints the selected run's results.csv."""
        store, run = self._context.settings.store, self._runs.selected
        if run is not None:
            self._background_tasks.start(
                "script",
                lambda: run_table_script(store, run.id),
                self._copy,
                lambda error: tell_error(self._context, error),
            )

    def _copy(self, script: str) -> None:
        QGuiApplication.clipboard().setText(script)
        self._context.notices.say("Copied a Python script that prints the table.")
