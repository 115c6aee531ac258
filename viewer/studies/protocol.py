"""What every study has in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Answer, CellAnswer, PlacedAnswer, Unparsed
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import ModelReply, ModelRequest
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.holdings import Wanted
from viewer.domain.image import PixelImage, Raster
from viewer.domain.reference import Mask
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.rubric import NO_GRADES, Grades
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.domain.study_words import StudyWords


@dataclass(frozen=True, eq=False)
class Stimulus:
    """What one image becomes under one condition, shared by every trial on it.

    ``plain`` is the raster as sent but without its grid, ``png`` the exact bytes sent.
    """

    plain: Raster
    plain_sha256: str
    png: bytes


@dataclass(frozen=True, slots=True)
class GridReference:
    """A mask seen through a grid.

    ``covered`` counts the mask's pixels in each cell and ``area`` each cell's pixels,
    row-major; ``hits`` are the qualifying cells' row-major indices with the fallback
    applied; ``fallback`` tells whether it was. ``fraction_outside`` of the mask's
    native pixels lies outside the crop. ``alternate_hits`` is the qualifying set in
    the mask mode that was not chosen.
    """

    grid: Grid
    covered: tuple[float, ...]
    area: tuple[float, ...]
    hits: tuple[int, ...]
    fallback: bool
    fraction_outside: float
    alternate_hits: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ExampleItem:
    """An example: an image of the examples' data set, its finding and its answer."""

    image: str
    finding: str
    answer: str


@dataclass(frozen=True)
class Example:
    """An example as it is shown: the exact bytes of its image, and its answer."""

    png: bytes
    answer: str


@dataclass(frozen=True)
class AskedVersion:
    """A prompt with parameters that planned runs asked a data set with.

    ``first_at`` is UTC, ISO 8601; ``questions`` counts what all ``runs`` asked so.
    """

    prompt_sha256: str
    preset: str
    params: Mapping[str, object]
    runs: tuple[int, ...]
    first_at: str
    questions: int


@dataclass(frozen=True)
class ReportContext:
    """What a report may say beyond its trials.

    ``dataset`` is what was asked about, None where nobody knows it any more.
    ``anatomy_errors`` counts, by model and finding, the misses that readers called
    anatomy errors, estimated where they read a sample; what nobody read is not in it.
    ``versions`` are all that the data set's content was asked with, oldest first;
    ``validation`` is what examples were drawn from, None without any;
    ``human_points``, by image and finding, where readers of the data set pointed, or
    ``human_problem`` what is wrong with the file that should say it. ``grades`` are
    what readers graded the outputs, or ``grades_problem`` what is wrong with that file.
    """

    dataset: Dataset | None = None
    anatomy_errors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    versions: tuple[AskedVersion, ...] = ()
    human_points: Mapping[str, Mapping[str, Sequence[PointPx]]] = field(
        default_factory=dict
    )
    human_problem: str = ""
    validation: Dataset | None = None
    grades: Grades = NO_GRADES
    grades_problem: str = ""


NO_CONTEXT: Final = ReportContext()
ABSENT_SUFFIX: Final = " absent"
"""How the name of a condition ends under which what is asked about is not there.

Such trials have no hit rate: denying is right (E000-32).
"""
NOT_LEARNED: Final = "not_learned"
"""Why a trial is excluded whose model was not trained on the finding."""


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

    def read_params(self, preset: str, overrides: dict[str, object]) -> Any:  # noqa: ANN401
        """Return Params of a preset with overrides; a bad one raises WrongUseError."""
        ...

    def presets(self) -> tuple[str, ...]:
        """Return the names of the presets, the paper's first."""
        ...

    def preset_title(self, preset: str) -> str:
        """Return what people call a preset."""
        ...

    def params_as_json(self, params: Any) -> dict[str, object]:  # noqa: ANN401
        """Return Params as plain JSON values that read_params takes back."""
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

    def examples_from(self, params: Any) -> str:  # noqa: ANN401
        """Return the name of the data set examples come from, "" for none."""
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
