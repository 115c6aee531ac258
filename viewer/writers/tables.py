"""Tables as files with reproducible bytes: one renderer per format.

CSV, Parquet and XLSX hold full precision, LaTeX and HTML what is printed, and what is
pasted from the window is separated by tabs.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, groupby, takewhile
from math import ceil
from typing import TYPE_CHECKING, Final

from viewer.domain.errors import MissingDependencyError, where_to_get
from viewer.domain.escapes import guarded, latex, one_line, spreadsheet_xml
from viewer.domain.report import PaperRows, Section, Table
from viewer.writers.html_text import rendered
from viewer.writers.numbering import Place
from viewer.writers.page_layout import (
    LANDSCAPE,
    WIDTHS,
    Column,
    Extent,
    extent,
    landscape_sections,
)

if TYPE_CHECKING:
    from markupsafe import Markup

_QUOTED_ENDS: Final = "\r\n"
_BEGINS_AS_NUMBER: Final = re.compile(r"[-+−±<(]?[\d.]|[-–]$")
_NUMBER: Final = re.compile(
    r"[-+±]?\d[\d., /%()×]*(?: to [-+]?[\d.]+| ?\[[-+\d., ]+\])?|-"
)
_UNBROKEN: Final = re.compile(r"\(\d+ / \d+\)|\[[-+\d., ]+\]")
"""Counts and intervals, which stand on one line in print."""
_LONG_TEXT: Final = 40
_BRIEF: Final = 16
"""Letters that stand on one line in print."""
_NARROW: Final = 8
"""Letters that stand on one line even in a narrow column."""
_SHORT: Final = 36
"""Lines that stand on one page."""
_TITLE_LINES: Final = 8
_TOGETHER: Final = 10
"""Rows under one first cell that stand on one page."""
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return UTF-8 CSV (RFC 4180 quoting, LF line ends).

    None and NaN are empty; a float is its shortest decimal that reads back the same.
    Text that a spreadsheet would take for a formula is guarded (domain/escapes).
    """
    lines = _Lines()
    writer = csv.writer(lines, lineterminator=_QUOTED_ENDS)
    writer.writerow(map(guarded, header))
    writer.writerows([_csv_cell(value) for value in row] for row in rows)
    return "".join(lines).encode()


class _Lines(list[str]):
    """Collects the lines of csv, which only quotes its own line terminator."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix(_QUOTED_ENDS) + "\n")


def _csv_cell(value: object) -> str:
    """Return a cell as printed; NaN is the value that differs from itself."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return guarded(str(value)) if isinstance(value, str) else str(value)


def tab_separated(table: Table) -> str:
    """Return a table as spreadsheets paste it: one line per row; None is empty."""
    lines = [table.header, *table.rows]
    return "".join("\t".join(map(_pasted, line)) + "\n" for line in lines)


def _pasted(value: object) -> str:
    if value is None:
        return ""
    return one_line(guarded(str(value))) if isinstance(value, str) else str(value)


