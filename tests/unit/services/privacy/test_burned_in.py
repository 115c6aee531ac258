from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from viewer.domain.case import ImageRef
from viewer.domain.errors import PrivacyError
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster, Window
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.imaging.burned_in_text import TextPlace, text_finder_missing
from viewer.readers.identifiers import BurnedInFacts
from viewer.readers.pixels import load_pixels
from viewer.services.privacy import burned_in
from viewer.services.privacy.burned_in import (
    check_pixels,
    keep_review,
    pixels_to_review,
    reason_by_header,
)
from viewer.store import consents
from viewer.store.database import open_store

BOX = BoxPx(1, 1, 5, 3)
needs_finder = pytest.mark.skipif(
    text_finder_missing() is not None, reason="the extra ocr is not installed"
)


@pytest.fixture
def ref(tmp_path: Path) -> ImageRef:
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    dataset = dicom_dataset(pixels, Modality="DX", BurnedInAnnotation="NO")
    return ImageRef(save_dicom(dataset, tmp_path / "x.dcm"))


def found(monkeypatch: pytest.MonkeyPatch, *places: TextPlace) -> None:
    monkeypatch.setattr(burned_in, "text_finder_missing", lambda: None)
    monkeypatch.setattr(burned_in, "find_text", lambda _: places)
    monkeypatch.setattr(burned_in, "_searched", {})


@pytest.mark.parametrize(
    ("annotation", "modality", "waits"),
    [
        ("YES", "DX", True),
        ("YES", "US", True),
        ("NO", "US", False),
        ("", "DX", False),
        ("", "", False),
        *[("", modality, True) for modality in ("US", "SC", "XA", "ES", "OT", "XC")],
    ],
)
def test_that_header_and_modality_ask_for_a_look(
    annotation: str, modality: str, *, waits: bool
) -> None:
    assert bool(reason_by_header(BurnedInFacts(annotation, modality))) is waits


