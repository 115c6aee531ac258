"""Verdicts on one item, recomputed with parts of either side."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap

from viewer.domain.answer import Answer, CellAnswer, Status, Unparsed
from viewer.domain.answer_json import NOTHING, answer_of_json
from viewer.domain.reference import Mask
from viewer.domain.run import Trial
from viewer.services.comparing.asked import Sent, sent_of
from viewer.services.comparing.causes import Cause, Why
from viewer.services.comparing.sides import HIT, Pair, Side, answers_of
from viewer.services.sessions import datasets
from viewer.services.trials.run_context import RunContext
from viewer.store import comparing, runs
from viewer.store.comparing import TrialLine
from viewer.store.database import Store
from viewer.studies.places import GridReference


class End:
    """One side, with what its verdicts were computed from."""

    def __init__(
        self, store: Store, side: Side, sent: Sent, same_run: "End | None" = None
    ) -> None:
        self._store, self.side, self._same_run = store, side, same_run
        self._sent = sent
        self.spec = runs.run_spec(store, side.run)
        self.dataset = comparing.dataset_id_of_run(store, side.run)[0]

    @cached_property
    def context(self) -> RunContext:
        """Return the study with the run's settings and data set, cached per run."""
        if self._same_run is not None:
            return self._same_run.context
        return RunContext(
            self.spec, datasets.dataset_of_run(self._store, self.side.run)
        )

    def sent(self, line: TrialLine) -> tuple[str, ...]:
        """Return the hashes of what was sent for a trial's image."""
        return sent_of(self._sent, line)

    def sent_exactly(self, line: TrialLine) -> tuple[str, ...]:
        """Return the hashes of what was sent in a trial's own request."""
        key = line.request_sha256
        known = comparing.requests_sent(self._store, (key,)).get(key)
        return known.images if known else ()


@dataclass(frozen=True)
class Half:
    """A trial of one side, as stored."""

    end: End
    line: TrialLine
    trial: Trial

    @property
    def context(self) -> RunContext:
        """The study with the run's settings and data set."""
        return self.end.context

    @property
    def geometry(self) -> tuple[object, ...]:
        """The geometry of the grid on the native image."""
        context, condition = self.context, self.trial.condition
        geometry = context.images[self.trial.image].geometry
        grid = context.places.grid(condition)
        return grid, context.places.field(geometry)


