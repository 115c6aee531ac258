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

    ``window`` is the displayed one if the user changed it, None for the file's;
    ``view`` is the user's for an image whose file has none, ``letters`` the grid axis
    that letters name. ``boxes`` are for segmenters to look in.
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
    """A command without parameters."""


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
    """Ask the server in a profile's table, saved or not, for its models."""

    table: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FindModels:
    """Look for models of servers on this machine.

    ``ask`` those of which nothing is declared whether they take images.
    """

    ask: bool = False


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
    """The state of a local model.

    ``state`` is unloaded, loading or loaded; ``memory_bytes`` the size of its weights,
    loaded or not, 0 if unknown. ``error`` says why it cannot be loaded.
    """

    name: str
    state: str
    memory_bytes: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class LoadStep:
    """Progress of loading a model: the fraction done, 0 to 1, and the current step.

    ``what`` is "" at the end, if no reply reports it.
    """

    name: str
    part: float
    what: str


@dataclass(frozen=True, slots=True)
class CalibrationStep:
    """Progress of a calibration: questions answered, of how many.

    ``awaited`` says what the next answer waits for, "" if for nothing else.
    """

    name: str
    done: int
    total: int
    awaited: str = ""


STEPS: Final[Kinds[LoadStep | CalibrationStep]] = Kinds(
    "step", {"loading": LoadStep, "calibrating": CalibrationStep}
)
"""Steps as the worker tells them."""


@dataclass(frozen=True)
class PixelLook:
    """Text found in an image's pixels, and the decision about it.

    ``proposed`` are the boxes to start with, ``outlined`` text that identifies nobody,
    in native pixels. ``reason`` says why the image needs review, "" if nothing suggests
    text; ``missing`` how to install the text finder; ``decision`` is an earlier one, ""
    for none.
    """

    image_sha256: str
    proposed: tuple[BoxPx, ...]
    outlined: tuple[BoxPx, ...]
    reason: str
    missing: str
    decision: str

    @property
    def waits(self) -> bool:
        """True if the image must not be sent before a person decides."""
        return not self.decision and bool(self.reason or self.missing)

    def decided(self, boxes: Sequence[BoxPx]) -> PixelReview:
        """Return the decision to black out these boxes, or that none is needed."""
        decision = ReviewDecision.BLACKED_OUT if boxes else ReviewDecision.CLEAN
        return PixelReview(self.image_sha256, decision, tuple(boxes))

    @property
    def blocked(self) -> PixelReview:
        """Return the decision that the image must not be sent."""
        return PixelReview(self.image_sha256, ReviewDecision.BLOCKED)


@dataclass(frozen=True, slots=True)
class FigureCard:
    """A figure of a run as listed in the window.

    ``called`` is its number and title and what distinguishes it from others, ``words``
    its caption, ``orders`` what its groups can be ordered by, empty for most.
    """

    name: str
    called: str
    words: str
    orders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureCommand:
    """Export of a run's figure to a file: png, svg, pdf, csv or py (its script).

    ``ground`` is light, as in print, or dark; a picture has ``dpi`` pixels per inch.
    ``order`` names the two series by which its groups are ordered.
    """

    run: int
    name: str
    kind: str = "png"
    ground: str = "light"
    dpi: float = 300.0
    order: tuple[str, str] | None = None
