"""Fifty patients: identical twice, valid, and true in both codings."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree
from time import perf_counter

import pytest

from tests.helpers.phantom_checks import (
    dciodvfy_errors,
    disagreements,
    folder_hash,
    json_masks,
)
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.services.synthetic.phantom.patient import Finding

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("fifty patients")]
SIZE = SizePx(2500, 2000)
N = 50


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("phantom")
    start = perf_counter()
    make_phantom(folder, N, 0, SIZE, lambda *_: None)
    print(f"{(perf_counter() - start) / N:.2f} s a patient at 2000 × 2500")
    return folder


def test_that_fifty_patients_are_the_same_bytes_twice(
    collection: Path, tmp_path: Path
) -> None:
    make_phantom(tmp_path / "again", N, 0, SIZE, lambda *_: None)
    first, second = folder_hash(collection), folder_hash(tmp_path / "again")
    rmtree(tmp_path / "again")
    print(f"{N} patients: {first}")
    assert first == second


def test_that_dciodvfy_finds_no_error_in_any_file(
    collection: Path,
) -> None:
    paths = sorted(collection.rglob("*.dcm"))
    assert len(paths) == 4 * N
    with ThreadPoolExecutor(2) as pool:
        errors = dict(zip(paths, pool.map(dciodvfy_errors, paths), strict=True))
    assert {p.name: e for p, e in errors.items() if e} == {}


def test_that_the_json_and_every_segmentation_hold_the_same_masks(
    collection: Path,
) -> None:
    assert disagreements(collection) == []


def test_that_every_finding_is_there_often_enough(
    collection: Path,
) -> None:
    path = collection / "CheXlocalize" / "gt_segmentations_test.json"
    counts = Counter(
        (name, key.rsplit("_", 1)[1])
        for key, masks in json_masks(path).items()
        for name, mask in masks.items()
        if mask.any()
    )
    print(dict(counts))
    assert all(
        counts[finding, view] >= 5
        for finding in Finding
        for view in ("frontal", "lateral")
    )
