"""The marks of a view: an item for each, and the layers that draw them."""

from PySide6.QtCore import QRectF, QTimer
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

from viewer.ui.canvas.marks.book import DrawnMark
from viewer.ui.canvas.marks.item import MarkItem
from viewer.ui.canvas.marks.layer import LinesLayer, MarksLayer, WordsLayer
from viewer.ui.canvas.marks.mask_item import mark_item
from viewer.ui.canvas.overlays.halo import Face


class MarksOverlay:
    """Keeps the items of marks that stay, and has many drawn in several turns."""

    def __init__(
        self, scene: QGraphicsScene, parent: QGraphicsItem, face: Face
    ) -> None:
        self._scene, self._face = scene, face
        self._later = QTimer(scene, singleShot=True, interval=0)
        self._later.timeout.connect(self._draw_on)
        ask = self._later.start
        self._words = WordsLayer(parent, ask)
        self.layers: tuple[MarksLayer, ...] = (LinesLayer(parent, ask), self._words)
        """The lower one first."""
        self.items: tuple[MarkItem, ...] = ()
        """One for each mark, the topmost last."""
        self._drawn: tuple[DrawnMark, ...] = ()

    def set_marks(self, drawn: tuple[DrawnMark, ...]) -> None:
        """Draw marks in place of those before; the last lies on top."""
        known: dict[DrawnMark, list[MarkItem]] = {}
        for each, item in zip(self._drawn, self.items, strict=True):
            known.setdefault(each, []).append(item)
        self.items = tuple(
            known[each].pop() if known.get(each) else self._item_of(each)
            for each in drawn
        )
        self._drawn = drawn
        for layer in self.layers:
            layer.set_marks(self.items)

    def _item_of(self, drawn: DrawnMark) -> MarkItem:
        return mark_item(drawn.mark, drawn.words, self._face, chosen=drawn.chosen)

    def lie_on(self, native: QTransform, area: QRectF) -> None:
        """Lie over all of the view that is seen."""
        for layer in self.layers:
            layer.lie_on(native, area)

    def words_moved(self) -> None:
        """Draw the words where they stand now, with the next picture of the view."""
        self._words.draw_anew()

    def end(self) -> None:
        """Leave the scene."""
        self._later.deleteLater()
        for layer in self.layers:
            self._scene.removeItem(layer)

    def _draw_on(self) -> None:
        """Draw for a turn, and show a layer once it is finished."""
        for layer in self.layers:
            if layer.unfinished:
                if not layer.go_on():
                    self._later.start()
                    return
                layer.update()
