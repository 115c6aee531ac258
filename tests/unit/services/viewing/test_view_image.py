import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pydicom.data import get_testdata_file
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.uid import JPEGBaseline8Bit

from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from tests.helpers.tiny_study import write_images
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.luts import to_raster
from viewer.imaging.resample import crop_window
from viewer.readers.dicom.compression import lossy_text
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.viewing.view_image import (
    CornerText,
    field_of,
    load_shown_image,
    reference_masks,
    tags_of,
    thumbnail,
)
from viewer.store.database import open_store

PIXELS = np.arange(60, dtype=np.uint16).reshape(6, 10)


def texts(corners: CornerText) -> tuple[tuple[str, ...], ...]:
    """Return the words in the corners."""
    blocks = (
        corners.top_left,
        corners.top_right,
        corners.bottom_left,
        corners.bottom_right,
    )
    return tuple(tuple(line.text for line in block) for block in blocks)


def annotated(folder: Path, **attributes: object) -> ImageRef:
    path = make_dicom(folder / "a.dcm", PIXELS, bits_stored=None, **attributes)
    return ImageRef(path)


def test_that_the_corners_say_who_what_and_how(tmp_path: Path) -> None:
    shown = load_shown_image(
        annotated(
            tmp_path,
            PatientName="Doe^Jane^M=ideographic",
            PatientSex="F",
            PatientAge="054Y",
            PatientBirthDate="19700131",
            InstitutionName="Hospital",
            StudyDescription="Chest",
            AcquisitionDate="20260102",
            AcquisitionTime="140503.25",
            SeriesNumber=2,
            SeriesDescription="PA erect",
            Modality="DX",
            ViewPosition="PA",
            InstanceNumber=7,
            SliceLocation=12.25,
            LossyImageCompression="01",
            LossyImageCompressionRatio=12.5,
            LossyImageCompressionMethod="ISO_10918_1",
        )
    )
    assert texts(shown.corners) == (
        ("Doe, Jane M", "somebody", "F, 54 y, born 1970-01-31"),
        ("Hospital", "Chest", "2026-01-02 14:05"),
        (),
        (
            "Series 2 PA erect",
            "DX PA",
            "Image 7",
            "Location 12.2 mm",
            "Lossy 12.5:1 JPEG",
        ),
    )
    assert shown.header.size == SizePx(6, 10)
    assert shown.image.values.shape == (6, 10)


def test_that_a_file_that_says_nothing_shows_its_name(tmp_path: Path) -> None:
    bare = annotated(tmp_path, PatientID=None)
    corners = load_shown_image(bare).corners
    assert texts(corners) == (("a.dcm",), (), (), ("OT",))
    assert corners.top_left[0].source == "File name"
    Image.fromarray(np.zeros((4, 5), np.uint8)).save(tmp_path / "x.png")
    Image.fromarray(np.zeros((4, 5), np.uint8)).save(tmp_path / "x.jpg")
    png = load_shown_image(ImageRef(tmp_path / "x.png")).corners
    assert texts(png) == (("x.png",), (), (), ())
    jpeg = load_shown_image(ImageRef(tmp_path / "x.jpg")).corners
    assert texts(jpeg) == (("x.jpg",), (), (), ("Lossy JPEG",))


def test_that_a_lossy_transfer_syntax_is_told_without_the_tag(tmp_path: Path) -> None:
    dataset = dicom_dataset(PIXELS)
    save_dicom(dataset, tmp_path / "x.dcm")
    assert lossy_text(dataset) == ""
    dataset.file_meta.TransferSyntaxUID = JPEGBaseline8Bit
    assert lossy_text(dataset) == "Lossy JPEG"
    dataset.LossyImageCompressionRatio = [3, 4.5]
    dataset.LossyImageCompressionMethod = ["ISO_15444_1", "HOME_MADE"]
    assert lossy_text(dataset) == "Lossy 3:1 4.5:1 JPEG 2000 HOME_MADE"


def test_that_odd_dates_times_and_ages_are_not_guessed_at(tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):  # pydicom's, of what is written
        ref = annotated(tmp_path, StudyDate="2026", StudyTime="9", PatientAge="old")
    text = texts(load_shown_image(ref).corners)
    assert text[:2] == (("somebody", "old"), ("2026",))


def test_that_dates_and_times_of_acr_nema_are_read(tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):  # pydicom's, of what is written
        ref = annotated(tmp_path, StudyDate="1993.02.24", StudyTime="17:57:10")
    assert texts(load_shown_image(ref).corners)[1] == ("1993-02-24 17:57",)


def test_that_date_and_time_are_of_one_level() -> None:
    """RG1 has date and time of its content and of its study, nine years later."""
    path = Path(get_testdata_file("RG1_UNCR.dcm", download=False) or "")
    when = load_shown_image(ImageRef(path)).corners.top_right[-1]
    assert when.text == "1995-09-26 12:51"
    assert when.source == "ContentDate (0008,0023)\nContentTime (0008,0033)"


def test_that_a_date_without_a_time_borrows_none_of_another_level(
    tmp_path: Path,
) -> None:
    dates = {"ContentDate": "20260102", "StudyDate": "20260101"}
    ref = annotated(tmp_path, **dates, StudyTime="101500", SeriesTime="101600")
    assert [line.text for line in load_shown_image(ref).corners.top_right] == [
        "2026-01-02"
    ]


