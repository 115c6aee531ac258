"""The image view's signals, one frozen type each, and the tools by name."""

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

    SELECT = "select"
    WINDOW = "window"
    PAN = "pan"
    ZOOM = "zoom"
    SCROLL = "scroll"
    CROSSHAIR = "crosshair"
    MAGNIFIER = "magnifier"
    LENGTH = "length"
    ANGLE = "angle"
    COBB = "cobb"
    RECTANGLE = "rectangle"
    ELLIPSE = "ellipse"
    POLYGON = "polygon"
    BRUSH = "brush"
    ERASER = "eraser"
    HEART = "heart"
    ARROW = "arrow"
    TEXT = "text"
    POINT = "point"
    FREEHAND = "freehand"


@dataclass(frozen=True, slots=True)
class CursorMoved:
    """The cursor's native position, None off the image, and the value there."""

    point: PointPx | None
    value_text: str


@dataclass(frozen=True, slots=True)
class WindowChanged:
    """The window now in use, in modality units."""

    window: Window


@dataclass(frozen=True, slots=True)
class SenseChanged:
    """Whether the user inverted the grey scale."""

    inverted: bool


@dataclass(frozen=True, slots=True)
class MarksChanged:
    """The image whose marks have changed."""

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
    """Files and folders dropped on the image."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class PointedAt:
    """The native position that the cross-hair shows."""

    point: PointPx


@dataclass(frozen=True, slots=True)
class Scrolled:
    """The number of frames to advance; negative is back."""

    steps: int
