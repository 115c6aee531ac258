"""Whether a data set's licence keeps its images on this machine: shown and changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from viewer.ui.application.background_tasks import BackgroundTasks

_TIP: Final = (
    "For data whose licence forbids passing it on: no image of it, under whatever "
    "name, may be sent to another machine"
)


class Restricted(QCheckBox):
    """Ticked where a data set is restricted; a tick is kept at once.

    Parameters
    ----------
    store : Path
        The store's file.
    failed : callable
        Told what could not be read or kept.
    """

    changed = Signal()
    """Another data set is shown, or the one shown is restricted now, or not."""

    def __init__(
        self,
        store: Path,
        failed: Callable[[Exception], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Restricted: stays on this machine", parent)
        self.setToolTip(_TIP)
        self._store, self._failed = store, failed
        self._dataset = ""
        self._background_tasks = BackgroundTasks(self)
        self.setEnabled(False)
        self.clicked.connect(self._keep)

    def show_dataset(self, name: str) -> None:
        """Show whether a data set is restricted; "" is none."""
        from viewer.services.privacy.decisions import restricted_datasets

        self._dataset, store = name, self._store
        self._background_tasks.start(
            "read", lambda: restricted_datasets(store), self._show, self._failed
        )

    def _show(self, restricted: frozenset[str]) -> None:
        self.setEnabled(bool(self._dataset))
        self.setChecked(self._dataset in restricted)
        self.changed.emit()

    def _keep(self, on: bool) -> None:
        from viewer.services.privacy.decisions import restrict_dataset

        store, name = self._store, self._dataset
        self.setEnabled(False)
        self._background_tasks.start(
            "keep",
            lambda: restrict_dataset(store, name, restricted=on),
            lambda _: self.show_dataset(name),
            self._failed,
        )
