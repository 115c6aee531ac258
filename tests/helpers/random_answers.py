"""Made-up answers in random views, and what must hold of their labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QGraphicsScene

from viewer.domain.answer import Answer, BoxesAnswer, MaskAnswer, PointAnswer, Status
from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell, Grid
from viewer.domain.reference import Mask
from viewer.domain.result import Outcome, Score
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.canvas.layers import Layers
from viewer.ui.canvas.overlays.answer_item import AnswerItem
from viewer.ui.canvas.overlays.aside import GAP
from viewer.ui.canvas.overlays.halo import TEXT


def a_stored_answer(
    label: str = "C2",
    outcome: Outcome | None = Outcome.MISS,
    status: Status = Status.SCORED_WRONG,
    model: str = "asymmetry",
    grid: Grid | None = None,
    field: BoxPx | None = None,
) -> StoredAnswer:
    """Return an answer about a nodule: a cell, or another label."""
    return StoredAnswer(
        trial=7,
        run=3,
        ref=ImageRef(Path("somewhere.dcm")),
        finding="Nodule",
        view="frontal",
        model=model,
        adapter="scripted",
        grid=grid or Grid(8, 8),
        field=field or BoxPx(0, 50, 500, 550),
        score=Score(status, "", label, 0.0, outcome),
        reference_cells=("D4",),
        reply_text="C2",
        note="",
        latency_ms=5,
        cost_microusd=None,
        model_returned="asymmetry-1.2",
        prompt_sha256="ab" * 32,
        request_sha256="cd" * 32,
        parameters={"temperature": "0"},
        asked_at="2026-01-01T00:00:00Z",
    )


SIDE = 512
"""Native rows and columns of the image that is asked about."""
_NAMES = (
    "prior",
    "asymmetry",
    "medgemma-4b",
    "vendor/a-model-with-a-very-long-name-of-seventy-billion-parameters-q4_K_M",
    "医学影像多模态大模型七十亿参数胸部指令微调版本",
)
_RING_PX = 9.0
_STEP = 7
_TOLERANCE = 0.1


@dataclass(frozen=True, eq=False)
class LabelScene:
    """Answers laid out in a view; ``grounds`` are its corner texts."""

    items: tuple[AnswerItem, ...]
    native: QTransform
    area: QRectF
    grounds: tuple[QRectF, ...]
    scene: QGraphicsScene


def random_scene(seed: int) -> LabelScene:
    """Return one to nine answers, often side by side, at any zoom of a small view."""
    random = np.random.default_rng(seed)
    scene = QGraphicsScene()
    layers = Layers(scene, TEXT)
    area = QRectF(0, 0, int(random.integers(160, 1100)), int(random.integers(120, 800)))
    native = _a_view(random, area)
    grounds = tuple(QRectF(8, 8 + 15 * n, 90, 15) for n in range(random.integers(4)))
    if random.random() < 0.5:
        layers.set_reference(Mask.of_array(_a_blob(random)))
    answers = tuple(_answers(random))
    layers.set_answers(answers)
    layers.place(native, area, grounds)
    layers.settle()
    return LabelScene(layers.answers[::-1], native, area, grounds, scene)


def faults(made: LabelScene) -> Iterator[str]:
    """Yield what is wrong with the labels, in the order they were placed."""
    placed = list(made.grounds)
    rects = {item: view_rects(item.answer, made.native) for item in made.items}
    for item in made.items:
        own, tag = rects[item], item.tag
        if own and not any(rect.intersects(made.area) for rect in own):
            if tag.intersects(made.area):
                yield "a label of a shape that is out ofblinding"
            continue
        others = [r for other in made.items if other is not item for r in rects[other]]
        yield from _faults_of(item, own, others, placed, made)
        placed.append(tag)


def _faults_of(
    item: AnswerItem,
    own: Sequence[QRectF],
    others: Sequence[QRectF],
    placed: Sequence[QRectF],
    made: LabelScene,
) -> Iterator[str]:
    tag, leader = item.tag, getattr(item, "leader", None)
    inner = made.area.adjusted(-1e-6, -1e-6, 1e-6, 1e-6)
    fits = tag.width() <= made.area.width() and tag.height() <= made.area.height()
    if fits and not inner.contains(tag):
        yield "a label that reaches out of the view"
    if own and leader is None and _distance(item.answer, made.native, tag) > GAP + 1:
        yield "a label away from its shape without a line"
    seen = next((r for r in own if r.intersects(made.area)), QRectF())
    kept = list(_with_margin(seen.intersected(made.area), others))
    covers = _covers(tag, kept) or _covers(tag, placed)
    if covers and _is_room((*placed, *kept), tag, made.area):
        yield "a label on another's shape or text though there is room"


def view_rects(answer: StoredAnswer, native: QTransform) -> list[QRectF]:
    """Return the view's rectangles that an answer fills, none without a place."""
    said = answer.answer
    if isinstance(said, PointAnswer):
        at = native.map(QPointF(said.point.x, said.point.y))
        ring = QRectF(0, 0, 2 * _RING_PX, 2 * _RING_PX)
        ring.moveCenter(at)
        return [ring]
    return [native.mapRect(rect) for rect in _native_rects(answer, said)]


