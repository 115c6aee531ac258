"""Marks as DICOM presentation states, and key images as key object documents.

Both belong to the study of their images, and name its patient.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import groupby, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pydicom
from pydicom import Dataset
from pydicom.datadict import dictionary_VR
from pydicom.uid import generate_uid

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import MIRRORED, ROTATED_RIGHT, TURNS, then
from viewer.domain.mark import DrawnImage, Mark, MarkKind
from viewer.imaging.outline_loops import outline_loops
from viewer.writers.dicom_dx import MANUFACTURER

if TYPE_CHECKING:
    from highdicom.pr import (
        GraphicAnnotation,
        GraphicLayer,
        SoftcopyVOILUTTransformation,
    )

_MODEL: Final = "Overread"
_SERIES_NUMBER: Final = 990
_LAYER: Final = "MARKS"
_TYPE_2: Final = (
    "PatientID", "PatientName", "PatientBirthDate", "PatientSex", "AccessionNumber",
    "StudyID", "StudyDate", "StudyTime", "ReferringPhysicianName",
)  # fmt: skip
"""Elements that each image should have, if only empty (PS3.3 C.7.1.1 and C.7.2.1)."""


def presentation_states(images: Sequence[DrawnImage]) -> Iterator[bytes]:
    """Yield a grey-scale presentation state for each series and look of the images.

    Raises
    ------
    ValueError
        If an image is not a grey one of a DICOM study.
    TypeError
        If it has several frames, which its SOP class does not allow.
    """
    known = [(image, header_of(image.ref)) for image in images]

    def look(pair: tuple[DrawnImage, Dataset]) -> tuple[object, ...]:
        image, header = pair
        own_lut, series = image.window is None, str(header.SeriesInstanceUID)
        return series, own_lut, image.rescale, image.inverted, image.orientation

    ordered = sorted(known, key=look)
    for number, (_, group) in enumerate(groupby(ordered, key=look), start=1):
        yield _bytes(_presentation_state(list(group), number))


def key_objects(refs: Sequence[ImageRef]) -> bytes:
    """Return a Key Object Selection document of images of one study (TID 2010)."""
    from highdicom.ko import KeyObjectSelection, KeyObjectSelectionDocument
    from pydicom.sr.codedict import codes

    # A file of several frames is named once: highdicom names whole objects.
    headers = [header_of(ref) for ref in {ref.path: ref for ref in refs}.values()]
    content = KeyObjectSelection(codes.DCM.OfInterest, headers)
    document = KeyObjectSelectionDocument(
        evidence=headers,
        content=content,
        series_instance_uid=generate_uid(),
        series_number=_SERIES_NUMBER + 1,
        sop_instance_uid=generate_uid(),
        instance_number=1,
        manufacturer=MANUFACTURER,
    )
    return _bytes(document)


def header_of(ref: ImageRef) -> Dataset:
    """Return an image's header, with the elements that each image should have."""
    header = pydicom.dcmread(ref.path, stop_before_pixels=True)
    for keyword in _TYPE_2:
        if keyword not in header:
            header.add_new(keyword, dictionary_VR(keyword), "")
    return header


def _presentation_state(
    group: list[tuple[DrawnImage, Dataset]], number: int
) -> Dataset:
    from highdicom import ModalityLUTTransformation, PresentationLUTTransformation
    from highdicom.pr import GraphicLayer, GrayscaleSoftcopyPresentationState

    layer = GraphicLayer(_LAYER, order=1)
    headers = list({str(h.SOPInstanceUID): h for _, h in group}.values())
    windows = [_window(i, h) for i, h in group if i.window is not None]
    first = group[0][0]
    slope, intercept = first.rescale
    shape = "INVERSE" if first.inverted else "IDENTITY"
    state = GrayscaleSoftcopyPresentationState(
        referenced_images=headers,
        series_instance_uid=generate_uid(),
        series_number=_SERIES_NUMBER,
        sop_instance_uid=generate_uid(),
        instance_number=number,
        manufacturer=MANUFACTURER,
        manufacturer_model_name=_MODEL,
        software_versions="1",
        device_serial_number="1",
        content_label="MARKS",
        content_description="Marks of a reader",
        graphic_layers=[layer],
        graphic_annotations=[_annotation(i, h, layer) for i, h in group],
        modality_lut_transformation=ModalityLUTTransformation(
            intercept, slope, rescale_type="US"
        ),
        voi_lut_transformations=windows or None,
        presentation_lut_transformation=PresentationLUTTransformation(shape),
    )
    _turn(state, first.orientation)
    return state