class Recomputed:
    """Verdicts on one item, computed with parts of either side."""

    def __init__(
        self,
        store: Store,
        first: Half,
        second: Half,
        read: Callable[[Half, Half], str],
    ) -> None:
        self._store, self._read = store, read
        self._first, self._second = first, second
        sent = (half.end.sent_exactly(half.line) for half in (first, second))
        self._same_sent = len({*sent}) == 1
        self._same_place = first.geometry == second.geometry

    def why(self) -> Why:
        """Return why the stored verdicts differ."""
        changed = self._changed()
        if not self._repeats_itself():
            return self._of_versions(changed)
        undone = tuple(cause for cause in changed if self._undoes(cause))
        if Cause.TRANSFORM in changed and not self._same_sent:
            undone = self._answer_follows(undone)
        because = undone or changed
        together = not undone and len(changed) > 1
        return Why(because, changed, self._detail(because), together)

    def _answer_follows(self, undone: tuple[Cause, ...]) -> tuple[Cause, ...]:
        """Return the causes: if another image was sent, the answer follows from it."""
        if Cause.ANSWER not in undone:
            return undone
        kept = (c for c in undone if c is not Cause.ANSWER)
        return tuple(dict.fromkeys([*kept, Cause.TRANSFORM]))

    def _of_versions(self, changed: tuple[Cause, ...]) -> Why:
        """Return the cause if today's scorer does not reproduce the verdicts."""
        versions = self._first.line.scorer_version, self._second.line.scorer_version
        agree = self._hit(0, 0, 0) == self._hit(1, 1, 1)
        if agree and versions[0] != versions[1]:
            detail = f"scored by version {versions[0]}, then by {versions[1]}"
            return Why((Cause.SCORER,), (*changed, Cause.SCORER), detail)
        because = changed or (Cause.ANSWER,)
        return Why(
            because, changed, self._detail(because), len(because) > 1, recomputed=False
        )

    def _repeats_itself(self) -> bool:
        """Tell whether the stored answers reproduce the stored verdicts."""
        stored = (half.line.status == HIT for half in (self._first, self._second))
        return tuple(stored) == (self._hit(0, 0, 0), self._hit(1, 1, 1))

    def _changed(self) -> tuple[Cause, ...]:
        found = {
            Cause.TRANSFORM: not (self._same_sent and self._same_place),
            Cause.REFERENCE: self._other_reference(),
            Cause.PARSER: self._other_reading(),
            Cause.ANSWER: self._other_reply(),
        }
        return tuple(cause for cause, is_so in found.items() if is_so)

    def _other_reference(self) -> bool:
        if self._same_place:
            return _rule(self._reference(0, 0)) != _rule(self._reference(1, 1))
        return self._mask(0) != self._mask(1)

    def _other_reading(self) -> bool:
        """Tell whether today's parser reads a reply differently than stored."""
        return any(
            half.line.parsed not in {"", self._read(half, half)}
            for half in (self._first, self._second)
        )

    def _other_reply(self) -> bool:
        """Tell whether one parser reads different answers in the two replies.

        Replies also differ in ids and times, which does not matter.
        """
        first, second = self._first, self._second
        if first.line.reply_id is None or second.line.reply_id is None:
            return True
        if same_reply(self._store, Pair(first.line, second.line)):
            return False
        return self._read(first, first) != self._read(second, first)

    def _undoes(self, cause: Cause) -> bool:
        """Tell whether the verdicts agree once a cause is the same on both sides."""
        made_the_same = {
            Cause.ANSWER: self._one_answer,
            Cause.PARSER: self._one_parser,
            Cause.REFERENCE: self._one_reference,
            Cause.TRANSFORM: self._one_transform,
        }
        return made_the_same[cause]()

    def _one_answer(self) -> bool:
        return (
            self._hit(0, 0, 0) == self._hit(0, 1, 1)
            or self._hit(1, 0, 0) == self._hit(1, 1, 1)
        )  # fmt: skip

    def _one_parser(self) -> bool:
        fresh = (
            self._score(self._read(half, half), side, side)
            for side, half in enumerate((self._first, self._second))
        )
        return len(set(fresh)) == 1

    def _one_reference(self) -> bool:
        return (
            self._hit(0, 0, 0) == self._hit(1, 1, 0)
            or self._hit(0, 0, 1) == self._hit(1, 1, 1)
        )  # fmt: skip

    def _one_transform(self) -> bool:
        return not self._same_place and (
            self._hit(0, 0, 0) == self._hit(1, 0, 1)
            or self._hit(0, 1, 0) == self._hit(1, 1, 1)
        )

    def _hit(self, reply: int, sent: int, mask: int) -> bool:
        """Return whether a side's reply, placed like another's, hits another's mask."""
        halves = self._first, self._second
        # The stored reading holds for its own grid; under another it is read anew.
        stored = reply == sent or self._same_place
        parsed = (
            halves[reply].line.parsed or NOTHING
            if stored
            else self._read(halves[reply], halves[sent])
        )
        return self._score(parsed, sent, mask)

    def _score(self, parsed: str, sent: int, mask: int) -> bool:
        reference, answer = self._reference(sent, mask), answer_of_json(parsed)
        if answer is None:
            return False
        half = (self._first, self._second)[sent]
        context, cell = half.context, _in_cell(half, answer)
        score = context.places.score(cell, reference, half.trial.condition)
        return score.status is Status.SCORED_CORRECT

    def _reference(self, sent: int, mask: int) -> GridReference | None:
        """Return a side's reference as seen through another side's grid."""
        halves = self._first, self._second
        if sent == mask or self._same_place:
            return halves[mask].context.reference(halves[mask].trial)
        context, trial = halves[sent].context, halves[sent].trial
        known = self._mask(mask)
        if known is None:
            return None
        geometry = context.images[trial.image].geometry
        return context.places.reference(known, geometry, trial.condition)

    def _mask(self, side: int) -> Mask | None:
        half = (self._first, self._second)[side]
        return half.context.images[half.trial.image].masks.get(half.trial.finding)

    def _detail(self, because: tuple[Cause, ...]) -> str:
        words = {
            Cause.ANSWER: self._answer_words,
            Cause.PARSER: self._parser_words,
            Cause.REFERENCE: self._reference_words,
            Cause.TRANSFORM: self._transform_words,
        }
        return "; ".join(words[cause]() for cause in because)

    def _answer_words(self) -> str:
        return answers_of(Pair(self._first.line, self._second.line))

    def _parser_words(self) -> str:
        versions = self._first.line.parser_version, self._second.line.parser_version
        by = (
            f", by parser {versions[0]} and {versions[1]}"
            if len({*versions}) > 1
            else ""
        )
        return f"read as {self._answer_words().replace(' → ', ' and as ')}{by}"

    def _reference_words(self) -> str:
        cells = [
            0 if reference is None else len(reference.hits)
            for reference in starmap(self._reference, ((0, 0), (1, 1)))
        ]
        what = (
            "the mask" if self._mask(0) != self._mask(1) else "the rule for its cells"
        )
        return f"{what} differs: {cells[0]} and {cells[1]} cells qualify"

    def _transform_words(self) -> str:
        where = "" if self._same_place else "the grid is placed differently"
        sent = "" if self._same_sent else "a different image was sent"
        return " and ".join(filter(None, (sent, where)))


def same_reply(store: Store, pair: Pair) -> bool:
    """Tell whether both verdicts come from replies of the same bytes."""
    a, b = pair.first.reply_id, pair.second.reply_id
    if a is None or b is None:
        return False
    return a == b or comparing.same_bytes(store, a, b)


def _in_cell(half: Half, answer: Answer | Unparsed) -> CellAnswer | Unparsed:
    context, trial = half.context, half.trial
    geometry = context.images[trial.image].geometry
    return context.places.in_cell(answer, trial.condition, geometry)


def _rule(reference: GridReference | None) -> tuple[object, ...]:
    """Return the part of a reference that an answer is judged by."""
    return () if reference is None else (reference.hits, reference.fallback)
