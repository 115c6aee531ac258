"""The interface of studies: one object, whatever the study asks."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from viewer.domain.answer import AnyAnswer, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.evidence import ShownEvidence
from viewer.domain.exchange import ModelProfile
from viewer.domain.holdings import Wanted
from viewer.domain.item import Item
from viewer.domain.places import PlaceWords
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.domain.study_words import StudyWords
from viewer.studies.benchmarks import Benchmark
from viewer.studies.packs import Pack
from viewer.studies.places import Examples, Places
from viewer.studies.presets import StudyDefaults
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.steps import Longest, PredictedBoxes, Question, Sources, Turn


@runtime_checkable
class Study(Protocol):
    """A protocol: how its trials are planned, asked, parsed, scored and reported.

    ``params`` is always the study's own frozen Params. A trial asks about an item of
    the data set, or about a finding in an image, with one or several questions.
    """

    name: str
    title: str
    version: str
    parser_version: str
    scorer_version: str
    words: StudyWords
    wanted: Wanted
    defaults: StudyDefaults
    pack: Pack | None

    def read_params(self, preset: str, overrides: dict[str, object]) -> Any:  # noqa: ANN401
        """Return Params of a preset with overrides; a bad one raises WrongUseError."""
        ...

    def presets(self) -> tuple[str, ...]:
        """Return the names of the presets, the paper's first."""
        ...

    def preset_title(self, preset: str) -> str:
        """Return the title of a preset."""
        ...

    def conditions(self, params: Any) -> tuple[Condition, ...]:  # noqa: ANN401
        """Return the conditions under which every item is asked."""
        ...

    def notices(self, params: Any) -> tuple[str, ...]:  # noqa: ANN401
        """Return sentences for the user to read before running with these Params."""
        ...

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, grouped by image; exclusions carry their reason."""
        ...

    def roles(self, params: Any) -> Mapping[str, str]:  # noqa: ANN401
        """Return the name of the model in each role, besides the models under test."""
        ...

    def places(self, params: Any) -> Places | None:  # noqa: ANN401
        """Return the geometry of answers on images, None if they are not locations."""
        ...

    def examples(self, params: Any) -> Examples | None:  # noqa: ANN401
        """Return the source of few-shot examples, None if there are none."""
        ...

    def missing_findings(self, dataset: Dataset, params: Any) -> str:  # noqa: ANN401
        """Return the findings that a run will not ask about, and why; "" for none."""
        ...

    def benchmark(self) -> Benchmark | None:
        """Return the paper's printed values, None if there are none."""
        ...

    def prompts(self, params: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
        """Return the name and template of every prompt that may be used."""
        ...

    def next_step(self, turn: Turn, params: Any) -> Step | None:  # noqa: ANN401
        """Return the next question, None if a trial is complete.

        It must be cheap and pure: it is called again whenever replies are parsed.
        """
        ...

    def question(
        self,
        turn: Turn,
        step: Step,
        sources: Sources,
        params: Any,  # noqa: ANN401
    ) -> Question:
        """Return the question of a step; the same turn always gives the same bytes."""
        ...

    def parse(self, turn: Turn, params: Any) -> AnyAnswer | Unparsed:  # noqa: ANN401
        """Parse an answer from all replies; an invalid reply is an answer too.

        There may be fewer replies than steps if an earlier parser stored them.
        """
        ...

    def score(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed,
        params: Any,  # noqa: ANN401
    ) -> Score:
        """Return the verdict on an answer, with whatever numbers were measured."""
        ...

    def gold(self, turn: Turn, params: Any) -> Mapping[str, object]:  # noqa: ANN401
        """Return the right answer to a trial as JSON, {} if no program can tell.

        It depends on the trial and its item only. An option is ``{"options": [...],
        "order": [...], "right": 0}``, yes or no is ``{"yes": true}``, labels are
        ``{"labels": [...], "none": "..."}``, so that replies can be judged without this
        program.
        """
        ...

    def longest(self, dataset: Dataset, params: Any) -> tuple[Longest, ...]:  # noqa: ANN401
        """Return the longest question of each step of a trial."""
        ...

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables and figures of a run."""
        ...


@runtime_checkable
class HasPeople(Protocol):
    """Additional interface of a study whose data sets may contain people's answers."""

    def people(self, dataset: Dataset, params: Any) -> tuple[ModelProfile, ...]:  # noqa: ANN401 - the study's own type
        """Return models that represent people, to be added to a run's own."""
        ...


@runtime_checkable
class PointsOut(Protocol):
    """Additional interface of a study whose replies name boxes on the images sent.

    The boxes are drawn wherever a trial is shown.
    """

    def predicted_boxes(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed | None,
        params: Any,  # noqa: ANN401 - the study's own type
    ) -> tuple[PredictedBoxes, ...]:
        """Return the boxes to be drawn; ``answer`` is the stored one, if any."""
        ...


@runtime_checkable
class ShowsEvidence(Protocol):
    """Additional interface of a study whose items consist of pieces of evidence."""

    def evidence_shown(self, trial: Trial, item: Item) -> tuple[ShownEvidence, ...]:
        """Return how a trial shows its evidence, in the order of its images."""
        ...


@runtime_checkable
class SteersAttention(Protocol):
    """Additional interface of a study that highlights regions in a model's attention.

    A model without access to its attention is not asked under such a condition, not
    even a first pass.
    """

    def steers_attention(self, condition: Condition) -> bool:
        """Tell whether a condition is only for models whose attention is accessible."""
        ...


@runtime_checkable
class BringsPrompts(Protocol):
    """Additional interface of a study whose data sets may bring their own prompts."""

    def brought_prompts(self, dataset: Dataset) -> Mapping[str, str]:
        """Return a data set's own prompts by the names of those they stand for."""
        ...

    def prompts_for(
        self,
        dataset: Dataset,
        params: Any,  # noqa: ANN401 - the study's own type
        places: PlaceWords | None = None,
    ) -> tuple[tuple[str, str], ...]:
        """Return the name and template of every prompt a data set is asked with.

        ``places`` is how a model is told to write places, None for the study's own way.
        """
        ...


@runtime_checkable
class AsksForPlaces(Protocol):
    """What a study of items has besides whose answers may be places on an image."""

    def images_of_place(
        self, trial: Trial, item: Item, dataset: Dataset, seed: int
    ) -> tuple[str, str] | None:
        """Return the image whose place is asked for, and that which is shown for it.

        None where a trial asks for no place.
        """
        ...
