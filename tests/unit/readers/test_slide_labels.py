"""The label and the photograph of the glass, which may name the patient, stay unread.

They are magenta here, which no tissue is.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import viewer
from tests.helpers.make_slide import pyramid, tissue, write_dicom_slide, write_svs
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.readers.catalog import scan
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.files import files_of_image
from viewer.readers.pixels import load_pixels
from viewer.services.viewing.view_image import load_shown_image, slide_pixels, thumbnail

openslide = pytest.importorskip("openslide")
pytest.importorskip("wsidicom")
LEVELS = [np.minimum(level, 200) for level in pyramid(tissue(700, 900), 2)]
MAGENTA = np.full((120, 160, 3), (255, 0, 255), np.uint8)


@pytest.fixture
def svs(tmp_path: Path) -> Path:
    label = {"label": MAGENTA}
    return write_svs(tmp_path / "a.svs", LEVELS, "|MPP = 0.5", label)


@pytest.fixture
def dicom(tmp_path: Path) -> Path:
    """A slide of four files of one series, its label and its overview among them."""
    from pydicom.uid import generate_uid

    study, series = generate_uid(), generate_uid()
    kinds = {"LABEL": "label.dcm", "OVERVIEW": "overview.dcm"}
    for kind, name in kinds.items():
        written = write_dicom_slide(
            tmp_path / kind,
            [MAGENTA],
            0.5,
            ImageType=["ORIGINAL", "PRIMARY", kind, "NONE"],
            SpecimenLabelInImage="YES",
            StudyInstanceUID=study,
            SeriesInstanceUID=series,
        )
        (tmp_path / "slide").mkdir(exist_ok=True)
        written[0].rename(tmp_path / "slide" / name)
        written[0].parent.rmdir()
    folder = tmp_path / "slide"
    return write_dicom_slide(
        folder, LEVELS, 0.5, StudyInstanceUID=study, SeriesInstanceUID=series
    )[0]


def _pixels(path: Path) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield whatever of a slide is shown, listed, or sent to a model."""
    (case,) = scan([path])
    for series in case.studies[0].series:
        for image in series.images:
            yield load_pixels(image.ref).values
            yield thumbnail(image.ref, 64).pixels
    slide = load_shown_image(ImageRef(path)).slide
    assert slide is not None
    for region in slide.tiles(slide.field(slide.frames - 1), 0):
        yield slide_pixels(ImageRef(path, region.frame), as_scanned=True)


def _is_magenta(pixels: npt.NDArray[np.uint8]) -> bool:
    apart = pixels.reshape(-1, 3).astype(int) - (255, 0, 255)
    return bool((np.abs(apart).max(1) < 40).any())


def test_that_the_label_of_a_scanners_slide_is_never_read(svs: Path) -> None:
    with openslide.OpenSlide(svs) as slide:
        assert set(slide.associated_images) == {"label"}
        assert _is_magenta(np.asarray(slide.associated_images["label"])[..., :3])
    assert not any(map(_is_magenta, _pixels(svs)))


def test_that_the_label_of_a_dicom_slide_is_never_read(dicom: Path) -> None:
    names = sorted(path.name for path in dicom.parent.iterdir())
    assert names == ["label.dcm", "level_0.dcm", "level_1.dcm", "overview.dcm"]
    assert not any(map(_is_magenta, _pixels(dicom)))
    parts = {path.name for path in files_of_image(dicom)}
    assert parts == {"level_0.dcm", "level_1.dcm"}  # also of what is hashed and sent


def test_that_opening_a_label_opens_its_slide(dicom: Path) -> None:
    label = dicom.with_name("label.dcm")
    assert scan([label]) == scan([dicom])
    assert not any(map(_is_magenta, _pixels(label)))
    dataset = read_dataset("folder", dicom.parent, "slides")
    assert {image.ref.path.name for image in dataset.images} == {"level_0.dcm"}


def test_that_a_label_without_its_slide_is_refused(dicom: Path) -> None:
    for level in dicom.parent.glob("level_*.dcm"):
        level.unlink()
    label = dicom.with_name("label.dcm")
    for read in (load_pixels, load_shown_image):
        with pytest.raises(UnreadableInputError, match="scan is not next to it"):
            read(ImageRef(label))


def test_that_no_code_asks_a_library_for_photographs_of_the_glass() -> None:
    asking = ("associated_images", ".read_label(", ".read_overview(")
    folder = Path(viewer.__file__).parent
    found = [p.name for p in folder.rglob("*.py") for a in asking if a in p.read_text()]
    assert found == []
