"""Every grey scale that a presentation state can ask for, on every image (PS3.4 N).

The reference is the pipeline in double precision, fed with the pixels of the image and
the elements of the state alone: nothing that the image says of its own grey scale may
count. Complaints of other viewers' users are rows (spec/workstation.md, 6.1).
"""

import shutil
import subprocess
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset

from tests.helpers import reference_pipeline
from tests.helpers.make_dicom import dicom_dataset, save_dicom
from tests.helpers.make_presentation import item, state_of, table, window
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.image import VoiFunction, Window
from viewer.imaging.luts import to_raster
from viewer.imaging.presentation import presented
from viewer.imaging.pyramid import Pyramid, Viewport
from viewer.readers.pixels import load_pixels
from viewer.readers.presentation_states import presentation_state

DCMTK = shutil.which("dcmp2pgm")
DCMTK_MOST = 3
"""Grey levels: dcmtk rounds before the window and before a curve twice as steep."""
REQUIRED = {
    "PatientID": "1", "PatientName": "A^B", "PatientBirthDate": "", "PatientSex": "",
    "AccessionNumber": "", "StudyID": "1", "StudyDate": "20200101",
    "StudyTime": "120000", "ReferringPhysicianName": "", "InstanceNumber": 1,
    "SeriesNumber": 1, "Manufacturer": "x",
}  # fmt: skip
"""What dcmtk wants of images and of states, besides what they are about."""
ROWS, COLUMNS = 24, 31
VOIS: dict[str, Dataset | None] = {
    "none": None,
    "linear": window(200, 700),
    "linear of one": window(200, 1),
    "exact": window(200, 700.5, "LINEAR_EXACT"),
    "sigmoid": window(200, 300, "SIGMOID"),
    "table": item(VOILUTSequence=[table(-300, [(n * n) >> 6 for n in range(900)], 14)]),
    "falling table": item(VOILUTSequence=[table(-300, [*range(255, -1, -1)], 8)]),
}
CURVES = {
    "curve": [round((n / 511) ** 2 * 4095) for n in range(512)],
    "falling curve": [4095 - round((n / 511) ** 2 * 4095) for n in range(512)],
}


@dataclass(frozen=True)
class Look:
    """What an image says of its grey scale, and what a state does."""

    photometric: str
    own_shape: str
    signed: bool
    slope: float
    voi: str
    presentation: str


LOOKS = [
    Look(*each)
    for each in product(
        ("MONOCHROME1", "MONOCHROME2"),
        ("", "IDENTITY", "INVERSE"),
        (False, True),
        (1.0, -1.0, 0.5),
        VOIS,
        ("IDENTITY", "INVERSE", *CURVES),
    )
]


def _image(look: Look) -> Dataset:
    kind, low = (np.int16, -500) if look.signed else (np.uint16, 0)
    noise = np.random.default_rng(7).integers(0, 1024, (ROWS, COLUMNS))
    image = dicom_dataset(
        (noise + low).astype(kind),
        PhotometricInterpretation=look.photometric,
        RescaleSlope=look.slope,
        RescaleIntercept=-24,
        WindowCenter=1,
        WindowWidth=2,
    )
    if look.own_shape:
        image.PresentationLUTShape = look.own_shape
    return image


def _state(look: Look, image: Dataset) -> Dataset:
    state = state_of(image, RescaleSlope=look.slope, RescaleIntercept=-24)
    if VOIS[look.voi] is not None:
        state.SoftcopyVOILUTSequence = [VOIS[look.voi]]
    if look.presentation in CURVES:
        del state.PresentationLUTShape
        state.PresentationLUTSequence = [table(0, CURVES[look.presentation], 12)]
    else:
        state.PresentationLUTShape = look.presentation
    return state


