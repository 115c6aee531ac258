"""Readers' validations of cases before use, from a CSV file (E004-04, -05).

UTF-8, one row per reader and case: ``reader``, ``case``, ``confirmed`` (yes or no: does
the evidence confirm the diagnosis?), and optionally ``incomplete`` (keys of evidence
that cannot be interpreted, such as e2, separated by ;), ``alignment`` (for each piece
of evidence in order ok, misaligned, unsupported or not_grounded, separated by ;; empty
if all are ok) and ``unticked`` (unmet lines of the anonymisation checklist, 1 to 5,
separated by ;).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from viewer.domain.case_validation import ANONYMISATION, CaseValidation
from viewer.domain.errors import UnreadableInputError
from viewer.domain.evidence import EvidenceCase
from viewer.domain.physician import Alignment
from viewer.readers.datasets.csv_tables import CsvRow, header_of, rows_of

COLUMNS: Final = ("reader", "case", "confirmed")
_VERDICTS: Final = frozenset(map(str, Alignment))
_LINES: Final = frozenset(str(n) for n in range(1, len(ANONYMISATION) + 1))


def read_case_validations(
    path: Path, cases: Sequence[EvidenceCase]
) -> tuple[CaseValidation, ...]:
    """Read readers' validations of some cases.

    Raises
    ------
    UnreadableInputError
        A column is missing, or a row has an unknown case, piece of evidence, verdict or
        checklist line, or is a duplicate; the message names its line.
    """
    header = header_of(path)
    for column in COLUMNS:
        if column not in header:
            raise UnreadableInputError(
                f"The table '{path.name}' has no column '{column}'.",
                f"Give it the columns {', '.join(COLUMNS)}.",
            )
    known = {case.key: case for case in cases}
    found: dict[tuple[str, str], CaseValidation] = {}
    for row in rows_of(path):
        reader, key = (row.cells.get(name, "") for name in COLUMNS[:2])
        if not reader:
            raise _bad(path, row, "names no reader")
        if key not in known:
            raise _bad(path, row, f"names the case '{key}', which does not exist")
        if (reader, key) in found:
            raise _bad(path, row, f"has '{key}' by '{reader}' again")
        if problem := _problem(row.cells, known[key]):
            raise _bad(path, row, problem)
        found[reader, key] = _validation(row.cells, known[key])
    return tuple(found.values())


def _problem(cells: Mapping[str, str], case: EvidenceCase) -> str:
    """Return what is wrong with a validation of a case, "" if nothing is."""
    evidence = {one.key for one in case.evidence}
    verdicts, confirmed = _parts(cells, "alignment"), cells.get("confirmed", "")
    if confirmed not in {"yes", "no"}:
        return f"has '{confirmed}' as confirmed instead of yes or no"
    if odd := [x for x in _parts(cells, "incomplete") if x not in evidence]:
        return f"names the evidence '{odd[0]}', which the case does not have"
    if odd := [x for x in verdicts if x not in _VERDICTS]:
        return f"has the verdict '{odd[0]}', which is not one of {', '.join(Alignment)}"
    if verdicts and len(verdicts) != len(evidence):
        return f"has {len(verdicts)} verdicts on {len(evidence)} pieces of evidence"
    if odd := [x for x in _parts(cells, "unticked") if x not in _LINES]:
        return f"names the line '{odd[0]}', which is not from 1 to {len(ANONYMISATION)}"
    return ""


def _validation(cells: Mapping[str, str], case: EvidenceCase) -> CaseValidation:
    verdicts = tuple(Alignment(one) for one in _parts(cells, "alignment"))
    return CaseValidation(
        case.key,
        cells["reader"],
        _parts(cells, "incomplete"),
        cells["confirmed"] == "yes",
        verdicts or (Alignment.OK,) * len(case.evidence),
        tuple(int(line) for line in _parts(cells, "unticked")),
    )


def _parts(cells: Mapping[str, str], name: str) -> tuple[str, ...]:
    listed = cells.get(name, "").split(";")
    return tuple(part.strip() for part in listed if part.strip())


def _bad(path: Path, row: CsvRow, what: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"Line {row.line} of '{path.name}' {what}.",
        "Correct it in the file and import it again.",
    )
