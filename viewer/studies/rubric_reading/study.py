"""Open tasks about chest radiographs, graded by readers (Banerjee 2025, ReXecution)."""

from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.answer import (
    AnyAnswer,
    RankedAnswer,
    ReportAnswer,
    Status,
    Unparsed,
)
from viewer.domain.case import Dataset
from viewer.domain.controls import Control
from viewer.domain.exchange import ModelProfile
from viewer.domain.holdings import Wanted
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.domain.task_selection import Answerable
from viewer.studies.benchmarks import Benchmark
from viewer.studies.controls import Controlled
from viewer.studies.presets import PresetStudy
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.rubric_reading import (
    consistency,
    curating,
    naming,
    params,
    parse,
    plan,
    published,
    report,
    request,
    score,
    templates,
)
from viewer.studies.rubric_reading.final import final_scores
from viewer.studies.rubric_reading.pack import PACK
from viewer.studies.rubric_reading.params import Params, Work
from viewer.studies.rubric_reading.plan import task_named
from viewer.studies.rubric_reading.readings import READING_TASKS
from viewer.studies.rubric_reading.words import WORDS
from viewer.studies.steps import Longest, PredictedBoxes, Question, Sources, Turn

_GRADED: Final = (
    "Outputs are graded by readers: grade them under Review ▸ Study tasks, or save the "
    "grades as grades.csv or grades.json in the data set's folder."
)

_SELECTED: Final = (
    "A radiologist should select from the proposed tasks: overread export tasks writes "
    "a draft to save as tasks.json in the data set's folder."
)


def _curates(turn: Turn) -> bool:
    return turn.trial.condition.name == plan.CURATION.name


class RubricReading(Controlled, PresetStudy[Params]):
    """The study's parts behind the interface that all studies of items share."""

    name = "rubric_reading"
    title = "Graded tasks"
    version = "1"
    parser_version = "1"
    scorer_version = "1"
    words = WORDS
    wanted = Wanted(
        "studies with tasks",
        "Import studies with their reports as Report studies or MIMIC-CXR-JPG.",
        lambda held: held.has_item("views", "tasks"),
    )
    pack = PACK
    reading_tasks = READING_TASKS
    judged = False  # readers grade outputs, and would have to grade each control's
    known_prompts = templates.PROMPTS

    def conditions(self, params_: Params) -> tuple[Condition, ...]:
        """Return the only condition, which says what the run does."""
        curates = params_.work is params.Work.CURATION
        return (plan.CURATION if curates else plan.CONDITION,)

    def shown_under(
        self,
        trial: Trial,
        control: Control,  # noqa: ARG002 - the task says all
    ) -> Condition | None:
        """Return the task as it is; proposing tasks takes no image."""
        return None if trial.condition == plan.CURATION else trial.condition

    def notices(self, params_: Params) -> tuple[str, ...]:
        """Return that outputs are graded, or tasks selected, by readers."""
        return (_SELECTED if params_.work is params.Work.CURATION else _GRADED,)

    def settled(
        self,
        params_: Params,
        preset: str,
        models: Sequence[ModelProfile],
        known: Mapping[str, ModelProfile],
    ) -> Params:
        """Return the parameters with model names as in the run."""
        return naming.settled(params_, preset, models, known)

    def prompts(self, params_: Params) -> tuple[tuple[str, str], ...]:
        """Return the task with and without boxes, or the three of curation."""
        if params_.work is params.Work.CURATION:
            return curating.prompts(params_)
        return request.prompts(params_.prompts)

    def roles(self, params_: Params) -> Mapping[str, str]:  # noqa: ARG002 - readers judge, no model does
        """Return nothing: no other model takes part."""
        return {}

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, task by task; exclusions carry their reason."""
        return plan.plan(dataset, spec)

    def next_step(self, turn: Turn, params_: Params) -> Step | None:
        """Return the only question until it has a reply; curation has several."""
        if _curates(turn):
            return curating.next_step(turn, params_)
        return None if turn.so_far else Step(request.ANSWER)

    def question(
        self, turn: Turn, step: Step, sources: Sources, params_: Params
    ) -> Question:
        """Return a task with the images that the model's policy shows."""
        if _curates(turn):
            return curating.question(turn, step, params_)
        return request.question(turn, sources, params_)

    def parse(
        self, turn: Turn, params_: Params
    ) -> ReportAnswer | RankedAnswer | Unparsed:
        """Return text and boxes of the reply, or the tasks that were proposed."""
        if _curates(turn):
            return curating.parse(turn, params_)
        answerable = request.asked_of(turn).task.answerable
        return parse.parse(
            turn.replies()[-1],
            request.fields_of(turn, params_),
            may_abstain=answerable is not Answerable.YES,
        )

    def score(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed,
        params_: Params,
    ) -> Score:
        """Return the verdict from readers' grades, or why there is none."""
        if _curates(turn) and isinstance(answer, RankedAnswer | Unparsed):
            return curating.score(answer)
        if isinstance(answer, ReportAnswer | Unparsed):
            text = [grade for grade in turn.grades if grade.image is None]
            final = next(iter(final_scores(text)), None)
            return score.score(answer, final, params_.content_order)
        return Score(Status.UNPARSED, "no_text")

    def predicted_boxes(
        self, turn: Turn, answer: AnyAnswer | Unparsed | None, params_: Params
    ) -> tuple[PredictedBoxes, ...]:
        """Return the boxes of an output on the images that it was shown (E001-09)."""
        if not isinstance(answer, ReportAnswer):
            return ()
        return request.predicted_boxes(turn, answer, params_)

    def gold(self, turn: Turn, params_: Params) -> Mapping[str, object]:
        """Return that readers judge an output; curation's proposals are not judged.

        It includes whether the task is answerable, and how many images the model is
        shown, each of which may be graded.
        """
        if params_.work is Work.CURATION:
            return {}
        asked = task_named(turn.item, turn.trial.item)
        return {
            "by": "readers",
            "answerable": str(asked.task.answerable),
            "images": len(asked.shown_to(turn.trial.model, params_).images),
        }

    def longest(self, dataset: Dataset, params_: Params) -> tuple[Longest, ...]:
        """Return the longest question of each step."""
        if params_.work is params.Work.CURATION:
            return curating.longest(dataset, params_)
        return request.longest(dataset, params_)

    def benchmark(self) -> Benchmark:
        """Return the paper's printed values, with their checks."""
        return Benchmark(self.name, published.ROWS, consistency.CHECKS)

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables of a run, with the grades that lie beside its data."""
        return report.report(results, spec, context)


STUDY = RubricReading(params.read_params, params.PRESET_TITLES)
