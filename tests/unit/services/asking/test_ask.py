import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from tests.helpers.tiny_study import D4, write_images
from viewer.domain.answer import Status
from viewer.domain.case import ImageRef, View
from viewer.domain.conditions import window_of, with_window
from viewer.domain.errors import PrivacyError, UnreadableInputError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.image import VoiFunction, Window
from viewer.domain.run import Condition
from viewer.imaging.answer_overlay import ANSWER
from viewer.imaging.grid_overlay import draw_grid
from viewer.imaging.luts import to_raster
from viewer.imaging.png import decode_png, encode_png
from viewer.imaging.resample import FitMode, fit
from viewer.readers.pixels import load_pixels
from viewer.services.asking.ask import (
    Question,
    answer_row,
    ask,
    plan_question,
    write_overlay,
)
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.inspecting.answers import answers_about, sent_images, sent_text
from viewer.store import case_images, cases, runs
from viewer.store.database import open_store
from viewer.studies.catalog import study_named


@pytest.fixture
def radiograph(tmp_path: Path) -> ImageRef:
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 4096, (90, 120)).astype(np.uint16)
    path = make_dicom(
        tmp_path / "a.dcm", pixels, WindowCenter=2048, WindowWidth=4096, bits_stored=12
    )
    return ImageRef(path)


def question(ref: ImageRef, window: Window | None = None) -> Question:
    return Question(ref, "Edema", D4, view=View.FRONTAL, window=window)


@pytest.mark.parametrize("function", list(VoiFunction))
def test_that_a_window_survives_in_a_conditions_parameters(
    function: VoiFunction,
) -> None:
    plain = Condition("grid=8", (("rows", 8), ("columns", 8)))
    window = Window(-600.5, 1500.0, function)
    assert window_of(plain) is None
    assert window_of(with_window(plain, window)) == window
    assert with_window(plain, window).params[:2] == plain.params


@pytest.mark.parametrize("window", [None, Window(1000.0, 300.0)])
def test_that_what_is_sent_is_the_image_in_the_window_on_the_screen(
    tmp_path: Path, radiograph: ImageRef, window: Window | None
) -> None:
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        row = answer_row(ask(opened, question(radiograph, window)))
    (png,) = sent_images(store, str(row["request_sha256"]))
    study = study_named("grid_localization")
    params = study.read_params("gosai2025", {})
    shown = to_raster(load_pixels(radiograph), window)
    plain = fit(shown, 256, FitMode.CROP_RESIZE)
    assert png == encode_png(draw_grid(plain, params.grid("8"), params.style))


def test_that_without_a_reference_the_answer_is_kept_and_excluded(
    tmp_path: Path, radiograph: ImageRef
) -> None:
    with open_store(tmp_path / "s.sqlite") as opened:
        reply = ask(opened, question(radiograph))
        assert runs.run_summaries(opened, include_adhoc=False) == ()
    assert reply.scored.score.status is Status.EXCLUDED
    assert (reply.scored.score.reason, reply.scored.score.answer) == ("no_gt", "D4")
    assert reply.reference is None


def test_that_a_mask_beside_the_file_is_the_reference(tmp_path: Path) -> None:
    folder = write_images(tmp_path / "d", 1)
    ref = ImageRef(folder / "patient00000_frontal.png")
    with open_store(tmp_path / "s.sqlite") as opened:
        reply = ask(opened, Question(ref, "Edema", D4))
    assert reply.reference is not None
    assert reply.scored.score.outcome is not None


def test_that_the_words_asked_stay_and_a_synonym_finds_the_reference(
    tmp_path: Path,
) -> None:
    folder, store = tmp_path / "d", tmp_path / "s.sqlite"
    write_images(folder, 1, finding="Airspace Opacity")
    ref = ImageRef(folder / "patient00000_frontal.png")
    with open_store(store) as opened:
        import_dataset(opened, "folder", folder, "d")
        row = answer_row(ask(opened, Question(ref, "lung opacity", D4)))
    assert row["finding"] == "Lung Opacity"
    assert row["reference_cells"]
    asked = "".join(text for _, text in sent_text(store, str(row["request_sha256"])))
    assert "Lung Opacity" in asked
    assert "Airspace" not in asked
    (answer,) = answers_about(store, ref)
    assert answer.finding == "Lung Opacity"
    assert answer.reference_cells
    with open_store(store) as opened:
        of_run = cases.dataset_named(opened, "d").images[0]
        truth = case_images.truth_of(opened, 1, of_run.key, "Lung Opacity")
    assert truth.reference == of_run.masks["Airspace Opacity"]