def _reference(look: Look, image: Dataset) -> reference_pipeline.Floats:
    """Return 0-255 from the pixels and what the state says, and nothing else."""
    flat = Dataset()
    flat.file_meta = image.file_meta
    flat.PhotometricInterpretation = "MONOCHROME2"
    flat.PixelRepresentation = image.PixelRepresentation
    flat.RescaleSlope, flat.RescaleIntercept = look.slope, -24
    voi = VOIS[look.voi]
    if voi is not None:
        flat.update(voi)
    else:
        ends = [v * look.slope - 24 for v in _ends(image)]
        flat.WindowCenter, flat.WindowWidth = sum(ends) / 2, abs(ends[1] - ends[0])
        flat.VOILUTFunction = "LINEAR_EXACT"
    if look.presentation not in CURVES:
        flat.PresentationLUTShape = look.presentation
    grey = reference_pipeline.shown(flat, image.pixel_array)
    if look.presentation in CURVES:
        curve = np.array(CURVES[look.presentation], float)
        grey = curve[np.rint(grey / 255 * 511).astype(int)] / 4095 * 255
    return grey


def _ends(image: Dataset) -> tuple[int, int]:
    return (-32768, 32767) if image.PixelRepresentation else (0, 65535)


def difference(look: Look, folder: Path) -> float:
    """Return by how many grey levels an image is shown otherwise than is right."""
    image = _image(look)
    path, beside = folder / "image.dcm", folder / "state.dcm"
    save_dicom(image, path)
    _state(look, image).save_as(beside, enforce_file_format=True)
    state = presentation_state(beside, ImageRef(path))
    assert state is not None
    shown = presented(load_pixels(ImageRef(path)), state)
    seen = to_raster(shown).pixels
    pyramid = Pyramid(shown)
    patch = pyramid.sample(Viewport(shown.size, PointPx(0, 0), 1.0, 1.0))
    assert (pyramid.shade(patch, None, inverted=False) == seen).all()
    return float(np.abs(seen - _reference(look, image)).max())


def _wrong(looks: list[Look], folder: Path) -> list[tuple[Look, float]]:
    found = [(look, difference(look, folder)) for look in looks]
    return [(look, by) for look, by in found if by > 1]


def test_that_every_kind_of_grey_scale_is_shown_as_the_standard_says(
    tmp_path: Path,
) -> None:
    assert not _wrong(LOOKS[::11], tmp_path)


@pytest.mark.proof
def test_that_every_combination_is_shown_as_the_standard_says(tmp_path: Path) -> None:
    print(len(LOOKS), "images with a presentation state")
    assert not _wrong(LOOKS, tmp_path)


def _by_dcmtk(look: Look, folder: Path) -> float:
    """Return by how many grey levels dcmtk shows an image otherwise."""
    image = _image(look)
    state = _state(look, image)
    area = item(
        DisplayedAreaTopLeftHandCorner=[1, 1],
        DisplayedAreaBottomRightHandCorner=[COLUMNS, ROWS],
        PresentationSizeMode="SCALE TO FIT",
        PresentationPixelAspectRatio=[1, 1],
    )
    created = {
        "PresentationCreationDate": "20200101", "PresentationCreationTime": "120000",
        "ContentDescription": "", "ContentCreatorName": "", "RescaleType": "US",
        "DisplayedAreaSelectionSequence": [area],
    }  # fmt: skip
    image.update(item(**REQUIRED))
    state.update(item(**{**REQUIRED, **created}))
    path, beside, picture = (folder / n for n in ("i.dcm", "s.dcm", "o.pgm"))
    save_dicom(image, path)
    state.save_as(beside, enforce_file_format=True)
    subprocess.run([DCMTK or "", "-p", beside, path, picture], check=True)
    theirs = np.frombuffer(picture.read_bytes()[-ROWS * COLUMNS :], np.uint8)
    read = presentation_state(beside, ImageRef(path))
    assert read is not None
    if look.voi == "sigmoid":
        # dcmtk's presentation states have no VOI LUT Function (C.11.2.1.3).
        assert isinstance(read.voi, Window)
        read = replace(read, voi=replace(read.voi, function=VoiFunction.LINEAR))
    ours = to_raster(presented(load_pixels(ImageRef(path)), read)).pixels.ravel()
    return float(np.abs(ours.astype(int) - theirs).max())


@pytest.mark.proof
@pytest.mark.skipif(not DCMTK, reason="needs dcmtk (apt install dcmtk)")
def test_that_dcmtk_shows_images_by_states_in_the_same_way(tmp_path: Path) -> None:
    found = [_by_dcmtk(look, tmp_path) for look in LOOKS]
    alike = sum(by <= 1 for by in found)
    print(f"{len(found)} images with a state by dcmtk: {alike} alike to one grey level")
    assert max(found) <= DCMTK_MOST
