"""What a file says about its image in words: corner text and its list of tags.

For the eyes of the person who opened the file only: nothing from here may be logged,
stored or sent, because it names the patient.
"""

from collections.abc import Iterator
from typing import Final

import pydicom
from pydicom.dataset import Dataset
from pydicom.multival import MultiValue

from viewer.domain.annotation import CornerText, Tag
from viewer.domain.case import ImageRef
from viewer.readers.compression import lossy_text
from viewer.readers.dicom_bounds import held_bytes
from viewer.readers.isolation import isolated
from viewer.readers.pixels import FileKind, file_kind
from viewer.readers.refusal import refusing
from viewer.readers.slide import START_BYTES, read_slide
from viewer.readers.slide_annotation import field_lines
from viewer.readers.slide_dicom import is_dicom_slide
from viewer.readers.slide_openslide import properties

_LONGEST: Final = 512


@isolated
def corner_text(ref: ImageRef) -> CornerText:
    """Return the annotation of an image (PS3.3 as the BIR checklist asks, 5.8).

    A file of another kind than DICOM has its name at the top left and, where it is a
    JPEG, that it is lossy.
    """
    kind = file_kind(ref.path)
    if kind is FileKind.SLIDE:
        return _slide_corners(ref)
    if kind is not FileKind.DICOM:
        jpeg = ref.path.suffix.lower() in {".jpg", ".jpeg"}
        return CornerText((ref.path.name,), (), (), ("Lossy JPEG",) if jpeg else ())
    with refusing(ref.path):
        dataset = _read(ref)
        return CornerText(
            _person(dataset) or (ref.path.name,),
            _examination(dataset),
            (),
            _image(dataset, ref.frame),
        )


@isolated
def tags_of(ref: ImageRef) -> tuple[Tag, ...]:
    """Return every data element of a DICOM file, file meta first; else none.

    Of a scanner's slide, what it says of itself, each by its name alone.
    """
    kind = file_kind(ref.path)
    if kind is FileKind.SLIDE and not _is_dicom(ref):
        with refusing(ref.path):
            said = sorted(properties(ref.path).items())
        return tuple(Tag("", name, "", _printable(text, ""), 0) for name, text in said)
    if kind not in {FileKind.DICOM, FileKind.SLIDE}:
        return ()
    with refusing(ref.path):
        dataset = _read(ref)
        return (*_tags(dataset.file_meta, 0), *_tags(dataset, 0))


def _slide_corners(ref: ImageRef) -> CornerText:
    slide = read_slide(ref.path)
    name, scanner = (slide.facts.path.name,), slide.facts.scanner
    lines = field_lines(slide, ref.frame)
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


def _person(dataset: Dataset) -> tuple[str, ...]:
    born = _date(_text(dataset, "PatientBirthDate"))
    facts = (
        _text(dataset, "PatientSex"),
        _age(_text(dataset, "PatientAge")),
        f"born {born}" if born else "",
    )
    return _lines(
        _name(_text(dataset, "PatientName")),
        _text(dataset, "PatientID"),
        ", ".join(_lines(*facts)),
    )


def _examination(dataset: Dataset) -> tuple[str, ...]:
    date = (
        _text(dataset, "AcquisitionDate")
        or _text(dataset, "ContentDate")
        or _text(dataset, "StudyDate")
    )
    time = _text(dataset, "AcquisitionTime") or _text(dataset, "StudyTime")
    return _lines(
        _text(dataset, "InstitutionName"),
        _text(dataset, "StudyDescription"),
        " ".join(_lines(_date(date), _clock(time))),
    )


def _image(dataset: Dataset, frame: int) -> tuple[str, ...]:
    series = _text(dataset, "SeriesNumber")
    frames = int(dataset.get("NumberOfFrames") or 1)
    instance = _text(dataset, "InstanceNumber")
    number = f"Frame {frame + 1} / {frames}" if frames > 1 else ""
    location = _text(dataset, "SliceLocation")
    return _lines(
        " ".join(
            _lines(
                f"Series {series}" if series else "",
                _text(dataset, "SeriesDescription"),
            )
        ),
        " ".join(
            _lines(
                _text(dataset, "Modality"),
                _text(dataset, "ViewPosition"),
                _text(dataset, "ImageLaterality") or _text(dataset, "Laterality"),
            )
        ),
        number or (f"Image {instance}" if instance else ""),
        f"Location {float(location):.1f} mm" if location else "",
        lossy_text(dataset),
    )


def _text(dataset: Dataset, keyword: str) -> str:
    return str(dataset.get(keyword) or "").strip()


def _lines(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)


def _name(written: str) -> str:
    """Return ``Family, Given`` of ``Family^Given^Middle^Prefix^Suffix``."""
    alphabetic = written.split("=", maxsplit=1)[0]
    family, _, rest = alphabetic.partition("^")
    return ", ".join(_lines(family.strip(), " ".join(rest.split("^")).strip()))


def _date(written: str) -> str:
    """Return ``2026-01-31`` of a DA value; an odd one as it is written."""
    if len(written) == 8 and written.isdecimal():
        return f"{written[:4]}-{written[4:6]}-{written[6:]}"
    return written


def _clock(written: str) -> str:
    """Return ``14:05`` of a TM value; an odd one is left out."""
    digits = written[:4]
    return f"{digits[:2]}:{digits[2:]}" if len(digits) == 4 else ""


def _age(written: str) -> str:
    """Return ``54 y`` of an AS value ``054Y``; an odd one as it is written."""
    if len(written) == 4 and written[:3].isdecimal():
        return f"{int(written[:3])} {written[3].lower()}"
    return written


def _tags(dataset: Dataset, depth: int) -> Iterator[Tag]:
    for element in dataset:
        keyword = element.keyword or element.name
        vr = str(element.VR)
        yield Tag(str(element.tag), keyword, vr, _printable(element.value, vr), depth)
        if vr == "SQ":
            for item in element.value:
                yield from _tags(item, depth + 1)


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
