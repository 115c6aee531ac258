"""A study's terms for the groups, counts and rates of its results."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.conditions import (
    control_of,
    name_without_control,
    name_without_variant,
    variant_of,
)
from viewer.domain.controls import CONTROL_WORDS
from viewer.domain.grid import grids_in_words
from viewer.domain.item import Item


@dataclass(frozen=True, slots=True)
class Made:
    """What a trial makes that asks nothing with a right answer.

    ``ending`` is how it ended, ``made`` completes "12 of 14 trials ...", and ``use``
    says what to do with it; ``{}`` stands for the number of the run.
    """

    ending: str
    made: str
    use: str


MADE: Final[Mapping[str, Made]] = {
    "built": Made(
        "with questions",
        "made questions from captions",
        "write them with overread export questions {} --out built.json, then import "
        "that file",
    ),
    "prepared": Made(
        "prepared",
        "prepared parts of cases from reports",
        "check them with File ▸ Review prepared cases…",
    ),
    "proposed": Made(
        "with tasks",
        "proposed tasks",
        "write them with overread export tasks {} --out tasks.json beside their "
        "studies, then import these",
    ),
}
"""What trials made, by their reason.

They are excluded from every rate, but that is no failure.
"""
_ENDINGS: Final[Mapping[str, str]] = {
    "ungraded": "not graded",
    **{reason: one.ending for reason, one in MADE.items()},
}
"""How excluded trials ended that only wait for grades, or made something."""
MICRO: Final = "(micro)"
"""The finding of rows that count trials of all findings."""
MACRO: Final = "(macro)"
"""The finding of rows with the mean of the findings' rates."""
NO_COUNTS: Final = "mean of rates"
"""What stands in such rows where others have k of n: a mean is none."""
ALL_VIEWS: Final = "all"
"""The view of rows that count trials of all views."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A study's words for right and wrong answers; ``{}`` stands for a number.

    ``got`` completes "... by both".
    """

    right: str
    wrong: str
    rights: str
    wrongs: str
    gets: str
    got: str

    def count(self, n: int, *, right: bool) -> str:
        """Return a number of answers in words, such as "1 miss" or "3 right"."""
        one, many = (self.right, self.rights) if right else (self.wrong, self.wrongs)
        return f"{n:,} {one if n == 1 else many}"


HITS: Final = Verdicts("hit", "miss", "hits", "misses", "hits {}", "hit")
"""For answers that are a place on an image."""
RIGHTS: Final = Verdicts(
    "right", "wrong", "right", "wrong", "answers {} right", "answered right"
)
"""For answers in words."""
DENIALS: Final = Verdicts(
    *("denied", "not denied", "denials", "not denied", "denies {}", "denied")
)
"""For questions about findings that are absent, where denying them is right."""


Pair = tuple[str, str]
OfTrial = Callable[[Item, str, str], str]
"""What is true of an item, a trial's name and its condition, in words."""
Reasons = Callable[[Item, str], tuple[Pair, ...]]
"""Why an item's answer is right under a condition: a text each, with its heading."""


def _one_task(_finding: str) -> str:
    return MICRO


