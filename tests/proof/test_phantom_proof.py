"""Fifty patients: identical twice, valid, and true in both codings."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.helpers.phantom_checks import (
    dciodvfy_errors,
    disagreements,
    folder_hash,
    json_masks,
)
from viewer.domain.geometry import SizePx
from viewer.phantom.patient import Finding
from viewer.services.make_phantom import make_phantom

pytestmark = pytest.mark.proof
SIZE = SizePx(1250, 1000)
N = 50


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folders = tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")
    for folder in folders:
        make_phantom(folder, N, 0, SIZE, lambda *_: None)
    return folders


def test_that_fifty_patients_are_the_same_bytes_twice(
    collections: tuple[Path, Path],
) -> None:
    first, second = map(folder_hash, collections)
    print(f"{N} patients: {first}")
    assert first == second


def test_that_dciodvfy_finds_no_error_in_any_file(
    collections: tuple[Path, Path],
) -> None:
    paths = sorted(collections[0].rglob("*.dcm"))
    assert len(paths) == 4 * N
    with ThreadPoolExecutor(2) as pool:
        errors = dict(zip(paths, pool.map(dciodvfy_errors, paths), strict=True))
    assert {p.name: e for p, e in errors.items() if e} == {}


def test_that_the_json_and_every_segmentation_hold_the_same_masks(
    collections: tuple[Path, Path],
) -> None:
    assert disagreements(collections[0]) == []


def test_that_every_finding_is_there_often_enough(
    collections: tuple[Path, Path],
) -> None:
    path = collections[0] / "CheXlocalize" / "gt_segmentations_test.json"
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
