"""The header of a DICOM file, read without decoding pixels."""

from pathlib import Path

from pydicom import uid
from pydicom.datadict import tag_for_keyword
from pydicom.dataset import Dataset
from pydicom.errors import InvalidDicomError

from viewer.domain.errors import NotAnImageError, UnreadableInputError
from viewer.domain.file_header import FileHeader
from viewer.readers.dicom.bounds import (
    DEFLATED,
    check_frames,
    frame_count,
    held_bytes,
    may_be_dataset,
    read_before_pixels,
)
from viewer.readers.dicom.decoding import MAX_PIXELS
from viewer.readers.dicom.geometry import KEYWORDS, geometries_of
from viewer.readers.files.projections import view_of
from viewer.readers.files.refusal import DAMAGED, refusing

_KEYWORDS = (
    *KEYWORDS,
    "SOPClassUID",
    "StudyDate",
    "StudyDescription",
    "SeriesDescription",
    "StudyTime",
    "PatientID",
    "PatientName",
    "PatientBirthDate",
    "ViewPosition",
    "BodyPartExamined",
    "FrameOfReferenceUID",
    "StudyInstanceUID",
    "SeriesInstanceUID",
    "InstanceNumber",
    "SamplesPerPixel",
    "PhotometricInterpretation",
    "BitsAllocated",
)
_TAGS = [tag for tag in map(tag_for_keyword, _KEYWORDS) if tag is not None]
PRESENTATION_STATES = frozenset(
    {
        uid.GrayscaleSoftcopyPresentationStateStorage,
        uid.ColorSoftcopyPresentationStateStorage,
    }
)
"""The SOP classes of presentation states that can be applied to an image."""
REPORTS = frozenset(
    {
        uid.BasicTextSRStorage,
        uid.EnhancedSRStorage,
        uid.ComprehensiveSRStorage,
        uid.Comprehensive3DSRStorage,
        uid.ExtensibleSRStorage,
        uid.EncapsulatedPDFStorage,
        uid.EncapsulatedCDAStorage,
    }
)
"""The SOP classes of reports of a study."""
_DICOM_SUFFIXES = frozenset({"", ".dcm", ".dicom", ".ima"})


def dicom_header(path: Path) -> FileHeader:
    """Return a DICOM file's header; UnreadableInputError if it is no DICOM image."""
    with refusing(path):
        dataset = _read_tags(path)
        rows, columns = int(dataset.get("Rows") or 0), int(dataset.get("Columns") or 0)
        if rows < 1 or columns < 1 or rows * columns > MAX_PIXELS:
            raise UnreadableInputError(
                f"{path.name} claims an impossible size of {columns} × {rows} pixels.",
                DAMAGED,
            )
        modality = _text(dataset, "Modality")
        return FileHeader(
            path,
            geometries_of(dataset),
            frame_count(dataset),
            modality=modality,
            view=view_of(modality, _text(dataset, "ViewPosition")),
            patient_key=_text(dataset, "PatientID"),
            study_key=_text(dataset, "StudyInstanceUID"),
            series_key=_text(dataset, "SeriesInstanceUID"),
            study_date=_text(dataset, "StudyDate"),
            study_description=_text(dataset, "StudyDescription"),
            series_description=_text(dataset, "SeriesDescription"),
            instance=_instance(dataset),
            body_part=_text(dataset, "BodyPartExamined").upper(),
            view_position=_text(dataset, "ViewPosition"),
            frame_of_reference=_text(dataset, "FrameOfReferenceUID"),
            patient_name=person_name(_text(dataset, "PatientName")),
            birth_date=_text(dataset, "PatientBirthDate").replace(".", ""),
            study_time=_text(dataset, "StudyTime").replace(":", ""),
        )


def person_name(written: str) -> str:
    """Return ``Family, Given`` of ``Family^Given^Middle^Prefix^Suffix``."""
    alphabetic = written.split("=", maxsplit=1)[0]
    family, _, rest = alphabetic.partition("^")
    given = " ".join(rest.split("^")).strip()
    return ", ".join(part for part in (family.strip(), given) if part)


def _read_tags(path: Path) -> Dataset:
    """Read the few tags needed, and check that pixels follow them."""
    held = held_bytes(path)
    with path.open("rb") as stream:
        try:
            dataset = read_before_pixels(stream, _TAGS)
        except InvalidDicomError:
            if not may_be_dataset(stream):
                raise _not_an_image(path) from None
            dataset = read_before_pixels(stream, _TAGS, force=True)
            if "Rows" not in dataset and "SOPClassUID" not in dataset:
                raise _not_an_image(path) from None
        syntax = dataset.file_meta.get("TransferSyntaxUID")
        deflated = syntax in DEFLATED
        # Reading stopped at the pixels, so one more byte proves them; a deflated file
        # was read to its end to inflate it.
        if dataset.get("SOPClassUID") in PRESENTATION_STATES:
            raise NotAnImageError(
                f"{path.name} is a presentation state, not an image.",
                "Open it with its image, and choose View ▸ Presentation state….",
            )
        if dataset.get("SOPClassUID") in REPORTS:
            raise NotAnImageError(
                f"{path.name} is a report, not an image.",
                "Open it with its images, and choose View ▸ Report….",
            )
        if dataset.get("SOPClassUID") == uid.KeyObjectSelectionDocumentStorage:
            raise NotAnImageError(
                f"{path.name} is a list of key images, not an image.", "Open images."
            )
        if "Rows" not in dataset or not (deflated or stream.read(1)):
            raise UnreadableInputError(
                f"{path.name} contains no pixels.", "Open an image, or export it again."
            )
        before = 0 if deflated else stream.tell()
    check_frames(dataset, path, held - before)
    return dataset


def _not_an_image(path: Path) -> UnreadableInputError:
    """Return the error for a file that is neither DICOM nor another image."""
    named = path.suffix.lower() in _DICOM_SUFFIXES or path.suffix[1:].isdecimal()
    return UnreadableInputError(
        f"{path.name} is not {'a DICOM file' if named else 'an image'}.",
        "Open DICOM, PNG, JPEG, TIFF, NIfTI, NRRD, MetaImage or slide files.",
    )


def _text(dataset: Dataset, keyword: str) -> str:
    value = dataset.get(keyword)
    # Not ``or``: the first image of some series has the number 0.
    return "" if value is None else str(value).strip()


def _instance(dataset: Dataset) -> int | None:
    value = _text(dataset, "InstanceNumber")
    return int(value) if value.lstrip("+-").isdecimal() else None