def parquet_bytes(table: Table) -> bytes:
    """Return a Parquet file; a column of several kinds of values is one of texts.

    Columns of ``kinds`` have their type also where no row has a value.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow.parquet import write_table
    except ImportError as error:
        raise MissingDependencyError(
            f"Writing Parquet needs pyarrow ({where_to_get('overread[datasets]')})."
        ) from error
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.header)
    arrays = [
        pa.array(_of_one_kind(column), types.get(table.kinds.get(name, object)))
        for name, column in zip(table.header, columns, strict=True)
    ]
    stream = io.BytesIO()
    write_table(pa.Table.from_arrays(arrays, list(table.header)), stream)
    return stream.getvalue()


def _of_one_kind(values: Sequence[object]) -> Sequence[object]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return values
    return [None if value is None else str(value) for value in values]


def latex_table(section: Section) -> bytes:
    """Return a section's table as a ``tabular`` in UTF-8, its text as the caption.

    It is for a paper's own preamble with ``booktabs``. Columns of words are set to the
    left, those of numbers to the right; groups of columns stand above the header.
    """
    table = section.table
    heads = tuple(map(latex, table.header))
    spans = (
        rf"\multicolumn{{{span}}}{{c}}{{{latex(name)}}}"
        for name, span in section.groups
    )
    lines = [
        r"\begin{table}",
        rf"\caption{{{latex(section.text)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{''.join(_latex_columns(table))}}}",
        r"\toprule",
        *(" & ".join(line) + r" \\" for line in (tuple(spans), heads) if line),
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in _latex_rows(section)),
        *chain.from_iterable(map(_latex_paper, section.published)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _latex_columns(table: Table) -> Iterator[str]:
    for i in range(len(table.header)):
        texts = filter(None, (_text(row[i]) for row in table.rows))
        yield "r" if i and all(map(_BEGINS_AS_NUMBER.match, texts)) else "l"


def _latex_rows(section: Section) -> Iterator[Iterator[str]]:
    commands = {"strong": "textbf", "u": "underline", "": ""}
    for i, row in enumerate(section.table.rows):
        cells = (latex(_text(value)) for value in row)
        marks = (commands[_mark(section, i, j)] for j in range(len(row)))
        yield (
            rf"\{mark}{{{cell}}}" if mark else cell
            for mark, cell in zip(marks, cells, strict=True)
        )


def _latex_paper(paper: PaperRows) -> Iterator[str]:
    """Yield a line with the source of the rows, and the rows."""
    columns = len(paper.rows[0])
    yield r"\midrule"
    yield rf"\multicolumn{{{columns}}}{{l}}{{\emph{{{latex(paper.words)}}}}} \\"
    for row in paper.rows:
        yield " & ".join(latex(_text(value)) for value in row) + r" \\"


def _mark(section: Section, row: int, column: int) -> str:
    """Return the HTML element of a cell, "" for none."""
    if (row, column) in section.best:
        return "strong"
    return "u" if (row, column) in section.second else ""


@dataclass(frozen=True, slots=True)
class _HtmlCell:
    """A cell: its text, its CSS classes, its element, and its spans."""

    text: str
    css: str
    mark: str = ""
    rows: int = 1
    columns: int = 1


def html_sections(
    sections: Sequence[Section], places: Sequence[Place], used_pt: float = 0.0
) -> Iterator["Markup"]:
    """Yield sections of a page, printed on A4 below what has ``used_pt`` of a page.

    Some are printed on landscape pages, for their width or to save pages.
    """
    landscape = landscape_sections(list(map(_extent, sections)), used_pt)
    for i, (section, place) in enumerate(zip(sections, places, strict=True)):
        turns = landscape[i] != (i > 0 and landscape[i - 1])
        yield html_section(section, place, landscape=landscape[i], turns=turns)


def _lines(section: Section) -> int:
    """Return the approximate number of printed lines of a section, title included."""
    paper = sum(1 + len(paper.rows) for paper in section.published)
    return _TITLE_LINES + len(section.table.rows) + paper


def html_section(
    section: Section,
    place: Place | None = None,
    *,
    landscape: bool = False,
    turns: bool = False,
) -> "Markup":
    """Return a section of a page; numbers at the right, repeated first cells joined.

    A short table is printed on one page, and so are rows that share a first cell: a
    long run of them has the cell again every so many rows. ``landscape`` tells that
    it is printed on a landscape page, ``turns`` that the page's orientation changes.
    """
    from markupsafe import Markup

    rows = [[_text(value) for value in row] for row in section.table.rows]
    css = [_css(section, rows, i) for i in range(len(section.table.header))]
    html = rendered(
        "section.html.jinja",
        section=section,
        place=place,
        css=_print_css(section, landscape=landscape, turns=turns),
        columns=list(zip(section.table.header, css, strict=True)),
        groups=list(_html_groups(section, rows, css)),
        papers=[
            (paper.words, [_paper_cells(row, css) for row in paper.rows])
            for paper in section.published
        ],
    )
    return Markup(html)  # noqa: S704 - the template escapes


def _paper_cells(row: Sequence[object], css: Sequence[str]) -> Sequence[_HtmlCell]:
    texts = list(map(_text, row))
    return [_HtmlCell(texts[i], css[i], columns=span) for i, span in _spans(texts)]


def _spans(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each cell of a paper's row begins, and over how many columns it is.

    A long text also takes the empty cells after it, and so fewer lines.
    """
    i = 0
    while i < len(texts):
        span = 1
        if len(texts[i]) > _NARROW:
            span += sum(1 for _ in takewhile(lambda text: not text, texts[i + 1 :]))
        yield i, span
        i += span


def _spread(texts: Sequence[str]) -> list[str]:
    """Return a paper's row, each text cut in as many pieces as it has columns."""
    pieces: list[str] = []
    for i, span in _spans(texts):
        length = ceil(len(texts[i]) / span)
        pieces += [texts[i][k * length : (k + 1) * length] for k in range(span)]
    return pieces


def _print_css(section: Section, *, landscape: bool, turns: bool) -> str:
    classes = {
        "turn": turns,
        "short": _lines(section) <= _SHORT,
        "wide": landscape,
        "dense": _extent(section).width_pt > WIDTHS[LANDSCAPE],
        "named": _extent(section).holds_names(landscape=landscape),
    }
    return " ".join(name for name, holds in classes.items() if holds)


