"""A picture that a model returns is stored, shown and bundled, never fetched."""

import base64
import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.helpers.scripted_endpoint import response
from tests.helpers.scripted_server import Received, Script, ScriptedServer, completion
from viewer.domain.errors import PrivacyError
from viewer.domain.figure import CardFigure
from viewer.imaging.png import decode_png
from viewer.services.exporting.export_bundle import export_stored_bundle
from viewer.services.inspecting.trial_detail import trial_detail
from viewer.services.reporting.figures import run_figures
from viewer.writers.verify.main import verify

STUDY = """
study = "rubric_reading"
dataset = "studies"
models = ["m"]
[[model]]
name = "m"
adapter = "openai_api"
base_url = "{base_url}"
api = "{api}"
model = "scripted-1"
max_tokens = 64
"""
TEXT = "The cardiac silhouette is enlarged."


class Drawing(Script):
    """A server that returns a picture it drew, and the addresses of two others."""

    def __init__(self, drawn: bytes, elsewhere: str, words: str = TEXT) -> None:
        super().__init__()
        kind = "data:image/png;base64,"
        urls = [
            kind + base64.b64encode(drawn).decode(),
            elsewhere,
            kind + base64.b64encode(b"\x89PNG\r\n\x1a\n no more").decode(),
            kind,
        ]
        text = {"type": "text", "text": words}
        parts = [{"type": "image_url", "image_url": {"url": u}} for u in urls]
        said = {"type": "output_text", "text": words}
        shown = [{"type": "output_image", "image_url": u} for u in urls]
        output = [{"type": "message", "content": [said, *shown]}]
        self.documents = {
            "completions": completion([text, *parts]),
            "responses": response("", output=output),
        }

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Return the interface's document."""
        return 200, self.documents[request.path.rpartition("/")[2]]


def drawn() -> tuple[bytes, np.ndarray[Any, np.dtype[np.uint8]]]:
    """Return a PNG with a secret in its metadata, and its pixels."""
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[10:30, 20:50] = (213, 94, 0)
    file = io.BytesIO()
    image = Image.fromarray(pixels)
    exif = image.getexif()
    exif[0x010E] = "DOE^JANE"
    image.save(file, "PNG", exif=exif)
    return file.getvalue(), pixels


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.statement("E001-09")
def test_that_a_picture_is_stored_shown_and_bundled_but_never_fetched(
    overread: Callable[..., Any], tmp_path: Path, api: str
) -> None:
    collection, store = tmp_path / "studies", tmp_path / "s.sqlite"
    where = ("--out", collection, "--n", 2, "--size", "80x100")
    overread("phantom", "--study", "rubric_reading", *where)
    kept = ("--store", store)
    overread("import", "report-studies", collection, "--name", "studies", *kept)
    data, pixels = drawn()
    elsewhere = Script()
    with ScriptedServer(elsewhere) as other:
        foreign = f"{other.base_url}/picture.png"
        with ScriptedServer(Drawing(data, foreign)) as server:
            study = tmp_path / "study.toml"
            study.write_text(STUDY.format(base_url=server.base_url, api=api))
            overread("run", study, *kept)
    told = trial_detail(store, 1)
    (png,) = told.steps[0].returned.pngs
    assert np.array_equal(decode_png(png).pixels, pixels)
    assert b"DOE" not in png
    hidden = [text for who, text in told.words if who == "not shown"]
    assert hidden[0].startswith("A picture at 127.0.0.1 was not fetched")
    assert hidden[1:] == [
        "A picture in the reply cannot be decoded; the reply keeps its bytes.",
        "A picture in the reply is not valid base64.",
    ]
    assert told.steps[0].reply == TEXT
    assert elsewhere.received == []
    bundle = export_stored_bundle(store, 1, tmp_path / "run.zip")
    assert verify(bundle.read_bytes(), print).wrong == []
    with zipfile.ZipFile(bundle) as archive:
        page = archive.read("index.html").decode()
        manifest = json.loads(archive.read("manifest.json"))
        outputs = archive.read("tables/outputs.csv").decode()
    assert base64.b64encode(png).decode() in page
    assert "http" not in page.replace("http-equiv", "")
    assert manifest["returned_pictures"] == 4  # one of each reply
    (row,) = csv.DictReader(io.StringIO(outputs))
    assert row["n_planned"] == "4"
    # two of each reply came with bytes; nothing came of the other two
    assert (row["n_annotated_images"], row["n_boxes"]) == ("8", "0")


BOX = {"image": 1, "label": "Cardiomegaly", "box": [300, 500, 700, 800]}


@pytest.mark.statement("E001-09", "E001-17")
@pytest.mark.parametrize("boxes", [[], [BOX]], ids=["no_boxes", "boxes"])
def test_that_a_card_shows_the_picture_that_came_beside_boxes_if_any(
    overread: Callable[..., Any], tmp_path: Path, boxes: list[object]
) -> None:
    collection, store = tmp_path / "studies", tmp_path / "s.sqlite"
    where = ("--out", collection, "--n", 2, "--size", "80x100")
    overread("phantom", "--study", "rubric_reading", *where)
    grades = collection / "grades.csv"
    grades.write_text(grades.read_text("utf-8").replace(",draws,", ",m,"), "utf-8")
    kept = ("--store", store)
    overread("import", "report-studies", collection, "--name", "studies", *kept)
    data, pixels = drawn()
    words = f"{TEXT}\n{json.dumps({'boxes': boxes})}" if boxes else TEXT
    with ScriptedServer(Drawing(data, "https://x.example/1.png", words)) as server:
        study = tmp_path / "study.toml"
        study.write_text(STUDY.format(base_url=server.base_url, api="chat"))
        overread("run", study, *kept)
    figures = run_figures(store, 1).figures
    (cards,) = (one for one in figures if isinstance(one, CardFigure))
    for card in cards.cards:
        assert card.returned is not None
        assert np.array_equal(card.returned, pixels)
        assert (card.picture is not None) is bool(boxes)
        assert card.labels == (("Cardiomegaly",) if boxes else ())
    overread("report", 1, "--out", tmp_path / "report", *kept)
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "Error examples" in page
    assert "data:image/png;base64," in page
    svg = (tmp_path / "report" / "figures" / "figure_4.svg").read_text("utf-8")
    assert svg.count("<image") == len(cards.cards) * (2 if boxes else 1)


def test_that_pictures_of_a_restricted_data_set_stay_here(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    kept = ("--store", store)
    named = ("--name", "phantom", "--restricted")
    overread("import", "chexlocalize", phantom, *named, *kept)
    with ScriptedServer(Drawing(drawn()[0], "https://x.example/1.png")) as server:
        study = tmp_path / "study.toml"
        text = STUDY.replace("rubric_reading", "grid_localization")
        text = text.replace("studies", "phantom")
        study.write_text(text.format(base_url=server.base_url, api="chat"))
        overread("run", study, "--limit", 2, *kept)
    with pytest.raises(PrivacyError, match="restricted, and 2 replies of"):
        export_stored_bundle(store, 1, tmp_path / "run.zip")
