"""A paper's pack: plan, ask, score, and every table and figure in one folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.figure import CardFigure, Figure
from viewer.domain.pack import PackData
from viewer.domain.times import in_utc
from viewer.services.configuring.study_file import make_spec
from viewer.services.reporting.figures import pack_data, pack_input
from viewer.services.reporting.report_run import (
    RunReport,
    checked_report,
    write_run_report,
)
from viewer.services.reporting.report_words import in_words
from viewer.services.running.plan_run import plan_run
from viewer.store.database import Store
from viewer.studies.catalog import pack_named, study_named
from viewer.writers.figures_files import figure_files
from viewer.writers.files import write_atomically
from viewer.writers.pack_html import FIGURES, PackPage, render_pack
from viewer.writers.tables import csv_bytes, latex_table

RUN_FOLDER: Final = "run"
"""Where in the pack the run's own report lies."""


@dataclass(frozen=True)
class PackRequest:
    """Which paper's pack is wanted, of which data set and models.

    ``ceiling_microusd`` is the most that asking may cost, ``judge`` the model that
    scores answers where the paper has one.
    """

    paper: str
    dataset: str
    models: tuple[ModelProfile, ...]
    seed: int = 0
    repeats: int = 1
    limit: int | None = None
    ceiling_microusd: int | None = None
    judge: ModelProfile | None = None


def plan_pack(store: Store, wanted: PackRequest) -> int:
    """Return the pack's run: planned now, or the one that the store holds already."""
    pack = pack_named(wanted.paper)
    defaults = study_named(pack.study).defaults
    judging = {"judge": wanted.judge.name} if wanted.judge else {}
    known = (*wanted.models, *((wanted.judge,) if wanted.judge else ()))
    spec = make_spec(
        study=pack.study,
        dataset=wanted.dataset,
        preset=defaults.preset,
        seed=wanted.seed,
        repeats=wanted.repeats,
        models=wanted.models,
        overrides={**defaults.params, **judging},
        limit=wanted.limit,
        ceiling_microusd=wanted.ceiling_microusd,
        known={model.name: model for model in known},
    )
    return plan_run(store, spec)


def write_pack(
    store: Store,
    name: str,
    run: int,
    out: Path,
    order: tuple[str, str] | None = None,
    *,
    reference_cells: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write a pack into a folder; return the files written, the page first.

    ``report.html`` lists what is there; ``tables/*.csv`` and ``figures/*`` are the
    paper's, ``run/`` is the run's own report with its items and manifest. A run of
    another study than the paper's raises. ``order`` names the two series whose
    relative difference orders the findings of Figure 2; ``reference_cells`` shows in
    heat maps how often each cell qualifies instead of the mean mask. ``say`` is told
    every sentence about what is missing or was left out.
    """
    pack, report = pack_named(name), checked_report(store, run)
    if report.summary.study != pack.study:
        raise WrongUseError(
            f"Run {run} is of the study {report.summary.study}, which {name} does not "
            "report.",
            f"Choose a run of {pack.study}.",
        )
    given = pack_input(store, report, order, reference_cells=reference_cells)
    data = _in_study_terms(pack_data(pack, given, report), report)
    for sentence in dict.fromkeys((*report.warnings, *data.missing)):
        say(sentence)
    cards = [one for one in data.figures if isinstance(one, CardFigure)]
    run_files = write_run_report(store, report, out / RUN_FOLDER, cards)
    files = {**_tables(data), **_figures(data.figures)}
    listed = (*files, *(path.relative_to(out).as_posix() for path in run_files))
    page = PackPage(name, tuple(_facts(report)), data, listed)
    files = {"report.html": render_pack(page, files), **files}
    for path, content in files.items():
        write_atomically(out / path, content)
    return (*(out / path for path in files), *run_files)


def _in_study_terms(data: PackData, report: RunReport) -> PackData:
    """Return what is printed in the study's terms; CSV files keep their names."""
    words = report.context.study.words
    models = [model.name for model in report.context.spec.models]
    sections = tuple(in_words(one, words, models) for one in data.sections)
    return replace(data, sections=sections)


def _facts(report: RunReport) -> Iterator[tuple[str, str]]:
    spec, summary = report.context.spec, report.summary
    yield "Data set", spec.dataset
    yield "Images", str(len(report.context.dataset.images))
    yield "Models", ", ".join(model.name for model in spec.models)
    yield "Run", f"{summary.id}, preset {spec.preset}, seed {spec.seed}"
    yield "Planned trials", str(summary.n_planned)
    yield "Started", in_utc(summary.created_at)
    if spec.limit is not None:
        yield "Limit", f"the first {counted(spec.limit, 'item')} only"


def _tables(data: PackData) -> Mapping[str, bytes]:
    """Return every table as CSV at full precision, and as LaTeX if it is printed."""
    exact = {f"tables/{t.name}.csv": csv_bytes(t.header, t.rows) for t in data.tables}
    printed = {f"tables/{s.table.name}.tex": latex_table(s) for s in data.sections}
    return {**exact, **printed}


def _figures(figures: Sequence[Figure]) -> Mapping[str, bytes]:
    return {
        f"{FIGURES}/{name}": content
        for figure in figures
        for name, content in figure_files(figure).items()
    }
