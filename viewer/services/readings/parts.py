"""The parts in which a session travels: one for each stage of its cases.

What is shown once an answer is locked is not in a file before that answer is merged:
who has the file could read it, whatever its program shows.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self, TypeVar

from viewer.domain.aid import stages_alone
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form, first_id
from viewer.domain.form_values import values_as_json, values_of_json
from viewer.domain.plain import made
from viewer.domain.reading import Material, Withheld
from viewer.services.sessions.ground import Ground
from viewer.services.sessions.standings import standings_of
from viewer.store import reading_audit, readings
from viewer.store.database import Store
from viewer.store.readings import PlannedTask

T = TypeVar("T")
MERGE: Final = "merge"
"""What the audit calls it that answers came back."""


@dataclass(frozen=True)
class Part:
    """What of a session is sealed next.

    ``number`` counts the stages of its cases from 1, and ``goes_on`` says that another
    part follows. ``acts`` are the actions that were merged, the last of which has the
    hash ``head``.
    """

    number: int
    goes_on: bool
    acts: tuple[dict[str, Any], ...] = ()
    head: str = ""

    @classmethod
    def next_of(cls, store: Store, ground: Ground) -> Self | None:
        """Return the part that a session is at, None once every case is locked.

        Raises
        ------
        WrongUseError
            If anything was answered here.
        """
        number = ground.session.id
        acts = reading_audit.acts_of(store, number)
        merges = reading_audit.events_of(store, number, MERGE)
        if len(acts) != sum(one["acts"] for one in merges):
            raise WrongUseError(
                f"Session {number} has answers already; a session is sealed before its "
                "first one.",
                "Let the reader work on this machine.",
            )
        standings = standings_of(store, ground)
        waiting = [one for one in standings if not one.complete or one.unresolved]
        if not waiting:
            return None
        stages = [
            len(ground.form_of(task).stages)
            for task in readings.tasks_of(store, number)
        ]
        at = min(one.stage - one.complete for one in waiting)
        head = merges[-1]["head"] if merges else ""
        return cls(at + 1, at + 1 < max(stages), acts, head)

    def form(self, form: Form) -> Form:
        """Return the questions that are asked up to this part."""
        return form.first_stages(self.number)

    def material(self, ground: Ground, material: Material) -> Material:
        """Return what a case shows up to this part, of what it shows before a lock."""
        hidden = self._asked_later(ground.form)
        advice = values_of_json(material.advice) if material.advice else {}
        told = {name: value for name, value in advice.items() if name not in hidden}
        return replace(
            material,
            options=_without(material.options, hidden),
            texts=_without(material.texts, hidden),
            advice=values_as_json(told) if told else "",
            drawn=material.drawn if told else "",
        )

    def withheld(self, ground: Ground, task: PlannedTask, later: Withheld) -> Withheld:
        """Return what a case shows up to this part, of what it shows after a lock."""
        if self.number == 1:
            return Withheld()
        advised = stages_alone(ground.form_of(task)) < self.number
        return replace(
            later,
            options=_without(later.options, self._asked_later(ground.form)),
            advice=later.advice if advised else "",
            drawn=later.drawn if advised else "",
        )

    def _asked_later(self, form: Form) -> frozenset[str]:
        """Return the questions that are asked only in parts after this one."""
        now = {first_id(question.id) for question in self.form(form).questions}
        return frozenset(q.id for q in form.questions if first_id(q.id) not in now)


def _without(of: Mapping[str, T], names: Collection[str]) -> dict[str, T]:
    return {name: one for name, one in of.items() if name not in names}


def shown_later(store: Store, session: int, position: int) -> Withheld:
    """Return what a case shows after a lock, but for what is right at its end."""
    text = readings.withheld_at(store, session, position, truth=False)
    return made(Withheld, json.loads(text), where="the case")
