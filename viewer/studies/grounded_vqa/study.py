"""Questions about findings in anatomies, compared with perturbed ones (HEAL-MedVQA)."""

from collections.abc import Iterator, Mapping, Sequence

from viewer.domain.answer import (
    AnyAnswer,
    LabelledBox,
    LabelsAnswer,
    Unparsed,
    YesNoAnswer,
)
from viewer.domain.case import Dataset
from viewer.domain.controls import Control
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.holdings import Wanted
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.imaging.resample import shrunk_size
from viewer.studies.benchmarks import Benchmark
from viewer.studies.controls import GUESS, Controlled
from viewer.studies.grounded_vqa import (
    arms,
    consistency,
    params,
    plan,
    published,
    report,
    request,
    steps,
)
from viewer.studies.grounded_vqa.arms import (
    CROP,
    change_of,
    conditions,
    is_perturbed,
    is_sham,
    shows_region,
)
from viewer.studies.grounded_vqa.items import (
    Unreadable,
    area_of,
    native_size,
    question_of,
)
from viewer.studies.grounded_vqa.localizing import (
    EDITED,
    SEGMENTER,
    located_box,
    locates,
)
from viewer.studies.grounded_vqa.pack import PACK
from viewer.studies.grounded_vqa.params import Extraction, Params
from viewer.studies.grounded_vqa.readings import READING_TASKS
from viewer.studies.grounded_vqa.request import readable
from viewer.studies.grounded_vqa.steps import EXTRACTOR
from viewer.studies.grounded_vqa.templates import LOCATE, PROMPTS
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING, canonical
from viewer.studies.grounded_vqa.words import WORDS
from viewer.studies.presets import PresetStudy
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.steps import Longest, PredictedBoxes, Question, Sources, Turn


