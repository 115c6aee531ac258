"""A small study about items: a choice, then a judge, who is asked once more if odd.

``python -m tests.helpers.quiz_study STORE RUN`` finishes a run of it, to be killed.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from tests.helpers.tiny_study import finish
from viewer.domain.answer import AnyAnswer, ChoiceAnswer, Status, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.choice import letter_of, option_of
from viewer.domain.exchange import ImagePart, Message, ModelProfile, TextPart
from viewer.domain.geometry import SizePx
from viewer.domain.holdings import Wanted
from viewer.domain.item import Item
from viewer.domain.plugins import Plugin, Plugins
from viewer.domain.result import Score
from viewer.domain.run import Condition, OrphanPolicy, RunSpec, Step, Trial
from viewer.domain.study_words import RIGHTS, StudyWords
from viewer.readers.datasets.files import content_sha256
from viewer.readers.datasets.folder import read
from viewer.services.configuring.study_file import make_spec
from viewer.services.running.batch_options import BatchOptions
from viewer.store import cases
from viewer.store.database import Store, open_store
from viewer.studies import catalog
from viewer.studies.fields import ModelName, Switch, param, read_fields
from viewer.studies.presets import PresetStudy
from viewer.studies.steps import Longest, Question, Sources, Turn

if TYPE_CHECKING:
    from viewer.studies.study import Study

ANSWER, JUDGE = "Choose: {options}", "Judge: {reply}"


@dataclass(frozen=True)
class Params:
    """What can be said of the quiz."""

    judge: str = param("", ModelName(), "Who judges.")
    images: bool = param(True, Switch(), "Show the images.")


class Quiz(PresetStudy[Params]):
    """Which option is right? With a judge, how well is it put, 0 to 5?"""

    name = "quiz"
    title = "Quiz"
    version = parser_version = scorer_version = "1"
    words = StudyWords(finding="subject", findings="subjects", verdicts=RIGHTS)
    wanted = Wanted("items", "Import some.", lambda held: bool(held.facts))

    def conditions(self, params: Params) -> tuple[Condition, ...]:
        return (Condition("shown" if params.images else "text"),)

    def notices(self, params: Params) -> tuple[str, ...]:
        return () if params.images else ("No image is shown.",)

    def prompts(self, params: Params) -> tuple[tuple[str, str], ...]:
        return (("answer", ANSWER), *((("judge", JUDGE),) if params.judge else ()))

    def roles(self, params: Params) -> Mapping[str, str]:
        return {"judge": params.judge} if params.judge else {}

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        params = self.read_params(spec.preset, dict(spec.params))
        return tuple(
            Trial(
                item.key,
                item.patient,
                item.images[0] if item.images else "",
                "",
                item.kind,
                condition,
                repeat,
                model.name,
                "" if item.facts.get("options") else "no_options",
            )
            for item in dataset.items[: spec.limit]
            for condition, repeat, model in product(
                self.conditions(params), range(spec.repeats), spec.models
            )
        )

    def next_step(self, turn: Turn, params: Params) -> Step | None:
        if not turn.so_far:
            return Step("answer")
        judged = turn.replies("judge")
        if not params.judge or (judged and judged[-1].text.isdecimal()):
            return None
        return Step("judge", "judge", len(judged)) if len(judged) < 2 else None

    def question(
        self, turn: Turn, step: Step, sources: Sources, params: Params
    ) -> Question:
        if step.role:
            reply = turn.replies()[-1].text
            text = TextPart(JUDGE.replace("{reply}", reply))
            return Question((Message("user", (text,)),), "judge", JUDGE)
        options = turn.item.facts["options"]
        assert isinstance(options, list)
        text = TextPart(ANSWER.replace("{options}", ", ".join(options)))
        shown = turn.item.images if params.images else ()
        pictures = tuple(sources.picture(sources.raster(key)) for key in shown)
        parts: tuple[TextPart | ImagePart, ...] = (*pictures, text)
        return Question((Message("user", parts),), "answer", ANSWER)

    def parse(self, turn: Turn, params: Params) -> AnyAnswer | Unparsed:
        option = option_of(turn.replies()[0].text.strip())
        if option is None:
            return Unparsed(Status.UNPARSED, "no_letter")
        judged = turn.replies("judge")
        if params.judge and not (judged and judged[-1].text.isdecimal()):
            return Unparsed(Status.UNPARSED, "judge_unparsed")
        return ChoiceAnswer(option, "letter")

    def score(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed,
        params: Params,  # noqa: ARG002 - as every study takes it
    ) -> Score:
        if isinstance(answer, Unparsed):
            return Score(answer.status, answer.reason)
        assert isinstance(answer, ChoiceAnswer)
        right = answer.option == turn.item.reference["option"]
        status = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
        judged = turn.replies("judge")
        numbers = (("judge", float(judged[-1].text)),) if judged else ()
        return Score(status, "", letter_of(answer.option), numbers=numbers)

    def gold(self, turn: Turn, params: Params) -> Mapping[str, object]:  # noqa: ARG002 - right is right
        right = turn.item.reference.get("option")
        options = turn.item.facts.get("options")
        if not isinstance(right, int) or not isinstance(options, list):
            return {}
        return {"options": options, "order": [0, 1, 2], "right": right}

    def longest(self, dataset: Dataset, params: Params) -> tuple[Longest, ...]:
        sizes = tuple(SizePx(i.size.rows, i.size.columns) for i in dataset.images[:1])
        asked = Longest(ANSWER, sizes, 1)
        judged = Longest(JUDGE, (), 1, "judge")
        return (asked, judged, judged) if params.judge else (asked,)


def read_params(preset: str, overrides: Mapping[str, object]) -> Params:
    assert preset == "own"
    return Params(**read_fields(Params, {}, overrides))  # type: ignore[arg-type]


QUIZ = Quiz(read_params, {"own": "Own"})


@contextmanager
def quiz_in_catalog() -> Iterator[Quiz]:
    """Let the quiz be a study of the catalogue for a while."""
    with pytest.MonkeyPatch.context() as patch:
        found: Plugins[Study] = Plugins({"quiz": Plugin(QUIZ, "quizzes 1.0")})
        patch.setattr(catalog, "_others", lambda: found)
        yield QUIZ


def quiz_items(keys: Sequence[str]) -> tuple[Item, ...]:
    """Return items with two images, one and none; the right option is C, A, B."""
    facts = {"options": ["round", "oval", "a film, nothing else"]}
    return (
        Item("two", "p1", "views", tuple(keys[:2]), facts, {"option": 2}),
        Item("one", "p1", "views", (keys[2],), facts, {"option": 0}),
        Item("none", "p2", "text", (), facts, {"option": 1}),
        Item("bare", "p3", "text", (keys[0],)),
    )


def quiz_dataset(folder: Path, name: str = "quizzes") -> Dataset:
    """Write three pictures and return a data set of items about them."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(3)
    for i in range(3):
        pixels = (rng.random((20, 30)) * 80 + 60).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"p{i}_frontal.png")
    found = read(folder, name)
    items = quiz_items([image.key for image in found.images])
    sha256 = content_sha256(found.images, items)
    return Dataset(
        name, "quiz", found.root, found.images, (), sha256, found.split, items
    )


