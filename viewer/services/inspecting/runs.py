"""Runs, results and trials for the Measure workspace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.report import BarFigure, ReportData, Section, Table
from viewer.domain.result import Outcome, Score
from viewer.domain.run import RunSummary, Trial
from viewer.domain.study_words import PLACING, StudyWords, made_sentence
from viewer.results.page import printed
from viewer.services.configuring.model_colors import assign_model_colors
from viewer.services.reporting.grading import readers_stamp, score_changed_grades
from viewer.services.reporting.records import some_records
from viewer.services.reporting.report_run import report_data
from viewer.services.reporting.report_words import in_words
from viewer.services.reporting.rescore import departure_sentence
from viewer.store import flat, runs, trials
from viewer.store.database import open_store
from viewer.studies.catalog import places_findings, study_named
from viewer.writers.table_script import table_script

_RESULTS: Final = "results"
_EVERYTHING: Final = frozenset({"all", "(micro)", "(macro)", ""})
"""Words of the results table that stand for no choice."""
_CHOICES: Final = ("finding", "view", "condition", "model")


@dataclass(frozen=True)
class TrialRow:
    """A trial in the filmstrip; ``item`` names image and finding.

    ``ref`` is its image, None if it has none; ``places`` is True if its answer is a
    location that can be drawn. ``called`` is the study's name for finding, view and
    condition.
    """

    trial: int
    item: str
    ref: ImageRef | None
    finding: str
    view: str
    condition: str
    model: str
    repeat: int
    score: Score
    places: bool = True
    called: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunResults:
    """The rows of results.csv at full precision, and the study's terms for them.

    ``unjudged`` are the trials whose answers still wait for a judgement, ``made`` says
    what a run made that judges no answer and what to do with it, "" if it judges some.
    """

    table: Table
    words: StudyWords = PLACING
    unjudged: tuple[TrialRow, ...] = ()
    made: str = ""


def run_list(store: Path) -> tuple[RunSummary, ...]:
    """Return every run that a person planned, newest first."""
    with open_store(store) as opened:
        score_changed_grades(opened)
        assign_model_colors(opened)
        return runs.run_summaries(opened, include_adhoc=False)[::-1]


def run_table(store: Path, run: int, name: str = _RESULTS) -> Table:
    """Return one table of a run's report, unrounded.

    Raises
    ------
    WrongUseError
        There is no such run, or it has no such table.
    """
    tables = {table.name: table for table in _report(store, run).tables}
    if name not in tables:
        raise WrongUseError(
            f"The report of run {run} has no table '{name}'.",
            f"It has {', '.join(tables)}.",
        )
    return tables[name]


def table_names(store: Path, run: int) -> tuple[str, ...]:
    """Return the names of the tables of a run's report; an unknown run raises."""
    return tuple(table.name for table in _report(store, run).tables)


def printed_table(store: Path, run: int, name: str) -> tuple[Section, ...]:
    """Return one of a report's tables as printed, in the words of its study.

    A table without a page is printed whole. Raises what :func:`run_table` raises.
    """
    table, data = run_table(store, run, name), _report(store, run)
    shown = [s for s in (*data.sections, *data.appendix) if s.table.name == name]
    if not shown:
        return (Section(name, "", printed(table)),)
    with open_store(store) as opened:
        spec = runs.run_spec(opened, run)
    words, models = study_named(spec.study).words, [one.name for one in spec.models]
    return tuple(in_words(one, words, models) for one in shown)


def bar_figures(store: Path, run: int) -> tuple[BarFigure, ...]:
    """Return the bar charts of rates in a run's report; raises for an unknown run."""
    return _report(store, run).figures


def run_table_script(store: Path, run: int, name: str = _RESULTS) -> str:
    """Return a Python script that prints a table of a run as CSV.

    It needs only pandas and the report's items.csv if these are enough, else Overread
    and the store. Raises what :func:`run_table` raises.
    """
    run_table(store, run, name)
    specs = {spec.name: spec for spec in _report(store, run).specs}
    return table_script(specs.get(name), name, store, run)


