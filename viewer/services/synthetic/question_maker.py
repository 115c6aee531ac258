"""The scripted model that makes questions from tiles (E003-15)."""

import json
import re
from collections.abc import Iterator
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.item import Item
from viewer.domain.run import Trial
from viewer.services.synthetic.phantom.tissue_scene import Tissue
from viewer.studies.pathology_mcq.building import OPTIONS
from viewer.studies.pathology_mcq.templates import ASK_THREE, DESCRIBE

_CAPTION: Final = re.compile(r"(.+)\. Glands: (\d+)\. Mitotic figures: (\d+)\.")
_NEITHER: Final = "The tile was generated otherwise."


def makes_questions(_: Trial, item: Item) -> dict[str, object]:
    """Describe a tile by its caption, and ask about the caption's content."""
    caption = str(item.facts["caption"])
    found = _CAPTION.fullmatch(caption)
    tissue, *counts = found.groups() if found else (caption, "0", "0")
    glands, mitoses = map(int, counts)
    names = [tissue, *(str(one) for one in Tissue if one != tissue)]
    asked = (
        _question("Which tissue does this field show?", names[:OPTIONS], glands),
        _question("How many glands are there?", _numbers(glands), mitoses),
        _question("How many mitotic figures are there?", _numbers(mitoses), glands + 1),
    )
    described = f"The field shows this tissue: {caption}"
    return {DESCRIBE: described, ASK_THREE: json.dumps(asked)}


def _numbers(right: int) -> list[str]:
    return [str(right + i) for i in range(OPTIONS)]


def _question(text: str, options: list[str], turned: int) -> dict[str, object]:
    """Return a question whose right option is moved from the first position."""
    places = list(_turned(turned % OPTIONS))
    explanations = ["The tile was generated so.", *[_NEITHER] * (OPTIONS - 1)]
    return {
        "question": text,
        "options": [options[i] for i in places],
        "answer": letter_of(places.index(0)),
        "explanations": [explanations[i] for i in places],
    }


def _turned(by: int) -> Iterator[int]:
    return ((place - by) % OPTIONS for place in range(OPTIONS))
