"""A question about a field of a whole slide, as the command line and the window ask."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.make_slide import Pixels, pyramid, tissue, write_svs
from tests.helpers.tiny_study import D4
from viewer.cli import run_command_line
from viewer.domain.case import ImageRef
from viewer.domain.image import Raster
from viewer.imaging.grid_overlay import draw_grid
from viewer.imaging.png import encode_png
from viewer.imaging.resample import FitMode, fit
from viewer.services.asking.ask import Question, answer_row, ask
from viewer.services.inspecting.answers import sent_images, sent_text
from viewer.services.viewing.view_image import load_shown_image
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