def run_results(store: Path, run: int) -> RunResults:
    """Return a run's results with its study's words; an unknown run raises."""
    table = run_table(store, run)
    with open_store(store) as opened:
        summary = runs.run_summary(opened, run)
        excluded = runs.reason_counts(opened, run, Status.EXCLUDED)
    words = study_named(summary.study).words
    if any(_scored(table)):
        return RunResults(table, words)
    if made := made_sentence(run, summary.n_planned, excluded):
        return RunResults(table, words, made=made)
    return RunResults(table, words, _every_row(store, run) if words.ungraded else ())


def run_doubt(store: Path, run: int) -> str:
    """Return what a run's report warns of, in lines; "" for nothing.

    Among it is a sentence on verdicts that contradict their replies.
    """
    with open_store(store) as opened:
        doubt = _doubt_at(store, run, trials.verdict_stamp(opened, run))
    return "\n".join(filter(None, (*_report(store, run).warnings, doubt)))


@lru_cache(maxsize=16)
def _doubt_at(store: Path, run: int, _stamp: object) -> str:
    with open_store(store) as opened:
        return departure_sentence(opened, run)


def _scored(table: Table) -> Iterable[object]:
    """Yield the number of judged trials of each row."""
    at = table.header.index("n_scored")
    return (row[at] for row in table.rows)


def _every_row(store: Path, run: int) -> tuple[TrialRow, ...]:
    return trial_rows(store, run, finding="", view="", condition="", model="")


def _report(store: Path, run: int) -> ReportData:
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        score_changed_grades(opened)
        stamp = (trials.verdict_stamp(opened, run), readers_stamp(opened, run))
        return _report_at(store, run, stamp)


@lru_cache(maxsize=4)
def _report_at(store: Path, run: int, _stamp: object) -> ReportData:
    """Return a run's report, cached until a verdict or a reading changes."""
    with open_store(store) as opened:
        return report_data(opened, run).data


def trial_rows(
    store: Path, run: int, *, finding: str, view: str, condition: str, model: str
) -> tuple[TrialRow, ...]:
    """Return the trials behind a row of the results table, misses first.

    Then follow partial hits, unreadable and refused replies, failed questions, hits,
    excluded and pending trials, each in the order planned. ``all``, ``(micro)`` and
    ``(macro)`` mean no choice.
    """
    wanted = zip(_CHOICES, (finding, view, condition, model), strict=True)
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        records = some_records(opened, run, ("id", "status", "outcome", *_CHOICES))
    chosen = records.where({c: (one,) for c, one in wanted if one not in _EVERYTHING})
    own = sorted(chosen.each("id", "status", "outcome"), key=lambda r: rank_of(*r[1:]))
    return trial_rows_at(store, [number for number, *_ in own])


def trial_rows_at(store: Path, ids: Sequence[int]) -> tuple[TrialRow, ...]:
    """Return trials for the filmstrip, in the order of the given ids."""
    with open_store(store) as opened:
        listed = flat.trials_at(opened, ids)
        studies = runs.studies_of(opened, {one.run for one in listed})
    places = {run: places_findings(study) for run, study in studies.items()}
    words = {run: study_named(study).words for run, study in studies.items()}
    return tuple(
        TrialRow(
            one.id,
            one.trial.item,
            one.ref,
            one.trial.finding,
            one.trial.view,
            one.trial.condition.name,
            one.trial.model,
            one.trial.repeat,
            one.score,
            places[one.run],
            called(one.trial, words[one.run]),
        )
        for one in listed
    )


def called(trial: Trial, words: StudyWords) -> tuple[str, str, str]:
    """Return a trial's finding, view and condition in the study's words."""
    return (
        words.called("finding", trial.finding),
        words.called("view", trial.view),
        words.called("condition", trial.condition.name),
    )


_RANKS: Final[Mapping[str, int]] = {
    Status.SCORED_WRONG: 0,
    **dict.fromkeys(UNREADABLE, 2),
    Status.REFUSED: 3,
    Status.PROVIDER_ERROR: 4,
    Status.SCORED_CORRECT: 5,
    Status.EXCLUDED: 6,
    Status.PENDING: 7,
}
"""The sort order, most interesting first; 1 is a partial hit."""


def rank_of(status: str, outcome: str | None) -> int:
    """Return the sort rank of trials by verdict: misses first."""
    return 1 if outcome == Outcome.PARTIAL else _RANKS[status]