def _extent(section: Section) -> Extent:
    """Return about what room a section needs in print."""
    rows = [[_text(value) for value in row] for row in section.table.rows]
    papers = [
        _spread(list(map(_text, row)))
        for paper in section.published
        for row in paper.rows
    ]
    columns = (
        Column(
            name,
            tuple(row[i] for row in (*rows, *papers)),
            own=len(rows),
            whole="right" in _css(section, rows, i).split(),
        )
        for i, name in enumerate(section.table.header)
    )
    return extent(section, tuple(columns))


def _html_groups(
    section: Section, rows: Sequence[Sequence[str]], css: Sequence[str]
) -> Iterator[Sequence[Sequence[_HtmlCell]]]:
    """Yield the rows that share a first cell, as many as fit on a page."""
    for first, run in groupby(enumerate(rows), key=lambda row: row[1][0]):
        same = list(run)
        for start in range(0, len(same), _TOGETHER):
            together = same[start : start + _TOGETHER]
            mark = _mark(section, together[0][0], 0)
            joined = _HtmlCell(first, css[0], mark, len(together))
            yield [
                [
                    *([joined] if i == together[0][0] else []),
                    *_cells(section, i, row, css),
                ]
                for i, row in together
            ]


def _cells(
    section: Section, i: int, row: Sequence[str], css: Sequence[str]
) -> Iterator[_HtmlCell]:
    """Yield a row's cells after the first."""
    for j, (text, of) in enumerate(zip(row[1:], css[1:], strict=True), 1):
        unbroken = _UNBROKEN.sub(
            lambda m: m[0].replace(" ", "\N{NO-BREAK SPACE}"), text
        )
        yield _HtmlCell(unbroken, of, _mark(section, i, j))


def _css(section: Section, rows: Sequence[Sequence[str]], column: int) -> str:
    paper = (_text(row[column]) for one in section.published for row in one.rows)
    texts = [text for text in (*(row[column] for row in rows), *paper) if text]
    starts, edges = 0, set()
    for _, span in section.groups:
        edges.add(starts)
        starts += span
    classes = {
        "right": bool(texts) and all(_NUMBER.fullmatch(text) for text in texts),
        "long": any(len(text) > _LONG_TEXT for text in texts),
        "edge": column in edges and column > 0,
        "printed": column in section.printed,
        "words": any(len(text) > _BRIEF for text in texts),
    }
    return " ".join(name for name, holds in classes.items() if holds)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def workbook_bytes(tables: Sequence[Table]) -> bytes:
    """Return an .xlsx file (ECMA-376) with a sheet per table, under its name.

    Only what a table needs: text inline, numbers as numbers.
    """
    parts = {
        "[Content_Types].xml": _content_types(len(tables)),
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": _workbook(tables),
        "xl/_rels/workbook.xml.rels": _relations(
            *(("worksheet", f"worksheets/{_sheet_file(n)}") for n in range(len(tables)))
        ),
        **{f"xl/worksheets/{_sheet_file(n)}": _sheet(t) for n, t in enumerate(tables)},
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), _HEAD + text)
    return stream.getvalue()


def _sheet_file(number: int) -> str:
    return f"sheet{number + 1}.xml"


def _content_types(sheets: int) -> str:
    overrides = {
        "/xl/workbook.xml": f"{_TYPE}.sheet.main+xml",
        **{
            f"/xl/worksheets/{_sheet_file(n)}": f"{_TYPE}.worksheet+xml"
            for n in range(sheets)
        },
    }
    listed = "".join(
        f'<Override PartName="{name}" ContentType="{type_}"/>'
        for name, type_ in overrides.items()
    )
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="{relations}"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f"{listed}</Types>"
    )


def _relations(*targets: tuple[str, str]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _workbook(tables: Sequence[Table]) -> str:
    sheets = "".join(
        f'<sheet name="{escape(table.name)}" sheetId="{n}" r:id="rId{n}"/>'
        for n, table in enumerate(tables, 1)
    )
    return (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        f"<sheets>{sheets}</sheets></workbook>"
    )


def _sheet(table: Table) -> str:
    rows = "".join(
        f'<row r="{n}">{"".join(map(_sheet_cell, row))}</row>'
        for n, row in enumerate((table.header, *table.rows), 1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def _sheet_cell(value: object) -> str:
    if value is None or value != value:
        return "<c/>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"<c><v>{value!r}</v></c>"
    text = spreadsheet_xml(guarded(str(value)))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
