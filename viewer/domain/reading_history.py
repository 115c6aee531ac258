"""The current state of a case, derived from all of its reader's actions.

Undo is a row like any other: it reverts the last row not undone yet, but nothing from
before something was revealed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from viewer.domain.form import Form
from viewer.domain.form_values import Values
from viewer.domain.reading import Act, TaskState


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """One action of a reader; ``at`` is UTC, ISO 8601.

    ``values`` are all values at that time, of earlier stages too; ``active_ms`` is the
    active time on the case since the previous row.
    """

    id: int
    position: int
    act: Act
    stage: int
    values: Values
    comment: str
    active_ms: int
    at: str


@dataclass(frozen=True)
class Standing:
    """The current state of a case.

    ``stage`` is the current one, the number of stages once all are locked. ``first``
    are the values as first locked, before unsure ones were resolved. ``active_ms``
    includes undone work. ``undoable`` is True if a row can be undone, ``revealed`` if
    anything was shown since the lock.
    """

    state: TaskState = TaskState.WAITING
    stage: int = 0
    values: Values = field(default_factory=dict)
    first: Values = field(default_factory=dict)
    comment: str = ""
    active_ms: int = 0
    undoable: bool = False
    revealed: bool = False
    resolved: bool = False
    locked_at: str = ""

    @property
    def complete(self) -> bool:
        """Whether every stage is locked."""
        return self.state in {TaskState.LOCKED, TaskState.UNRESOLVED}

    @property
    def unresolved(self) -> bool:
        """Whether the case is locked as unsure."""
        return self.state is TaskState.UNRESOLVED


def standing_of(rows: Sequence[ReadingRow], form: Form) -> Standing:
    """Return the state of a case after its rows, in the order they were written."""
    held = _held(rows)
    if not held:
        return Standing(active_ms=sum(row.active_ms for row in rows))
    entries = [row for row in held if row.act is not Act.REVEALED]
    locks = [row for row in entries if row.act is Act.LOCKED]
    stage = 1 + max((row.stage for row in locks), default=-1)
    last = entries[-1]
    return Standing(
        state=_state(stage, last.values, form),
        stage=stage,
        values=last.values,
        first=locks[-1].values if locks else {},
        comment=last.comment,
        active_ms=sum(row.active_ms for row in rows),
        undoable=_may_be_undone(held[-1], form),
        revealed=any(row.act is Act.REVEALED for row in held),
        resolved=last.act is Act.RESOLVED,
        locked_at=locks[-1].at if locks else "",
    )


def _held(rows: Iterable[ReadingRow]) -> list[ReadingRow]:
    """Return the rows that are not undone."""
    held: list[ReadingRow] = []
    for row in rows:
        if row.act is not Act.UNDONE:
            held.append(row)
        elif held:
            held.pop()
    return held


def _may_be_undone(last: ReadingRow, form: Form) -> bool:
    """Tell whether a row may be undone; a lock after which more was shown is final."""
    if last.act is Act.SAVED:
        return True
    return last.act is Act.LOCKED and last.stage + 1 == len(form.stages)


def _state(stage: int, values: Values, form: Form) -> TaskState:
    if stage == 0:
        return TaskState.STARTED
    if stage < len(form.stages):
        return TaskState.STAGE_LOCKED
    unsure = any((name, value) in form.unsure for name, value in values.items())
    return TaskState.UNRESOLVED if unsure else TaskState.LOCKED