def test_that_every_corner_line_of_a_radiograph_names_its_elements() -> None:
    path = Path(get_testdata_file("RG1_J2KI.dcm", download=False) or "")
    corners = load_shown_image(ImageRef(path)).corners
    tags = {tag.tag: tag.keyword for tag in tags_of(ImageRef(path))}
    lines = (*corners.top_left, *corners.top_right, *corners.bottom_right)
    named = [source for line in lines for source in line.source.split("\n")]
    assert len(lines) == 12
    assert "PatientBirthDate (0010,0030)" in corners.top_left[-1].source
    assert all(tags[source.split()[1]] == source.split()[0] for source in named)
    assert corners.window_source == "WindowCenter (0028,1050)\nWindowWidth (0028,1051)"


def test_that_a_frame_is_counted_from_one_and_one_too_many_is_refused(
    tmp_path: Path,
) -> None:
    frames = np.arange(40, dtype=np.uint8).reshape(4, 10)
    path = make_dicom(tmp_path / "m.dcm", frames, NumberOfFrames=2, Rows=2, Columns=10)
    shown = load_shown_image(ImageRef(path, 1))
    assert "Frame 2 / 2" in texts(shown.corners)[-1]
    assert shown.image.values.tolist() == frames[2:].tolist()
    with pytest.raises(WrongUseError, match="2 frame"):
        load_shown_image(ImageRef(path, 2))


def test_that_a_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear colleague")
    with pytest.raises(UnreadableInputError, match=r"letter\.txt"):
        load_shown_image(ImageRef(tmp_path / "letter.txt"))


def test_that_every_tag_is_listed_with_sequences_one_level_deeper(
    tmp_path: Path,
) -> None:
    item = Dataset()
    item.CodeValue = "123"
    ref = annotated(
        tmp_path,
        ViewCodeSequence=Sequence([item]),
        ImageType=["DERIVED", "PRIMARY"],
        ImageComments="x" * 600,
    )
    tags = {tag.keyword: tag for tag in tags_of(ref)}
    assert "PixelData" not in tags
    assert tags["TransferSyntaxUID"].tag == "(0002,0010)"
    assert tags["ImageType"].value == "DERIVED\\PRIMARY"
    assert (tags["ViewCodeSequence"].value, tags["ViewCodeSequence"].depth) == (
        "1 item(s)",
        0,
    )
    assert (tags["CodeValue"].value, tags["CodeValue"].depth) == ("123", 1)
    assert len(tags["ImageComments"].value) == 513
    Image.fromarray(np.zeros((4, 5), np.uint8)).save(tmp_path / "x.png")
    assert tags_of(ImageRef(tmp_path / "x.png")) == ()


def test_that_a_thumbnail_shows_the_image_in_its_window_between_bars(
    tmp_path: Path,
) -> None:
    pixels = np.zeros((400, 800), np.uint16)
    pixels[:, 400:] = 1000
    path = make_dicom(tmp_path / "a.dcm", pixels, WindowCenter=500, WindowWidth=1000)
    raster = thumbnail(ImageRef(path), 64)
    assert raster.size == SizePx(64, 64)
    assert not raster.pixels[:16].any()
    assert not raster.pixels[48:].any()
    assert raster.pixels[32, 10] == 0
    full = to_raster(load_shown_image(ImageRef(path)).image).pixels[200, 700]
    assert raster.pixels[32, 60] == full


def test_that_reference_masks_come_from_the_data_set_or_from_beside_the_file(
    tmp_path: Path,
) -> None:
    folder = write_images(tmp_path / "d", 1)
    ref = ImageRef(folder / "patient00000_frontal.png")
    store = tmp_path / "s.sqlite"
    beside = reference_masks(store, ref)
    assert list(beside) == ["Edema"]
    with open_store(store) as opened:
        import_dataset(opened, "folder", folder, "tiny")
    (folder / "patient00000_frontal.Edema.png").unlink()
    assert reference_masks(store, ref) == beside
    written = Image.new("L", (5, 5))
    written.save(tmp_path / "alone.png")
    assert reference_masks(store, ImageRef(tmp_path / "alone.png")) == {}
    (tmp_path / "letter.txt").write_text("Dear colleague")
    assert reference_masks(store, ImageRef(tmp_path / "letter.txt")) == {}


def test_that_a_thumbnail_shows_the_patients_proportions(tmp_path: Path) -> None:
    path = make_dicom(
        tmp_path / "a.dcm",
        np.full((100, 200), 90, np.uint8),
        PixelAspectRatio=[4, 1],
        WindowCenter=50,
        WindowWidth=60,
    )
    shown = thumbnail(ImageRef(path), 64).pixels > 0
    assert (shown.any(axis=1).sum(), shown.any(axis=0).sum()) == (64, 32)


@pytest.mark.parametrize(
    "size", [SizePx(7, 10), SizePx(2500, 2048), SizePx(11, 4), SizePx(512, 512)]
)
def test_that_the_field_of_the_paper_is_the_centred_square(size: SizePx) -> None:
    geometry = ImageGeometry(size)
    assert field_of(geometry) == crop_window(geometry)
    assert isinstance(field_of(geometry), BoxPx)