def test_that_an_unknown_view_is_asked_for_and_nothing_is_planned(
    tmp_path: Path, radiograph: ImageRef
) -> None:
    with open_store(tmp_path / "s.sqlite") as opened:
        with pytest.raises(WrongUseError, match="which view"):
            plan_question(opened, Question(radiograph, "Edema", D4))
        assert runs.run_summaries(opened, include_adhoc=True) == ()


def test_that_an_unreadable_image_and_an_unusable_model_are_told_before_planning(
    tmp_path: Path, radiograph: ImageRef
) -> None:
    missing = ImageRef(tmp_path / "none.dcm")
    abroad = ModelProfile(
        "abroad", "openai_api", {"base_url": "http://192.0.2.1/v1", "model": "m"}
    )
    with open_store(tmp_path / "s.sqlite") as opened:
        with pytest.raises(UnreadableInputError, match=r"none\.dcm"):
            plan_question(opened, question(missing))
        with pytest.raises(PrivacyError, match="machine"):
            plan_question(opened, Question(radiograph, "Edema", abroad))
        with pytest.raises(UnreadableInputError, match="1 frame"):
            ask(opened, question(ImageRef(radiograph.path, 5)))
        assert runs.run_summaries(opened, include_adhoc=True) == ()


def test_that_a_slice_is_asked_about_without_a_projection(tmp_path: Path) -> None:
    pixels = np.arange(64 * 64, dtype=np.uint16).reshape(64, 64)
    path = make_dicom(tmp_path / "ct.dcm", pixels, Modality="CT")
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        reply = ask(opened, Question(ImageRef(path), "Edema", D4))
        row = answer_row(reply)
    assert row["view"] == "other"
    texts = [text for _, text in sent_text(store, str(row["request_sha256"]))]
    assert len(texts) == 2
    assert not any("X-ray" in text or "chest" in text for text in texts)


def test_that_an_answer_that_is_no_cell_is_printed_in_native_pixels(
    tmp_path: Path,
) -> None:
    settings = {"answer": "[100, 200, 300, 400]", "convention": "xyxy_1000"}
    boxes = ModelProfile("boxes", "scripted", settings)
    folder = write_images(tmp_path / "d", 1)
    image = ImageRef(folder / "patient00000_frontal.png")
    with open_store(tmp_path / "s.sqlite") as opened:
        import_dataset(opened, "folder", folder, "tiny")
        row = answer_row(ask(opened, Question(image, "Edema", boxes)))
        cell = answer_row(ask(opened, Question(image, "Edema", D4)))
    assert row["place"] == {
        "type": "boxes",
        "boxes": [[10.0, 30.0, 30.0, 50.0]],
        "confidences": [],
    }
    assert row["answer"] == "C2"
    measures = json.loads(json.dumps(row["measures"]))
    assert measures["point"] == [20.0, 40.0]
    assert 0 <= measures["iou"] <= measures["dice"] <= 1
    assert measures["distance_mm"] is None
    assert not {"place", "measures"} & cell.keys()


def test_that_the_overlay_of_boxes_outlines_them_and_not_their_cell(
    tmp_path: Path,
) -> None:
    settings = {"answer": "[100, 200, 300, 400]", "convention": "xyxy_1000"}
    boxes = ModelProfile("boxes", "scripted", settings)
    image = ImageRef(write_images(tmp_path / "d", 1) / "patient00000_frontal.png")
    with open_store(tmp_path / "s.sqlite") as opened:
        write_overlay(ask(opened, Question(image, "Edema", boxes)), tmp_path / "o.png")
    drawn = decode_png((tmp_path / "o.png").read_bytes()).pixels
    orange = (drawn == ANSWER).all(axis=2)
    ys, xs = np.nonzero(orange)
    side = drawn.shape[0]
    assert xs.min() / side == pytest.approx(0.1, abs=0.01)
    assert (xs.max() + 1) / side == pytest.approx(0.3, abs=0.01)
    assert ys.min() / side == pytest.approx(0.2, abs=0.01)
    assert (ys.max() + 1) / side == pytest.approx(0.4, abs=0.01)
