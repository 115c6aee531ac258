"""Listing of what can be compared, and whether it would be confirmatory."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.counting import counted
from viewer.domain.run import RunStatus, RunSummary
from viewer.domain.study_words import PLACING, StudyWords
from viewer.services.comparing.family import covers, day, declare_family
from viewer.services.comparing.sides import Side, sides_of_run
from viewer.services.inspecting.predictions.wording import words_of_runs
from viewer.services.readings.withdrawn import WITHDRAWN
from viewer.store import comparing, runs
from viewer.store.database import Store, open_store


@dataclass(frozen=True, slots=True)
class ListedSide:
    """A side as shown in a list."""

    side: Side
    title: str
    dataset: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What comparing two sides would be, before it is done.

    ``declarable`` findings can still be declared in time; ``words`` is the study's
    noun.
    """

    sentence: str
    declarable: int = 0
    words: StudyWords = PLACING

    @property
    def declarable_words(self) -> str:
        """The number that can be declared, in words."""
        return counted(self.declarable, self.words.finding, self.words.findings)


def listed_sides(path: Path) -> tuple[ListedSide, ...]:
    """Return every model of every run that a person planned, newest run first."""
    with open_store(path) as store:
        summaries = runs.run_summaries(store, include_adhoc=False)[::-1]
        return tuple(
            ListedSide(
                side,
                " · ".join((str(one.id), one.dataset, side.name, *_warnings(one))),
                one.dataset,
            )
            for one in summaries
            for side in sides_of_run(store, one.id)
        )


def _warnings(run: RunSummary) -> Iterator[str]:
    """Yield what has to be known about a run before it is compared."""
    if run.status is not RunStatus.FINISHED:
        yield "unfinished"
    if any(note.kind == WITHDRAWN for note in run.notes):
        yield "reader withdrew"


def outlook(path: Path, first: Side, second: Side) -> Outlook:
    """Say whether comparing two sides would be confirmatory; this is not a look."""
    with open_store(path) as store:
        return _outlook(store, first, second)


def _outlook(store: Store, first: Side, second: Side) -> Outlook:
    if first == second:
        return Outlook("Choose two different runs or models.")
    content, other = (
        comparing.dataset_id_of_run(store, side.run)[1] for side in (first, second)
    )
    if content != other:
        words = "The data differ, so no family covers them: exploratory."
        return Outlook(words)
    seen = comparing.known_look(store, first.key, second.key)
    if seen:
        return Outlook(f"First compared {day(seen)}.")
    known = comparing.declarations(store, content)
    if any(covers(one, first.name, second.name) for one in known):
        return Outlook("Declared: its tests will be confirmatory.")
    words = "Nothing is declared: what you will see is exploratory."
    called = words_of_runs(store, (first.run,))
    return Outlook(words, len(comparing.findings_of_run(store, first.run)), called)


def declare_at(path: Path, first: Side, second: Side) -> str:
    """Declare every finding of two sides' data set; return the family in words."""
    with open_store(path) as store:
        summary = runs.run_summary(store, first.run)
        made = declare_family(
            store,
            summary.dataset,
            (first.name, second.name),
            comparing.findings_of_run(store, first.run),
            study=summary.study,
        )
        called = words_of_runs(store, (first.run,))
    what = counted(len(made.findings), called.finding, called.findings)
    return f"Declared: {what} of {first} and {second}."
