"""Identifying values in a file's header (PS3.15 Annex E).

They are searched for in what is about to be sent; they are never shown or stored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viewer.readers.files.refusal import refusing
from viewer.readers.pixels import FileKind, file_kind

if TYPE_CHECKING:
    from pydicom.dataelem import DataElement
    from pydicom.dataset import Dataset

_NAMING_WORDS: Final = """
    AccessionNumber AdditionalPatientHistory AdmissionID BarcodeValue CassetteID
    ClinicalTrialSiteID ClinicalTrialSiteName ClinicalTrialSubjectID
    ClinicalTrialSubjectReadingID ContainerIdentifier CurrentPatientLocation DetectorID
    DeviceSerialNumber FillerOrderNumberImagingServiceRequest GantryID
    InstitutionAddress InstitutionName InstitutionalDepartmentName
    InsurancePlanIdentification InterpretationID IssuerOfPatientID MedicalRecordLocator
    Occupation OrderCallbackPhoneNumber OrderEntererLocation OtherPatientIDs
    PatientAddress PatientComments PatientID PatientInstitutionResidence
    PatientTelephoneNumbers PerformedLocation PerformedProcedureStepID
    PerformedStationAETitle PerformedStationName PersonAddress PersonTelephoneNumbers
    PlacerOrderNumberImagingServiceRequest PlateID ReferringPhysicianAddress
    ReferringPhysicianTelephoneNumbers RegionOfResidence RequestedProcedureID
    RequestedProcedureLocation RequestingService ResponsibleOrganization
    ScheduledProcedureStepID ScheduledProcedureStepLocation ScheduledStationAETitle
    ScheduledStationName ServiceEpisodeID SourceApplicationEntityTitle
    SpecimenIdentifier StationAETitle StationName StudyID
"""
_NAMING: Final = frozenset(_NAMING_WORDS.split())
"""Keywords whose whole value points to one person, place or visit."""

_TEXT_VRS: Final = frozenset(
    {"AE", "CS", "LO", "LT", "SH", "ST", "UC", "UN", "UR", "UT"}
)
_OWN_UIDS: Final = ("InstanceUID", "FrameOfReferenceUID")
_SECONDARY_CAPTURE: Final = re.compile(r"1\.2\.840\.10008\.5\.1\.4\.1\.1\.7(\.\d)?")
_LONG_NUMBER: Final = re.compile(r"\d{5,}")
"""What is long enough to be the number of a person or a visit."""
_NAMES_READ: Final = 4
_LEAST: Final = 3
_LEAST_NAME: Final = 2
_LEAST_PRIVATE: Final = 4


@dataclass(frozen=True, slots=True)
class Identifier:
    """A header value and the keyword (or tag) of its element.

    ``day`` is the date it represents, as people may write it in other ways; None if it
    is not a date.
    """

    keyword: str
    value: str
    day: date | None = None


@dataclass(frozen=True, slots=True)
class BurnedInFacts:
    """Header information about text in the pixels.

    ``annotation`` is Burned In Annotation (PS3.3 C.7.6.1.1) in upper case, "" if
    absent; ``modality`` is "" for other files than DICOM. ``recognizable`` is
    Recognizable Visual Features (PS3.3 C.7.6.1.1), ``body_part`` Body Part Examined.
    ``is_capture`` is True for a secondary capture (PS3.3 A.8), whatever its modality.
    """

    annotation: str
    modality: str
    recognizable: str = ""
    body_part: str = ""
    is_capture: bool = False


def burned_in_facts(path: Path) -> BurnedInFacts:
    """Return the header's information about text in the pixels."""
    dataset = _header(path)
    if dataset is None:
        return BurnedInFacts("", "")
    return BurnedInFacts(
        _word(dataset, "BurnedInAnnotation"),
        _word(dataset, "Modality"),
        _word(dataset, "RecognizableVisualFeatures"),
        _word(dataset, "BodyPartExamined"),
        _SECONDARY_CAPTURE.fullmatch(_word(dataset, "SOPClassUID")) is not None,
    )


