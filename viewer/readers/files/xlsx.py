"""The first sheet of a workbook (ECMA-376 Part 1, 18.3 and 18.4), as rows of text.

Numbers and booleans are as written in the file, such as 1 for TRUE; formulas are their
stored value. Only tags and text are parsed, so that no entity is expanded.
"""

import re
import zipfile
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.regular import regular_file

MOST_BYTES: Final = 1 << 28
_SHARED: Final = "xl/sharedStrings.xml"
_SHEETS: Final = re.compile(r"xl/worksheets/[^/]+\.xml")
_COLUMN: Final = re.compile("[A-Z]{1,3}")


def rows_of_sheet(path: Path) -> tuple[dict[str, str], ...]:
    """Return the rows below the first sheet's header row, as dicts by its names.

    Raises
    ------
    UnreadableInputError
        If it is not such a workbook, or unpacks to more than ``MOST_BYTES``.
    """
    regular_file(path, MOST_BYTES)
    try:
        with zipfile.ZipFile(path) as archive:
            rows = _rows(archive)
    except (OSError, ValueError, KeyError, IndexError, zipfile.BadZipFile) as error:
        raise UnreadableInputError(
            f"The workbook '{path.name}' cannot be read.",
            "Save it as .xlsx with one sheet, or download it again.",
        ) from error
    header = rows[0] if rows else {}
    return tuple(
        {name.strip(): row.get(column, "").strip() for column, name in header.items()}
        for row in rows[1:]
    )


def _rows(archive: zipfile.ZipFile) -> list[dict[int, str]]:
    names = archive.namelist()
    # By length first, or sheet10.xml would come before sheet2.xml.
    first = min((n for n in names if _SHEETS.fullmatch(n)), key=lambda n: (len(n), n))
    wanted = [name for name in (_SHARED, first) if name in names]
    if sum(archive.getinfo(name).file_size for name in wanted) > MOST_BYTES:
        raise ValueError("the workbook is too large")
    texts = _Shared()
    if _SHARED in names:
        texts.feed(archive.read(_SHARED).decode())
    sheet = _Sheet(texts.found)
    sheet.feed(archive.read(first).decode())
    return sheet.rows


class _Shared(HTMLParser):
    """Shared strings, which cells refer to by index; each may have several runs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_text = False

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - none is needed
        # Writers may prefix every tag with the namespace: x:si.
        name = tag.rpartition(":")[2]
        self._in_text = name == "t"
        if name == "si":
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - any ends it
        self._in_text = False

    def handle_data(self, data: str) -> None:
        if self._in_text:
            self.found[-1] += data


class _Sheet(HTMLParser):
    """Cells by row and column; a cell without a reference follows the previous one."""

    def __init__(self, shared: Sequence[str]) -> None:
        super().__init__()
        self.rows: list[dict[int, str]] = []
        self._shared, self._count, self._kind = shared, 0, ""
        self._text: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name, of = tag.rpartition(":")[2], dict(attrs)
        if name == "row":
            self.rows.append({})
            self._count = 0
        elif name == "c":
            place = _COLUMN.match(of.get("r") or "")
            self._count = _number(place[0]) if place else self._count + 1
            self._kind = of.get("t") or ""
        elif name in {"v", "t"}:
            self._text = ""

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag.rpartition(":")[2] not in {"v", "t"} or self._text is None:
            return
        text = self._shared[int(self._text)] if self._kind == "s" else self._text
        row = self.rows[-1]
        row[self._count] = row.get(self._count, "") + text
        self._text = None


def _number(letters: str) -> int:
    """Return a column's number from 1: AA is 27."""
    found = 0
    for letter in letters:
        found = 26 * found + ord(letter) - ord("A") + 1
    return found
