"""The bundle of a run with boxes of several readers: all of it is worked out again."""

import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.tiny_study import a_spec, plan_and_finish
from tests.unit.services.exporting.test_export_item_bundle import (
    members_of,
    quiet,
    resealed,
)
from viewer.domain.answer import MaskAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Mask
from viewer.metrics.regions import mask_of_boxes
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import report_data
from viewer.store.database import open_store
from viewer.writers.tables import csv_bytes
from viewer.writers.verify.main import verify

OF_BOXES = ("geometry", "rules", "detection", "froc")
Members = dict[str, bytes]


READERS = ("Dr. Adler", "Dr. Specht", "Dr. Zeisig")
_FINDINGS = ("Mass", "Nodule")
_HEADER = "image_id,rad_id,class_name,x_min,y_min,x_max,y_max\n"
_PARAMS = {
    "findings": list(_FINDINGS),
    "grids": [8],
    "absent_findings": True,
    "replicates": 20,
    "paper_replicates": 20,
}
_Said = dict[str, dict[str, str]]


def boxed_run(folder: Path, rule: str) -> tuple[Path, int]:
    """Ask four models of a data set of three readers; return the store and the run."""
    (folder / "read").mkdir()
    said = _write_images(folder / "read", random.Random(5))
    models = [ModelProfile("cells", "scripted", {"answer": "D4"})]
    for name, answers in said.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(answers))
        settings = {"answers_file": str(path), "convention": "native"}
        models.append(ModelProfile(name, "scripted", settings))
    with open_store(folder / "s.sqlite") as store:
        import_dataset(store, "vindr", folder / "read", "boxes")
        spec = a_spec(models, dataset="boxes", params={**_PARAMS, "reader_rule": rule})
        run = plan_and_finish(store, spec)
    return folder / "s.sqlite", run


def _write_images(root: Path, draw: random.Random) -> _Said:
    """Write images with the readers' boxes; return what models say of them."""
    rows: list[str] = []
    said: _Said = {"sure": {}, "unsure": {}, "paints": {}}
    for name in (f"case{i}" for i in range(9)):
        size = SizePx(draw.randrange(60, 90), draw.randrange(60, 90))
        grey = np.full((size.rows, size.columns), draw.randrange(256), np.uint8)
        Image.fromarray(grey).save(root / f"{name}.png")
        drawn: dict[str, list[BoxPx]] = {finding: [] for finding in _FINDINGS}
        there = {finding: _box(draw) for finding in _FINDINGS if draw.random() < 0.8}
        for reader in READERS:
            rows += _read(draw, name, reader, there, drawn)
        for finding, boxes in drawn.items():
            near = [_moved(draw, one) for one in boxes]
            near += [_box(draw) for _ in range(draw.randrange(3))] or [_box(draw)]
            for model, answer in _answers(draw, near, size):
                said[model][f"{name}|{finding}"] = answer
    (root / "train.csv").write_text(_HEADER + "\n".join(rows) + "\n")
    return said


def _read(
    draw: random.Random,
    image: str,
    reader: str,
    there: dict[str, BoxPx],
    drawn: dict[str, list[BoxPx]],
) -> Iterator[str]:
    """Yield a reader's rows about an image, and note what was drawn."""
    seen = {f: _moved(draw, box) for f, box in there.items() if draw.random() < 0.7}
    for finding, box in seen.items():
        drawn[finding].append(box)
        yield f"{image},{reader},{finding},{box.x0},{box.y0},{box.x1},{box.y1}"
    if not seen:
        yield f"{image},{reader},No finding,,,,"


def _answers(
    draw: random.Random, boxes: Sequence[BoxPx], size: SizePx
) -> Iterator[tuple[str, str]]:
    corners = [[box.x0, box.y0, box.x1, box.y1] for box in boxes]
    body = {"type": "boxes", "boxes": corners}
    sure = [draw.randrange(9) / 8 for _ in boxes]
    yield "sure", json.dumps({**body, "confidences": sure})
    yield "unsure", json.dumps(body)
    mask = Mask.of_array(mask_of_boxes(tuple(boxes), size))
    yield "paints", answer_as_json(MaskAnswer(mask))


def _box(draw: random.Random) -> BoxPx:
    x, y = draw.randrange(5, 40), draw.randrange(5, 40)
    return BoxPx(x, y, x + draw.randrange(6, 25), y + draw.randrange(6, 25))


