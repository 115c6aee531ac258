"""Presentation states for tests, written with pydicom alone."""

from pathlib import Path

import pydicom
from pydicom import uid
from pydicom.dataset import Dataset, FileMetaDataset


def item(**elements: object) -> Dataset:
    """Return a sequence's item."""
    made = Dataset()
    for keyword, value in elements.items():
        setattr(made, keyword, value)
    return made


def reference(image: Dataset, frames: list[int] | None = None) -> Dataset:
    """Return an item that refers to an image, or to some of its frames, from 1."""
    named = {"ReferencedFrameNumber": frames} if frames else {}
    return item(
        ReferencedSOPClassUID=image.SOPClassUID,
        ReferencedSOPInstanceUID=image.SOPInstanceUID,
        **named,
    )


def state_of(
    image: Dataset, frames: list[int] | None = None, **more: object
) -> Dataset:
    """Return a grey-scale softcopy presentation state that refers to an image."""
    series = item(
        SeriesInstanceUID=image.SeriesInstanceUID,
        ReferencedImageSequence=[reference(image, frames)],
    )
    made: dict[str, object] = {
        "SOPClassUID": uid.GrayscaleSoftcopyPresentationStateStorage,
        "SOPInstanceUID": uid.generate_uid(),
        "Modality": "PR",
        "StudyInstanceUID": image.StudyInstanceUID,
        "SeriesInstanceUID": uid.generate_uid(),
        "ReferencedSeriesSequence": [series],
        "ContentLabel": "READ",
        "PresentationLUTShape": "IDENTITY",
    }
    state = item(**{**made, **more})
    state.file_meta = FileMetaDataset()
    state.file_meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
    state.file_meta.MediaStorageSOPClassUID = state.SOPClassUID
    state.file_meta.MediaStorageSOPInstanceUID = state.SOPInstanceUID
    return state


def write_state(
    path: Path, image: Path, frames: list[int] | None = None, **more: object
) -> Path:
    """Write a state that refers to the image in a file; return its path."""
    state = state_of(pydicom.dcmread(image), frames, **more)
    state.save_as(path, enforce_file_format=True)
    return path


def window(center: float, width: float, function: str = "LINEAR") -> Dataset:
    """Return an item of the Softcopy VOI LUT Sequence."""
    return item(WindowCenter=center, WindowWidth=width, VOILUTFunction=function)


def table(first: int, entries: list[int], bits: int) -> Dataset:
    """Return a look-up table."""
    made = Dataset()
    descriptor = [len(entries) % 65536, first, bits]
    made.add_new("LUTDescriptor", "SS" if first < 0 else "US", descriptor)
    made.add_new("LUTData", "US", entries)
    return made


def graphic(kind: str, *points: tuple[float, float], **more: object) -> Dataset:
    """Return a graphic object in pixels, unless told otherwise."""
    return item(
        **{
            "GraphicAnnotationUnits": "PIXEL",
            "GraphicDimensions": 2,
            "NumberOfGraphicPoints": len(points),
            "GraphicData": [value for point in points for value in point],
            "GraphicType": kind,
            **more,
        }
    )
