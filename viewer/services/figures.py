"""The figures of a run, for the window and for a pack."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from viewer.domain.case import View
from viewer.domain.figure import Figure
from viewer.services.pictures import RunPictures
from viewer.services.readings.reviewing import KINDS, ErrorCounts, error_counts
from viewer.services.readings.verdicts import Scope, verdicts_of
from viewer.services.report_run import RunReport, grades_stamp, report_data
from viewer.store import runs, trials
from viewer.store.database import Store, open_store
from viewer.studies.packs import PackInput, Reviewed

_KEPT = 2
"""Runs whose figures are kept; each has pictures."""


@dataclass(frozen=True)
class RunFigures:
    """A run's figures by the paper's numbers, and why others are missing."""

    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()


def run_figures(store: Path, run: int) -> RunFigures:
    """Return every figure that a run can have; reads the run's images.

    An unknown run raises; without an image, figures that show it are missing.
    """
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        stamp = (
            trials.verdict_stamp(opened, run),
            _said(opened, run),
            grades_stamp(opened, run),
        )
        return _figures_at(store, run, stamp)


@lru_cache(maxsize=_KEPT)
def _figures_at(store: Path, run: int, _stamp: object) -> RunFigures:
    """Return a run's figures; kept until a trial or a review has another verdict."""
    with open_store(store) as opened:
        report = report_data(opened, run)
        pack = report.bench.study.pack
        if pack is None:
            return RunFigures()
        data = pack.data(pack_input(opened, report))
        return RunFigures(data.figures, data.missing)


def pack_input(
    store: Store,
    report: RunReport,
    order: tuple[str, str] | None = None,
    *,
    reference_cells: bool = False,
) -> PackInput:
    """Return what a pack is made of: report, pictures, and what readers said.

    Readers are heard on frontal views of the run's first condition, as in the paper
    (E000-24). ``order`` and ``reference_cells`` are those of the figures.
    """
    bench, run = report.bench, report.summary.id
    first = bench.study.conditions(bench.params)[0].name
    scope = Scope(first, (View.FRONTAL.value,))
    return PackInput(
        report.data,
        report.results,
        bench.spec,
        bench.dataset,
        RunPictures(bench),
        {
            stratum: reviewed_of(counts)
            for stratum, counts in error_counts(store, run).items()
            if counts.reviewed
        },
        {
            (one.task.item, one.model): KINDS[one.final]
            for one in verdicts_of(store, run).get(scope, ())
        },
        order,
        reference_cells,
        bench.sources(),
    )


def _said(store: Store, run: int) -> tuple[tuple[object, ...], ...]:
    """Return what tells two states of a run's reviews apart."""
    return tuple(
        (scope, one.task.item, one.model, one.final)
        for scope, said in verdicts_of(store, run).items()
        for one in said
    )


def reviewed_of(counts: ErrorCounts) -> Reviewed:
    """Return the misses of each kind, N·k/n where a sample was read (E000-25)."""
    return Reviewed(
        position=counts.estimated("position"),
        anatomy=counts.estimated("anatomy"),
        unsure=counts.estimated("unsure"),
        partial=counts.estimated("partial"),
    )
