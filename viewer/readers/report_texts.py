"""Reports of a study as text: DICOM Structured Reports and encapsulated documents.

Only for the person who opened the file: nothing from here may be logged, stored or
sent, because it identifies the patient.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pydicom
from pydicom.datadict import tag_for_keyword
from pydicom.dataelem import RawDataElement
from pydicom.dataset import Dataset
from pydicom.errors import InvalidDicomError
from pydicom.filereader import read_partial

from viewer.domain.annotation import StudyReport
from viewer.domain.case import ImageRef
from viewer.readers.dicom.bounds import held_bytes
from viewer.readers.dicom.header import REPORTS, person_name
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import refusing

_DEEPEST: Final = 64
"""Levels of a content tree that are read; a report of people has a few."""
_CLASS: Final = tag_for_keyword("SOPClassUID") or 0
_UNDEFINED: Final = 0xFFFFFFFF
"""The length of a sequence that a delimiter ends (PS3.5 7.5)."""
_ELSEWHERE: Final = "A document of its own: open {} with a program for {}."


def is_report(path: Path) -> bool:
    """Return whether a file starts like a structured report, even if truncated."""
    try:
        with path.open("rb") as stream:
            head = read_partial(stream, stop_when=lambda tag, *_: tag > _CLASS)
    except (InvalidDicomError, OSError, ValueError, EOFError):
        return False
    return head.get("SOPClassUID") in REPORTS


@isolated
def report_of(path: Path, ref: ImageRef) -> StudyReport | None:
    """Return a report if it is about the study of an image, else None.

    Raises
    ------
    UnreadableInputError
        If one of the files is damaged.
    """
    with refusing(ref.path):
        wanted = ["StudyInstanceUID"]
        image = pydicom.dcmread(ref.path, specific_tags=list(wanted), force=True)
    with refusing(path):
        held_bytes(path)
        report = pydicom.dcmread(path)
        study = str(report.get("StudyInstanceUID") or "")
        _check_whole(report)
        if not study or study != str(image.get("StudyInstanceUID") or ""):
            return None
        return StudyReport(path.name, _title(report), tuple(_lines(path, report)))


def _check_whole(report: Dataset) -> None:
    """Raise EOFError for a report that is cut short, of which pydicom reads a part."""
    for raw in report.elements():
        if not isinstance(raw, RawDataElement) or raw.length == _UNDEFINED:
            continue
        if len(raw.value or b"") < raw.length:
            raise EOFError("its end is missing")


def _title(report: Dataset) -> str:
    """Return what the report is called, when it was written and whether it is final."""
    name = _meaning(report, "ConceptNameCodeSequence") or str(
        report.get("DocumentTitle") or "Report"
    )
    date = str(report.get("ContentDate") or "")
    day = f"{date[:4]}-{date[4:6]}-{date[6:]}" if len(date) == 8 else ""
    states = [str(report.get(k) or "") for k in ("CompletionFlag", "VerificationFlag")]
    return ", ".join(part for part in (name, day, *map(str.lower, states)) if part)


def _lines(path: Path, report: Dataset) -> Iterator[str]:
    if "EncapsulatedDocument" in report:
        kind = str(report.get("MIMETypeOfEncapsulatedDocument") or "documents")
        yield _ELSEWHERE.format(path.name, kind)
    else:
        yield from _content(report, 0)


def _content(item: Dataset, depth: int) -> Iterator[str]:
    """Yield a line for each content item below another, indented (PS3.3 C.17.3)."""
    for child in item.get("ContentSequence") or ():
        name, value = _meaning(child, "ConceptNameCodeSequence"), _value(child)
        text = ": ".join(part for part in (name, value) if part)
        if text:
            yield "  " * depth + text
        if depth < _DEEPEST:
            yield from _content(child, depth + 1)


def _value(item: Dataset) -> str:
    """Return the value of a content item in words, "" of one that only groups."""
    say = _VALUES.get(str(item.get("ValueType") or ""))
    return say(item) if say is not None else ""


def _meaning(item: Dataset, keyword: str) -> str:
    """Return the meaning of the first code of a sequence."""
    codes = item.get(keyword) or ()
    return str(codes[0].get("CodeMeaning") or "") if codes else ""


def _number(item: Dataset) -> str:
    measured = item.get("MeasuredValueSequence") or ()
    if not measured:
        return ""
    unit = _meaning(measured[0], "MeasurementUnitsCodeSequence")
    return f"{measured[0].get('NumericValue', '')} {unit}".strip()


def _plain(keyword: str) -> Callable[[Dataset], str]:
    return lambda item: str(item.get(keyword) or "")


_VALUES: Final[Mapping[str, Callable[[Dataset], str]]] = {
    "TEXT": _plain("TextValue"),
    "CODE": lambda item: _meaning(item, "ConceptCodeSequence"),
    "NUM": _number,
    "PNAME": lambda item: person_name(str(item.get("PersonName") or "")),
    "DATE": _plain("Date"),
    "TIME": _plain("Time"),
    "DATETIME": _plain("DateTime"),
}
