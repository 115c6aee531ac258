"""What the image view tells: one frozen type per signal, and the tools by name."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.image import Window

if TYPE_CHECKING:
    from viewer.services.inspecting.answers import StoredAnswer


class Tool(StrEnum):
    """What a drag with the left button does."""

    WINDOW = "window"
    PAN = "pan"
    ZOOM = "zoom"
    SCROLL = "scroll"
    LENGTH = "length"
    ANGLE = "angle"
    COBB = "cobb"
    RECTANGLE = "rectangle"
    ELLIPSE = "ellipse"


@dataclass(frozen=True, slots=True)
class CursorMoved:
    """The cursor's native position, None off the image, and the value there."""

    point: PointPx | None
    value_text: str


@dataclass(frozen=True, slots=True)
class WindowChanged:
    """The window now shown with, in modality units."""

    window: Window


@dataclass(frozen=True, slots=True)
class SenseChanged:
    """Whether a person turned the grey scale round."""

    inverted: bool


@dataclass(frozen=True, slots=True)
class MarksChanged:
    """The image whose marks are others now."""

    ref: ImageRef


@dataclass(frozen=True, slots=True)
class ZoomChanged:
    """Device pixels per native pixel; 1.0 is one to one."""

    factor: float


@dataclass(frozen=True)
class AnswerHovered:
    """The answer under the cursor, None if the cursor left it."""

    answer: "StoredAnswer | None"


@dataclass(frozen=True)
class AnswerClicked:
    """An answer was clicked on the image."""

    answer: "StoredAnswer"


@dataclass(frozen=True, slots=True)
class FilesDropped:
    """Files and folders let go over the image."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Scrolled:
    """How many frames to go on; negative is back."""

    steps: int