def _moved(draw: random.Random, box: BoxPx) -> BoxPx:
    x, y = draw.randrange(-2, 3), draw.randrange(-2, 3)
    return BoxPx(box.x0 + x, box.y0 + y, box.x1, box.y1)


@pytest.fixture(scope="module", params=["any", "majority", READERS[1]])
def bundled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int, bytes]:
    path, run = boxed_run(tmp_path_factory.mktemp("boxed"), request.param)
    with open_store(path) as store:
        return path, run, run_bundle(store, run)


def test_that_every_number_of_boxes_is_worked_out_again(
    bundled: tuple[Path, int, bytes],
) -> None:
    found, members = verify(bundled[2], quiet), members_of(bundled[2])
    assert found.wrong == []
    named = json.loads(members["manifest.json"])["recomputed_tables"]
    assert {*OF_BOXES} <= {*named}
    done = "\n".join(found.done)
    for name in OF_BOXES:
        rows = members[f"tables/{name}.csv"].decode().count("\n") - 1
        assert rows > 5
        assert f"tables/{name}.csv: {rows} rows computed again." in done


def test_that_readers_go_by_pseudonyms_and_numbers_stay(
    bundled: tuple[Path, int, bytes],
) -> None:
    path, run, data = bundled
    members = members_of(data)
    assert not [name for name, of in members.items() if b"Specht" in of]
    with open_store(path) as store:
        tables = {table.name: table for table in report_data(store, run).data.tables}
    for name in OF_BOXES[1:]:
        mine = csv_bytes(tables[name].header, tables[name].rows).decode()
        for i, reader in enumerate(READERS, 1):
            mine = mine.replace(reader, f"R{i:05d}")
        assert members[f"tables/{name}.csv"].decode() == mine


def change_number(table: str, metric: str, column: str) -> Callable[[Members], str]:
    """Return what changes a number of a table, and names it as the verifier does."""

    def change(members: Members) -> str:
        text = members[f"tables/{table}.csv"].decode()
        rows = [*csv.DictReader(io.StringIO(text))]
        at = next(
            i
            for i, row in enumerate(rows)
            if row[column] not in {"", "0.0"} and row.get("metric", metric) == metric
        )
        rows[at][column] = repr(float(rows[at][column]) / 2)
        told = csv_bytes([*rows[0]], [[*row.values()] for row in rows])
        members[f"tables/{table}.csv"] = told
        return f"tables/{table}.csv, row {at + 2}"

    return change


def move_reference(members: Members) -> str:
    images = json.loads(members["references.json"])
    for to_find in (of for one in images.values() for of in one["to_find"].values()):
        for boxes in to_find.values():
            boxes[:] = [[1.0, 1.0, 4.0, 4.0] for _ in boxes]
    members["references.json"] = json.dumps(images).encode()
    return "tables/detection.csv, row"


def move_answer(members: Members) -> str:
    lines = [json.loads(line) for line in members["trials.jsonl"].splitlines()]
    trial = next(
        one
        for one in lines
        if one["status"] == "scored_correct" and '"boxes"' in one["parsed"]
    )
    parsed = json.loads(trial["parsed"])
    parsed["boxes"] = [[0.0, 0.0, 2.0, 2.0] for _ in parsed["boxes"]]
    trial["parsed"] = json.dumps(parsed)
    members["trials.jsonl"] = b"".join(json.dumps(o).encode() + b"\n" for o in lines)
    return "tables/geometry.csv, row"


NUMBERS = (
    change_number("detection", "ap", "value"),
    change_number("detection", "ap_at_iou", "value"),
    change_number("detection", "froc_score", "value"),
    change_number("detection", "box_hit", "low"),
    change_number("detection", "mean_dice_uncropped", "value"),
    change_number("froc", "", "sensitivity"),
    change_number("geometry", "", "iou"),
    change_number("rules", "", "median_iou"),
)


@pytest.mark.parametrize("bundled", ["majority"], indirect=True)
@pytest.mark.parametrize(
    "changes",
    [
        NUMBERS,
        [change_number("geometry", "", "distance_px")],
        [move_reference],
        [move_answer],
    ],
)
def test_that_a_changed_number_box_or_reference_is_found(
    bundled: tuple[Path, int, bytes], changes: Sequence[Callable[[Members], str]]
) -> None:
    members = members_of(bundled[2])
    sentences = {change(members) for change in changes}
    assert len(sentences) == len(changes)
    wrong = verify(resealed(members), quiet).wrong
    for sentence in sentences:
        assert any(one.startswith(sentence) for one in wrong), sentence