class GroundedVqa(Controlled, PresetStudy[Params]):
    """The study's parts behind the interface that all studies of items share."""

    name = "grounded_vqa"
    title = "Grounded questions"
    version = "1"
    parser_version = "2"
    scorer_version = "3"
    words = WORDS
    wanted = Wanted(
        "questions about anatomies",
        "Import HEAL-MedVQA, or draw questions from a data set's boxes and anatomies: "
        "File, Draw questions.",
        lambda held: held.has_item("question", without=("options", "answer_kind")),
    )
    pack = PACK
    reading_tasks = READING_TASKS
    known_prompts = PROMPTS

    def conditions(self, params_: Params) -> tuple[Condition, ...]:
        """Return the conditions of every arm that is wanted."""
        return arms.conditions(params_)

    def shown_under(
        self,
        trial: Trial,
        control: Control,  # noqa: ARG002 - the question says all
    ) -> Condition | None:
        """Return the plain question; edits and regions need the image."""
        return trial.condition if trial.condition.name == arms.PLAIN else None

    def guess_words(self, prompt: str) -> str:
        """Return what asks to guess before a question."""
        return GUESS if prompt.startswith(("closed", "open")) else ""

    def notices(self, params_: Params) -> tuple[str, ...]:
        """Return the decisions on points that the paper leaves open."""
        return params_.warnings

    def prompts(self, params_: Params) -> tuple[tuple[str, str], ...]:
        """Return the paper's templates and our own."""
        return request.prompts(params_.prompts)

    def roles(self, params_: Params) -> Mapping[str, str]:
        """Return the models that extract answers and outline regions, if named."""
        named = {
            steps.EXTRACTOR: params_.extractor,
            SEGMENTER: params_.segmenter,
        }
        return {role: name for role, name in named.items() if name}

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, question by question; exclusions carry their reason."""
        return plan.plan(dataset, spec)

    def next_step(self, turn: Turn, params_: Params) -> Step | None:
        """Return the next question of a trial, None if it is complete."""
        return steps.next_step(turn, params_)

    def question(
        self, turn: Turn, step: Step, sources: Sources, params_: Params
    ) -> Question:
        """Return the question of a step about the trial's item."""
        return request.question(turn, step, sources, params_)

    def parse(
        self, turn: Turn, params_: Params
    ) -> YesNoAnswer | LabelsAnswer | Unparsed:
        """Return yes, no or findings, or why there is none."""
        return steps.parse(turn, params_)

    def score(self, turn: Turn, answer: AnyAnswer | Unparsed, params_: Params) -> Score:
        """Return the verdict: right answers, and for perturbed trials right changes."""
        return steps.score(turn, answer, params_)

    def predicted_boxes(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed | None,  # noqa: ARG002 - words, and no place
        params_: Params,
    ) -> tuple[PredictedBoxes, ...]:
        """Return the box from each first pass (E002-14)."""
        return predicted_boxes(turn, params_)

    def steers_attention(self, condition: Condition) -> bool:
        """Tell whether a condition is LobA's, which steers the model's attention."""
        return arms.highlights(condition.name)

    def gold(self, turn: Turn, params_: Params) -> Mapping[str, object]:
        """Return whether yes is right, or the findings present.

        For a perturbed question no is right, for a sham yes. ``words`` are the anatomy
        and the finding that a closed one asks about, and its template. ``none`` is the
        label of an item without a finding. An item that is not a question has no truth.
        """
        asked = question_of(turn.item, params_.findings)
        if isinstance(asked, Unreadable):
            return {}
        if not asked.closed:
            labels = dict.fromkeys(canonical(x, params_.findings) for x in asked.labels)
            return {"labels": list(labels), "none": NO_FINDING}
        condition = turn.trial.condition.name
        change = change_of(turn.trial.item, condition)
        template = asked.template if change.template is None else change.template
        return {
            "yes": is_sham(condition) if is_perturbed(condition) else asked.yes,
            "words": [*(change.pair or asked.pair), template],
        }

    def longest(self, dataset: Dataset, params_: Params) -> tuple[Longest, ...]:
        """Return the longest question of each step of a trial."""
        return longest(dataset, params_)

    def benchmark(self) -> Benchmark:
        """Return the paper's printed values, with their checks."""
        return Benchmark(self.name, published.ROWS, consistency.CHECKS)

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables of a run."""
        return report.report(results, spec, context)


STUDY = GroundedVqa(params.read_params, params.PRESET_TITLES)


def predicted_boxes(turn: Turn, params: Params) -> tuple[PredictedBoxes, ...]:
    """Return the box of each pass that named one, on the image shown."""
    return tuple(_pointed(turn, params))


def _pointed(turn: Turn, params: Params) -> Iterator[PredictedBoxes]:
    size = native_size(turn.item)
    field = BoxPx(0, 0, size.columns, size.rows)
    for suffix in ("", EDITED):
        first = turn.reply_to(LOCATE + suffix)
        box = located_box(first.text, size) if first else None
        if box:
            boxes = (LabelledBox(box, _anatomy(turn, params, suffix)),)
            native = area_of(turn.item) is not None and not suffix
            key = readable(turn, params).image if native else ""
            yield PredictedBoxes(LOCATE + suffix, 0, field, boxes, key)


def _anatomy(turn: Turn, params: Params, suffix: str) -> str:
    """Return the anatomy that a pass was asked to locate."""
    change = change_of(turn.trial.item, turn.trial.condition.name)
    if suffix and change.pair:
        return change.pair[0]
    return readable(turn, params).anatomy


_REPLY = 2000
"""Characters of a reply that is to be extracted from."""


def longest(dataset: Dataset, params: Params) -> tuple[Longest, ...]:
    """Return the longest question of each step that a trial may take.

    A perturbed trial asks the question itself first, one with a region where it is.
    """
    names = {condition.name for condition in conditions(params)}
    texts = (str(item.facts.get("question", "")) for item in dataset.items)
    longest_prompt = max(params.prompts.values(), key=len, default="")
    text = max(texts, key=len, default="") + longest_prompt
    words = dict(request.prompts(params.prompts))
    image = _largest(dataset, params)
    asked = [Longest(text, image * (2 if CROP in names else 1), 1)]
    perturbed = any(map(is_perturbed, names))
    if perturbed:
        asked.append(Longest(text, image, 1))
    if locates(params) and any(map(shows_region, names)):
        twice = any(is_perturbed(name) and shows_region(name) for name in names)
        asked += [Longest(words[LOCATE], image, 1)] * (2 if twice else 1)
    if params.extraction is Extraction.MODEL:
        asking = "".join(words.values())
        whole = asking + ", ".join(params.findings) + "x" * _REPLY
        asked += [Longest(whole, (), 1, EXTRACTOR)] * (2 if perturbed else 1)
    return tuple(asked)


def _largest(dataset: Dataset, params: Params) -> tuple[SizePx, ...]:
    sizes = [
        shrunk_size(image.geometry, params.longest_side)
        for image in dataset.images
        if image.size.rows
    ]
    return tuple(sorted(sizes, key=lambda size: size.rows * size.columns)[-1:])
