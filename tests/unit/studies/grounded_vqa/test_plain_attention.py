"""Where a tiny local model looks, plainly and highlighted (Figures 1, 11)."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.heal_run import heal_dataset, heal_spec
from tests.helpers.tiny_study import finish
from viewer.domain.exchange import ModelProfile
from viewer.domain.figure import GalleryFigure
from viewer.domain.geometry import Affine
from viewer.imaging.heat_overlay import colors, patch_overlay
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.figures import run_figures
from viewer.services.reporting.report_run import report_data
from viewer.services.running.plan_run import plan_run
from viewer.store.database import open_store
from viewer.writers.verify.main import verify

MISSING = missing_dependency(ADAPTERS["transformers_local"])


def test_that_a_patch_is_painted_on_the_pixels_that_it_covers() -> None:
    values = np.array([[1.0, 0.0]])
    grey = np.full((6, 10), 0.5)
    shown = patch_overlay(grey, values, Affine(4.0, 0.0, 1.0, 0.0, 3.0, 0.0), 1.0)
    last = colors(np.array(1.0)) * 0.85 + 127.5 * 0.15
    assert shown[0, 1].tolist() == shown[2, 4].tolist() == np.rint(last).tolist()
    painted = (shown != 128).any(axis=2)
    expected = np.zeros((6, 10), dtype=np.bool_)
    expected[:3, 1:5] = True
    assert (painted == expected).all()


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.statement("E002-17")
def test_that_plain_answers_are_shown_beside_highlighted_ones(tmp_path: Path) -> None:
    folder = str(tiny_vlm.build("llava", tmp_path / "llava"))
    values = {"model": folder, "device": "cpu", "attention": "eager"}
    model = ModelProfile("looks", "transformers_local", {**values, "max_new_tokens": 3})
    params = {
        "arms": ["plain", "loba"],
        "region_source": "reference",
        "longest_side": 64,
        "plain_attention": True,
    }
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        heal_dataset(store, tmp_path, 1)
        run = plan_run(store, heal_spec([model], params))
        finish(store, run)
        tables = {
            t.name: list(t.records()) for t in report_data(store, run).data.tables
        }
        assert verify(run_bundle(store, run), lambda _: None).wrong == []
    rows = {str(r["condition"]): r for r in tables["attention_of_answers"]}
    assert set(rows) == {"plain", "loba-3"}
    for row in rows.values():
        assert 0 < float(str(row["attention_on_image"])) < 1
        assert 0 < float(str(row["attention_inside"])) < 1
    assert [r["condition"] for r in tables["attention"]] == ["loba-3"]
    (figure,) = [
        f
        for f in run_figures(path, run).figures
        if isinstance(f, GalleryFigure) and f.head.name == "attention"
    ]
    kinds = {tile.kind for tile in figure.tiles}
    assert kinds == {"as asked", "region highlighted, weight 3"}
    first = [tile for tile in figure.tiles if tile.item == figure.tiles[0].item]
    assert len(first) == 2
    assert (first[0].picture != first[1].picture).any()
    assert all("image " in tile.cell for tile in figure.tiles)
