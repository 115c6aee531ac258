"""Tables as the sheets of an Excel workbook (ECMA-376), the same bytes everywhere.

Only what a table needs: one sheet a table, text inline, numbers as numbers.
"""

import io
import zipfile
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import quoteattr

from viewer.domain.escapes import guarded, spreadsheet_xml
from viewer.domain.report import Table

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def workbook_bytes(tables: Sequence[Table]) -> bytes:
    """Return an .xlsx file with a sheet for each table, named as the table is."""
    parts = {
        "[Content_Types].xml": _content_types(len(tables)),
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": _workbook(tables),
        "xl/_rels/workbook.xml.rels": _relations(
            *(("worksheet", f"worksheets/{_file(n)}") for n in range(len(tables)))
        ),
        **{f"xl/worksheets/{_file(n)}": _sheet(t) for n, t in enumerate(tables)},
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), _HEAD + text)
    return stream.getvalue()


def _file(number: int) -> str:
    return f"sheet{number + 1}.xml"


def _content_types(sheets: int) -> str:
    overrides = {
        "/xl/workbook.xml": f"{_TYPE}.sheet.main+xml",
        **{
            f"/xl/worksheets/{_file(n)}": f"{_TYPE}.worksheet+xml"
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
        f'<sheet name={quoteattr(table.name)} sheetId="{n}" r:id="rId{n}"/>'
        for n, table in enumerate(tables, 1)
    )
    return (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        f"<sheets>{sheets}</sheets></workbook>"
    )


def _sheet(table: Table) -> str:
    rows = "".join(
        f'<row r="{n}">{"".join(map(_cell, row))}</row>'
        for n, row in enumerate((table.header, *table.rows), 1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def _cell(value: object) -> str:
    if value is None or value != value:
        return "<c/>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"<c><v>{value!r}</v></c>"
    text = spreadsheet_xml(guarded(str(value)))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