def identifiers(path: Path) -> tuple[Identifier, ...]:
    """Return every value of a file that may identify somebody, without duplicates.

    Parts of names, dates, numbers, institutions and private texts of a DICOM header,
    including items of sequences. Long numbers are also taken from descriptions and from
    the file's name, which is all there is without a header.
    """
    found = [*_of_file_name(path)]
    dataset = _header(path)
    if dataset is not None:
        found += [*_of_dataset(dataset), *_of_dataset(dataset.file_meta)]
    return tuple(dict.fromkeys(found))


def _of_file_name(path: Path) -> Iterator[Identifier]:
    """Return the long numbers in the names of a file and its folders."""
    for number in _LONG_NUMBER.findall(" ".join(path.parts[-_NAMES_READ:])):
        yield Identifier("file name", number)


def _header(path: Path) -> "Dataset | None":
    if file_kind(path) is not FileKind.DICOM:
        return None
    import pydicom

    with refusing(path):
        # force: a file without a preamble may name a patient like any other.
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
            yield from _of_element(element, keyword)


def _of_element(element: "DataElement", keyword: str) -> Iterator[Identifier]:
    texts = [text for text in map(str.strip, _texts(element)) if text]
    if element.VR in {"DA", "DT"}:
        days = filter(None, map(_day, texts))
        yield from (Identifier(keyword, day.isoformat(), day) for day in days)
        return
    for value in _values(element, texts):
        yield Identifier(keyword, value)


def _values(element: "DataElement", texts: list[str]) -> Iterator[str]:
    if element.VR == "PN":
        yield from _long_enough(_name_parts(texts), _LEAST_NAME)
    elif element.tag.is_private and element.VR in _TEXT_VRS:
        yield from _long_enough(texts, _LEAST_PRIVATE)
    elif element.keyword in _NAMING or _is_own_uid(element):
        yield from _long_enough(texts, _LEAST)
    elif element.VR in _TEXT_VRS:
        yield from _LONG_NUMBER.findall(" ".join(texts))


def _texts(element: "DataElement") -> list[str]:
    value = element.value
    if value is None:
        return []
    if isinstance(value, bytes):
        # Values are padded to even length with a zero or a blank (PS3.5 6.2).
        text = _decoded(value.rstrip(b"\x00 "))
        # Binary values cannot stand in a text that is about to be sent.
        return [text] if text.isprintable() else []
    many = value if element.VM > 1 else [value]
    return [str(one) for one in many]


def _decoded(value: bytes) -> str:
    """Return the bytes of an unknown value decoded as UTF-8, else as ISO 8859-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _name_parts(names: list[str]) -> list[str]:
    """Return the parts of a name in every representation (PS3.5 6.2.1.1).

    Family and given name are also joined, in both orders, as they may be written in one
    word.
    """
    return [part for name in names for group in name.split("=") for part in _of(group)]


def _of(group: str) -> Iterator[str]:
    parts = group.replace("^", " ").replace(",", " ").split()
    yield from parts
    yield from (half for part in parts for half in _halves(part))
    yield " ".join(parts)
    family, _, others = group.partition("^")
    given = others.split("^")[0]
    if family.strip() and given.strip():
        yield f"{family} {given}"
        yield f"{given} {family}"


def _halves(part: str) -> Iterator[str]:
    """Yield the halves of a double name, which may occur alone."""
    halves = re.split(r"[-'’]", part)
    if len(halves) > 1:
        yield from _long_enough(halves, _LEAST_PRIVATE)


def _long_enough(texts: list[str], least: int) -> Iterator[str]:
    yield from (text for text in texts if len(text) >= least)


def _is_own_uid(element: "DataElement") -> bool:
    return element.VR == "UI" and element.keyword.endswith(_OWN_UIDS)


def _day(text: str) -> date | None:
    """Return the day of a DA or DT value, including the old format with dots."""
    digits = text.replace(".", "")[:8]
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return None
