"""What the window asks of its worker, and how it stands in a line of JSON."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viewer.domain.case import ImageRef, View
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import LetterAxis
from viewer.domain.image import VoiFunction, Window
from viewer.domain.privacy import PixelReview, ReviewDecision


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
class HeldModel:
    """A model that is loaded before it is asked.

    ``state`` is unloaded, loading or loaded; ``memory_bytes`` what its weights hold,
    or will hold, 0 where that is not known. ``error`` says why it cannot be loaded.
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


@dataclass(frozen=True)
class PixelLook:
    """What the text finder found in an image's pixels, and what was decided of it.

    ``proposed`` are the boxes a person begins with, ``outlined`` the places that name
    nobody, in native pixels. ``reason`` says why the image waits for a look, "" where
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
        """True where the image may not leave before a person decided."""
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


def figure_of_json(value: Mapping[str, Any]) -> FigureCommand:
    """Return the command of which ``asdict`` made these JSON values; others raise."""
    try:
        order = value["order"] and (str(value["order"][0]), str(value["order"][1]))
        return FigureCommand(
            int(value["run"]),
            str(value["name"]),
            str(value["kind"]),
            str(value["ground"]),
            float(value["dpi"]),
            order,
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise WrongUseError(
            "The worker got a figure's name that it cannot read.",
            f"{type(error).__name__} at {error}.",
        ) from error


def look_as_json(look: PixelLook) -> dict[str, object]:
    """Return a look at pixels as plain JSON values."""
    return dataclasses.asdict(look) | {
        "proposed": [dataclasses.astuple(box) for box in look.proposed],
        "outlined": [dataclasses.astuple(box) for box in look.outlined],
    }


def look_of_json(value: Mapping[str, Any]) -> PixelLook:
    """Return the look that :func:`look_as_json` wrote."""
    boxes = {
        name: tuple(BoxPx(*box) for box in value[name])
        for name in ("proposed", "outlined")
    }
    return PixelLook(**{**value, **boxes})


def ask_as_json(command: AskCommand) -> dict[str, object]:
    """Return a question as plain JSON values."""
    window = command.window
    return {
        "cmd": "ask",
        "path": str(command.ref.path),
        "frame": command.ref.frame,
        "finding": command.finding,
        "models": list(command.models),
        "grid": command.grid,
        "letters": command.letters.value,
        "view": command.view.value,
        "window": None
        if window is None
        else [window.center, window.width, window.function.value],
        "boxes": [dataclasses.astuple(box) for box in command.boxes],
    }


def ask_of_json(value: Mapping[str, Any]) -> AskCommand:
    """Return the question that :func:`ask_as_json` wrote; another raises."""
    try:
        return AskCommand(
            ref=ImageRef(Path(value["path"]), int(value["frame"])),
            finding=str(value["finding"]),
            models=tuple(str(name) for name in value["models"]),
            grid=str(value["grid"]),
            view=View(value["view"]),
            window=_window(value["window"]),
            letters=LetterAxis(value["letters"]),
            boxes=tuple(BoxPx(*map(float, box)) for box in value.get("boxes", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise WrongUseError(
            "The worker got a question that it cannot read.",
            f"{type(error).__name__} at {error}.",
        ) from error


def _window(value: Any) -> Window | None:  # noqa: ANN401 - JSON
    if value is None:
        return None
    center, width, function = value
    return Window(float(center), float(width), VoiFunction(function))
