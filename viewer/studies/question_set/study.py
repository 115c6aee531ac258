"""A benchmark without code: your own questions, with controls for the image."""

from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.answer import (
    AnyAnswer,
    BoxesAnswer,
    LabelledBox,
    ReportAnswer,
    Unparsed,
)
from viewer.domain.case import Dataset
from viewer.domain.conditions import name_without_variant
from viewer.domain.geometry import SizePx
from viewer.domain.holdings import Wanted
from viewer.domain.item import Item
from viewer.domain.places import PlaceWords
from viewer.domain.question_kinds import COORDINATES, AnswerKind
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.imaging.resample import shrunk_size
from viewer.studies.presets import PresetStudy
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.question_set import (
    arms,
    params,
    parse,
    plan,
    report,
    request,
    score,
    templates,
    wording,
)
from viewer.studies.question_set.pack import PACK
from viewer.studies.question_set.params import Arm, Params
from viewer.studies.question_set.questions import (
    asked_of,
    is_judged,
    is_question,
    wanted_numbers,
)
from viewer.studies.question_set.words import WORDS
from viewer.studies.steps import Longest, PredictedBoxes, Question, Sources, Turn

_RIGHT: Final[Mapping[AnswerKind, tuple[str, ...]]] = {
    AnswerKind.YES_NO: ("yes",),
    AnswerKind.NUMBER: ("number", "off"),
    AnswerKind.TEXT: ("text", "match"),
    AnswerKind.CELL: ("cells",),
    AnswerKind.POINT: ("point", "within"),
    AnswerKind.BOX: ("boxes", "iou"),
    AnswerKind.BOXES: ("boxes", "iou"),
}
"""The fields of each kind that define the right answer."""
_LONGEST_ANSWER: Final = "abnormality " * 60
"""Words that a judge may have to read."""


