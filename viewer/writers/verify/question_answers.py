"""Answers of a question set judged again: numbers, words, cells and locations."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from viewer.writers.verify.finding_boxes import best_overlap, shared_part
from viewer.writers.verify.replies import ReadReply
from viewer.writers.verify.wording import unwrapped

_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_SIGN = re.compile(r"[^\w\s]|_")
Measured = tuple[bool, dict[str, float]]
"""Whether an answer is right, and what is measured of it."""


def plain_number(reply: ReadReply) -> float | None:
    """Return the number if a reply consists of one."""
    text = unwrapped(reply.text).strip()
    return float(text) if _PLAIN_NUMBER.fullmatch(text) else None


def number_in(written: str) -> float | None:
    """Return a number as it was read, with commas for thousands or decimals."""
    if _GROUPED.fullmatch(written):
        written = written.replace(",", "")
    try:
        return float(written.replace(",", "."))
    except ValueError:
        return None


def same_words(text: str, right: str, match: str) -> bool:
    """Tell whether words are the right ones by a rule that needs no judge."""
    if match == "exact":
        return text == right
    return _normal(text) == _normal(right)


def name_of_cell(parsed: Mapping[str, Any]) -> str:
    """Return an answered cell's name; its letter is the row's: D4."""
    row, column = parsed["cell"]
    return f"{chr(ord('A') + row)}{column + 1}"


def judged_number(value: float, gold: Mapping[str, Any]) -> Measured:
    """Judge a number by the tolerance."""
    error = abs(value - gold["number"])
    return error <= gold["off"], {"absolute_error": error}


def judged_point(point: Sequence[float], gold: Mapping[str, Any]) -> Measured:
    """Judge a point by its distance from a point, or from a box."""
    x, y = point
    if "point" in gold:
        off = math.hypot(x - gold["point"][0], y - gold["point"][1])
        return off <= gold["within"], {"distance_px": off}
    x0, y0, x1, y1 = gold["point_in"]
    off = math.hypot(max(x0 - x, 0.0, x - x1), max(y0 - y, 0.0, y - y1))
    return off == 0, {"distance_px": off}


def judged_boxes(boxes: Sequence[Any], gold: Mapping[str, Any]) -> Measured:
    """Judge boxes: each takes the best free right one, the last in a tie."""
    right, found = gold["boxes"], 0
    free = set(range(len(right)))
    for box in boxes:
        shares = [shared_part(box, other) for other in right]
        top, best = max(((shares[i], i) for i in free), default=(-1.0, -1))
        if top >= gold["iou"]:
            free.discard(best)
            found += 1
    extra, missed = len(boxes) - found, len(right) - found
    counts = {"boxes_found": found, "boxes_extra": extra, "boxes_missed": missed}
    told = {name: float(n) for name, n in counts.items()}
    if boxes and right:
        told["iou"] = best_overlap(boxes, right)
    return not extra and not missed, told


def _normal(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLE.sub(" ", _SIGN.sub(" ", plain)).split())
