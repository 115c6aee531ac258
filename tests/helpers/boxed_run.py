"""A run with boxes of several readers, and answers that are cells, boxes and masks."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from tests.helpers.tiny_study import finish
from viewer.domain.answer import MaskAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Mask
from viewer.metrics.regions import mask_of_boxes
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.plan_run import plan_run
from viewer.store.database import open_store

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
        spec = make_spec(
            study="grid_localization",
            dataset="boxes",
            preset="gosai2025",
            seed=0,
            repeats=1,
            models=models,
            overrides={**_PARAMS, "reader_rule": rule},
        )
        run = plan_run(store, spec)
        finish(store, run)
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