class QuestionSet(PresetStudy[Params]):
    """The study's parts behind the interface that all studies of items share."""

    name = "question_set"
    title = "Question set"
    version = "1"
    parser_version = "1"
    scorer_version = "1"
    words = WORDS
    wanted = Wanted(
        "questions of a question set",
        "Import a question set: a table and a TOML file.",
        lambda held: held.has_item("answer_kind"),
    )
    pack = PACK
    known_prompts = templates.PROMPTS

    def conditions(self, params_: Params) -> tuple[Condition, ...]:
        """Return the conditions of every arm that is wanted."""
        return arms.conditions(params_)

    def prompts(self, params_: Params) -> tuple[tuple[str, str], ...]:
        """Return the study's words for every kind of answer under every condition."""
        asked = [wording.of_kind(kind) for kind in AnswerKind]
        return tuple(wording.prompts(asked, params_))

    def brought_prompts(self, dataset: Dataset) -> Mapping[str, str]:
        """Return the data set's own words by kind of answer, where it has one each."""
        asked = [asked_of(item) for item in dataset.items if is_question(item)]
        return wording.brought(asked)

    def prompts_for(
        self, dataset: Dataset, params_: Params, places: PlaceWords | None = None
    ) -> tuple[tuple[str, str], ...]:
        """Return the words that questions of a data set are asked in."""
        asked = [asked_of(item) for item in dataset.items if is_question(item)]
        return tuple(wording.prompts(asked, params_, places))

    def images_of_place(
        self, trial: Trial, item: Item, dataset: Dataset, seed: int
    ) -> tuple[str, str] | None:
        """Return a question's first image, and the one that its condition shows."""
        asked, arm = asked_of(item), Arm(trial.condition.name)
        if asked.kind not in COORDINATES or asked.size is None:
            return None
        return asked.images[0], request.shown(asked, arm, dataset, seed)[0]

    def roles(self, params_: Params) -> Mapping[str, str]:
        """Return the judge, where a run names one."""
        return {templates.JUDGE: params_.judge} if params_.judge else {}

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, item by item; exclusions carry their reason."""
        return plan.plan(dataset, spec)

    def next_step(self, turn: Turn, params_: Params) -> Step | None:
        """Return the question, then the judge's if the answer is in words."""
        if not turn.so_far:
            return Step("answer")
        judged = is_judged(turn.item) and params_.judge and not turn.replies(_JUDGE)
        answer = self.parse(turn, params_) if judged else None
        return request.JUDGING if isinstance(answer, ReportAnswer) else None

    def question(
        self, turn: Turn, step: Step, sources: Sources, params_: Params
    ) -> Question:
        """Return the item's question with what its condition shows, or the judge's."""
        if step.role != _JUDGE:
            return request.question(turn, sources, params_)
        answer = self.parse(turn, params_)
        given = answer.text if isinstance(answer, ReportAnswer) else ""
        return request.judging(turn, given, params_)

    def parse(
        self,
        turn: Turn,
        params_: Params,  # noqa: ARG002 - one way to read
    ) -> AnyAnswer | Unparsed:
        """Return what the model's reply answers, or why it answers nothing."""
        asked = asked_of(turn.item)
        order = arms.option_order(asked, turn.trial.condition)
        last = [one for one in turn.so_far if not one.step.role][-1]
        return parse.parse(last.reply, asked, order, last.placed)

    def score(self, turn: Turn, answer: AnyAnswer | Unparsed, params_: Params) -> Score:
        """Return the verdict, and what is measured of the answer."""
        judged = turn.replies(_JUDGE)
        gold = self.gold(turn, params_)
        return score.score(
            answer, gold, judged[-1] if judged else None, wanted_numbers(turn.item)
        )

    def gold(
        self,
        turn: Turn,
        params_: Params,  # noqa: ARG002 - right is right
    ) -> Mapping[str, object]:
        """Return the right answer: an option in the order shown, yes, a number, words.

        For locations it is the cells, the point with its tolerance, or the boxes with
        the required overlap, in pixels of the first image.
        """
        asked, truth = asked_of(turn.item), turn.item.reference
        if asked.kind is AnswerKind.CHOICE:
            return {
                "options": list(asked.options),
                "order": list(arms.option_order(asked, turn.trial.condition)),
                "right": truth["option"],
            }
        names = _RIGHT[asked.kind]
        if asked.kind is AnswerKind.POINT and "point" not in truth:
            names = ("point_in",)
        numbers = {name: truth[name] for name in names}
        return {**numbers, **({"grid": asked.grid} if asked.grid else {})}

    def predicted_boxes(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed | None,
        params_: Params,  # noqa: ARG002 - one way to draw
    ) -> tuple[PredictedBoxes, ...]:
        """Return the boxes of an answer on the first image that was shown for it."""
        asked = asked_of(turn.item)
        arm = Arm(name_without_variant(turn.trial.condition.name))
        if not isinstance(answer, BoxesAnswer) or asked.field is None:
            return ()
        if not arms.shows_image(arm):
            return ()
        boxes = tuple(LabelledBox(box, "") for box in answer.boxes)
        key = asked.images[0] if arm is Arm.IMAGE else ""
        return (PredictedBoxes("answer", 0, asked.field, boxes, key),)

    def longest(self, dataset: Dataset, params_: Params) -> tuple[Longest, ...]:
        """Return the longest question with the largest images of the data set."""
        asked = [asked_of(item) for item in dataset.items if is_question(item)]
        texts = [
            wording.question_text(
                one,
                range(len(one.options)),
                wording.Wording(params_.prompts).template(one, Arm.GUESS),
            )
            for one in asked
        ]
        most = max((len(one.images) for one in asked), default=0)
        longest = Longest(max(texts, key=len, default=""), _largest(dataset) * most, 1)
        if not params_.judge:
            return (longest,)
        words = templates.PROMPTS.text(templates.JUDGE, params_.prompts)
        judged = f"{words} {longest.text} {_LONGEST_ANSWER}"
        return longest, Longest(judged, (), 1, _JUDGE)

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,  # noqa: ARG002 - the data set says it all
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables of a run."""
        return report.report(results, context)


_JUDGE: Final = templates.JUDGE


def _largest(dataset: Dataset) -> tuple[SizePx, ...]:
    """Return the size of the largest image, none without any."""
    sizes = [shrunk_size(image.geometry, None) for image in dataset.images]
    return tuple(sorted(sizes, key=lambda size: size.rows * size.columns)[-1:])


STUDY = QuestionSet(params.read_params, params.PRESET_TITLES)
