"""Five scripted models, each with another kind of answer, asked about one phantom.

They write in the conventions of models that exist, and are asked by a real batch.
"""

import base64
import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tests.helpers.phantom_folders import write_phantom
from tests.helpers.tiny_study import FEW_RESAMPLES, a_spec, plan_and_finish
from viewer.domain.case import DatasetImage
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.png import encode_png
from viewer.imaging.resample import crop_window
from viewer.metrics.pointing import deepest_point
from viewer.metrics.regions import mask_of_boxes
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.figures import write_report
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.store import cases
from viewer.store.database import Store, open_store

KINDS = ("cell", "point", "boxes", "mask", "heat_map")
_DATASET = "one patient"


@dataclass(frozen=True)
class Asked:
    """A finding of a phantom that five models were asked about, and the report."""

    image: DatasetImage
    finding: str
    run: int
    field: BoxPx
    files: Mapping[str, str]

    @property
    def reference(self) -> npt.NDArray[np.bool_]:
        """The part of the reference that was sent, (rows, columns) native pixels."""
        mask = self.image.masks[self.finding]
        return mask.array() & mask_of_boxes((self.field,), mask.size)

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a CSV file of the report."""
        return list(csv.DictReader(io.StringIO(self.files[name])))


def ask_five(store: Path, folder: Path, size: SizePx) -> Asked:
    """Make one patient, ask the five models about the largest finding, and report."""
    write_phantom(make_phantom, folder / "phantom", 1, 1, size, compress=False)
    field = crop_window(ImageGeometry(size))
    with open_store(store) as opened:
        import_dataset(opened, "chexlocalize", folder / "phantom", _DATASET)
        image, finding = _largest(opened, field)
        inside = image.masks[finding].array() & mask_of_boxes((field,), size)
        half = SizePx(size.rows // 12, size.columns // 12)
        spec = a_spec(
            five_models(folder, field, deepest_point(inside, 1.0), half),
            dataset=_DATASET,
            params={"findings": [finding], "views": ["frontal"], **FEW_RESAMPLES},
        )
        run = plan_and_finish(opened, spec)
        paths = write_report(opened, run, folder / "report")
    files = {path.name: path.read_text(encoding="utf-8") for path in paths}
    return Asked(image, finding, run, field, files)


def _largest(store: Store, field: BoxPx) -> tuple[DatasetImage, str]:
    pairs = {
        (image.key, finding): int(
            (mask.array() & mask_of_boxes((field,), mask.size)).sum()
        )
        for image in cases.dataset_named(store, _DATASET).images
        if image.view == "frontal"
        for finding, mask in image.masks.items()
    }
    key, finding = max(pairs, key=lambda pair: pairs[pair])
    images = cases.dataset_named(store, _DATASET).images
    return next(image for image in images if image.key == key), finding


def five_models(
    folder: Path, field: BoxPx, middle: PointPx, half: SizePx
) -> tuple[ModelProfile, ...]:
    """Return models that answer around the native point ``middle`` of an image.

    ``field`` is the native rectangle sent, ``half`` half the size of what they find.
    In this order: a cell, a point, boxes, a mask and a heat map.
    """
    x = (middle.x - field.x0) / (field.x1 - field.x0)
    y = (middle.y - field.y0) / (field.y1 - field.y0)
    w = half.columns / (field.x1 - field.x0)
    h = half.rows / (field.y1 - field.y0)
    heat = folder / "heat.npy"
    np.save(heat, _bump(x, y, w, h))
    cell = _cell(min(x + 2 * w, 0.999), y)
    off = f'<point x="{100 * (x - 2.5 * w):.1f}" y="{100 * y:.1f}" alt="it">it</point>'
    around = [round(1000 * v) for v in (x - w, y - h, x + w, y + h)]
    shifted = [v + round(400 * w) for v in around]
    return (
        ModelProfile("names-a-cell", "scripted", {"answer": cell}),
        _speaks("points", "molmo", off),
        _speaks("draws-boxes", "qwen3_vl", _boxes(shifted)),
        _speaks("segments", "gemini", _mask(around)),
        ModelProfile("maps", "scripted", {"heat_map_file": str(heat)}),
    )


def _speaks(name: str, convention: str, answer: str) -> ModelProfile:
    settings = {"answer": answer, "convention": convention}
    return ModelProfile(name, "scripted", settings)


def _cell(x: float, y: float) -> str:
    return f"{'ABCDEFGH'[int(8 * y)]}{int(8 * x) + 1}"


def _boxes(corners: Sequence[int]) -> str:
    small = [20, 30, 60, 70]
    return json.dumps([{"bbox_2d": list(corners)}, {"bbox_2d": small}])


def _mask(corners: Sequence[int]) -> str:
    x0, y0, x1, y1 = corners
    v, u = np.ogrid[-1:1:64j, -1:1:64j]
    ring = (u**2 + v**2 <= 1) & (u**2 + (v - 0.3) ** 2 > 0.1)
    png = encode_png(Raster((ring * 255).astype(np.uint8)))
    coded = "data:image/png;base64," + base64.b64encode(png).decode()
    return json.dumps([{"box_2d": [y0, x0, y1, x1], "mask": coded}])


def _bump(x: float, y: float, w: float, h: float) -> np.ndarray:
    v, u = (np.arange(56) + 0.5) / 56, (np.arange(56) + 0.5) / 56
    return np.exp(
        -(((u[None, :] - x) / (1.2 * w)) ** 2) - ((v[:, None] - y) / (1.2 * h)) ** 2
    )
