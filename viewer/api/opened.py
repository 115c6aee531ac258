"""Base class of the API's store, and lookups by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from viewer.api.data import Run
from viewer.domain.errors import WrongUseError

if TYPE_CHECKING:
    from viewer.domain.case import View
    from viewer.settings import Settings
    from viewer.store.database import Store as Database

AnyRun = Run | int | str
"""A run, its number, or "last"."""
_Named = TypeVar("_Named")


def one_of(known: Mapping[str, _Named], name: str, what: str) -> _Named:
    """Return the object with this name; WrongUseError if it is unknown."""
    if name not in known:
        raise WrongUseError(
            f"The {what} '{name}' is not known.", f"Choose {', '.join(known)}."
        )
    return known[name]


def view_named(name: str | None) -> "View":
    """Return the view with this name, UNKNOWN for None; others raise WrongUseError."""
    from viewer.domain.case import NAMED_VIEWS, View

    if name is None:
        return View.UNKNOWN
    return one_of({view: View(view) for view in NAMED_VIEWS}, name, "view")


@dataclass(frozen=True, eq=False)
class Opened:
    """An open store; use it only on the thread that opened it."""

    path: Path
    home: Path
    _opened: "Database" = field(repr=False)

    @property
    def _settings(self) -> "Settings":
        from viewer.settings import Settings

        return Settings(self.home, self.path)

    def _number(self, run: AnyRun) -> int:
        """Return a run's number; WrongUseError if the store has no such run."""
        from viewer.store import runs
        from viewer.terminal import run_number

        number = run.id if isinstance(run, Run) else run_number(str(run), self._opened)
        return runs.run_summary(self._opened, number).id

    def _run(self, number: int) -> Run:
        from viewer.api.made import run_of
        from viewer.services.reporting.grading import score_changed_grades
        from viewer.store import runs

        score_changed_grades(self._opened)
        return run_of(runs.run_summary(self._opened, number))
