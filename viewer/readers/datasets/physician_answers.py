"""Physicians' answers to cases, from a CSV or a JSON file (E004-20).

CSV in UTF-8, one row per answer: ``reader``, ``case``, ``differential`` (diagnoses
separated by ;, most likely first), ``option`` (a letter A to D in the case's order, or
the option's text, or empty), and optionally ``flag`` (yes or no), ``explanation``,
``version`` (1, 2 …), ``withdrawn`` (yes or no), ``board``, ``years`` and ``language``
of the reader.

JSON: ``{"answers": [{"reader": …, "case": …, "differential": […], "option": "B",
"flag": true, "explanation": …, "version": 1}], "physicians": [{"name": …, "board": …,
"years": 35, "language": …}], "withdrawn": ["reader", …]}``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.choice import option_of
from viewer.domain.errors import UnreadableInputError
from viewer.domain.evidence import EvidenceCase
from viewer.domain.physician import Physician, PhysicianAnswer, PhysicianAnswers
from viewer.readers.datasets.csv_tables import header_of, rows_of
from viewer.readers.files import json_files

COLUMNS: Final = ("reader", "case", "differential", "option")
"""The columns that a CSV file of answers must have."""
_TRUTHS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("yes", "true", "1"), True),
    **dict.fromkeys(("no", "false", "0", ""), False),
}
_HOW: Final = "Correct it in the file and import it again."


@dataclass(frozen=True)
class _Entry:
    """An answer as in the file; ``where`` is its location for messages."""

    where: str
    cells: Mapping[str, str]
    differential: tuple[str, ...]

    def bad(self, what: str) -> UnreadableInputError:
        """Return the error for an invalid answer."""
        return UnreadableInputError(f"{self.where}, {what}.", _HOW)

    def truth(self, name: str) -> bool:
        """Return a yes or no as bool."""
        written = self.cells.get(name, "").casefold()
        if written not in _TRUTHS:
            raise self.bad(f"{name} is '{written}' instead of yes or no")
        return _TRUTHS[written]

    def number(self, name: str, default: int | None) -> int | None:
        """Return a whole number of 0 or more; without one, the default."""
        written = self.cells.get(name, "")
        if not written:
            return default
        if not written.isascii() or not written.isdigit():
            raise self.bad(f"{name} is '{written}', which is not a whole number")
        return int(written)


def read_physician_answers(
    path: Path, cases: Sequence[EvidenceCase]
) -> PhysicianAnswers:
    """Read a file of answers to cases; JSON by its suffix, else CSV.

    Of several versions of an answer the first counts: later ones were written after the
    options were seen.

    Raises
    ------
    UnreadableInputError
        If the file has another form, an answer is about an unknown case, an option is
        not the case's, or a version occurs twice; the message names the line or entry.
    """
    entries, physicians, withdrawn = (
        _of_json(path) if path.suffix.lower() == ".json" else _of_csv(path)
    )
    known = {case.key: case for case in cases}
    versions: dict[tuple[str, str, int], PhysicianAnswer] = {}
    for entry in entries:
        answer = _answer(entry, known)
        key = answer.reader, answer.case, answer.version
        if key in versions:
            raise entry.bad(f"'{answer.reader}' answers '{answer.case}' again")
        versions[key] = answer
    answers = [a for a in versions.values() if a.reader not in withdrawn]
    answers.sort(key=lambda answer: (answer.reader, answer.case, answer.version))
    # Reversed: the lowest version is set last, and stays.
    first = {(a.reader, a.case): a for a in reversed(answers)}
    return PhysicianAnswers(
        tuple(first[key] for key in sorted(first)),
        tuple(answers),
        tuple(p for p in physicians if p.name not in withdrawn),
        tuple(sorted(withdrawn)),
    )


def _answer(entry: _Entry, cases: Mapping[str, EvidenceCase]) -> PhysicianAnswer:
    reader, key = entry.cells.get("reader", ""), entry.cells.get("case", "")
    if not reader:
        raise entry.bad("no reader is named")
    if key not in cases:
        raise entry.bad(f"there is no case '{key}' in the data set")
    if not entry.differential:
        raise entry.bad("there is no differential")
    return PhysicianAnswer(
        reader,
        key,
        entry.differential,
        _option(entry, cases[key]),
        entry.truth("flag"),
        entry.cells.get("explanation", ""),
        entry.number("version", 1) or 1,
    )


def _option(entry: _Entry, case: EvidenceCase) -> int | None:
    written = entry.cells.get("option", "")
    if not written:
        return None
    texts = [option.casefold() for option in case.options]
    place = option_of(written)
    if place is None and written.casefold() in texts:
        place = texts.index(written.casefold())
    if place is None or place >= len(case.options):
        raise entry.bad(f"'{written}' is not one of the options of '{case.key}'")
    return place


_Read = tuple[list[_Entry], tuple[Physician, ...], set[str]]


def _of_csv(path: Path) -> _Read:
    header = header_of(path)
    for column in COLUMNS:
        if column not in header:
            raise UnreadableInputError(
                f"The table '{path.name}' has no column '{column}'.",
                f"Give it the columns {', '.join(COLUMNS)}.",
            )
    entries = []
    for row in rows_of(path):
        listed = _parts(row.cells.get("differential", "").split(";"))
        where = f"In line {row.line} of '{path.name}'"
        entries.append(_Entry(where, row.cells, listed))
        if row.overlong:
            raise entries[-1].bad("there are more cells than columns")
    withdrawn = {e.cells["reader"] for e in entries if e.truth("withdrawn")}
    return entries, tuple(_profiles(entries)), withdrawn


def _profiles(entries: Sequence[_Entry]) -> Iterator[Physician]:
    """Yield every reader once, with the profile from their first line that has one."""
    seen: set[str] = set()
    for entry in entries:
        name = entry.cells.get("reader", "")
        if name and name not in seen:
            seen.add(name)
            board, language = (entry.cells.get(x, "") for x in ("board", "language"))
            yield Physician(name, board, entry.number("years", None), language)


def _of_json(path: Path) -> _Read:
    document, answers = json_files.with_list(path, "answers")
    entries = [
        _json_entry(f"In answer {n} of '{path.name}'", one)
        for n, one in enumerate(answers, 1)
    ]
    people = [
        _json_entry(f"In physician {n} of '{path.name}'", one)
        for n, one in enumerate(document.get("physicians") or (), 1)
    ]
    profiles = tuple(
        Physician(
            e.cells.get("name", ""),
            e.cells.get("board", ""),
            e.number("years", None),
            e.cells.get("language", ""),
        )
        for e in people
    )
    return entries, profiles, {str(name) for name in document.get("withdrawn") or ()}


def _json_entry(where: str, one: object) -> _Entry:
    if not isinstance(one, dict):
        raise UnreadableInputError(f"{where}, there is nothing to read.", _HOW)
    listed = one.get("differential")
    texts = [str(x) for x in listed] if isinstance(listed, list) else []
    cells = {str(k): "" if v is None else str(v).strip() for k, v in one.items()}
    return _Entry(where, cells, _parts(texts))


def _parts(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts if text.strip())