def _window(image: DrawnImage, header: Dataset) -> "SoftcopyVOILUTTransformation":
    from highdicom import ReferencedImageSequence
    from highdicom.pr import SoftcopyVOILUTTransformation

    assert image.window is not None  # noqa: S101 - others have none to store
    return SoftcopyVOILUTTransformation(
        image.window.center,
        image.window.width,
        voi_lut_function=image.window.function.value,
        referenced_images=ReferencedImageSequence([header], _frame(image, header)),
    )


def _annotation(
    image: DrawnImage, header: Dataset, layer: "GraphicLayer"
) -> "GraphicAnnotation":
    from highdicom.pr import GraphicAnnotation

    return GraphicAnnotation(
        [header],
        layer,
        referenced_frame_number=_frame(image, header),
        graphic_objects=[g for m, _ in image.marks for g in _graphics(m)],
        text_objects=[t for m, words in image.marks for t in _texts(m, words)],
    )


def _frame(image: DrawnImage, header: Dataset) -> int | None:
    """Return the frame number of DICOM, from 1; None for an image without frames."""
    return image.ref.frame + 1 if header.get("NumberOfFrames") else None


def _turn(state: Dataset, orientation: int) -> None:
    """Have images shown turned: rotated clockwise, then mirrored (PS3.3 C.10.6)."""
    quarters, mirrored = next(
        (quarters, mirrored)
        for quarters, mirrored in product(range(4), (False, True))
        if _turned(quarters, mirrored=mirrored) == orientation
    )
    state.ImageRotation = 90 * quarters
    state.ImageHorizontalFlip = "Y" if mirrored else "N"
    turn = TURNS[orientation]
    begins = (turn.mirror, turn.flip)
    right, below = begins[::-1] if turn.transpose else begins
    for area in state.DisplayedAreaSelectionSequence:
        # The pixels of the image that are seen in two corners (PS3.3 C.10.4).
        x0, y0 = area.DisplayedAreaTopLeftHandCorner
        x1, y1 = area.DisplayedAreaBottomRightHandCorner
        across, down = (x1, x0) if right else (x0, x1), (y1, y0) if below else (y0, y1)
        area.DisplayedAreaTopLeftHandCorner = [across[0], down[0]]
        area.DisplayedAreaBottomRightHandCorner = [across[1], down[1]]


def _turned(quarters: int, *, mirrored: bool) -> int:
    turned = 1
    for further in (*[ROTATED_RIGHT] * quarters, *[MIRRORED] * mirrored):
        turned = then(turned, further)
    return turned


def _graphics(mark: Mark) -> Iterator[Any]:
    """Yield the graphic objects of a mark, in pixels as highdicom has them."""
    from highdicom.pr import GraphicObject

    def graphic(kind: str, points: Sequence[PointPx]) -> Any:  # noqa: ANN401 - highdicom, untyped
        return GraphicObject(kind, np.array([(p.x, p.y) for p in points]), "PIXEL")

    if mark.kind is MarkKind.POINT:
        yield graphic("POINT", mark.points)
    elif mark.kind is MarkKind.ELLIPSE:
        a, b = mark.points
        x, y = (a.x + b.x) / 2, (a.y + b.y) / 2
        axes = [(PointPx(a.x, y), PointPx(b.x, y)), (PointPx(x, a.y), PointPx(x, b.y))]
        if abs(b.x - a.x) < abs(b.y - a.y):
            axes.reverse()  # the ends of the major axis come first (PS3.3 C.10.5.1.2)
        yield graphic("ELLIPSE", [end for axis in axes for end in axis])
    elif mark.painted is not None:
        box = mark.painted.box
        for loop in outline_loops(mark.painted.mask.array()):
            corners = [PointPx(box.x0 + x, box.y0 + y) for x, y in loop.tolist()]
            yield graphic("POLYLINE", corners)
    elif mark.kind is not MarkKind.TEXT:
        yield from (graphic("POLYLINE", line) for line in mark.lines)


def _texts(mark: Mark, words: tuple[str, ...]) -> Iterator[Any]:
    """Yield the words of a mark, at the point where it ends."""
    from highdicom.pr import TextObject

    if words:
        end = mark.end
        yield TextObject(
            "\r\n".join(words),
            "PIXEL",
            anchor_point=(end.x, end.y),
            anchor_point_visible=False,
        )


def _bytes(dataset: Dataset) -> bytes:
    stream = BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()
