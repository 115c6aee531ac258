"""Multiple-choice questions about tiles of tissue (Sun 2024, PathMMU)."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Final

from viewer.domain.answer import AnyAnswer, ChoiceAnswer, ReportAnswer, Status, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import SizePx
from viewer.domain.holdings import Wanted
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.imaging.resample import shrunk_size
from viewer.studies.benchmarks import Benchmark
from viewer.studies.choices import parse
from viewer.studies.pathology_mcq import (
    arms,
    consistency,
    making,
    params,
    plan,
    published,
    report,
    request,
    score,
    templates,
)
from viewer.studies.pathology_mcq.official import official_code
from viewer.studies.pathology_mcq.pack import PACK
from viewer.studies.pathology_mcq.params import Params, Work
from viewer.studies.pathology_mcq.questions import asked_of, mcq_of
from viewer.studies.pathology_mcq.readings import READING_TASKS
from viewer.studies.pathology_mcq.wording import question_text, template
from viewer.studies.pathology_mcq.words import WORDS
from viewer.studies.presets import PresetStudy
from viewer.studies.prompts import with_system
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.steps import Longest, Question, Sources, Turn

_MADE: Final = (
    "Questions made here should be guessed at and reviewed before they count: overread "
    "export questions writes them as data.json."
)


class PathologyMcq(PresetStudy[Params]):
    """The study's parts behind the interface that all studies of items share."""

    name = "pathology_mcq"
    title = "Pathology questions"
    version = "1"
    parser_version = "2"
    scorer_version = "1"
    words = WORDS
    wanted = Wanted(
        "multiple-choice questions about tiles",
        "Import PathMMU, labelled tiles, or captioned tiles to make questions from.",
        lambda held: (
            held.has_item("options", without=("evidence", "answer_kind"))
            or held.has_item("caption", without=("background",))
        ),
    )
    pack = PACK
    reading_tasks = READING_TASKS
    known_prompts = templates.PROMPTS

    def conditions(self, params_: Params) -> tuple[Condition, ...]:
        """Return the conditions of every arm that is wanted."""
        return arms.conditions(params_)

    def notices(self, params_: Params) -> tuple[str, ...]:
        """Return the notice about questions that are made."""
        return (_MADE,) if params_.work is Work.BUILDING else ()

    def prompts(self, params_: Params) -> tuple[tuple[str, str], ...]:
        """Return every family's words, with an image and without, or the builder's."""
        if params_.work is Work.BUILDING:
            return making.prompts(params_.prompts)
        return request.prompts(params_)

    def roles(self, params_: Params) -> Mapping[str, str]:  # noqa: ARG002 - nobody judges a letter
        """Return nothing: no other model takes part."""
        return {}

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, item by item; exclusions carry their reason."""
        return plan.plan(dataset, spec)

    def next_step(self, turn: Turn, params_: Params) -> Step | None:  # noqa: ARG002 - always one question
        """Return the only question until it has a reply; making questions takes two."""
        if making.builds(turn):
            return making.next_step(turn)
        return None if turn.so_far else Step("answer")

    def question(
        self, turn: Turn, step: Step, sources: Sources, params_: Params
    ) -> Question:
        """Return the item's question with what its condition shows."""
        if making.builds(turn):
            return making.question(turn, step, sources, params_.prompts)
        return request.question(turn, sources, params_)

    def parse(
        self,
        turn: Turn,
        params_: Params,  # noqa: ARG002 - one way to read
    ) -> ChoiceAnswer | ReportAnswer | Unparsed:
        """Return the option that the reply names, or why it names none.

        For a model that returns probabilities, the most likely option; for one that
        makes questions, the questions.
        """
        if making.builds(turn):
            return making.parse(turn)
        reply, options = turn.replies()[-1], asked_of(turn.item).options
        return next_sentence(reply, options) or parse(reply, options)

    def score(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed,
        params_: Params,  # noqa: ARG002 - right is right
    ) -> Score:
        """Return the verdict, and beside it what the authors' script would read."""
        if making.builds(turn):
            return making.score(answer)
        mcq = mcq_of(turn.item)
        code = official_code(turn.replies()[-1].text, mcq.written, mcq.answer)
        return score.score_beside(answer, mcq.correct, code)

    def gold(self, turn: Turn, params_: Params) -> Mapping[str, object]:
        """Return the options in their order and which is right, counted from 0.

        ``written`` and ``letter`` are options and answer as the data set's table has
        them, for the authors' own reading. An image that a question is made of has no
        truth.
        """
        if params_.work is Work.BUILDING:
            return {}
        mcq = mcq_of(turn.item)
        return {
            "options": list(mcq.options),
            "order": list(range(len(mcq.options))),
            "right": mcq.correct,
            "written": list(mcq.written),
            "letter": mcq.answer,
        }

    def longest(self, dataset: Dataset, params_: Params) -> tuple[Longest, ...]:
        """Return the longest question with the largest image of the data set."""
        largest = _largest(dataset)
        if params_.work is Work.BUILDING:
            return making.longest(dataset, largest, params_.prompts)
        asked = [asked_of(item) for item in dataset.items]
        prompts = params_.prompts
        words = with_system(
            templates.PROMPTS.text(templates.SYSTEM, prompts),
            template(params_.prompt, params_.line_breaks, prompts),
        )
        texts = (question_text(mcq.question, mcq.options, words) for mcq in asked)
        most = max((len(mcq.images) for mcq in asked), default=0)
        return (Longest(max(texts, key=len, default=""), largest * most, 1),)

    def benchmark(self) -> Benchmark:
        """Return the paper's printed values, with their checks."""
        return Benchmark(self.name, published.every_row(), consistency.checks())

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables and figures of a run."""
        return report.report(results, spec, context)


def _largest(dataset: Dataset) -> tuple[SizePx, ...]:
    """Return the size of the largest image, none without any."""
    sizes = [shrunk_size(image.geometry, None) for image in dataset.images]
    return tuple(sorted(sizes, key=lambda size: size.rows * size.columns)[-1:])


STUDY = PathologyMcq(
    params.read_params,
    params.PRESET_TITLES,
    {"arms": [arm.value for arm in params.Arm]},
)


def next_sentence(
    reply: ModelReply, options: Sequence[str]
) -> ChoiceAnswer | Unparsed | None:
    """Return the choice of a model that returns each option's probability.

    None unless the reply has exactly these options, in order.
    """
    told = reply.measured.options if reply.measured else ()
    if tuple(one[0].text for one in told if len(one) == 1) != tuple(options):
        return None
    return likeliest([one[0].logprob for one in told])


def likeliest(chances: Sequence[float]) -> ChoiceAnswer | Unparsed:
    """Return the most likely option.

    Ties and invalid numbers give no option: nothing is guessed.

    Parameters
    ----------
    chances : sequence of float
        Of each option being the next sentence, in the options' order: probabilities or
        their logarithms.
    """
    if not chances or any(map(isnan, chances)):
        return Unparsed(Status.UNPARSED, "no_probability")
    most = max(chances)
    options = [i for i, chance in enumerate(chances) if chance == most]
    if len(options) > 1:
        return Unparsed(Status.AMBIGUOUS, "equally_likely")
    return ChoiceAnswer(options[0], "next_sentence")
