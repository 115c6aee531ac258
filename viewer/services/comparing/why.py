"""Causes of differing verdicts on an item, found by recomputing.

A verdict is computed from a reply, a way of parsing it, a reference, and what the model
was sent (image, grid, and their mapping to the native image). Each of them is made the
same on both sides in turn: whatever makes the verdicts agree explains the flip. If
answers are words instead of locations, nothing is recomputed and the differences are
listed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from viewer.domain.answer_json import NOTHING
from viewer.domain.item import Item, item_of
from viewer.services.comparing.asked import Sent, sent_of, settings_of
from viewer.services.comparing.causes import Cause, Why
from viewer.services.comparing.recomputed import (
    End,
    Half,
    Recomputed,
)
from viewer.services.comparing.sides import Pair, Side, answers_of
from viewer.services.sessions import datasets
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import judge
from viewer.store import comparing, runs, trials
from viewer.store.comparing import TrialLine
from viewer.store.database import Store
from viewer.studies.catalog import places_findings


class WordedEnd:
    """One side with its items, read when first needed."""

    def __init__(self, store: Store, side: Side, sent: Sent) -> None:
        self._store, self.side, self._sent = store, side, sent
        self.dataset = comparing.dataset_id_of_run(store, side.run)[0]

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """The items of the side's data set by their keys."""
        dataset = datasets.dataset_of_run(self._store, self.side.run)
        return {item.key: item for item in dataset.items}

    def sent(self, line: TrialLine) -> tuple[str, ...]:
        """Return the hashes of the images that were sent in a trial."""
        return sent_of(self._sent, line)

    def truth(self, line: TrialLine) -> Mapping[str, object]:
        """Return the truth that a trial's item was judged by."""
        return item_of(self.items, line.item).reference


class Explainer:
    """Explains flips between two sides; data sets are read when first needed."""

    def __init__(
        self, store: Store, sides: tuple[Side, Side], sent: tuple[Sent, Sent]
    ) -> None:
        self._store = store
        self._worded = self._worded_ends(sides, sent)
        mine = End(store, sides[0], sent[0])
        same_run = mine if sides[0].run == sides[1].run else None
        self._ends = mine, End(store, sides[1], sent[1], same_run)
        first, second = self._ends
        self._same_rules = (
            first.dataset == second.dataset
            and first.spec.seed == second.spec.seed  # which examples it draws
            and settings_of(first.spec) == settings_of(second.spec)
        )
        self._fresh: dict[tuple[int, int], str] = {}

    def why(self, pair: Pair) -> Why:
        """Return why the verdicts on an item differ."""
        if self._worded is not None:
            return worded_why(*self._worded, pair)
        if self._only_the_answer(pair):
            detail = answers_of(pair)
            return Why((Cause.ANSWER,), (Cause.ANSWER,), detail, recomputed=False)
        halves = tuple(
            Half(end, line, comparing.trial_with_id(self._store, line.id))
            for end, line in zip(self._ends, pair, strict=True)
        )
        return Recomputed(self._store, halves[0], halves[1], self._read).why()

    def _worded_ends(
        self, sides: tuple[Side, Side], sent: tuple[Sent, Sent]
    ) -> tuple[WordedEnd, WordedEnd] | None:
        """Return both sides of a study whose answers are words, None for others."""
        studies = runs.studies_of(self._store, {side.run for side in sides})
        if all(map(places_findings, studies.values())):
            return None
        first, second = (
            WordedEnd(self._store, side, own)
            for side, own in zip(sides, sent, strict=True)
        )
        return first, second

    def _only_the_answer(self, pair: Pair) -> bool:
        """Tell whether hashes and versions leave the answer as the only cause."""
        first, second = pair
        mine, theirs = self._ends
        return (
            self._same_rules
            and first.condition == second.condition
            and first.parser_version == second.parser_version
            and first.scorer_version == second.scorer_version
            and first.parsed != second.parsed
            and (first.reply_id is None or first.reply_id != second.reply_id)
            and mine.sent(first) == theirs.sent(second)
        )

    def _read(self, reply: Half, under: Half) -> str:
        """Return one side's reply parsed by today's parser as if sent as the other."""
        key = reply.line.id, under.line.id
        if key not in self._fresh:
            self._fresh[key] = self._read_now(reply, under)
        return self._fresh[key]

    def _read_now(self, reply: Half, under: Half) -> str:
        if reply.line.reply_id is None:
            return NOTHING
        # The models of the reply's own run: their profile says how it is read.
        spec = replace(under.end.spec, models=reply.end.spec.models)
        context = RunContext(spec, under.context.dataset)
        trial = replace(under.trial, model=reply.trial.model)
        stored = trials.reply_with_id(self._store, reply.line.reply_id)
        return judge(context, trial, [stored]).parsed


def worded_why(first: WordedEnd, second: WordedEnd, pair: Pair) -> Why:
    """Return the differences between two verdicts on an item."""
    changed = tuple(_changed(first, second, pair)) or (Cause.ANSWER,)
    return Why(
        changed, changed, answers_of(pair), together=len(changed) > 1, recomputed=False
    )


def _changed(first: WordedEnd, second: WordedEnd, pair: Pair) -> Iterator[Cause]:
    one, other = pair
    if first.sent(one) != second.sent(other):
        yield Cause.TRANSFORM
    if first.dataset != second.dataset and first.truth(one) != second.truth(other):
        yield Cause.REFERENCE
    if one.parser_version != other.parser_version:
        yield Cause.PARSER
    if one.parsed != other.parsed:
        yield Cause.ANSWER
    if one.scorer_version != other.scorer_version:
        yield Cause.SCORER
