"""An answer's comparison with its reference, in words and numbers."""

from viewer.domain.result import Measures
from viewer.ui.canvas.overlays.scale_bar import SUFFIX

_KINDS = {
    "cell": "cell",
    "point": "point",
    "boxes": "box",
    "mask": "mask",
    "heat_map": "heat map",
}


def kind_words(measures: Measures | None) -> str:
    """Return the kind of an answer in a word or two; "" if nothing is measured."""
    return "" if measures is None else _KINDS[measures.kind]


def measure_line(measures: Measures | None) -> str:
    """Return overlap and distance in a few words; "" if nothing is measured."""
    if measures is None:
        return ""
    parts = [] if measures.iou is None else [f"IoU {measures.iou:.2f}"]
    parts += [] if measures.dice is None else [f"Dice {measures.dice:.2f}"]
    if measures.distance_mm is None:
        parts.append(f"{measures.distance_px:.1f} px")
    else:
        parts.append(f"{measures.distance_mm:.1f} mm")
    return " · ".join(parts)


def measure_rows(measures: Measures | None) -> tuple[tuple[str, str], ...]:
    """Return every measure, name and value, to ten decimals as the tables have them."""
    if measures is None:
        return ()
    x, y = measures.point.x, measures.point.y
    rows = [
        ("Answer", f"{kind_words(measures)}, its point at {x:.1f}, {y:.1f}"),
        ("Cell rule", _hit(measures.cell_hit)),
        ("Pointing rule", _hit(measures.pointing_hit)),
    ]
    if measures.iou is not None and measures.dice is not None:
        rows += [
            ("IoU rule", _hit(bool(measures.iou_hit))),
            ("IoU", f"{measures.iou:.10f}"),
            ("Dice", f"{measures.dice:.10f}"),
        ]
    whole = measures.iou_uncropped
    if whole is not None and whole != measures.iou:
        rows.append(("IoU uncropped", f"{whole:.10f}"))
    return (*rows, ("Distance", _distance(measures)))


def _hit(hit: bool) -> str:
    return "hit" if hit else "miss"


def _distance(measures: Measures) -> str:
    pixels = f"{measures.distance_px:.10f} px"
    if measures.distance_mm is None or measures.mm_meaning is None:
        return pixels
    suffix = SUFFIX[measures.mm_meaning]
    return f"{pixels}, {measures.distance_mm:.10f} mm{suffix}"