@dataclass(frozen=True)
class StudyWords:
    """A study's terms for its results: lower case, singular.

    ``finding`` and ``view`` are the study's words for the two grouping columns, with
    plurals, and ``rate`` the word for the share of right answers. ``names`` are display
    names of findings and views, ``numbers`` those of numeric columns, and ``condition``
    returns a condition's display name. ``ungraded`` says how to get verdicts if a run
    has none; ``graded`` is True if they are readers' grades, which may be added at any
    time. ``task`` returns the kind of question of a finding: only rates of one task may
    be pooled. ``strata`` are further groupings of items, by name, and ``asked`` what a
    trial asks in words, by name. ``spelled`` are strata as a trial's page spells them
    where a column has them otherwise, as JSON. ``explained`` returns the data set's own
    explanation of the right answer, None if the study's data sets never have any.
    """

    finding: str = "finding"
    findings: str = "findings"
    view: str = "view"
    views: str = "views"
    rate: str = "hit rate"
    verdicts: Verdicts = HITS
    names: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    condition: Callable[[str], str] = grids_in_words
    ungraded: str = ""
    graded: bool = False
    task: Callable[[str], str] = _one_task
    strata: Mapping[str, Callable[[Item], str]] = field(default_factory=dict)
    asked: Mapping[str, OfTrial] = field(default_factory=dict)
    spelled: Mapping[str, Callable[[Item], str]] = field(default_factory=dict)
    explained: Reasons | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of trials that hold this study's strata, under its own names."""
        named = (self.finding, self.view, *self.strata, *self.asked)
        return tuple(name.replace(" ", "_") for name in named)

    def ending(self, status: Status, reason: str = "") -> str:
        """Return how a trial ended, such as "hits", "refused" or "with questions".

        Trials that wait for grades or made something are not called excluded.
        """
        called = {
            Status.SCORED_CORRECT: self.verdicts.rights,
            Status.SCORED_WRONG: self.verdicts.wrongs,
        }
        return _ENDINGS.get(reason) or called.get(status, spoken(status.value))

    def about(self, item: Item, trial: str, condition: str) -> Iterator[Pair]:
        """Yield a trial's strata and questions, as names with words."""
        strata = {**self.strata, **self.spelled}
        yield from ((name, stratum(item)) for name, stratum in strata.items())
        lines = ((name, of(item, trial, condition)) for name, of in self.asked.items())
        yield from lines

    @property
    def places(self) -> bool:
        """Whether answers are locations, which can cover a part of a reference."""
        return self.verdicts is HITS

    def called(self, column: str, value: str) -> str:
        """Return the display name of a value in a grouping column.

        ``column`` is finding, view or condition; values of other columns are unchanged.
        """
        if column == "condition":
            return self._condition_called(value)
        if column not in {"finding", "view"}:
            return value
        return self._together().get(value) or self.names.get(value) or spoken(value)

    def _condition_called(self, value: str) -> str:
        if value in CONTROL_WORDS:
            return CONTROL_WORDS[value]
        variant, control = variant_of(value), control_of(value)
        condition = self.condition(name_without_control(name_without_variant(value)))
        prompt = f"prompt {variant}" if variant else ""
        return ", ".join(
            filter(None, (condition, prompt, CONTROL_WORDS.get(control, "")))
        )

    def _together(self) -> Mapping[str, str]:
        return {
            MICRO: "All trials together",
            MACRO: f"Mean of {self.findings}",
            ALL_VIEWS: f"all {self.views}",
        }


PLACING: Final = StudyWords()
"""The words of studies that place findings, and of who names no study."""


def made_sentence(run: int, n_planned: int, reasons: Mapping[str, int]) -> str:
    """Return what a run made and what to do with it, "" if it made nothing.

    ``reasons`` has the number of its ``n_planned`` trials by reason.
    """
    lines = (
        f"In run {run}, {reasons[reason]:,} of {n_planned:,} trials {one.made}; "
        f"{one.use.format(run)}."
        for reason, one in MADE.items()
        if reasons.get(reason)
    )
    return next(lines, "")


def spoken(name: str) -> str:
    """Return an identifier as people read it."""
    return name.replace("_", " ")


def capital(text: str) -> str:
    """Capitalise the first letter of a text and leave the others."""
    return text[:1].upper() + text[1:]


def words_of_all(several: Iterable[StudyWords]) -> StudyWords:
    """Return words that are right for several studies together.

    A term that all studies share is kept; display names given by one of them apply.
    """
    known = tuple(dict.fromkeys(map(id, several := tuple(several))))
    if len(known) < 2:
        return several[0] if several else PLACING
    places = all(one.places for one in several)
    return StudyWords(
        finding="finding or kind",
        findings="findings and kinds",
        view="view or group",
        views="views and groups",
        rate="hit rate" if places else "share right",
        verdicts=HITS if places else RIGHTS,
        names={k: name for one in several for k, name in one.names.items()},
        numbers={k: name for one in several for k, name in one.numbers.items()},
        condition=lambda name: _first_named(several, name),
    )


def _first_named(several: Iterable[StudyWords], condition: str) -> str:
    """Return a study's name for a condition, if only one study has a name for it."""
    plain = spoken(condition)
    conditions = {one.condition(condition) for one in several} - {plain, condition}
    return conditions.pop() if len(conditions) == 1 else plain
