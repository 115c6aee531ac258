"""What every study is: one object, whatever it asks."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Answer, AnyAnswer, CellAnswer, PlacedAnswer, Unparsed
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import ModelReply, ModelRequest
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.holdings import Wanted
from viewer.domain.image import PixelImage
from viewer.domain.reference import Mask
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.domain.study_words import StudyWords
from viewer.studies.asking import Longest, Pointed, Question, Sources, Step, Turn
from viewer.studies.benchmarks import Benchmark
from viewer.studies.packs import Pack
from viewer.studies.presets import StudyDefaults
from viewer.studies.protocol import (
    NO_CONTEXT,
    Example,
    ExampleItem,
    GridReference,
    ReportContext,
    Stimulus,
)


class Study(Protocol):
    """A protocol: how its trials are planned and reported, whatever it asks.

    ``params`` everywhere is the study's own frozen Params. How it asks, reads and
    scores says `PlacingStudy` or `viewer.studies.asking.ItemStudy`.
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
        """Return what people call a preset."""
        ...

    def conditions(self, params: Any) -> tuple[Condition, ...]:  # noqa: ANN401
        """Return the conditions under which every item is asked."""
        ...

    def notices(self, params: Any) -> tuple[str, ...]:  # noqa: ANN401
        """Return sentences a person should read before running with these Params."""
        ...

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, grouped by image; exclusions carry their reason."""
        ...

    def roles(self, params: Any) -> Mapping[str, str]:  # noqa: ANN401
        """Return the name of the model in each role beside the ones studied."""
        ...

    def examples_from(self, params: Any) -> str:  # noqa: ANN401
        """Return the name of the data set examples come from, "" for none."""
        ...

    def unasked(self, dataset: Dataset, params: Any) -> str:  # noqa: ANN401
        """Return what a run will not ask about, and why; "" for nothing."""
        ...

    def benchmark(self) -> Benchmark | None:
        """Return what the study's paper prints, None where nobody wrote it down."""
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
class PlacingStudy(Study, Protocol):
    """A study that asks where a finding is in one image, and draws a grid on it."""

    def prompt(self, view: str, asking: str = "") -> tuple[str, str]:
        """Return the name and the unrendered text, as hashed, of a view's prompt.

        ``asking`` is the text for a model that writes coordinates, "" for others.
        """
        ...

    def stimulus(
        self,
        image: PixelImage,
        condition: Condition,
        params: Any,  # noqa: ANN401
    ) -> Stimulus:
        """Return what is sent of an image under a condition."""
        ...

    def request(
        self,
        trial: Trial,
        stimulus: Stimulus,
        params: Any,  # noqa: ANN401
        seed: int,
        reference_counts: tuple[tuple[int, ...], ...] | None,
        asking: str = "",
        examples: Sequence[Example] = (),
    ) -> ModelRequest:
        """Return the question of one trial, after its examples.

        A model that writes coordinates is asked in the words of ``asking``, with the
        finding in place of ``{condition}``.
        """
        ...

    def check_examples(
        self,
        validation: Dataset,
        asked: Dataset,
        trials: Sequence[Trial],
        params: Any,  # noqa: ANN401
    ) -> None:
        """Raise the sentence of examples that are too few or no other patients'."""
        ...

    def examples(
        self,
        validation: Dataset,
        trial: Trial,
        params: Any,  # noqa: ANN401
        seed: int,
    ) -> tuple[ExampleItem, ...]:
        """Return the examples of a trial in the order shown."""
        ...

    def parse(
        self,
        reply: ModelReply,
        trial: Trial,
        params: Any,  # noqa: ANN401
        placed: PlacedAnswer | Unparsed | None = None,
    ) -> Answer | Unparsed:
        """Read a reply; an odd reply is an answer too.

        ``placed`` is what the places of the reply come to, where its model writes
        coordinates or answers with a map; None where the text is to be read.
        """
        ...

    def in_cell(
        self,
        answer: Answer | Unparsed,
        condition: Condition,
        size: SizePx,
        params: Any,  # noqa: ANN401
    ) -> CellAnswer | Unparsed:
        """Return an answer about an image of ``size`` as the cell it points at."""
        ...

    def sent_size(self, params: Any) -> SizePx:  # noqa: ANN401
        """Return the size of the raster that is sent."""
        ...

    def reference(
        self,
        mask: Mask,
        condition: Condition,
        params: Any,  # noqa: ANN401
    ) -> GridReference:
        """Return a mask as the scorer sees it under a condition."""
        ...

    def reader_rule(self, params: Any) -> str:  # noqa: ANN401
        """Return whose boxes are the reference: any, majority or a reader's name."""
        ...

    def grid(self, condition: Condition, params: Any) -> Grid:  # noqa: ANN401
        """Return the grid that a condition draws."""
        ...

    def field(self, size: SizePx, params: Any) -> BoxPx:  # noqa: ANN401
        """Return the native rectangle of an image that the square sent covers."""
        ...

    def shown_mask(self, mask: Mask, params: Any) -> npt.NDArray[np.bool_]:  # noqa: ANN401
        """Return a mask as it lies on the raster sent, (rows, columns)."""
        ...

    def score(self, answer: CellAnswer | Unparsed, reference: GridReference) -> Score:
        """Return the verdict on an answer in its cell."""
        ...

    def unreferenced(
        self,
        answer: CellAnswer | Unparsed,
        condition: Condition,
        params: Any,  # noqa: ANN401
    ) -> Score | None:
        """Return the verdict on an answer without a reference, None where none is due.

        Where the condition says that what is asked about is absent, there is one.
        """
        ...

    def reference_counts(
        self,
        image: DatasetImage,
        finding: str,
        dataset: Dataset,
        condition: Condition,
        params: Any,  # noqa: ANN401
    ) -> tuple[tuple[int, ...], ...]:
        """Return the other patients' qualifying-cell counts (see Facts)."""
        ...