def test_that_text_found_keeps_an_image_here_and_markers_do_not(
    ref: ImageRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = load_pixels(ref)
    found(monkeypatch, TextPlace(BOX, telling=False))
    check_pixels(ref, image, {})
    found(monkeypatch, TextPlace(BOX, telling=True))
    with pytest.raises(PrivacyError, match="there is text in its pixels"):
        check_pixels(ref, image, {})


def test_that_without_a_finder_every_image_waits_for_a_person(
    ref: ImageRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = load_pixels(ref)
    monkeypatch.setattr(burned_in, "text_finder_missing", lambda: "Install it.")
    with pytest.raises(PrivacyError, match="no text finder is installed"):
        check_pixels(ref, image, {})
    look = pixels_to_review(ref.path.with_name("s.sqlite"), ref)
    assert (look.waits, look.missing, look.proposed) == (True, "Install it.", ())


def test_that_a_decision_holds_for_these_pixels_alone(
    ref: ImageRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = load_pixels(ref)
    found(monkeypatch, TextPlace(BOX, telling=True))
    sha256 = pixels_sha256(image)
    check_pixels(ref, image, {sha256: PixelReview(sha256, ReviewDecision.CLEAN)})
    other = {"0" * 64: PixelReview("0" * 64, ReviewDecision.CLEAN)}
    with pytest.raises(PrivacyError, match="there is text"):
        check_pixels(ref, image, other)


def test_that_a_look_proposes_what_was_found_or_decided(
    ref: ImageRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ref.path.with_name("s.sqlite")
    marker = BoxPx(6, 6, 7, 7)
    found(monkeypatch, TextPlace(BOX, telling=True), TextPlace(marker, telling=False))
    look = pixels_to_review(store, ref)
    assert (look.proposed, look.outlined, look.waits) == ((BOX,), (marker,), True)
    keep_review(store, look.decided((marker,)))
    again = pixels_to_review(store, ref)
    assert (again.proposed, again.decision) == ((marker,), "blacked_out")
    assert not again.waits
    keep_review(store, again.blocked)
    with open_store(store) as opened:
        (kept,) = consents.reviews(opened).values()
    assert kept.decision is ReviewDecision.BLOCKED


@pytest.mark.parametrize(
    ("facts", "waits"),
    [
        (BurnedInFacts("NO", "DX", "YES"), True),
        (BurnedInFacts("NO", "DX", "NO"), False),
        (BurnedInFacts("NO", "CT", "", "HEAD"), True),
        (BurnedInFacts("NO", "MR", "", "BRAIN"), True),
        (BurnedInFacts("NO", "CT", "NO", "HEAD"), False),
        (BurnedInFacts("NO", "CT", "", "CHEST"), False),
        (BurnedInFacts("NO", "DX", "", "SKULL"), False),
        (BurnedInFacts("", "CR", is_capture=True), True),
        (BurnedInFacts("NO", "CR", is_capture=True), False),
    ],
)
def test_that_a_face_or_a_capture_asks_for_a_look(
    facts: BurnedInFacts, *, waits: bool
) -> None:
    assert bool(reason_by_header(facts)) is waits


def test_that_pixels_are_searched_once_however_often_they_are_looked_at(
    ref: ImageRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = list[bytes]()

    def search(raster: Raster) -> tuple[TextPlace, ...]:
        searched.append(raster.pixels.tobytes())
        return ()

    found(monkeypatch)
    monkeypatch.setattr(burned_in, "find_text", search)
    image = load_pixels(ref)
    for window in (None, Window(20, 10), None):
        check_pixels(ref, image, {}, window)
        pixels_to_review(ref.path.with_name("s.sqlite"), ref)
    assert len(searched) == len(set(searched)) == 2


def test_that_what_was_searched_is_remembered_of_so_many_images(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found(monkeypatch)
    monkeypatch.setattr(burned_in, "_MOST_SEARCHED", 2)
    for grey in range(5):
        pixels = np.full((8, 8), grey, dtype=np.uint8)
        dataset = dicom_dataset(pixels, Modality="DX", BurnedInAnnotation="NO")
        ref = ImageRef(save_dicom(dataset, tmp_path / f"{grey}.dcm"))
        pixels_to_review(tmp_path / "s.sqlite", ref)
        assert 1 <= len(burned_in._searched) <= 2


def written_on(tmp_path: Path) -> ImageRef:
    """Return a film with a name that its own window shows white on white."""
    drawn = Image.new("L", (400, 300))
    ImageDraw.Draw(drawn).text(
        (40, 60), "SMITH JOHN 48003", fill=255, font=ImageFont.load_default(28)
    )
    noise = np.random.default_rng(0).normal(1000, 30, (300, 400))
    pixels = np.where(np.asarray(drawn) > 100, 3000, noise).astype(np.uint16)
    dataset = dicom_dataset(
        pixels,
        Modality="DX",
        BurnedInAnnotation="NO",
        WindowCenter=400,
        WindowWidth=200,
    )
    return ImageRef(save_dicom(dataset, tmp_path / "written_on.dcm"))


@needs_finder
def test_that_text_under_another_window_keeps_an_image_here(tmp_path: Path) -> None:
    ref = written_on(tmp_path)
    image, wide = load_pixels(ref), Window(2000, 4000)
    check_pixels(ref, image, {})
    with pytest.raises(PrivacyError, match="there is text in its pixels"):
        check_pixels(ref, image, {}, wide)


@needs_finder
def test_that_a_look_holds_for_the_window_that_was_looked_at(tmp_path: Path) -> None:
    ref = written_on(tmp_path)
    image, wide = load_pixels(ref), Window(2000, 4000)
    sha256 = pixels_sha256(image)
    clean = {sha256: PixelReview(sha256, ReviewDecision.CLEAN)}
    check_pixels(ref, image, clean)
    check_pixels(ref, image, clean, Window(400, 180))
    with pytest.raises(PrivacyError, match="its window shows text"):
        check_pixels(ref, image, clean, wide)
    box = BoxPx(20, 40, 380, 110)
    black = {sha256: PixelReview(sha256, ReviewDecision.BLACKED_OUT, (box,))}
    check_pixels(ref, image, black, wide)
