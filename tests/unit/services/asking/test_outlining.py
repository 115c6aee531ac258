"""A segmenter's outline is stored, scored and explained as any other answer."""

from pathlib import Path

import numpy as np
import pytest

from viewer.domain.plain import made, plain

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

from tests.helpers.tiny_study import write_images
from tests.helpers.tiny_transformers import write_tiny_sam
from viewer.domain.answer import MaskAnswer, Status
from viewer.domain.case import ImageRef, View
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Window
from viewer.services.asking.ask import Question, ask
from viewer.services.asking.segment import segment
from viewer.services.commands import AskCommand
from viewer.services.configuring.model_list import segmenters
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.inspecting.answers import answers_about, sent_text
from viewer.services.running.batch_form import model_states
from viewer.settings import Settings
from viewer.store.database import open_store

BOX = BoxPx(10.0, 12.0, 60.5, 70.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_sam(tmp_path_factory.mktemp("sam"))


@pytest.fixture
def ref(tmp_path: Path, settings: Settings) -> ImageRef:
    films = write_images(tmp_path / "films", 1)
    with open_store(settings.store) as store:
        import_dataset(store, "folder", films, "films")
    return ImageRef(films / "patient00000_frontal.png")


def question(ref: ImageRef, folder: Path, *boxes: BoxPx) -> Question:
    profile = ModelProfile("sam", "segmenter", {"model": str(folder), "device": "cpu"})
    return Question(ref, "Edema", profile, view=View.FRONTAL, boxes=boxes)


def test_that_the_stored_mask_is_the_command_lines(
    ref: ImageRef, folder: Path, settings: Settings
) -> None:
    alone = segment(ref, [BOX], folder, "cpu")
    with open_store(settings.store) as store:
        reply = ask(store, question(ref, folder, BOX))
    (stored,) = answers_about(settings.store, ref)
    assert isinstance(stored.answer, MaskAnswer)
    np.testing.assert_array_equal(stored.answer.mask.array(), alone.whole)
    assert stored.adapter == "segmenter"
    assert stored.model == "sam"
    assert stored.score.status in {Status.SCORED_CORRECT, Status.SCORED_WRONG}
    assert stored.measures is not None
    assert "boxes=10.0,12.0,60.5,70.0" in stored.parameters["condition"]
    assert reply.note == f"expected IoU {alone.parts[0].quality:.3f}"
    assert sent_text(settings.store, stored.request_sha256)


def test_that_another_box_is_another_question_and_the_same_one_is_not(
    ref: ImageRef, folder: Path, settings: Settings
) -> None:
    boxes = (BOX, BOX, BoxPx(30, 30, 90, 90))
    with open_store(settings.store) as store:
        for box in boxes:
            ask(store, question(ref, folder, box))
    keys = [a.request_sha256 for a in answers_about(settings.store, ref)]
    assert keys[2] == keys[1] != keys[0]


def test_that_an_outline_needs_a_box_on_the_image(
    ref: ImageRef, folder: Path, settings: Settings
) -> None:
    with open_store(settings.store) as store:
        with pytest.raises(WrongUseError, match="outlines the contents of a box"):
            ask(store, question(ref, folder))
        with pytest.raises(OverreadError, match="outside the image"):
            ask(store, question(ref, folder, BoxPx(5000, 5000, 5010, 5010)))


def test_that_a_segmenter_is_offered_to_outline_and_not_to_ask(
    settings: Settings, folder: Path
) -> None:
    settings.home.mkdir(exist_ok=True)
    settings.models_file.write_text(
        f'[[model]]\nname = "sam"\nadapter = "segmenter"\nmodel = "{folder}"\n'
    )
    (line,) = segmenters(settings)
    assert (line.name, line.state) == ("sam", "ready")
    assert "sam" not in {state.name for state in model_states(settings)}


def test_that_boxes_cross_to_the_worker_and_back() -> None:
    command = AskCommand(
        ImageRef(Path("a.png")),
        "Edema",
        ("sam",),
        window=Window(10, 20),
        boxes=(BOX, BoxPx(0, 0, 1, 1)),
    )
    assert made(AskCommand, plain(command), where="") == command
