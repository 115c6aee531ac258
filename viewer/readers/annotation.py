"""Text in a file about its image: corner annotation and list of tags.

Only for the person who opened the file: nothing from here may be logged, stored or
sent, because it identifies the patient.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pydicom
from pydicom.dataelem import DataElement
from pydicom.dataset import Dataset
from pydicom.multival import MultiValue
from pydicom.tag import Tag as ElementTag

from viewer.domain.annotation import CornerLine, CornerText, Tag
from viewer.domain.case import ImageRef
from viewer.readers.dicom.bounds import held_bytes
from viewer.readers.dicom.compression import lossy_text
from viewer.readers.dicom.functional_groups import functional_group
from viewer.readers.dicom.header import person_name
from viewer.readers.dicom.spacing import regions_differ
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import refusing
from viewer.readers.headers import load_geometry
from viewer.readers.pixels import FileKind, file_kind
from viewer.readers.slides.annotation import field_lines
from viewer.readers.slides.dicom import is_dicom_slide
from viewer.readers.slides.openslide import properties
from viewer.readers.slides.slide import START_BYTES, read_slide

_LONGEST: Final = 512
_MOMENTS: Final = (
    ("AcquisitionDate", "AcquisitionTime"),
    ("ContentDate", "ContentTime"),
    ("SeriesDate", "SeriesTime"),
    ("StudyDate", "StudyTime"),
)
"""Date and time by level, nearest to the exposure first."""
_LOSSY: Final = (
    "LossyImageCompression",
    "LossyImageCompressionRatio",
    "LossyImageCompressionMethod",
)
_REGIONS: Final = "SequenceOfUltrasoundRegions"
_UNEQUAL: Final = "Regions without one scale: no mm"
_WINDOWS: Final = (("VOILUTSequence",), ("WindowCenter", "WindowWidth"))


@isolated
def corner_text(ref: ImageRef) -> CornerText:
    """Return the annotation of an image (PS3.3 as the BIR checklist asks, 5.8).

    Other files than DICOM show their name at the top left, and whether they are a lossy
    JPEG or were turned for display.
    """
    kind = file_kind(ref.path)
    if kind is FileKind.SLIDE:
        return _slide_corners(ref)
    if kind is not FileKind.DICOM:
        jpeg = ref.path.suffix.lower() in {".jpg", ".jpeg"}
        lossy = CornerLine("Lossy JPEG" if jpeg else "", "File format")
        turned = _turned(ref) if kind is FileKind.RASTER else CornerLine("")
        return CornerText((_file_name(ref.path),), (), (), _lines(turned, lossy))
    with refusing(ref.path):
        dataset = _read(ref)
        return CornerText(
            _person(dataset) or (_file_name(ref.path),),
            _examination(dataset),
            (),
            _image(dataset, ref.frame),
            _window_source(dataset),
        )


@isolated
def tags_of(ref: ImageRef) -> tuple[Tag, ...]:
    """Return every data element of a DICOM file, file meta first; others have none.

    For a scanner's slide, its own properties are returned by name.
    """
    kind = file_kind(ref.path)
    if kind is FileKind.SLIDE and not _is_dicom(ref):
        with refusing(ref.path):
            pairs = sorted(properties(ref.path).items())
        return tuple(Tag("", name, "", _printable(text, ""), 0) for name, text in pairs)
    if kind not in {FileKind.DICOM, FileKind.SLIDE}:
        return ()
    with refusing(ref.path):
        dataset = _read(ref)
        return (*_tags(dataset.file_meta, 0), *_tags(dataset, 0))


def _turned(ref: ImageRef) -> CornerLine:
    orientation = load_geometry(ref).stored_orientation
    words = "" if orientation == 1 else f"Turned by Orientation {orientation}"
    return CornerLine(words, "Orientation of EXIF or TIFF (0112)")


def _slide_corners(ref: ImageRef) -> CornerText:
    slide = read_slide(ref.path)
    name, scanner = (_file_name(slide.facts.path),), CornerLine(slide.facts.scanner)
    lines = tuple(map(CornerLine, field_lines(slide, ref.frame)))
    if not _is_dicom(ref):
        return CornerText(name, _lines(scanner), (), lines)
    with refusing(ref.path):
        dataset = _read(ref)
        seen = _lines(*_examination(dataset), scanner)
        return CornerText(_person(dataset) or name, seen, (), lines)


def _is_dicom(ref: ImageRef) -> bool:
    with ref.path.open("rb") as stream:
        return is_dicom_slide(ref.path, stream.read(START_BYTES))


def _read(ref: ImageRef) -> Dataset:
    held_bytes(ref.path)
    dataset: Dataset = pydicom.dcmread(ref.path, stop_before_pixels=True, force=True)
    return dataset


def _person(dataset: Dataset) -> tuple[CornerLine, ...]:
    facts = (
        _element(dataset, "PatientSex"),
        _element(dataset, "PatientAge", _age),
        _element(dataset, "PatientBirthDate", lambda born: f"born {_date(born)}"),
    )
    return _lines(
        _element(dataset, "PatientName", person_name),
        _element(dataset, "PatientID"),
        _joined(facts, ", "),
    )


def _examination(dataset: Dataset) -> tuple[CornerLine, ...]:
    return _lines(
        _element(dataset, "InstitutionName"),
        _element(dataset, "StudyDescription"),
        _element(dataset, "StudyID", lambda number: f"Study {number}"),
        _element(dataset, "AccessionNumber", lambda number: f"Accession {number}"),
        _moment(dataset),
    )


def _moment(dataset: Dataset) -> CornerLine:
    """Return date and time of the first level that has a date."""
    for date, time in _MOMENTS:
        if _text(dataset, date):
            on, at = _element(dataset, date, _date), _element(dataset, time, _clock)
            return _joined((on, at))
    return CornerLine("")


def _image(dataset: Dataset, frame: int) -> tuple[CornerLine, ...]:
    anatomy = functional_group(dataset, frame, "FrameAnatomySequence")
    sides = (
        _element(anatomy, "FrameLaterality"),
        _element(dataset, "ImageLaterality"),
        _element(dataset, "Laterality"),
    )
    shown = (
        _element(dataset, "Modality"),
        _element(dataset, "ViewPosition"),
        *_lines(*sides)[:1],
    )
    series = (
        _element(dataset, "SeriesNumber", lambda number: f"Series {number}"),
        _element(dataset, "SeriesDescription"),
    )
    return _lines(
        _joined(series),
        _joined(shown),
        _number(dataset, frame),
        _contrast(dataset),
        _thickness(dataset, frame),
        _element(dataset, "SliceLocation", lambda at: f"Location {float(at):.1f} mm"),
        CornerLine(_UNEQUAL if regions_differ(dataset) else "", _source(_REGIONS)),
        CornerLine(lossy_text(dataset), _lossy_source(dataset)),
    )


def _contrast(dataset: Dataset) -> CornerLine:
    """Return the contrast agent, "" if the file names none."""
    agent = _element(dataset, "ContrastBolusAgent", lambda name: f"Contrast {name}")
    items = dataset.get("ContrastBolusAgentSequence") or ()
    coded = [_element(item, "CodeMeaning", lambda n: f"Contrast {n}") for item in items]
    return next(iter(_lines(agent, *coded)), CornerLine(""))


def _thickness(dataset: Dataset, frame: int) -> CornerLine:
    measures = functional_group(dataset, frame, "PixelMeasuresSequence")
    return _element(
        measures, "SliceThickness", lambda mm: f"Thickness {float(mm):g} mm"
    )


def _number(dataset: Dataset, frame: int) -> CornerLine:
    frames = int(dataset.get("NumberOfFrames") or 1)
    if frames > 1:
        return _element(
            dataset, "NumberOfFrames", lambda _: f"Frame {frame + 1} / {frames}"
        )
    return _element(dataset, "InstanceNumber", lambda number: f"Image {number}")


def _lossy_source(dataset: Dataset) -> str:
    present = [keyword for keyword in _LOSSY if keyword in dataset]
    return "\n".join(map(_source, present)) or _source("TransferSyntaxUID")


def _window_source(dataset: Dataset) -> str:
    for keywords in _WINDOWS:
        if keywords[0] in dataset:
            return "\n".join(map(_source, keywords))
    return ""


def _file_name(path: Path) -> CornerLine:
    return CornerLine(path.name, "File name")


def _element(
    dataset: Dataset, keyword: str, shown: Callable[[str], str] = str
) -> CornerLine:
    """Return an element's displayed value, and its name and tag; empty if missing."""
    value = _text(dataset, keyword)
    return CornerLine(shown(value) if value else "", _source(keyword))


