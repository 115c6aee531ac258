"""What a file's header says of whom its image shows (PS3.15 Annex E, studies.md 3.8).

Values found here are looked for in what would leave; they are never shown or stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viewer.readers.pixels import FileKind, file_kind
from viewer.readers.refusal import refusing

if TYPE_CHECKING:
    from pydicom.dataelem import DataElement
    from pydicom.dataset import Dataset

_NAMING_WORDS: Final = """
    AccessionNumber AdditionalPatientHistory AdmissionID CurrentPatientLocation
    DeviceSerialNumber FillerOrderNumberImagingServiceRequest InstitutionAddress
    InstitutionName InstitutionalDepartmentName IssuerOfPatientID MedicalRecordLocator
    Occupation OtherPatientIDs PatientAddress PatientComments PatientID
    PatientInstitutionResidence PatientTelephoneNumbers PerformedProcedureStepID
    PlacerOrderNumberImagingServiceRequest ReferringPhysicianAddress
    ReferringPhysicianTelephoneNumbers RequestedProcedureID RequestingService
    ScheduledProcedureStepID ServiceEpisodeID StationName StudyID
"""
_NAMING: Final = frozenset(_NAMING_WORDS.split())
"""Keywords whose whole value points to one person, place or visit."""

_TEXT_VRS: Final = frozenset(
    {"AE", "CS", "LO", "LT", "SH", "ST", "UC", "UN", "UR", "UT"}
)
_LEAST: Final = 3
_LEAST_NAME: Final = 2
_LEAST_PRIVATE: Final = 4


@dataclass(frozen=True, slots=True)
class Identifier:
    """A value of a header, under the keyword (or tag) that it stands in."""

    keyword: str
    value: str


@dataclass(frozen=True, slots=True)
class BurnedInFacts:
    """What a header says of text in its pixels.

    ``annotation`` is Burned In Annotation (PS3.3 C.7.6.1.1) in upper case, "" where it
    is absent; ``modality`` is "" for a file that is no DICOM.
    """

    annotation: str
    modality: str


def burned_in_facts(path: Path) -> BurnedInFacts:
    """Return what a file says of text in its pixels."""
    dataset = _header(path)
    if dataset is None:
        return BurnedInFacts("", "")
    return BurnedInFacts(
        _word(dataset, "BurnedInAnnotation"), _word(dataset, "Modality")
    )


def identifiers(path: Path) -> tuple[Identifier, ...]:
    """Return every value of a file's header that may name somebody, each once.

    Names by their parts, dates in the ways they are written, numbers, institutions
    and private texts; items of sequences included. A file without a DICOM header has
    none.
    """
    dataset = _header(path)
    if dataset is None:
        return ()
    return tuple(dict.fromkeys(_of_dataset(dataset)))


def _header(path: Path) -> "Dataset | None":
    if file_kind(path) is not FileKind.DICOM:
        return None
    import pydicom

    with refusing(path):
        return pydicom.dcmread(path, stop_before_pixels=True, force=True)


def _word(dataset: "Dataset", keyword: str) -> str:
    return str(dataset.get(keyword) or "").strip().upper()


def _of_dataset(dataset: "Dataset") -> Iterator[Identifier]:
    for element in dataset:
        if element.VR == "SQ":
            for item in element.value or ():
                yield from _of_dataset(item)
        else:
            keyword = (
                element.keyword
                or f"({element.tag.group:04X},{element.tag.element:04X})"
            )
            for value in _values(element):
                yield Identifier(keyword, value)


def _values(element: "DataElement") -> Iterator[str]:
    texts = [text for text in map(str.strip, _texts(element)) if text]
    if element.VR == "PN":
        yield from _long_enough(_name_parts(texts), _LEAST_NAME)
    elif element.VR in {"DA", "DT"}:
        for text in texts:
            yield from _written_dates(text)
    elif element.tag.is_private and element.VR in _TEXT_VRS:
        yield from _long_enough(texts, _LEAST_PRIVATE)
    elif element.keyword in _NAMING or _is_own_uid(element):
        yield from _long_enough(texts, _LEAST)


def _texts(element: "DataElement") -> list[str]:
    value = element.value
    if value is None:
        return []
    if isinstance(value, bytes):
        text = value.rstrip(b"\x00 ").decode("utf-8", "replace")
        return [text] if text.isprintable() and "\ufffd" not in text else []
    many = value if element.VM > 1 else [value]
    return [str(one) for one in many]


def _name_parts(names: list[str]) -> list[str]:
    """Return the parts of names, of every representation (PS3.5 6.2.1.1)."""
    parts = [
        part
        for name in names
        for group in name.split("=")
        for part in group.replace("^", " ").replace(",", " ").split()
    ]
    return [*parts, *(" ".join(name.replace("^", " ").split()) for name in names)]


def _long_enough(texts: list[str], least: int) -> Iterator[str]:
    yield from (text for text in texts if len(text) >= least)


def _is_own_uid(element: "DataElement") -> bool:
    return element.VR == "UI" and element.keyword.endswith("InstanceUID")


def _written_dates(text: str) -> Iterator[str]:
    """Return a date as DICOM writes it and as people do."""
    digits = text.replace(".", "")[:8]
    try:
        day = date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return
    yield digits
    d, m, y = day.day, day.month, day.year
    for sign in "./-":
        yield f"{y}{sign}{m:02}{sign}{d:02}"
        for first, second in ((d, m), (m, d)):
            yield f"{first:02}{sign}{second:02}{sign}{y}"
            yield f"{first}{sign}{second}{sign}{y}"
            yield f"{first:02}{sign}{second:02}{sign}{y % 100:02}"
    for month in (_MONTHS[m - 1], _MONTHS[m - 1][:3]):
        yield f"{d} {month} {y}"
        yield f"{d}. {month} {y}"
        yield f"{month} {d}, {y}"


_MONTH_WORDS: Final = """
    January February March April May June July August September October November
    December
"""
_MONTHS: Final = tuple(_MONTH_WORDS.split())
"""English whatever the language of this machine, as `strftime` is not."""
