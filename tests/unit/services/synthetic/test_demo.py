"""The demo collection: made once, found afterwards."""

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pydicom
import pytest
from matplotlib.path import Path as Outline

from viewer.domain.geometry import SizePx
from viewer.imaging.png import decode_png
from viewer.services.synthetic import demo


def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SIZE", SizePx(125, 100))


def test_that_the_collection_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _small(monkeypatch)
    steps: list[tuple[int, int]] = []
    made = demo.prepare_demo(
        tmp_path, lambda done, total: steps.append((done, total)), 2
    )
    assert steps == [(1, 3), (2, 3), (3, 3)]
    dataset = pydicom.dcmread(made.radiograph / "RG1.dcm")
    mask = decode_png((made.radiograph / "RG1.Lung Lesion.png").read_bytes()).pixels
    assert mask.shape == (dataset.Rows, dataset.Columns)
    assert set(np.unique(mask)) == {0, 255}
    assert (made.phantom / "CheXlocalize" / "gt_segmentations_test.json").is_file()
    note = (tmp_path / "demo" / "README.txt").read_text()
    assert "not drawn by a radiologist" in note

    steps.clear()
    assert demo.prepare_demo(tmp_path, lambda *step: steps.append(step), 2) == made
    assert steps == []


def test_that_an_interrupted_collection_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _small(monkeypatch)

    def interrupt(done: int, total: int) -> None:
        if (done, total) == (2, 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        demo.prepare_demo(tmp_path, interrupt, 2)
    made = demo.prepare_demo(tmp_path, lambda *_: None, 2)
    assert (made.phantom / "CheXpert" / "test_labels.csv").is_file()


def test_that_the_outline_is_labelled_and_rasterised_at_pixel_centres() -> None:
    text = files("viewer.resources").joinpath("sample_case/rg1_lung_lesion.json")
    outline = json.loads(text.read_text(encoding="utf-8"))
    assert outline["note"] == "demo outline, not drawn by a radiologist"
    mask = demo.outline_mask(outline)
    y, x = np.mgrid[: outline["rows"], : outline["columns"]] + 0.5
    expected = np.zeros(mask.shape, dtype=bool)
    for polygon in outline["polygons"]:
        path = Outline(polygon, closed=False)
        inside = path.contains_points(np.column_stack([x.ravel(), y.ravel()]))
        expected |= inside.reshape(mask.shape)
    for ellipse in outline["ellipses"]:
        (cx, cy), (rx, ry) = ellipse["center"], ellipse["radii"]
        expected |= np.hypot((x - cx) / rx, (y - cy) / ry) < 1
    assert (mask != expected).sum() < 0.02 * expected.sum()
    assert 0.05 < mask.mean() < 0.1
