"""The run context: what stays the same for all trials of a run."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from viewer.domain.answer import AnyAnswer, PlacedAnswer, Unparsed
from viewer.domain.box_reference import referenced
from viewer.domain.case import Dataset
from viewer.domain.conditions import (
    control_of,
    name_without_variant,
    studys_own,
    variant_of,
    window_of,
)
from viewer.domain.controls import HIDING, Control
from viewer.domain.errors import ProviderError, WrongUseError
from viewer.domain.exchange import (
    ModelProfile,
    ModelReply,
    ModelRequest,
)
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.domain.item import Item, item_of
from viewer.domain.places import PlaceWords
from viewer.domain.result import Score
from viewer.domain.rubric import Grade
from viewer.domain.run import ANSWER_STEP, Condition, RunSpec, Step, Trial
from viewer.imaging.resample import shrunk_size
from viewer.models.catalog import adapter_for, endpoint_of, reader_for, spec_of
from viewer.models.interpretability import check_interpretable
from viewer.models.loaded import Loadable
from viewer.services.privacy.gate import CLOSED, About, Gate
from viewer.services.trials.facts import facts_without_grid, question_asked
from viewer.services.trials.grades import grades_of
from viewer.services.trials.memo import Memo
from viewer.services.trials.placed_answer import (
    Shown,
    asking_of,
    form_of_answer,
    is_placed,
    place_words_of,
    placed_answer,
)
from viewer.services.trials.sources import RunImages, RunSources
from viewer.store.trials import TrialReply
from viewer.studies.catalog import no_places, study_named
from viewer.studies.controls import (
    Controlled,
    guess_name,
    guessed,
    other_images,
    without_images,
)
from viewer.studies.places import GridReference, Places, prompt_for_places
from viewer.studies.prompts import varied
from viewer.studies.steps import Question, StepReply, Turn
from viewer.studies.study import AsksForPlaces, BringsPrompts

if TYPE_CHECKING:
    from viewer.models.endpoint import Endpoint

_NO_GRID: Final = Grid(8, 8)
"""Stands for a grid where none is drawn and no reply names a cell."""
_ONE_TEXT: Final = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
"""The reply schema for studies that define none."""


class RunContext:
    """Everything that is constant while a run's trials are asked.

    Thread-safe; it holds no store. Without ``validation`` questions have no examples,
    which is enough for parsing answers.
    """

    def __init__(
        self,
        spec: RunSpec,
        dataset: Dataset,
        gate: Gate = CLOSED,
        validation: Dataset | None = None,
    ) -> None:
        self.spec, self.gate = spec, gate
        self.study = study_named(spec.study)
        self.params: Any = self.study.read_params(spec.preset, dict(spec.params))
        self._varied = varied(self.params)
        self._places = self.study.places(self.params)
        if self._places is not None:
            dataset = referenced(dataset, self._places.reader_rule)
        self.dataset = dataset
        self.drawn = RunImages(dataset, gate, validation)
        self.images = self.drawn.by_key
        self.items = {item.key: item for item in dataset.items}
        self.profiles: Mapping[str, ModelProfile] = {
            m.name: m for m in (*spec.models, *spec.helpers)
        }
        self._roles = dict(self.study.roles(self.params))
        self._references = Memo[tuple[str, str, Condition], GridReference](
            self._reference, 1 << 20
        )

    @property
    def places(self) -> Places:
        """The geometry of answers on images; WrongUseError if answers are in words."""
        if self._places is None:
            raise no_places(self.study)
        return self._places

    def next_step(self, trial: Trial, replies: Sequence[TrialReply]) -> Step | None:
        """Return the next question of a trial, None if it is complete.

        A reply that cannot be read ends its trial; every trial is asked at least once.
        """
        try:
            params = self._params_of(trial)
            step = self.study.next_step(self.turn(trial, replies), params)
        except ProviderError:
            return None
        return step or (None if replies else ANSWER_STEP)

    def profile_for(self, model: str, step: Step) -> ModelProfile:
        """Return the model for a step: the trial's own, or one with a role."""
        if not step.role:
            return self.profiles[model]
        name = self._roles.get(step.role, "")
        if name not in self.profiles:
            raise WrongUseError(
                f"The run names no model as {step.role}.",
                f"Name one in the study's parameters, under {step.role}.",
            )
        return self.profiles[name]

    def question(
        self,
        trial: Trial,
        step: Step,
        replies: Sequence[TrialReply],
        sources: RunSources,
    ) -> Question:
        """Return the study's question, for which it reads and draws images.

        Under a control it is asked without them, where it is the trial's own.
        """
        turn = self.turn(trial, replies)
        asked = self.study.question(turn, step, sources, self._params_of(trial))
        control = control_of(trial.condition.name)
        if control not in HIDING or step.role or not isinstance(self.study, Controlled):
            return asked
        guesses = control == Control.GUESS
        words = self.study.guess_words(asked.prompt) if guesses else ""
        return without_images(asked, words)

    def _params_of(self, trial: Trial) -> Any:  # noqa: ANN401 - the study's own type
        """Return the parameters with the prompts for a trial."""
        return self._varied[variant_of(trial.condition.name)]

    def request(self, trial: Trial, step: Step, question: Question) -> ModelRequest:
        """Return a question as sent to a model; raises if the model cannot take it."""
        profile = self.profile_for(trial.model, step)
        facts = question.facts or facts_without_grid(trial, step, self.spec.seed)
        name = trial.condition.name  # whole where replies are found by it
        asked = question_asked(trial, step) if spec_of(profile).finds_by_step else None
        request = ModelRequest(
            question.messages,
            replace(
                facts,
                condition=name if asked else name_without_variant(name),
                choices=question.choices,
                prompt=question.boxes,
                written=question.written,
                asked=asked,
            ),
            hashlib.sha256(question.template.encode()).hexdigest(),
            self._form(profile, trial, question),
            question.highlight,
            question.measures,
        )
        check_interpretable(spec_of(profile), profile, request)
        return request

    def about(self, trial: Trial, question: Question, sources: RunSources) -> About:
        """Return every image that a question was made from, for the gate."""
        return sources.about(self.items.get(self.item(trial).key), question)

    def answer(self, turn: Turn) -> AnyAnswer | Unparsed:
        """Return the answer in a trial's replies, read by its study."""
        return self.study.parse(turn, self.params)

    def score(self, turn: Turn, answer: AnyAnswer | Unparsed) -> Score:
        """Return the score of an answer; an item without its truth raises."""
        with self._reading_truth(turn.trial):
            return self.study.score(turn, answer, self.params)

    def gold(self, trial: Trial) -> Mapping[str, object]:
        """Return the right answer to a trial as JSON, {} if no program can tell.

        An item that lacks what its study looks for raises WrongUseError.
        """
        with self._reading_truth(trial):
            return self.study.gold(self.turn(trial), self.params)

    @contextmanager
    def _reading_truth(self, trial: Trial) -> Iterator[None]:
        """Name the item in errors about a missing truth."""
        try:
            yield
        except KeyError as error:
            raise WrongUseError(
                f"The item '{self.item(trial).key}' has no known answer: the study "
                f"'{self.spec.study}' finds no {error} in it.",
                "Import its data set again, with the answer to each item.",
            ) from error

    def check_gold(self, trials: Iterable[Trial]) -> None:
        """Raise if an item to be asked about has no right answer."""
        asked = {one.item: one for one in trials if not one.exclusion}
        for trial in asked.values() if self._places is None else ():
            self.gold(trial)

    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return the name and template of every prompt of the run."""
        prompts = self._own_prompts()
        return (*prompts, *self._guessing(prompts))

    def _own_prompts(self) -> tuple[tuple[str, str], ...]:
        if self._places is None:
            words = dict.fromkeys(map(place_words_of, self.spec.models)) or {None: None}
            return tuple(
                dict.fromkeys(
                    one
                    for of in self._varied.values()
                    for places in words
                    for one in self._prompts_of(of, places)
                )
            )
        prompts = [one for of in self._varied.values() for one in self._prompts_of(of)]
        found: list[tuple[str, str]] = []
        for asking in dict.fromkeys(map(asking_of, self.spec.models)):
            found += [prompt_for_places(asking)] if asking else prompts
        return tuple(found)

    def _guessing(
        self, prompts: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[str, str]]:
        """Yield the prompts that are also asked to be guessed, as they then read."""
        study = self.study
        if isinstance(study, Controlled) and Control.GUESS in self.params.controls:
            for name, template in prompts:
                if words := study.guess_words(name):
                    yield guess_name(name), guessed(template, words)

    def _prompts_of(
        self,
        params: Any,  # noqa: ANN401 - the study's own type
        places: PlaceWords | None = None,
    ) -> tuple[tuple[str, str], ...]:
        """Return a study's prompts, or those that its data set brings."""
        if isinstance(self.study, BringsPrompts):
            return self.study.prompts_for(self.dataset, params, places)
        return self.study.prompts(params)

    def item(self, trial: Trial) -> Item:
        """Return the item of a trial; for a finding, only its image."""
        if self._places is None:
            return item_of(self.items, trial.item)
        return Item(trial.item, trial.patient, images=(trial.image,))

    def sources(
        self, asked: ModelProfile | None = None, condition: str = ""
    ) -> RunSources:
        """Return the sources of images for a question or a picture of a run.

        Under a control of images others are shown in their place.
        """
        control = control_of(condition)
        return RunSources(
            self.drawn,
            self.spec.seed,
            asked,
            noise=control == Control.NOISE,
            instead=self._others if control == Control.OTHER_IMAGE else {},
        )

    @cached_property
    def _others(self) -> Mapping[str, str]:
        """For each image another patient's."""
        assert isinstance(self.study, Controlled)  # noqa: S101 - no other has controls
        return other_images(self.study, self.dataset, self.spec.seed)

    def turn(self, trial: Trial, replies: Sequence[TrialReply] = ()) -> Turn:
        """Return the state of a trial; raises if a reply cannot be read.

        Prompt variants and controls are hidden from studies. Readers grade outputs
        that were made without a control.
        """
        read = tuple(self._read(trial, one) for one in replies)
        output = trial.model, trial.item, trial.repeat
        has_grades = not control_of(trial.condition.name)
        grades = self._grades.get(output, ()) if has_grades else ()
        told = replace(trial, condition=studys_own(trial.condition))
        return Turn(told, self.item(trial), read, self.images, tuple(grades))

    @cached_property
    def _grades(self) -> Mapping[tuple[str, str, int], Sequence[Grade]]:
        """Readers' grades by output, empty if the study is not graded."""
        grades: dict[tuple[str, str, int], list[Grade]] = {}
        if self.study.words.graded:
            for grade in grades_of(self.dataset).grades:
                grades.setdefault(grade.output, []).append(grade)
        return grades

    def reference(self, trial: Trial) -> GridReference | None:
        """Return the reference as the scorer uses it, None if there is none."""
        if self._places is None or trial.finding not in self.images[trial.image].masks:
            return None
        return self._references((trial.image, trial.finding, trial.condition))

    def _reference(self, key: tuple[str, str, Condition]) -> GridReference:
        image, finding, condition = key
        shown = self.images[image]
        return self.places.reference(shown.masks[finding], shown.geometry, condition)

    def shown(self, trial: Trial) -> Shown:
        """Return the finding, field and grid that a trial's model was shown."""
        geometry = self.images[trial.image].geometry
        return Shown(
            finding=trial.finding,
            native=geometry.size,
            field=self.places.field(geometry),
            sent=self.places.sent_size(trial.condition),
            grid=self.places.grid(trial.condition),
        )

    def plain(self, image: str, condition: Condition) -> Raster:
        """Return the image as sent, but without its grid."""
        raster, _ = self.drawn.raster((image, window_of(condition)))
        return self.places.plain(raster)

    def _read(self, trial: Trial, trial_reply: TrialReply) -> StepReply:
        step = trial_reply.step
        profile = self.profile_for(trial.model, step)
        reply = reader_for(profile).read(trial_reply.raw)
        if self._places is not None:
            return StepReply(step, reply, lambda: self._placed(profile, reply, trial))
        if profile.settings.get("structured"):
            reply = replace(reply, text=_unwrapped(reply.text))
        if step.role or not isinstance(self.study, AsksForPlaces):
            return StepReply(step, reply)
        return StepReply(step, reply, lambda: self._placed_in(profile, reply, trial))

    def _placed(
        self, profile: ModelProfile, reply: ModelReply, trial: Trial
    ) -> PlacedAnswer | Unparsed | None:
        if not is_placed(profile, reply):
            return None
        return placed_answer(profile, reply, self.shown(trial))

    def _placed_in(
        self, profile: ModelProfile, reply: ModelReply, trial: Trial
    ) -> PlacedAnswer | Unparsed | None:
        """Return a place in an item's image, None if it is the study's to read."""
        assert isinstance(self.study, AsksForPlaces)  # noqa: S101 - `_read` asked
        told = replace(trial, condition=studys_own(trial.condition))
        keys = self.study.images_of_place(
            told, self.item(trial), self.dataset, self.spec.seed
        )
        if keys is None or not is_placed(profile, reply):
            return None
        own, sent = (self.images[key].geometry for key in keys)
        whole = BoxPx(0.0, 0.0, own.size.columns, own.size.rows)
        shown = Shown("", own.size, whole, shrunk_size(sent, None), _NO_GRID)
        return placed_answer(profile, reply, shown)

    def _form(
        self, profile: ModelProfile, trial: Trial, question: Question
    ) -> Mapping[str, object] | None:
        """Return the JSON Schema of an answer, None if it is free."""
        if self._places is not None:
            return form_of_answer(profile, trial.finding)
        wanted = _ONE_TEXT if profile.settings.get("structured") else None
        return question.answer_schema or wanted

    def endpoint_of(self, model: str) -> "Endpoint | None":
        """Return the endpoint of a model, None for a local one."""
        return endpoint_of(self.profiles[model])

    def check_models(self) -> None:
        """Raise if a model cannot be asked, before any is."""
        beside = self.drawn.validation
        images = (*self.dataset.images, *(beside.images if beside else ()))
        for profile in self.profiles.values():
            self.gate.check_model(profile, images)
            adapter_for(profile, self.gate.allowance(profile))

    def held_models(self) -> Iterator[tuple[str, Loadable]]:
        """Yield the models loaded in this process, with their names."""
        for profile in self.profiles.values():
            adapter = adapter_for(profile, self.gate.allowance(profile))
            if isinstance(adapter, Loadable):
                yield profile.name, adapter

    def interrupt_models(self) -> None:
        """Interrupt the answers and the loading of models in this process."""
        for _, adapter in self.held_models():
            adapter.interrupt()


def _unwrapped(text: str) -> str:
    """Return the text inside ``_ONE_TEXT``, other text unchanged."""
    try:
        body = json.loads(text)
    except ValueError:
        return text
    if isinstance(body, dict) and list(body) == ["answer"]:
        return str(body["answer"])
    return text
