"""The bench of a study that places a finding on an image with a grid (DESIGN 4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from viewer.domain.answer import Answer, Status, Unparsed
from viewer.domain.answer_json import answer_as_json
from viewer.domain.box_reference import referenced
from viewer.domain.case import Dataset, ImageRef
from viewer.domain.exchange import ModelProfile, ModelRequest, RawReply
from viewer.domain.privacy import pixels_sha256
from viewer.domain.result import Score
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.models.catalog import reader_for, spec_of
from viewer.services.bench import ANSWER, Bench, Draft, Judged, Kept
from viewer.services.box_prompt import with_prompt
from viewer.services.burned_in import windowed
from viewer.services.gate import CLOSED, About, Gate, Looked
from viewer.services.memo import Memo
from viewer.services.placed_answer import (
    Shown,
    asking_of,
    form_of_answer,
    is_placed,
    placed_answer,
)
from viewer.services.window_condition import window_of
from viewer.studies.asking import Step
from viewer.studies.catalog import placing_study
from viewer.studies.protocol import Example, GridReference, Stimulus
from viewer.studies.study import PlacingStudy

STIMULI_KEPT: Final = 64
EXAMPLES_KEPT: Final = 512
NO_REFERENCE: Final = "no_gt"
"""The reason of an answer kept without a reference to score it by."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is sent of an image, and the SHA-256 of the pixels it was drawn from."""

    stimulus: Stimulus
    pixels_sha256: str


class PlacingBench(Bench):
    """The bench on which each trial has one question about one image.

    Without ``validation`` questions begin with no examples, as they do where only
    answers are read.
    """

    study: PlacingStudy
    has_grid = True

    def __init__(
        self,
        spec: RunSpec,
        dataset: Dataset,
        gate: Gate = CLOSED,
        validation: Dataset | None = None,
    ) -> None:
        study = placing_study(spec.study)
        params = study.read_params(spec.preset, dict(spec.params))
        own = referenced(dataset, study.reader_rule(params))
        super().__init__(spec, study, own, gate)
        self.validation = validation
        shown = validation.images if validation else ()
        self._example_refs: Mapping[str, ImageRef] = {i.key: i.ref for i in shown}
        self._drawn = Memo[tuple[str, Condition], Drawn](self._draw, STIMULI_KEPT)
        self._example = Memo[tuple[str, Condition], bytes](
            self._draw_example, EXAMPLES_KEPT
        )
        self._references = Memo[tuple[str, str, Condition], GridReference](
            self._draw_reference, 1 << 20
        )

    def next_step(self, trial: Trial, kept: Sequence[Kept]) -> Step | None:  # noqa: ARG002 - every trial is alike
        """Return the one question before it is answered."""
        return None if kept else ANSWER

    def profile_for(self, trial: Trial, step: Step) -> ModelProfile:  # noqa: ARG002 - there is one step
        """Return the model that the trial is about."""
        return self.profiles[trial.model]

    def draft(self, trial: Trial, step: Step, kept: Sequence[Kept]) -> Draft:  # noqa: ARG002 - there is one step
        """Hops 3 to 5: a trial's question, and the image that it is about."""
        profile = self.profiles[trial.model]
        counts = self._counts(trial) if spec_of(profile).needs_counts else None
        drawn = self.drawn(trial)
        prompt = self.study.prompt(trial.view, asking_of(profile))
        looked = Looked(
            self.images[trial.image], drawn.pixels_sha256, window_of(trial.condition)
        )
        # what a person calls the view is no text of ours, so that it is looked at too
        about = About((looked,), frozenset({drawn.stimulus.png}), (prompt[1],))
        return Draft(question_of(self, trial, counts), prompt, about)

    def judged(self, trial: Trial, kept: Sequence[Kept]) -> Judged:
        """Hops 7 and 8."""
        return judge_reply(self, trial, kept[-1].reply.raw)

    def gold(self, trial: Trial) -> Mapping[str, object]:
        """Return the cells that are right, by their names."""
        reference = self.reference(trial)
        if reference is None:
            return {}
        cells = reference.grid.cells()
        return {"cells": [reference.grid.label(cells[i]) for i in reference.hits]}

    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return the prompt of each view, in the words of each model."""
        views: Iterable[str] = self.spec.params["views"]  # type: ignore[assignment]
        asked = dict.fromkeys(asking_of(profile) for profile in self.spec.models)
        return tuple(
            self.study.prompt(view, asking) for asking in asked for view in views
        )

    def stimulus(self, trial: Trial) -> Stimulus:
        """Hops 3 and 4: what is sent of the trial's image."""
        return self.drawn(trial).stimulus

    def drawn(self, trial: Trial) -> Drawn:
        """Hops 3 and 4, with the hash of the pixels drawn from."""
        return self._drawn((trial.image, trial.condition))

    def _draw(self, key: tuple[str, Condition]) -> Drawn:
        name, condition = key
        image = self.pixels(self.images[name].ref)
        shown = windowed(self.gate.as_sent(image), window_of(condition))
        stimulus = self.study.stimulus(shown, condition, self.params)
        return Drawn(stimulus, pixels_sha256(image))

    def examples(self, trial: Trial) -> tuple[Example, ...]:
        """Return the examples that a trial's question begins with, as drawn."""
        if self.validation is None:
            return ()
        chosen = self.study.examples(
            self.validation, trial, self.params, self.spec.seed
        )
        return tuple(
            Example(self._example((one.image, trial.condition)), one.answer)
            for one in chosen
        )

    def _draw_example(self, key: tuple[str, Condition]) -> bytes:
        name, condition = key
        image = self.gate.as_sent(self.pixels(self._example_refs[name]))
        return self.study.stimulus(image, condition, self.params).png

    def shown(self, trial: Trial) -> Shown:
        """Return what of an image a trial's model was shown, and about what."""
        size = self.images[trial.image].size
        return Shown(
            finding=trial.finding,
            native=size,
            field=self.study.field(size, self.params),
            sent=self.study.sent_size(self.params),
            grid=self.study.grid(trial.condition, self.params),
        )

    def prompted(self, trial: Trial, request: ModelRequest) -> ModelRequest:
        """Return a request with the boxes that its trial asks about."""
        image = self.pixels(self.images[trial.image].ref)
        return with_prompt(request, image, trial.condition)

    def reference(self, trial: Trial) -> GridReference | None:
        """Return the reference as the scorer sees it, None where there is none."""
        if trial.finding not in self.images[trial.image].masks:
            return None
        return self._references((trial.image, trial.finding, trial.condition))

    def _draw_reference(self, key: tuple[str, str, Condition]) -> GridReference:
        image, finding, condition = key
        mask = self.images[image].masks[finding]
        return self.study.reference(mask, condition, self.params)

    def _counts(self, trial: Trial) -> tuple[tuple[int, ...], ...]:
        return self.study.reference_counts(
            self.images[trial.image],
            trial.finding,
            self.dataset,
            trial.condition,
            self.params,
        )


