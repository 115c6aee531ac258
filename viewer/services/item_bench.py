"""The bench of a study that asks about items, in one question after another."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from viewer.domain.answer_json import answer_as_json
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import (
    Facts,
    ImagePart,
    ModelProfile,
    ModelReply,
    ModelRequest,
)
from viewer.domain.image import Raster, Window
from viewer.domain.inside import RandomText
from viewer.domain.item import Item, item_of
from viewer.domain.privacy import pixels_sha256
from viewer.domain.run import RunSpec, Trial
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.models.catalog import adapter_for, reader_for, spec_of
from viewer.models.inside import check_inside, no_attention, reaches_inside
from viewer.models.loaded import not_loaded
from viewer.models.protocol import SamplesTokens
from viewer.services.bench import Bench, Draft, Judged, Kept
from viewer.services.burned_in import windowed
from viewer.services.gate import CLOSED, About, Gate, Looked
from viewer.services.memo import Memo
from viewer.studies.asking import Question, Replied, Sources, Step, Turn
from viewer.studies.study import ItemStudy

RASTERS_KEPT: Final = 8
PICTURES_KEPT: Final = 8
"""What was made of images, and their bytes: enough for trials beside one another."""
_NO_IMAGE: Final = Raster(np.zeros((1, 1), dtype=np.uint8))
_ONE_TEXT: Final = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
"""What a model that keeps to a form answers where the study has none of its own."""


@dataclass(frozen=True)
class _Made:
    """What is made by its name; ways of making it are all alike."""

    name: tuple[object, ...]
    make: Callable[[], Raster] = field(compare=False)


class ItemBench(Bench):
    """The bench on which a trial takes as many questions as its study wants."""

    study: ItemStudy
    has_grid = False

    def __init__(
        self, spec: RunSpec, study: ItemStudy, dataset: Dataset, gate: Gate = CLOSED
    ) -> None:
        super().__init__(spec, study, dataset, gate)
        self.items = {item.key: item for item in dataset.items}
        self._roles = dict(study.roles(self.params))
        self._rasters = Memo[tuple[str, Window | None], tuple[Raster, str]](
            self._draw, RASTERS_KEPT
        )
        self.made = Memo[_Made, Raster](lambda wanted: wanted.make(), PICTURES_KEPT)
        self.png = Memo[Raster, bytes](encode_png, PICTURES_KEPT)

    def next_step(self, trial: Trial, kept: Sequence[Kept]) -> Step | None:
        """Return what the study asks next of a trial."""
        return self.study.next_step(self.turn(trial, kept), self.params)

    def profile_for(self, trial: Trial, step: Step) -> ModelProfile:
        """Return the trial's own model, or the one that has the step's role."""
        if not step.role:
            return self.profiles[trial.model]
        name = self._roles.get(step.role, "")
        if name not in self.profiles:
            raise WrongUseError(
                f"The run names no model as {step.role}.",
                f"Name one in the study's parameters, under {step.role}.",
            )
        return self.profiles[name]

    def draft(self, trial: Trial, step: Step, kept: Sequence[Kept]) -> Draft:
        """Hops 3 to 5: the study's question, and every image that it read for it."""
        profile = self.profile_for(trial, step)
        turn, sources = self.turn(trial, kept), _Sources(self, profile)
        question = self.study.question(turn, step, sources, self.params)
        request = self._request(trial, step, question)
        check_inside(spec_of(profile), profile, request)
        return Draft(
            request,
            (question.prompt, question.template),
            sources.about(turn.item, question),
            question.note,
        )

    def judged(self, trial: Trial, kept: Sequence[Kept]) -> Judged:
        """Hops 7 and 8, off all replies of a trial."""
        turn = self.turn(trial, kept)
        answer = self.study.parse(turn, self.params)
        score = self.study.score(turn, answer, self.params)
        return Judged(answer_as_json(answer), score)

    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return every prompt of the study."""
        return self.study.prompts(self.params)

    def item(self, trial: Trial) -> Item:
        """Return the item that a trial asks about."""
        return item_of(self.items, trial.item)

    def sources(self) -> Sources:
        """Return the images for who makes pictures of a run."""
        return _Sources(self)

    def gold(self, trial: Trial) -> Mapping[str, object]:
        """Return what is right of a trial as JSON, {} where no program can tell."""
        return self.study.gold(Turn(trial, self.item(trial)), self.params)

    def turn(self, trial: Trial, kept: Sequence[Kept]) -> Turn:
        """Return where a trial stands; a reply that cannot be read raises."""
        replies = (Replied(one.step, self._read(trial, one)) for one in kept)
        return Turn(trial, self.item(trial), tuple(replies))

    def raster(self, key: str, window: Window | None) -> tuple[Raster, str]:
        """Return an image as it is shown, and the SHA-256 of its pixels."""
        return self._rasters((key, window))

    def _draw(self, key: tuple[str, Window | None]) -> tuple[Raster, str]:
        name, window = key
        image = self.pixels(self.images[name].ref)
        shown = windowed(self.gate.as_sent(image), window)
        return to_raster(shown), pixels_sha256(image)

    def _read(self, trial: Trial, kept: Kept) -> ModelReply:
        profile = self.profile_for(trial, kept.step)
        reply = reader_for(profile).read(kept.reply.raw)
        if not profile.settings.get("structured"):
            return reply
        return replace(reply, text=_unwrapped(reply.text))

    def _request(self, trial: Trial, step: Step, question: Question) -> ModelRequest:
        schema = question.answer_schema
        if schema is None and self.profile_for(trial, step).settings.get("structured"):
            schema = _ONE_TEXT
        return ModelRequest(
            question.messages,
            self._facts(trial, step, question),
            hashlib.sha256(question.template.encode()).hexdigest(),
            schema,
            question.highlight,
            question.measures,
        )

    def _facts(self, trial: Trial, step: Step, question: Question) -> Facts:
        plain = _facts(trial, step, self.spec.seed)
        return replace(plain, choices=question.choices, prompt=question.boxes)


class _Sources:
    """What one question is made of; it remembers every image that was read."""

    def __init__(self, bench: ItemBench, asked: ModelProfile | None = None) -> None:
        self._bench, self._asked = bench, asked
        self._looked: dict[tuple[str, Window | None], Looked] = {}
        self._made: set[bytes] = set()

    @property
    def dataset(self) -> Dataset:
        """The data set asked about."""
        return self._bench.dataset

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self._bench.spec.seed

    @property
    def inside(self) -> bool:
        """Whether the model can be reached inside: attention, likelihoods."""
        asked = self._asked
        return asked is not None and reaches_inside(spec_of(asked), asked)

    @property
    def no_attention(self) -> str:
        """Why the attention of the model cannot be changed, "" if it can."""
        if self._asked is None:
            return "No model is asked."
        return no_attention(spec_of(self._asked), self._asked)

    def random_text(self, like: str, seed: int) -> RandomText | None:
        """Return as many random tokens of the model as ``like`` has, if it has any."""
        if self._asked is None:
            return None
        adapter = adapter_for(self._asked, self._bench.gate.allowance(self._asked))
        if not isinstance(adapter, SamplesTokens):
            return None
        try:
            reader_for(self._asked).identity(0)
        except WrongUseError as error:
            raise not_loaded(error) from error  # nothing more of it can be asked
        return adapter.random_text(like, seed)

    def image(self, key: str) -> DatasetImage:
        """Return an image of the data set."""
        return self._bench.images[key]

    def raster(self, key: str, window: Window | None = None) -> Raster:
        """Return an image as displayed; the gate looks at it before anything leaves."""
        raster, sha256 = self._bench.raster(key, window)
        self._looked[key, window] = Looked(self.image(key), sha256, window)
        return raster

    def made(self, name: tuple[object, ...], make: Callable[[], Raster]) -> Raster:
        """Return a picture by its name, made once for trials beside one another."""
        return self._bench.made(_Made(name, make))

    def picture(self, raster: Raster, detail: str | None = None) -> ImagePart:
        """Return a raster as the exact bytes that may leave."""
        png = self._bench.png(raster)
        self._made.add(png)
        return ImagePart(png, detail=detail)

    def about(self, item: Item, question: Question) -> About:
        """Return what the gate is to look at: images read, and those of the item.

        What is written in a reply was never in a file's header, but may repeat what a
        question told; the template alone is known to be ours.
        """
        beside = tuple(self.image(key) for key in item.images)
        return About(
            tuple(self._looked.values()),
            frozenset(self._made),
            (question.template,),
            beside,
            item,
        )


def _facts(trial: Trial, step: Step, seed: int) -> Facts:
    """Return what scripted models may know of a step; there is no grid."""
    return Facts(
        rows=0,
        columns=0,
        letters="",
        finding=trial.finding,
        view=trial.view,
        item=trial.item,
        condition=trial.condition.name,
        seed=seed,
        repeat=trial.repeat,
        plain=_NO_IMAGE,
        plain_sha256="",
        step=f"{step.name} again" if step.again else step.name,
    )


def _unwrapped(text: str) -> str:
    """Return the text inside ``_ONE_TEXT``, any other text as it is."""
    try:
        body = json.loads(text)
    except ValueError:
        return text
    if isinstance(body, dict) and list(body) == ["answer"]:
        return str(body["answer"])
    return text
