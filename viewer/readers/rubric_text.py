"""A data set's own text of the rubric that readers graded by (E001-10).

``rubric.json`` in its folder: ``{"process": {"heading": "…", "levels": ["meaning of 1",
…, "meaning of 5"]}, …}``. Dimensions that are missing keep our text.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.domain.rubric import LEVELS, RUBRIC, Dimension, RubricRow
from viewer.readers.files.json_files import document

FILE: Final = "rubric.json"
_HOW: Final = "Give each dimension a heading, and five levels from 1 to 5."


def rubric_below(root: Path) -> Mapping[Dimension, RubricRow]:
    """Return the rubric in a data set's folder, or ours.

    Raises
    ------
    UnreadableInputError
        If the file has another form, or a dimension is unknown or has no heading with
        five levels.
    """
    path = root / FILE
    if not path.is_file():
        return RUBRIC
    found = document(path)
    if not isinstance(found, dict):
        raise UnreadableInputError(f"'{FILE}' contains no dimensions.", _HOW)
    rows = {_dimension(name): _row(name, value) for name, value in found.items()}
    return {**RUBRIC, **rows}


def _dimension(name: str) -> Dimension:
    if name not in set(Dimension):
        raise UnreadableInputError(
            f"'{name}' in '{FILE}' is not one of the dimensions.",
            f"They are {', '.join(Dimension)}.",
        )
    return Dimension(name)


def _row(name: str, value: object) -> RubricRow:
    text = value if isinstance(value, dict) else {}
    heading, levels = text.get("heading"), text.get("levels")
    whole = isinstance(levels, list) and len(levels) == len(LEVELS)
    texts = [heading, *levels] if whole and isinstance(levels, list) else [None]
    if not all(isinstance(one, str) and one.strip() for one in texts):
        raise UnreadableInputError(
            f"'{name}' in '{FILE}' has no heading with five levels.", _HOW
        )
    first, *others = map(str, texts)
    return RubricRow(first, tuple(others))
