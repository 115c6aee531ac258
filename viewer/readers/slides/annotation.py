"""Annotation of a slide's field: magnification, pixel size and colour."""

from viewer.domain.slide import OVERVIEW, is_region, scale_name
from viewer.readers.slides.format import SlideFacts
from viewer.readers.slides.slide import Slide, colour_words


def scan_words(facts: SlideFacts) -> str:
    """Return ``Whole slide, scanned at 20x``, with doubts about the magnification.

    It follows from the pixel size if the file names no objective, or a contradictory
    one.
    """
    if facts.magnification is None:
        return "Whole slide, magnification unknown"
    words = f"Whole slide, scanned at {_rounded(facts.magnification)}"
    if facts.power is None:
        return f"{words} by its pixel size"
    return f"{words} {_against(facts)}".strip()


def _against(facts: SlideFacts) -> str:
    """Return a remark on an objective that contradicts the pixel size."""
    if facts.power is None or not facts.contradicts_power:
        return ""
    return f"by its pixel size; the file says {_rounded(facts.power)}"


def field_lines(slide: Slide, frame: int) -> tuple[str, ...]:
    """Return a field's magnification, position, pixel size, colours and compression."""
    facts, scale = slide.facts, slide.map.scale_of(frame)
    whole = scale.name == OVERVIEW
    spacing = facts.spacing if whole else slide.map.geometry(frame).spacing
    um = None if spacing is None else spacing.column_mm * 1000
    number = f"field {frame - scale.first + 1} / {scale.count}"
    lines = (
        scan_words(facts)
        if whole
        else f"{scale.name} · {'region' if is_region(frame) else number}",
        "Uncalibrated" if um is None else f"{um:.4g} µm/px",
        colour_words(facts),
        facts.note,
        "" if whole else _contradiction_words(facts),
        facts.lossy,
    )
    return tuple(line for line in lines if line)


def _contradiction_words(facts: SlideFacts) -> str:
    magnification, against = facts.magnification, _against(facts)
    return f"{_rounded(magnification)} {against}" if magnification and against else ""


def _rounded(magnification: float) -> str:
    return scale_name(float(f"{magnification:.3g}"))