def _source(keyword: str) -> str:
    return f"{keyword} {ElementTag(keyword)}"


def _joined(parts: Sequence[CornerLine], between: str = " ") -> CornerLine:
    lines = _lines(*parts)
    return CornerLine(
        between.join(part.text for part in lines),
        "\n".join(part.source for part in lines),
    )


def _text(dataset: Dataset, keyword: str) -> str:
    value = dataset.get(keyword)
    return "" if value is None else str(value).strip()


def _lines(*lines: CornerLine) -> tuple[CornerLine, ...]:
    return tuple(line for line in lines if line.text)


def _date(written: str) -> str:
    """Return ``2026-01-31`` for a DA value, with dots or not; else it unchanged."""
    digits = written.replace(".", "")  # as ACR-NEMA has it
    if len(digits) == 8 and digits.isdecimal():
        return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
    return written


def _clock(written: str) -> str:
    """Return ``14:05`` for a TM value; "" for an invalid one."""
    digits = written.replace(":", "")[:4]  # ACR-NEMA wrote colons
    return f"{digits[:2]}:{digits[2:]}" if len(digits) == 4 else ""


def _age(written: str) -> str:
    """Return ``54 y`` for an AS value ``054Y``; an invalid one unchanged."""
    if len(written) == 4 and written[:3].isdecimal():
        return f"{int(written[:3])} {written[3].lower()}"
    return written


def _tags(dataset: Dataset, depth: int) -> Iterator[Tag]:
    for element in dataset:
        keyword = element.keyword or _unnamed(dataset, element)
        vr = str(element.VR)
        yield Tag(str(element.tag), keyword, vr, _printable(element.value, vr), depth)
        if vr == "SQ":
            for item in element.value:
                yield from _tags(item, depth + 1)


def _unnamed(dataset: Dataset, element: DataElement) -> str:
    """Return the name of an element without a keyword, whose it is if it is private."""
    if not element.tag.is_private:
        return str(element.name)
    if element.tag.is_private_creator:
        return "Private: creator"
    owner = (element.tag.group << 16) | (element.tag.element >> 8)
    creator = str(dataset[owner].value) if owner in dataset else "no creator"
    name = str(element.name).strip("[]")
    known = "" if name in {"Private tag data", "Unknown"} else f", {name}"
    return f"Private: {creator}{known}"


def _printable(value: object, vr: str) -> str:
    if vr == "SQ":
        return f"{len(value)} item(s)"  # type: ignore[arg-type]
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if value is None:
        return ""
    parts = value if isinstance(value, MultiValue) else [value]
    text = "\\".join(str(part) for part in parts)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