def registered(store: Store, folder: Path) -> Dataset:
    """Register the quiz's data set."""
    dataset = quiz_dataset(folder)
    cases.add_dataset(store, dataset)
    return dataset


def quiz_spec(
    models: Sequence[ModelProfile],
    judge: ModelProfile | None = None,
    *,
    repeats: int = 1,
    images: bool = True,
) -> RunSpec:
    """Return the settings of a run of the quiz."""
    known = {model.name: model for model in (*models, *((judge,) if judge else ()))}
    return make_spec(
        study="quiz",
        dataset="quizzes",
        preset="own",
        seed=5,
        repeats=repeats,
        models=models,
        overrides={"judge": judge.name if judge else "", "images": images},
        known=known,
    )


def says(name: str, answers: Mapping[str, str], folder: Path) -> ModelProfile:
    """Return a scripted model that answers each item, and each step, so."""
    import json

    path = folder / f"{name}.json"
    path.write_text(json.dumps(dict(answers)), encoding="utf-8")
    return ModelProfile(name, "scripted", {"answers_file": str(path)})


def main(path: Path, run: int) -> None:
    """Finish a run of the store, one question at a time."""
    options = BatchOptions(concurrency=1, orphans=OrphanPolicy.RETRY)
    with quiz_in_catalog(), open_store(path) as store:
        finish(store, run, options)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