@runtime_checkable
class ItemStudy(Study, Protocol):
    """A study that asks about items of a data set, and reads words off the replies."""

    worked_tables: tuple[str, ...]
    """The tables beside trials and rates that verify.py works out again."""

    def prompts(self, params: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
        """Return the name and template of every prompt that may be asked with."""
        ...

    def next_step(self, turn: Turn, params: Any) -> Step | None:  # noqa: ANN401
        """Return what is to be asked next, None where a trial has all it needs.

        Cheap and pure: it is called again whenever replies are read.
        """
        ...

    def question(
        self,
        turn: Turn,
        step: Step,
        sources: Sources,
        params: Any,  # noqa: ANN401
    ) -> Question:
        """Return what a step asks; the same turn always gives the same bytes."""
        ...

    def parse(self, turn: Turn, params: Any) -> AnyAnswer | Unparsed:  # noqa: ANN401
        """Read an answer off all replies; an odd one is an answer too.

        Replies may be fewer than its steps where they were kept by an earlier parser.
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
        """Return what is right of a trial as JSON, {} where no program can tell.

        It depends on the trial and its item alone. An option is right as
        ``{"options": [...], "order": [...], "right": 0}``, yes or no as
        ``{"yes": true}`` and labels as ``{"labels": [...], "none": "..."}``: whoever
        has the replies can judge them by that without this program.
        """
        ...

    def longest(self, dataset: Dataset, params: Any) -> tuple[Longest, ...]:  # noqa: ANN401
        """Return the longest question of each step that a trial may take."""
        ...


@runtime_checkable
class PointsOut(Protocol):
    """What a study has besides whose replies name boxes on the images they were sent.

    They are drawn wherever a trial is looked at.
    """

    def pointed(
        self,
        turn: Turn,
        answer: AnyAnswer | Unparsed | None,
        params: Any,  # noqa: ANN401 - the study's own type
    ) -> tuple[Pointed, ...]:
        """Return what is to be drawn; ``answer`` is the one that was kept, if any."""
        ...
