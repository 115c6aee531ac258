"""Human scores of answers that a judge scored too, from a CSV file (E004-09).

UTF-8, one row each: ``case``, ``task`` (ddx or open_fdx), ``model`` and ``score`` (the
judge's scale, 0 to 5). They are for answers to the plain arm, ``raw``.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.csv_tables import CsvRow, header_of, rows_of

COLUMNS: Final = ("case", "task", "model", "score")
TASKS: Final = ("ddx", "open_fdx")
_SCORES: Final = ("0", "1", "2", "3", "4", "5")

Label = tuple[str, str, str, int]
"""Case, task, model, score."""


def read_judge_labels(path: Path, cases: Collection[str]) -> tuple[Label, ...]:
    """Read human scores of answers about some cases.

    Raises
    ------
    UnreadableInputError
        A column is missing, or a row has an unknown case or task or an invalid score,
        or is a duplicate; the message names its line.
    """
    header = header_of(path)
    for column in COLUMNS:
        if column not in header:
            raise UnreadableInputError(
                f"The table '{path.name}' has no column '{column}'.",
                f"Give it the columns {', '.join(COLUMNS)}.",
            )
    found: dict[tuple[str, str, str], Label] = {}
    for row in rows_of(path):
        problem = next(_problems(row, cases), "")
        case, task, model = (row.cells.get(name, "") for name in COLUMNS[:3])
        if not problem and (case, task, model) in found:
            problem = f"scores the answer of '{model}' to '{case}' again"
        if problem:
            raise UnreadableInputError(
                f"Line {row.line} of '{path.name}' {problem}.",
                "Correct it in the file and import it again.",
            )
        found[case, task, model] = (case, task, model, int(row.cells["score"]))
    return tuple(found.values())


def _problems(row: CsvRow, cases: Collection[str]) -> Iterator[str]:
    cells = row.cells
    if row.overlong:
        yield "has more cells than columns"
    if cells.get("case", "") not in cases:
        yield f"names the case '{cells.get('case', '')}', which is not in the data set"
    if cells.get("task", "") not in TASKS:
        yield f"has the task '{cells.get('task', '')}', neither ddx nor open_fdx"
    if not cells.get("model", ""):
        yield "names no model"
    if cells.get("score", "") not in _SCORES:
        yield f"has the score '{cells.get('score', '')}', which is not from 0 to 5"
