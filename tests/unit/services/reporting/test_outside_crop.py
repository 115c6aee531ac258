"""How much of each reference mask the crop cuts off, from the image to items.csv."""

import csv
import io
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.bundled_run import bundled_run
from tests.unit.services.exporting.test_export_bundle import forged, members_of, quiet
from tests.unit.studies.grid_localization.cases import condition
from viewer.domain.case import Dataset
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.imaging.resample import FitMode
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.records import items_of_run, recorded
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.grid_localization import reference
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.reference import reference_of
from viewer.studies.places import GridReference
from viewer.writers.verify.main import verify
from viewer.writers.verify.masks import Sending, outside_crop

CROPS = (FitMode.CROP_RESIZE, FitMode.RESIZE_CROP)


def counted(dataset: Dataset) -> Mapping[tuple[str, str], float]:
    """Return by image and finding the share of set pixels beside the middle square."""
    shares = {}
    for image in dataset.images:
        for finding, mask in image.masks.items():
            pixels = mask.array()
            rows, columns = pixels.shape
            side = min(rows, columns)
            top, left = (rows - side) // 2, (columns - side) // 2
            beside = sum(
                not (top <= row < top + side and left <= column < left + side)
                for row, column in zip(*pixels.nonzero(), strict=True)
            )
            shares[image.key, finding] = beside / int(pixels.sum())
    return shares


@pytest.mark.statement("E000-08")
@pytest.mark.parametrize("fit", FitMode)
def test_that_each_trial_tells_how_much_of_its_mask_the_crop_cuts_off(
    fit: FitMode, tmp_path: Path
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        params = {"absent_findings": True, "fit_mode": fit.value, "grids": [4]}
        run = bundled_run(store, tmp_path, 3, **params)
        table = items_of_run(store, run)
        expected = counted(cases.dataset_of_run(store, run))
        assert verify(run_bundle(store, run), quiet).wrong == []
    names = ("image", "finding", "outside_crop", "condition")
    columns = [table.header.index(name) for name in names]
    told = [[row[column] for column in columns] for row in table.rows]
    present = [one for one in told if not str(one[-1]).endswith(" absent")]
    for image, finding, share, _ in present:
        whole = expected[str(image), str(finding)] if fit in CROPS else 0.0
        assert isinstance(share, float)
        assert share == pytest.approx(whole, abs=1e-12)
    shares = {share for *_, share, _ in present}
    assert 0.0 in shares
    assert (max(map(float, map(str, shares))) > 0.1) is (fit in CROPS)
    absent = [one for one in told if one not in present]
    assert absent
    assert {share for *_, share, _ in absent} == {None}


def test_that_the_verifier_notices_another_share(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        data = run_bundle(store, bundled_run(store, tmp_path, n=2))
    items = members_of(data)["tables/items.csv"]
    lines = items.decode().splitlines()
    row = next(csv.DictReader(io.StringIO(items.decode())))
    cell = f",{row['outcome']},{row['outside_crop']},"
    assert cell in lines[1]
    spoilt = lines[1].replace(cell, f",{row['outcome']},0.875,")
    wrong = verify(
        forged(data, "tables/items.csv", lines[1].encode(), spoilt.encode()), quiet
    ).wrong
    assert any("outside_crop is 0.875, computed again" in one for one in wrong)


@pytest.mark.statement("E000-08")
@pytest.mark.parametrize("aspect", [0.5, 0.75, 1.0, 1.25, 2.0])
def test_that_pixels_cut_by_the_edge_count_in_part(aspect: float) -> None:
    rng = np.random.default_rng(5)
    params = read_params("gosai2025", {})
    for _ in range(12):
        rows, columns = (int(n) for n in rng.integers(20, 60, 2))
        pixels = rng.random((rows, columns)) < 0.2
        high, wide = min(rows, columns / aspect), min(columns, rows * aspect)
        top, left = np.ceil((rows - high - 1) / 2), np.ceil((columns - wide - 1) / 2)
        within_rows = np.clip(top + high - np.arange(rows), 0, 1)
        within_rows *= np.arange(rows) >= top
        within_columns = np.clip(left + wide - np.arange(columns), 0, 1)
        within_columns *= np.arange(columns) >= left
        inside = (pixels * np.outer(within_rows, within_columns)).sum()
        expected = pytest.approx(1 - inside / pixels.sum())
        mask = Mask.of_array(pixels)
        geometry = ImageGeometry(SizePx(rows, columns), aspect_ratio=aspect)
        assert reference_of(mask, geometry, condition(8), params).fraction_outside == (
            expected
        )
        sending = Sending(256, "crop_resize", Fraction(1, 2), Fraction(aspect))
        assert outside_crop(rows, columns, mask.counts, sending) == expected


def test_that_no_mask_is_put_under_its_grid_again_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def noted(*asked: Any) -> GridReference:  # noqa: ANN401 - passed on unchanged
        seen.append(asked)
        return reference_of.__wrapped__(*asked)

    with open_store(tmp_path / "s.sqlite") as store:
        run = bundled_run(store, tmp_path, n=2)
        monkeypatch.setattr(reference, "reference_of", lru_cache(maxsize=1)(noted))
        found = recorded(store, run)
    assert len(found.outside_crop) == len(found.golds)
    assert len(seen) == len({*seen})
