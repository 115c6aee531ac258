"""The packs: one command per paper makes all its tables and figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from viewer.domain.case import Dataset
from viewer.domain.image import Raster
from viewer.domain.interpretability import Measured
from viewer.domain.pack import PackData
from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.studies.steps import Sources


class Pictures(Protocol):
    """The images and masks behind a run's numbers, as they were sent."""

    def sent(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Return an image as sent but without its grid: (side, side) grey."""
        ...

    def gridded(self, image: str, condition: str) -> npt.NDArray[np.uint8]:
        """Return the exact image that was sent, (rows, columns, 3)."""
        ...

    def native(self, image: str, most: int) -> npt.NDArray[np.uint8]:
        """Return the whole image in grey, its longer side at most ``most`` pixels."""
        ...

    def mask(self, image: str, finding: str) -> npt.NDArray[np.bool_]:
        """Return a reference mask on the square sent, (side, side)."""
        ...

    def prompt(self, result: TrialResult) -> str:
        """Return the words that a trial was asked in."""
        ...


@dataclass(frozen=True)
class Reviewed:
    """Readers' verdicts on one model's complete misses of one finding.

    Numbers of misses: position errors, anatomy errors, undecided ones, and those called
    partial anyway. For a finished review of a sample they are estimates that sum to all
    misses (E000-25); for a review that is not ``finished`` they are those found so far.
    ``position_ends`` and ``anatomy_ends`` are exact 95 % intervals for all misses, of
    which ``reviewed`` were read.
    """

    position: float
    anatomy: float
    unsure: float = 0.0
    partial: float = 0.0
    reviewed: int = 0
    position_ends: tuple[int, int] | None = None
    anatomy_ends: tuple[int, int] | None = None
    finished: bool = True


Reviews = Mapping[tuple[str, str], Reviewed]
"""By model and finding; what is not in it was not reviewed."""


@dataclass(frozen=True)
class PackInput:
    """What a pack is made of: a run, its report, its data set and its pictures.

    ``verdicts`` are what readers said of single misses, ``position``, ``anatomy``,
    ``unsure`` or ``partial``, by item and model of the first condition. ``order``
    names the two series whose relative difference orders the findings;
    ``reference_cells`` shows in heat maps how often cells qualify, not mean masks.
    ``sources`` are the images of a study that asks about items, None of others;
    ``measured`` tells what was measured in a local model beside a trial's answer,
    ``returned`` which pictures its model returned with it.
    """

    report: ReportData
    results: Sequence[TrialResult]
    spec: RunSpec
    dataset: Dataset
    pictures: Pictures
    reviews: Reviews = field(default_factory=dict)
    verdicts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    order: tuple[str, str] | None = None
    reference_cells: bool = False
    sources: Sources | None = None
    measured: Callable[[TrialResult], Measured | None] = lambda _: None
    returned: Callable[[TrialResult], Sequence[Raster]] = lambda _: ()


class Pack(Protocol):
    """A paper: which study answers it, and what it prints."""

    name: str
    title: str
    study: str

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper."""
        ...
