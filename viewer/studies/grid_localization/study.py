"""Where a finding is, named as one cell of a grid on the film (Gosai 2025)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from viewer.domain.answer import Answer, AnyAnswer, Unparsed
from viewer.domain.case import Dataset, View
from viewer.domain.controls import Control
from viewer.domain.exchange import PAPER_MODELS
from viewer.domain.geometry import SizePx
from viewer.domain.holdings import Wanted
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.domain.study_words import PLACING
from viewer.imaging.grid_overlay import legibility_warning
from viewer.studies.benchmarks import Benchmark
from viewer.studies.consistency import CountCheck
from viewer.studies.controls import Controlled
from viewer.studies.grid_localization import (
    missing_findings,
    params,
    parse,
    plan,
    published,
    report,
    templates,
)
from viewer.studies.grid_localization.absent import is_absent
from viewer.studies.grid_localization.few_shot import GridExamples
from viewer.studies.grid_localization.pack import PACK
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.places import GridPlaces
from viewer.studies.grid_localization.reference import grid_of, style_of
from viewer.studies.grid_localization.request import question
from viewer.studies.places import GridReference
from viewer.studies.presets import PresetStudy
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.steps import Longest, Question, Sources, Turn

_ANSWER = Step("answer")


class GridLocalization(Controlled, PresetStudy[Params]):
    """The study's parts behind the interface that all studies share."""

    name = "grid_localization"
    title = "Grid localization"
    version = "1"
    parser_version = "1"
    scorer_version = "1"
    words = PLACING
    wanted = Wanted(
        "findings outlined or boxed",
        "Import images with masks or boxes of findings, such as CheXlocalize.",
        lambda held: held.places,
    )
    pack = PACK
    known_prompts = templates.PROMPTS

    def conditions(self, params_: Params) -> tuple[Condition, ...]:
        """Return one condition for each grid, or each combination of an ablation."""
        return plan.conditions(params_)

    def shown_under(
        self,
        trial: Trial,
        control: Control,  # noqa: ARG002 - a grid says all
    ) -> Condition | None:
        """Return the grid, None where the finding is absent."""
        return None if is_absent(trial.condition) else trial.condition

    def chance(self, condition: str, gold: Mapping[str, Any]) -> float | None:
        """Return the share of the cells that are right."""
        grid = plan.condition_named(condition, params.Params())
        size = dict(grid.params)
        n_cells = int(size["rows"]) * int(size["columns"])
        return len(gold["cells"]) / n_cells if "cells" in gold else None

    def notices(self, params_: Params) -> tuple[str, ...]:
        """Return what of the grid is varied, and which labels are hard to read.

        The latter is said of each grid (E000-10).
        """
        size = SizePx(params_.side, params_.side)
        warnings = (
            legibility_warning(grid_of(one, params_), size, style_of(one, params_))
            for one in plan.conditions(params_)
        )
        said = plan.varied_in_words(params_)
        return tuple(dict.fromkeys(one for one in (said, *warnings) if one))

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, grouped by image; exclusions carry their reason."""
        return plan.plan(dataset, spec)

    def places(self, params: Params) -> GridPlaces:
        """Return the geometry of answers on images."""
        return GridPlaces(params)

    def examples(self, params: Params) -> GridExamples | None:
        """Return the source of examples, None if none are shown."""
        return GridExamples(params) if params.examples else None

    def prompts(self, params: Params) -> tuple[tuple[str, str], ...]:
        """Return the name and template of each view's prompt."""
        return tuple(
            (templates.prompt_name(view), templates.prompt_text(view, params.prompts))
            for view in params.views
        )

    def next_step(self, turn: Turn, params: Params) -> Step | None:  # noqa: ARG002 - every trial is alike
        """Return the only question until it is answered."""
        return None if turn.so_far else _ANSWER

    def question(
        self,
        turn: Turn,
        step: Step,  # noqa: ARG002 - there is one
        sources: Sources,
        params: Params,
    ) -> Question:
        """Return the question where the finding is on the image with its grid."""
        return question(turn, sources, params)

    def parse(self, turn: Turn, params: Params) -> Answer | Unparsed:
        """Parse a reply; an invalid reply is an answer too."""
        last = turn.so_far[-1]
        return parse.parse(last.reply, turn.trial, params, last.placed())

    def score(self, turn: Turn, answer: AnyAnswer | Unparsed, params: Params) -> Score:
        """Return the verdict on an answer's cell."""
        places, trial = GridPlaces(params), turn.trial
        geometry = turn.images[trial.image].geometry
        cell = places.in_cell(cast("Answer", answer), trial.condition, geometry)
        return places.score(cell, _reference(turn, params), trial.condition)

    def gold(self, turn: Turn, params: Params) -> Mapping[str, object]:
        """Return the names of the right cells."""
        reference = _reference(turn, params)
        return {} if reference is None else {"cells": list(reference.names)}

    def longest(self, dataset: Dataset, params: Params) -> tuple[Longest, ...]:  # noqa: ARG002 - all images are sent alike
        """Return the longest prompt of any view, and the size of what is sent."""
        texts = (templates.prompt_text(view, params.prompts) for view in View)
        sizes = map(GridPlaces(params).sent_size, plan.conditions(params))
        largest = max(sizes, key=lambda size: size.rows)
        each = params.examples + 1  # an example repeats the task, and is answered
        text, n = max(texts, key=len) * each, 2 * each
        return (Longest(text, (largest,) * each, n),)

    def missing_findings(self, dataset: Dataset, params: Params) -> str:
        """Return which findings a run will not ask about, and why; "" for none."""
        return missing_findings.missing_findings_sentence(dataset, params)

    def benchmark(self) -> Benchmark:
        """Return the paper's printed values, with their checks."""
        rows = published.ROWS
        checks = (CountCheck(row) for row in rows if row.n_claimed is not None)
        return Benchmark(self.name, rows, tuple(checks), PAPER_MODELS)

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables and figures of a run."""
        return report.report(results, spec, context)


def _reference(turn: Turn, params: Params) -> GridReference | None:
    """Return the reference as scored, None if there is none."""
    trial = turn.trial
    image = turn.images[trial.image]
    mask = image.masks.get(trial.finding)
    if mask is None:
        return None
    return GridPlaces(params).reference(mask, image.geometry, trial.condition)


STUDY = GridLocalization(params.read_params, params.PRESET_TITLES, {"grids": [8, 16]})
