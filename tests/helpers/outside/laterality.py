"""A study of another distribution: on which side of the image is the finding?"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

from viewer.domain.answer import AnyAnswer, ChoiceAnswer, Status, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.choice import letter_of
from viewer.domain.exchange import Message, TextPart
from viewer.domain.holdings import Wanted
from viewer.domain.result import Score
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.domain.study_words import RIGHTS, StudyWords
from viewer.studies.choices import parse
from viewer.studies.fields import Switch, param, read_preset
from viewer.studies.presets import PresetStudy
from viewer.studies.steps import Longest, Question, Sources, Turn

SIDES = ("left", "right")
PROMPT = "On which side is the finding? A) left B) right"


@dataclass(frozen=True)
class Params:
    image: bool = param(True, Switch(), "Show the image.")


class Laterality(PresetStudy[Params]):
    interface = 1
    name, title = "laterality", "Side of the finding"
    version = parser_version = scorer_version = "1"
    words = StudyWords(finding="subject", findings="subjects", verdicts=RIGHTS)
    wanted = Wanted("questions", "Import some.", lambda held: held.has_item("options"))

    def conditions(self, params: Params) -> tuple[Condition, ...]:
        return (Condition("image" if params.image else "text"),)

    def prompts(self, params: Params) -> tuple[tuple[str, str], ...]:
        return (("side", PROMPT),)

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        condition = self.conditions(self.read_params(spec.preset, dict(spec.params)))[0]
        asked = product(dataset.items[: spec.limit], range(spec.repeats), spec.models)
        return tuple(
            Trial(i.key, i.patient, i.images[0], "", i.kind, condition, n, model.name)
            for i, n, model in asked
        )

    def next_step(self, turn: Turn, params: Params) -> Step | None:
        return None if turn.so_far else Step("answer")

    def question(self, turn: Turn, step: Step, by: Sources, params: Params) -> Question:
        keys = turn.item.images if params.image else ()
        shown = (by.picture(by.raster(key)) for key in keys)
        return Question((Message("user", (*shown, TextPart(PROMPT))),), "side", PROMPT)

    def parse(self, turn: Turn, params: Params) -> AnyAnswer | Unparsed:
        return parse(turn.replies()[-1], SIDES)

    def gold(self, turn: Turn, params: Params) -> Mapping[str, object]:
        right = turn.item.reference["option"]
        return {"options": list(SIDES), "order": [0, 1], "right": right}

    def score(self, turn: Turn, answer: AnyAnswer | Unparsed, params: Params) -> Score:
        if not isinstance(answer, ChoiceAnswer):
            status = answer.status if isinstance(answer, Unparsed) else Status.UNPARSED
            return Score(status, "no_side")
        right = answer.option == self.gold(turn, params)["right"]
        status = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
        return Score(status, answer=letter_of(answer.option))

    def longest(self, dataset: Dataset, params: Params) -> tuple[Longest, ...]:
        return (Longest(PROMPT, (dataset.images[0].size,), 1),)


READ = partial(read_preset, Params, "laterality", {"own": {}})
STUDY = Laterality(READ, {"own": "Own"})
