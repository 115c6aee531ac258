"""The steps of a trial, and the combined result of their replies."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from viewer.domain.answer import ChoiceAnswer, RankedAnswer, Unparsed
from viewer.domain.evidence import EvidenceCase
from viewer.domain.exchange import ModelReply
from viewer.domain.run import Step
from viewer.metrics.posterior import Estimator
from viewer.studies.evidence_diagnosis.building import option_order
from viewer.studies.evidence_diagnosis.params import JUDGES, Decision, Params, Task
from viewer.studies.evidence_diagnosis.parse import (
    DDX_LEVELS,
    FDX_LEVELS,
    Judged,
    last_judgement,
    majority,
    read_differential,
    read_final,
    read_judgement,
    read_option,
)
from viewer.studies.evidence_diagnosis.plan import orders_within
from viewer.studies.evidence_diagnosis.showing import Showing, seed_of
from viewer.studies.steps import Turn

ANSWER: Final = "answer"
TURNED: Final = "turned"
DIFFERENTIAL: Final = "differential"
FINAL: Final = "final"
JUDGE: Final = JUDGES[0]
"""The step and the role of the first judge."""


@dataclass(frozen=True)
class Asking:
    """A trial in the study's words."""

    turn: Turn
    params: Params

    @cached_property
    def case(self) -> EvidenceCase:
        """The case that is asked about."""
        return EvidenceCase.of_item(self.turn.item)

    @property
    def task(self) -> Task:
        """The task of the trial."""
        return Task(self.turn.trial.finding)

    @property
    def showing(self) -> Showing:
        """How it is shown."""
        return Showing.of_condition(self.turn.trial.condition)

    @property
    def seed(self) -> int:
        """The run's seed."""
        return seed_of(self.turn.trial.condition)

    def order(self, turned: int = 0) -> tuple[int, ...]:
        """Return the option at each letter, rotated further by some positions."""
        places = (self.showing.order + turned) % len(self.case.options)
        return option_order(self.case, self.params, self.seed, places)

    def next_step(self) -> Step | None:
        """Return the next step, None if the trial is complete."""
        if self.task is Task.FDX:
            return self._next_answer()
        return self._next_words()

    def choice(self) -> ChoiceAnswer | Unparsed:
        """Return the first answer's option, in the case's own order."""
        reply = self.turn.replies()[0]
        return read_option(reply, self.case.options, self.order())

    def words(self) -> RankedAnswer | Unparsed:
        """Return the differential, or the open diagnosis."""
        final = self.turn.reply_to(FINAL)
        if final is not None:
            return read_final(final)
        return self.differential()

    def differential(self) -> RankedAnswer | Unparsed:
        """Return the model's first list."""
        return read_differential(self.turn.replies()[0])

    @property
    def is_drawn(self) -> bool:
        """Whether answers are sampled: as set, or if the first has no probabilities."""
        if not self.params.sensitivity:
            return False
        if self.params.estimator is Estimator.MONTE_CARLO:
            return True
        return self.params.draw_where_untold and not _tells(self.turn.replies()[0])

    def judged(self) -> Judged | Unparsed | None:
        """Return the verdict that counts, None without a judge."""
        verdicts = self.verdicts()
        if not verdicts:
            return None
        if self.params.decided_by is Decision.FIRST:
            return verdicts[0]
        return majority(verdicts, self.levels)

    def verdicts(self) -> tuple[Judged | Unparsed, ...]:
        """Return the verdict of each judge, in their order."""
        return tuple(
            last_judgement(self.turn.replies(role), self.levels)
            for role in self.params.judges
        )

    @property
    def levels(self) -> tuple[int, ...]:
        """The scores in the judge's rubric."""
        return DDX_LEVELS if self.task is Task.DDX else FDX_LEVELS

    def _next_answer(self) -> Step | None:
        asked = len(self.turn.so_far)
        if asked == 0:
            return Step(ANSWER)
        if self.is_drawn:
            drawn = asked < self.params.draws
            return Step(ANSWER, again=asked) if drawn else None
        if asked < orders_within(self.params):
            return Step(f"{TURNED} {asked}")
        return None

    def _next_words(self) -> Step | None:
        if not self.turn.so_far:
            return Step(DIFFERENTIAL)
        if isinstance(self.differential(), Unparsed):
            return None
        if self.task is Task.OPEN_FDX and self.turn.reply_to(FINAL) is None:
            return Step(FINAL)
        if isinstance(self.words(), Unparsed) or not self.params.judge:
            return None
        return self._next_judgement()

    def _next_judgement(self) -> Step | None:
        """Return the next question to a judge: to one after the other."""
        for role in self.params.judges:
            replies = self.turn.replies(role)
            read = (read_judgement(reply, self.levels) for reply in replies)
            is_read = any(isinstance(one, Judged) for one in read)
            if not is_read and len(replies) <= self.params.judge_retries:
                return Step(role, role, len(replies))
        return None


def _tells(reply: ModelReply) -> bool:
    """Tell whether a reply has any kind of probabilities."""
    measured = reply.measured is not None and bool(reply.measured.options)
    return measured or any(token.top for token in reply.logprobs)
