"""The tools: what a drag with each does, and the cursor that tells so."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QPointF, Qt

from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.marks.mark import MarkKind
from viewer.ui.canvas.tools.drag import Canvas, Drag
from viewer.ui.canvas.tools.pan import PanDrag
from viewer.ui.canvas.tools.scroll import ScrollDrag
from viewer.ui.canvas.tools.window import WindowDrag
from viewer.ui.canvas.tools.zoom import ZoomDrag

DRAGS: Final[dict[Tool, Callable[[Canvas, QPointF], Drag]]] = {
    Tool.WINDOW: WindowDrag,
    Tool.PAN: PanDrag,
    Tool.ZOOM: ZoomDrag,
    Tool.SCROLL: ScrollDrag,
}
DRAWN: Final = {Tool(kind.value): kind for kind in MarkKind}
"""The kind of mark that each other tool draws."""
CURSORS: Final = {
    Tool.WINDOW: Qt.CursorShape.ArrowCursor,
    Tool.PAN: Qt.CursorShape.OpenHandCursor,
    Tool.ZOOM: Qt.CursorShape.SizeVerCursor,
    Tool.SCROLL: Qt.CursorShape.SplitVCursor,
    **dict.fromkeys(DRAWN, Qt.CursorShape.CrossCursor),
}
