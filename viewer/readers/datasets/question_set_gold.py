"""The right answer to a benchmark's question, parsed from its table cell.

The result is plain JSON, as stored in an item's reference. An answer that is not of its
kind raises RejectedRowError.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Final

from viewer.domain.documents import read_json
from viewer.domain.grid import grid_of_name
from viewer.domain.plain import plain
from viewer.domain.question_kinds import AnswerKind
from viewer.readers.datasets.choice_rows import RejectedRowError, option_named
from viewer.readers.datasets.question_set_file import Answer

Gold = dict[str, object]
_YES: Final = frozenset({"yes", "y", "true", "1", "1.0", "present"})
_NO: Final = frozenset({"no", "n", "false", "0", "0.0", "absent"})
_CELL: Final = re.compile(r"[A-Za-z]\d{1,2}")


def gold_of(
    kind: AnswerKind, cell: object, options: Sequence[str], answer: Answer
) -> Gold:
    """Return the right answer to a question of a kind."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        raise RejectedRowError("It has no answer.")
    return _READERS[kind](cell, options, answer)


def listed(cell: object) -> Sequence[object]:
    """Return the members of a cell with a list, also if written as JSON."""
    if isinstance(cell, str) and cell.strip().startswith("["):
        try:
            cell = read_json(cell)
        except ValueError:
            return (cell,)
    if isinstance(cell, list | tuple):
        return cell
    return () if cell is None or cell == "" else (cell,)


def _single(cell: object) -> object:
    """Return the only answer in a cell; raises if there are several."""
    answers = list(dict.fromkeys(map(str, members := listed(cell))))
    if len(answers) > 1:
        raise RejectedRowError(f"It has {len(answers)} right answers.")
    return members[0] if members else ""


def _choice(cell: object, options: Sequence[str], answer: Answer) -> Gold:
    one = _single(cell)
    if answer.first_option is None:
        return {"option": option_named(str(one), options)}
    number = _number(one) - answer.first_option
    if not (number.is_integer() and 0 <= number < len(options)):
        raise RejectedRowError("Its answer is not one of its options.")
    return {"option": int(number)}


def _yes_no(cell: object, _: Sequence[str], __: Answer) -> Gold:
    written = str(_single(cell)).strip().casefold().rstrip(".")
    if written not in _YES | _NO:
        raise RejectedRowError("Its answer is neither yes nor no.")
    return {"yes": written in _YES}


def _of_number(cell: object, _: Sequence[str], answer: Answer) -> Gold:
    right = _number(_single(cell))
    return {"number": right, "off": max(answer.tolerance, answer.relative * abs(right))}


def _text(cell: object, _: Sequence[str], answer: Answer) -> Gold:
    return {"text": str(_single(cell)).strip(), "match": answer.match.value}


def _cells(cell: object, _: Sequence[str], answer: Answer) -> Gold:
    grid, names = grid_of_name(answer.grid), list[str]()
    written = " ".join(map(str, listed(cell)))
    for name in _CELL.findall(written):
        found = grid.cell(name)
        if found is None:
            raise RejectedRowError(f"Its grid has no cell {name}.")
        names.append(grid.label(found))
    if not names or re.sub(rf"{_CELL.pattern}|[\s,;]+", "", written):
        raise RejectedRowError("Its answer is not a cell, such as D4.")
    return {"cells": list(dict.fromkeys(names)), "grid": grid.name}


def _point(cell: object, _: Sequence[str], answer: Answer) -> Gold:
    numbers = _numbers(cell)
    if len(numbers) == 4:
        return {"point_in": _box(numbers), "units": answer.units.value}
    if len(numbers) != 2:
        raise RejectedRowError("Its answer is not a point, x and y, nor a box.")
    if not answer.within:
        raise RejectedRowError(
            "Its answer is a point, and answer.within does not say how many pixels "
            "another one may be off."
        )
    units = answer.units.value
    return {"point": numbers, "within": answer.within, "units": units}


def _of_boxes(cell: object, _: Sequence[str], answer: Answer) -> Gold:
    members = listed(cell)
    nested = all(isinstance(one, list | tuple) for one in members)
    boxes = members if nested else [cell]
    found = [_box(_numbers(one)) for one in boxes]
    return {"boxes": found, "iou": answer.iou, "units": answer.units.value}


def _one_box(cell: object, options: Sequence[str], answer: Answer) -> Gold:
    gold = _of_boxes(cell, options, answer)
    if (n := len(plain(gold["boxes"]))) != 1:
        raise RejectedRowError(f"It has {n} boxes, but asks for one.")
    return gold


def _box(numbers: Sequence[float]) -> list[float]:
    if len(numbers) != 4 or numbers[0] >= numbers[2] or numbers[1] >= numbers[3]:
        raise RejectedRowError(
            "Its answer is not a box: x and y of the upper left corner, then of the "
            "lower right one."
        )
    return list(numbers)


def _numbers(cell: object) -> list[float]:
    members = listed(cell)
    if len(members) == 1 and isinstance(members[0], str):
        members = [part for part in re.split(r"[\s,;]+", members[0].strip()) if part]
    return [_number(one) for one in members]


def _number(value: object) -> float:
    try:
        number = float(str(value).strip())
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise RejectedRowError(f"Its answer is not a number: {str(value)[:40]}.")
    return number


_READERS: Final[Mapping[AnswerKind, Callable[..., Gold]]] = {
    AnswerKind.CHOICE: _choice,
    AnswerKind.YES_NO: _yes_no,
    AnswerKind.NUMBER: _of_number,
    AnswerKind.TEXT: _text,
    AnswerKind.CELL: _cells,
    AnswerKind.POINT: _point,
    AnswerKind.BOX: _one_box,
    AnswerKind.BOXES: _of_boxes,
}
