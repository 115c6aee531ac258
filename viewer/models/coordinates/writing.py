"""Writing of locations as a model of each convention would write them."""

import json
import math
from collections.abc import Callable, Sequence

from viewer.models.coordinates.frame import Space
from viewer.models.coordinates.marks import Kind, Mark
from viewer.models.coordinates.tag_places import KOSMOS_SIDE

Quantized = tuple[int | float, ...]


def quantized(mark: Mark, space: Space) -> Quantized:
    """Return a mark's numbers rounded to the steps of a space; boxes keep an extent."""
    if mark.kind is not Kind.BOX:
        return tuple(_step(value, space) for value in mark.values)
    x0, x1 = _pair(mark.values[0], mark.values[2], space)
    y0, y1 = _pair(mark.values[1], mark.values[3], space)
    return x0, y0, x1, y1


def _step(value: float, space: Space) -> int | float:
    """Return the valid step of the space nearest to a value."""
    steps = round(value / space.step)
    highest = space.largest if space.largest is not None else space.divisions
    if highest is not None:
        steps = min(max(steps, 0), round(highest / space.step))
    return steps if space.step == 1.0 else round(steps * space.step, 6)


def _pair(low: float, high: float, space: Space) -> tuple[int | float, int | float]:
    """Return two different steps, each within one step of its value if possible."""
    first, second = _step(low, space), _step(high, space)
    if first != second:
        return first, second
    below = _step(first - space.step, space)
    above = _step(second + space.step, space)
    to_below, to_above = abs(below - low), abs(above - high)
    if above == second or (below != first and to_below < to_above):
        return below, second
    return first, above


def keyed_json(
    box_key: str, point_key: str, *, y_first: bool, fenced: bool
) -> "Writer":
    """Return a writer for a JSON list of objects with a label each."""

    def write(marks: Sequence[Mark], space: Space) -> str:
        objects = []
        for mark in marks:
            numbers = quantized(mark, space)
            if y_first:
                numbers = tuple(
                    v
                    for i in range(0, len(numbers), 2)
                    for v in numbers[i : i + 2][::-1]
                )
            key = box_key if mark.kind is Kind.BOX else point_key
            objects.append({key: list(numbers), "label": mark.label})
        text = json.dumps(objects, ensure_ascii=False)
        return f"```json\n{text}\n```" if fenced else text

    return write


def write_qwen2_vl(marks: Sequence[Mark], space: Space) -> str:
    """Write boxes and points between Qwen2-VL's special tokens."""
    return "".join(_qwen(mark, quantized(mark, space)) for mark in marks)


def _qwen(mark: Mark, n: Quantized) -> str:
    label = f"<|object_ref_start|>{mark.label}<|object_ref_end|>" if mark.label else ""
    if mark.kind is Kind.POINT:
        return f"{label}<|point_start|>({n[0]},{n[1]})<|point_end|>"
    return f"{label}<|box_start|>({n[0]},{n[1]}),({n[2]},{n[3]})<|box_end|>"


def write_paligemma(marks: Sequence[Mark], space: Space) -> str:
    """Write location tokens, y first, with four digits."""
    texts = []
    for mark in marks:
        x0, y0, x1, y1 = quantized(mark, space)
        tokens = "".join(f"<loc{n:04}>" for n in (y0, x0, y1, x1))
        codes = "".join(f"<seg{n:03}>" for n in mark.seg_codes)
        texts.append(f"{tokens}{codes} {mark.label}".strip())
    return " ; ".join(texts)


def write_molmo(marks: Sequence[Mark], space: Space) -> str:
    """Write one point, or several numbered ones in one tag, in percent."""
    points = [quantized(mark, space) for mark in marks]
    label = marks[0].label if marks else ""
    if not points:
        return "There are none."
    if len(points) == 1:
        x, y = points[0]
        return f'<point x="{x}" y="{y}" alt="{label}">{label}</point>'
    axes = " ".join(f'x{i}="{p[0]}" y{i}="{p[1]}"' for i, p in enumerate(points, 1))
    return f'<points {axes} alt="{label}">{label}</points>'


def write_florence2(marks: Sequence[Mark], space: Space) -> str:
    """Write location tokens after their label; an outline between poly tokens."""
    texts = []
    for mark in marks:
        tokens = "".join(f"<loc_{n}>" for n in quantized(mark, space))
        if mark.kind is Kind.POLYGON:
            tokens = f"<poly>{tokens}</poly>"
        texts.append(f"{mark.label}{tokens}")
    return "</s>" + "".join(texts) + "</s>"


def write_kosmos2(marks: Sequence[Mark], space: Space) -> str:
    """Write the patches of the upper left and the lower right corner."""
    del space
    return "<grounding>" + "".join(map(_kosmos, marks))


def _kosmos(mark: Mark) -> str:
    x0, y0, x1, y1 = mark.values
    left, top = (min(max(math.floor(v), 0), KOSMOS_SIDE - 1) for v in (x0, y0))
    right, bottom = (min(max(math.ceil(v) - 1, 0), KOSMOS_SIDE - 1) for v in (x1, y1))
    patches = (top * KOSMOS_SIDE + left, bottom * KOSMOS_SIDE + right)
    tokens = "".join(f"<patch_index_{n:04}>" for n in patches)
    phrase = f"<phrase>{mark.label}</phrase>" if mark.label else ""
    return f"{phrase}<object>{tokens}</object>"


def write_deepseek_vl2(marks: Sequence[Mark], space: Space) -> str:
    """Write a list of one box after its reference."""
    return "".join(
        f"<|ref|>{mark.label}<|/ref|><|det|>[{list(quantized(mark, space))}]<|/det|>"
        for mark in marks
    )


def write_internvl(marks: Sequence[Mark], space: Space) -> str:
    """Write a list of one box after its reference."""
    return "".join(
        f"<ref>{mark.label}</ref><box>[{list(quantized(mark, space))}]</box>"
        for mark in marks
    )


def write_maira2(marks: Sequence[Mark], space: Space) -> str:
    """Write grounded phrases."""
    texts = []
    for mark in marks:
        x0, y0, x1, y1 = quantized(mark, space)
        box = f"<box><x{x0}><y{y0}><x{x1}><y{y1}></box>"
        texts.append(f"<obj>{mark.label} {box}</obj>")
    return "".join(texts)


Writer = Callable[[Sequence[Mark], Space], str]