def _native_rects(answer: StoredAnswer, said: Answer | None) -> Iterator[QRectF]:
    if isinstance(said, BoxesAnswer):
        for b in sorted(said.boxes, key=lambda b: -(b.x1 - b.x0) * (b.y1 - b.y0)):
            yield QRectF(b.x0, b.y0, b.x1 - b.x0, b.y1 - b.y0)
    elif isinstance(said, MaskAnswer):
        ys, xs = np.nonzero(said.mask.array())
        wide, high = np.ptp(xs) + 1, np.ptp(ys) + 1
        yield QRectF(float(xs.min()), float(ys.min()), float(wide), float(high))
    elif answer.score.answer:
        cell, pitch = answer.grid.cell(answer.score.answer), SIDE / 8
        assert cell is not None
        yield QRectF(cell.column * pitch, cell.row * pitch, pitch, pitch)


def _distance(answer: StoredAnswer, native: QTransform, tag: QRectF) -> float:
    """Return how far a label is from its shape; of a mask from its nearest pixel."""
    if isinstance(answer.answer, MaskAnswer):
        ys, xs = np.nonzero(answer.answer.mask.array())
        left, top = native.m11() * xs + native.dx(), native.m22() * ys + native.dy()
        right, bottom = left + native.m11(), top + native.m22()
    else:
        rects = view_rects(answer, native)
        edges = [(r.left(), r.top(), r.right(), r.bottom()) for r in rects]
        left, top, right, bottom = np.array(edges).T
    across = np.maximum(np.maximum(left - tag.right(), tag.left() - right), 0)
    down = np.maximum(np.maximum(top - tag.bottom(), tag.top() - bottom), 0)
    return float(np.hypot(across, down).min())


def _with_margin(own: QRectF, others: Sequence[QRectF]) -> Iterator[QRectF]:
    """Yield the others' shapes; those beside this one's a little larger."""
    for other in others:
        core = other.adjusted(1, 1, -1, -1)
        near = 0.0 if core.intersects(own) else GAP
        yield other.adjusted(-near, -near, near, near)


def _covers(tag: QRectF, rects: Sequence[QRectF]) -> bool:
    inner = tag.adjusted(_TOLERANCE, _TOLERANCE, -_TOLERANCE, -_TOLERANCE)
    return any(inner.intersects(rect) for rect in rects)


def _is_room(rects: Sequence[QRectF], tag: QRectF, area: QRectF) -> bool:
    """Tell whether any of a lattice of places in the view is free."""
    x = np.arange(area.left(), area.right() - tag.width(), _STEP)[:, None]
    y = np.arange(area.top(), area.bottom() - tag.height(), _STEP)[None, :]
    free = np.ones((x.size, y.size), bool)
    for r in rects:
        across = (x < r.right()) & (r.left() < x + tag.width())
        free &= ~(across & (y < r.bottom()) & (r.top() < y + tag.height()))
    return bool(free.any())


def _a_view(random: np.random.Generator, area: QRectF) -> QTransform:
    """Return native pixels to the view: whole, or zoomed in and moved."""
    whole = min(area.width(), area.height()) / SIDE
    scale = whole * random.choice((1.0, 1.0, random.uniform(1, 8)))
    x, y = (
        (side - SIDE * scale) * random.uniform(0, 1)
        for side in (area.width(), area.height())
    )
    return QTransform(scale, 0, 0, scale, x, y)


def _answers(random: np.random.Generator) -> Iterator[StoredAnswer]:
    row, column = random.integers(0, 7, 2)
    for number in range(random.integers(1, 10)):
        name = f"{random.choice(_NAMES)}-{number}"
        outcome = random.choice(np.array(list(Outcome), object))
        kind = int(random.integers(8))
        if kind == 0:
            yield a_stored_answer("", None, Status.REFUSED, name)
            continue
        beside = row + random.integers(-1, 2), column + random.integers(-1, 2)
        cell = Cell(*(int(np.clip(n, 0, 7)) for n in beside))
        field = BoxPx(0, 0, SIDE, SIDE)
        made = a_stored_answer(Grid(8, 8).label(cell), outcome, model=name, field=field)
        yield made if kind < 4 else replace(made, answer=_said(random, kind, cell))


def _said(random: np.random.Generator, kind: int, cell: Cell) -> Answer:
    x, y = (
        cell.column * 64 + random.uniform(0, 64),
        cell.row * 64 + random.uniform(0, 64),
    )
    if kind == 4:
        return PointAnswer(PointPx(x, y))
    if kind == 5:
        return MaskAnswer(Mask.of_array(_a_blob(random)))
    boxes = []
    for _ in range(random.integers(1, 3)):
        wide, high = random.uniform(10, 200, 2)
        boxes.append(BoxPx(x, y, min(x + wide, SIDE), min(y + high, SIDE)))
        x, y = random.uniform(0, SIDE - 10, 2)
    return BoxesAnswer(tuple(boxes))


def _a_blob(random: np.random.Generator) -> npt.NDArray[np.bool_]:
    y, x = np.ogrid[:SIDE, :SIDE]
    row, column = random.uniform(50, SIDE - 50, 2)
    tall, wide = random.uniform(8, 120, 2)
    ellipse = ((y - row) / tall) ** 2 + ((x - column) / wide) ** 2 <= 1
    return np.asarray(ellipse & (x + y > row + column - tall))