def question_of(
    bench: PlacingBench,
    trial: Trial,
    counts: tuple[tuple[int, ...], ...] | None = None,
) -> ModelRequest:
    """Hops 3 and 4: what a trial's model is asked, in its own words and form.

    ``counts`` are the reference counts of the baselines that need them.
    """
    profile = bench.profiles[trial.model]
    request = bench.study.request(
        trial,
        bench.stimulus(trial),
        bench.params,
        bench.spec.seed,
        counts,
        asking_of(profile),
        bench.examples(trial),
    )
    if spec_of(profile).takes_boxes:
        request = bench.prompted(trial, request)
    return replace(request, answer_schema=form_of_answer(profile, trial.finding))


def judge_reply(bench: PlacingBench, trial: Trial, raw: RawReply) -> Judged:
    """Hops 7 and 8; a reply that cannot be read raises ProviderError."""
    profile = bench.profiles[trial.model]
    reply = reader_for(profile).read(raw)
    placed = None
    if is_placed(profile, reply):
        placed = placed_answer(profile, reply, bench.shown(trial))
    answer = bench.study.parse(reply, trial, bench.params, placed)
    return Judged(answer_as_json(answer), _score(bench, trial, answer))


def _score(bench: PlacingBench, trial: Trial, answer: Answer | Unparsed) -> Score:
    reference, size = bench.reference(trial), bench.images[trial.image].size
    cell = bench.study.in_cell(answer, trial.condition, size, bench.params)
    if reference is not None:
        return bench.study.score(cell, reference)
    verdict = bench.study.unreferenced(cell, trial.condition, bench.params)
    if verdict is not None:
        return verdict
    if isinstance(cell, Unparsed):
        return Score(Status.EXCLUDED, NO_REFERENCE)
    grid = bench.study.grid(trial.condition, bench.params)
    return Score(Status.EXCLUDED, NO_REFERENCE, grid.label(cell.cell))
