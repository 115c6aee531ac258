"""Matching of a file's replies to the questions of a run."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.run import Trial
from viewer.domain.written_reply import ANY, WrittenReply
from viewer.services.importing.answering_file import used_words
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.services.trials.run_context import RunContext

_MOST_LINES: Final = 20
_UNKNOWN: Final = "{} is not an item of this run"
_UNSAID: Final = "their condition is not stated, and this run asks under {}"
_OTHER: Final = "{} is not asked under this condition or repeat"
_TWICE: Final = "{} is answered already"
_Key = tuple[str, str, str, str, str, str, int]


@dataclass(frozen=True)
class MatchedReplies:
    """The replies that a run uses, and why others are not used.

    ``replies`` have item, condition, repeat and step as in the run. ``items`` were
    planned and ``answered`` of them have a reply; ``unused`` are sentences without full
    stop.
    """

    replies: tuple[WrittenReply, ...]
    items: int
    answered: int
    unused: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """How many replies are used, for how many items, and how many have none."""
        used = counted(len(self.replies), "reply", "replies")
        return used_words(used, self.answered, self.items)


def match_replies(
    found: Sequence[WrittenReply],
    planned: Sequence[Trial],
    context: RunContext,
    problems: Sequence[str] = (),
) -> MatchedReplies:
    """Give each question of a run its reply from a file.

    Items are identified by name or by pseudonym, as in bundles and exported requests. A
    reply without a step answers a trial's first question, one without a repeat the next
    repeat without a reply. The condition may be omitted if the run has only one.
    """
    trials = [trial for trial in planned if not trial.exclusion]
    matching = _Matching(context, trials)
    for reply in found:
        matching.take(reply)
    items = {trial.item for trial in trials}
    return MatchedReplies(
        tuple(matching.used.values()),
        len(items),
        len({one.item for one in matching.used.values()}),
        (*problems, *_lines(matching.lost)),
    )


def _lines(lost: Mapping[str, int]) -> Iterator[str]:
    for why, n in list(lost.items())[:_MOST_LINES]:
        yield f"{counted(n, 'reply', 'replies')} not used: {why}"
    rest = list(lost.values())[_MOST_LINES:]
    if rest:
        yield f"{counted(sum(rest), 'reply', 'replies')} more not used"


@dataclass
class _Matching:
    """The state of matching; ``lost`` counts unused replies by reason."""

    context: RunContext
    trials: Sequence[Trial]
    used: dict[_Key, WrittenReply] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)

    def take(self, reply: WrittenReply) -> None:
        """Use a reply, or count it."""
        item = self._item(reply)
        asked = self._by_item.get((reply.model, item or ""), ())
        if not asked:
            self.lost[_UNKNOWN.format(reply.item or reply.position)] += 1
            return
        conditions = dict.fromkeys(trial.condition.name for trial in asked)
        if reply.condition == ANY and reply.position is None and len(conditions) > 1:
            self.lost[_UNSAID.format(", ".join(conditions))] += 1
            return
        fitting = [trial for trial in asked if self._fits(reply, trial)]
        if not fitting:
            self.lost[_OTHER.format(reply.called)] += 1
            return
        for trial in fitting:
            named = self._named(reply, trial)
            if self.used.setdefault(_key(named), named) is named:
                return
        self.lost[_TWICE.format(reply.called)] += 1

    @cached_property
    def _by_item(self) -> Mapping[tuple[str, str], Sequence[Trial]]:
        found: dict[tuple[str, str], list[Trial]] = defaultdict(list)
        for trial in self.trials:
            found[trial.model, trial.item].append(trial)
        return found

    @cached_property
    def _items(self) -> Mapping[str, str]:
        """The items by what a file may call them; a name of its own goes first."""
        names = Pseudonyms(self.context.dataset, ())
        pseudonyms = {names.item(t.item, t.image): t.item for t in self.trials}
        return pseudonyms | {trial.item: trial.item for trial in self.trials}

    @cached_property
    def _by_position(self) -> Mapping[str, Sequence[Trial]]:
        found: dict[str, list[Trial]] = defaultdict(list)
        for trial in self.trials:
            found[trial.model].append(trial)
        return found

    def _item(self, reply: WrittenReply) -> str | None:
        if reply.item in self._items:
            return self._items[reply.item]
        placed = self._at(reply)
        return None if placed is None else placed.item

    def _at(self, reply: WrittenReply) -> Trial | None:
        """Map the names that a file may use to items; a real name goes first."""
        if reply.position is None or reply.item in self._items:
            return None
        of_model = self._by_position.get(reply.model, ())
        return of_model[reply.position] if reply.position < len(of_model) else None

    def _fits(self, reply: WrittenReply, trial: Trial) -> bool:
        placed = self._at(reply)
        if placed is not None:
            return trial is placed
        return reply.condition in {ANY, trial.condition.name} and reply.repeat in {
            ANY,
            str(trial.repeat),
        }

    def _named(self, reply: WrittenReply, trial: Trial) -> WrittenReply:
        step = reply.step
        if step == ANY:
            first = self.context.next_step(trial, ())
            step = first.name if first else ANY
        return replace(
            reply,
            item=trial.item,
            condition=trial.condition.name,
            repeat=str(trial.repeat),
            step=step,
        )


def _key(reply: WrittenReply) -> _Key:
    return (
        *(reply.model, reply.item, reply.condition, reply.repeat),
        *(reply.step, reply.role, reply.again),
    )
