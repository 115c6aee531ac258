"""A question about a field of a whole slide, as the command line and the window ask."""

import json
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.make_slide import Pixels, pyramid, tissue, write_svs
from tests.helpers.tiny_study import D4
from viewer.cli import run_command_line
from viewer.domain.case import ImageRef, View
from viewer.domain.errors import PrivacyError, UnreadableInputError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.slide import SlideRegion
from viewer.imaging.grid_overlay import draw_grid
from viewer.imaging.png import encode_png
from viewer.imaging.resample import FitMode, fit
from viewer.readers.datasets.folder import read_image
from viewer.readers.pixels import load_pixels
from viewer.services.asking.ask import Question, answer_row, ask, image_asked
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.inspecting.answers import answers_about, sent_images, sent_text
from viewer.services.privacy.burned_in import check_pixels
from viewer.services.privacy.decisions import decide
from viewer.services.privacy.gate import open_gate
from viewer.services.viewing.view_image import load_shown_image
from viewer.store import consents
from viewer.store.database import open_store
from viewer.studies.catalog import study_named

pytest.importorskip("openslide")


@cache
def levels() -> list[Pixels]:
    return pyramid(tissue(2100, 2300), 2)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    facts = "|AppMag = 20|MPP = 0.5"
    return write_svs(tmp_path_factory.mktemp("slide") / "a.svs", levels(), facts)


def test_that_what_is_sent_is_the_field_that_was_asked_about(
    tmp_path: Path, path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        row = answer_row(ask(opened, Question(ImageRef(path, 5), "Mitosis", D4)))
    assert (row["view"], row["finding"], row["answer"]) == ("other", "Mitosis", "D4")
    request = str(row["request_sha256"])
    study = study_named("grid_localization")
    params = study.read_params("gosai2025", {})
    plain = fit(Raster(levels()[0][:2048, :2048].copy()), 256, FitMode.CROP_RESIZE)
    assert sent_images(store, request) == (
        encode_png(draw_grid(plain, params.grid("8"), params.style)),
    )
    said = " ".join(text for _, text in sent_text(store, request))
    assert "Mitosis" in said
    assert not {"radiograph", "frontal", "lateral"} & set(said.lower().split())


def test_that_the_command_line_asks_about_a_frame_of_a_slide(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["ask", str(path), "--frame", "8", "--finding", "Mitosis"]
    options = ["--view", "other", "--model", "asymmetry", "--json"]
    store = ["--store", str(tmp_path / "s.sqlite")]
    assert run_command_line([*asked, *options, *store]) == 0
    assert json.loads(capsys.readouterr().out)["view"] == "other"


def test_that_an_image_of_a_slide_comes_with_the_map_of_the_slide(path: Path) -> None:
    shown = load_shown_image(ImageRef(path, 6))
    assert shown.slide is not None
    assert shown.slide.frames == 9
    assert shown.slide.scale_of(6).name == "20x"
    assert shown.header.size == shown.image.size


def test_that_a_region_is_asked_about_as_finely_as_it_was_scanned(
    tmp_path: Path, path: Path
) -> None:
    slide = load_shown_image(ImageRef(path)).slide
    assert slide is not None
    region = slide.region(BoxPx(301, 202, 301 + 640, 202 + 512))
    ref, store = ImageRef(path, region.frame), tmp_path / "s.sqlite"
    with open_store(store) as opened:
        row = answer_row(ask(opened, Question(ref, "Mitosis", D4)))
    study = study_named("grid_localization")
    params = study.read_params("gosai2025", {})
    seen = Raster(levels()[0][202 : 202 + 512, 301 : 301 + 640].copy())
    plain = fit(seen, 256, FitMode.CROP_RESIZE)
    assert sent_images(store, str(row["request_sha256"])) == (
        encode_png(draw_grid(plain, params.grid("8"), params.style)),
    )
    assert ref.listed == ImageRef(path)
    for about in (ref, ref.listed):
        (answer,) = answers_about(store, about)
        assert (answer.ref, answer.score.answer) == (ref, "D4")
        # The square that was sent, in pixels of the region and of the scan.
        assert answer.field == BoxPx(64, 0, 576, 512)
        at = slide.to_scan(ref.frame).apply_box(answer.field)
        assert at == BoxPx(365, 202, 877, 714)
    assert answers_about(store, ImageRef(path, 5)) == ()


def test_that_a_region_off_the_slide_is_refused(tmp_path: Path, path: Path) -> None:
    ref = ImageRef(path, SlideRegion(0, 2299, 0, 2, 2).frame)
    with (
        open_store(tmp_path / "s.sqlite") as opened,
        pytest.raises(UnreadableInputError, match="there is no field"),
    ):
        ask(opened, Question(ref, "Mitosis", D4))
    with pytest.raises(UnreadableInputError, match="has no region"):
        read_image(path, None, ref.frame)
    with pytest.raises(WrongUseError, match=r"9 frame\(s\)"):
        load_shown_image(ref)


def test_that_a_region_of_a_restricted_slide_stays_here(
    tmp_path: Path, path: Path
) -> None:
    slide = load_shown_image(ImageRef(path)).slide
    assert slide is not None
    region = ImageRef(path, slide.region(BoxPx(0, 0, 512, 512)).frame)
    settings = {"base_url": "https://api.example.org/v1", "model": "any"}
    elsewhere = ModelProfile("elsewhere", "openai_api", settings)
    with open_store(tmp_path / "s.sqlite") as opened:
        import_dataset(opened, "folder", path.parent, "slides")
        consents.set_restricted(opened, "slides", restricted=True)
        asked = Question(region, "Mitosis", elsewhere, view=View.OTHER)
        dataset, image = image_asked(opened, asked)
        gate = open_gate(opened, dataset)
    assert image.ref == region
    with pytest.raises(PrivacyError, match="'slides' is restricted"):
        gate.check_model(elsewhere, [image])


@pytest.mark.parametrize("decision", list(ReviewDecision))
def test_that_a_region_of_a_blocked_slide_stays_here(
    tmp_path: Path, path: Path, decision: ReviewDecision
) -> None:
    whole = ImageRef(path)
    slide = load_shown_image(whole).slide
    assert slide is not None
    region = ImageRef(path, slide.region(BoxPx(0, 0, 512, 512)).frame)
    pixels = load_pixels(region)
    own = PixelReview(pixels_sha256(pixels), ReviewDecision.CLEAN)
    with open_store(tmp_path / "s.sqlite") as opened:
        decide(opened, [whole], decision, [BoxPx(0, 0, 9, 9)])
        reviews = consents.reviews(opened)
    stays = pytest.raises(PrivacyError, match="A region of a slide was not sent")
    with nullcontext() if decision is ReviewDecision.CLEAN else stays:
        check_pixels(region, pixels, reviews)
    check_pixels(region, pixels, {**reviews, own.image_sha256: own})
