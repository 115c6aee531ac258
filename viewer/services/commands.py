"""Commands of the window to its worker, and the worker's results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.case import ImageRef, View
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import LetterAxis
from viewer.domain.image import Window
from viewer.domain.plain import Kinds
from viewer.domain.privacy import PixelReview, ReviewDecision
from viewer.domain.run import RunMark, RunSpec


@dataclass(frozen=True)
class AskCommand:
    """One question to several models: where is ``finding`` on this image.

    ``window`` is that on the screen where a person changed it, None for the file's
    own; ``view`` is what the person says of an image that does not say it, ``letters``
    the axis of the grid that letters name. ``boxes`` are where segmenters are to look.
    """

    ref: ImageRef
    finding: str
    models: tuple[str, ...]
    grid: str = "8"
    view: View = View.UNKNOWN
    window: Window | None = None
    letters: LetterAxis = LetterAxis.ROW
    boxes: tuple[BoxPx, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """No parameters: the command's name says everything."""


@dataclass(frozen=True, slots=True)
class OfModel:
    """A command about a model, by its profile."""

    name: str


@dataclass(frozen=True, slots=True)
class OfRun:
    """A command about a run."""

    run: int


@dataclass(frozen=True, slots=True)
class BundleCommand:
    """Write a run's bundle to a path."""

    run: int
    path: str


@dataclass(frozen=True, slots=True)
class OfServer:
    """Ask the server of a profile's table, saved or not, for its models."""

    table: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NewBatch:
    """The settings of a run to plan and start, or to continue."""

    spec: RunSpec
    concurrency: int


@dataclass(frozen=True, slots=True)
class EndedBatch:
    """Stop a run: how to mark it, and how long to wait for replies."""

    run: int
    mark: RunMark | None = None
    within_s: float | None = None


@dataclass(frozen=True, slots=True)
class HeldModel:
    """A model that is loaded before it is asked.

    ``state`` is unloaded, loading or loaded; ``memory_bytes`` what its weights hold, or
    will hold, 0 if that is not known. ``error`` says why it cannot be loaded.
    """

    name: str
    state: str
    memory_bytes: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class LoadStep:
    """A model is being loaded: the part done, 0 to 1, and what is being done.

    ``what`` is "" once that has ended, where no reply tells it.
    """

    name: str
    part: float
    what: str


@dataclass(frozen=True, slots=True)
class CalibrationStep:
    """A model is being calibrated: how many of how many questions are answered."""

    name: str
    done: int
    total: int


STEPS: Final[Kinds[LoadStep | CalibrationStep]] = Kinds(
    "step", {"loading": LoadStep, "calibrating": CalibrationStep}
)
"""Steps as the worker tells them."""


@dataclass(frozen=True)
class PixelLook:
    """Text found in an image's pixels, and the decision about it.

    ``proposed`` are the boxes a person begins with, ``outlined`` the places that name
    nobody, in native pixels. ``reason`` says why the image waits for a look, "" if
    nothing speaks for text; ``missing`` how to get a finder; ``decision`` an earlier
    one, "" without.
    """

    image_sha256: str
    proposed: tuple[BoxPx, ...]
    outlined: tuple[BoxPx, ...]
    reason: str
    missing: str
    decision: str

    @property
    def waits(self) -> bool:
        """True if the image may not leave before a person decided."""
        return not self.decision and bool(self.reason or self.missing)

    def decided(self, boxes: Sequence[BoxPx]) -> PixelReview:
        """Return the decision that these boxes are blacked out, or that none needs."""
        decision = ReviewDecision.BLACKED_OUT if boxes else ReviewDecision.CLEAN
        return PixelReview(self.image_sha256, decision, tuple(boxes))

    @property
    def blocked(self) -> PixelReview:
        """The decision that the image may not leave."""
        return PixelReview(self.image_sha256, ReviewDecision.BLOCKED)


@dataclass(frozen=True, slots=True)
class FigureCard:
    """A figure of a run as the window lists it.

    ``called`` is its number and title and what tells it from others, ``words`` what
    stands under it, ``orders`` what its groups can be ordered by, none for most.
    """

    name: str
    called: str
    words: str
    orders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureCommand:
    """A figure of a run as a file of a kind: png, svg, pdf, csv or py, its script.

    ``ground`` is light, as in print, or dark; a picture has ``dpi`` pixels an inch.
    ``order`` names the two series that its groups are ordered by.
    """

    run: int
    name: str
    kind: str = "png"
    ground: str = "light"
    dpi: float = 300.0
    order: tuple[str, str] | None = None
