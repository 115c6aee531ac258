"""How fast a folder is indexed; printed, never asserted (budget: 1,500 headers/s)."""

import math
import time
from pathlib import Path

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture

from tests.helpers.small_datasets import (
    SmallChexlocalize,
    coded,
    square,
    write_dicom,
    write_picture,
)
from viewer.readers.catalog import read_headers
from viewer.readers.datasets.catalog import formats_of
from viewer.readers.datasets.chexlocalize import read
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import open_store

IMAGES = 500


def _keys() -> list[str]:
    return [f"patient{n:05d}_study1_view1_frontal" for n in range(IMAGES)]


def _print_rate(benchmark: BenchmarkFixture, what: str) -> None:
    assert benchmark.stats is not None
    print(f"\n{IMAGES / benchmark.stats['median']:.0f} {what} a second")


def test_dicom_headers(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    paths = [write_dicom(tmp_path / f"{n}.dcm") for n in range(IMAGES)]
    read_all = benchmark(lambda: [read_headers(path) for path in paths])
    assert [one[0].ref.path for one in read_all] == paths
    _print_rate(benchmark, "DICOM headers")


def test_chexlocalize_import(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    data = SmallChexlocalize(tmp_path)
    for key in _keys():
        write_dicom(data.image_path(key, ".dcm"), view_position="PA")
    data.segment({key: {"Edema": coded(square())} for key in _keys()})
    dataset = benchmark(lambda: read(tmp_path, "x"))
    assert [set(image.masks) for image in dataset.images] == [{"Edema"}] * IMAGES
    _print_rate(benchmark, "images imported")


SIZES = (500, 1000, 2000, 4000)


def _folder_of(root: Path, n: int) -> Path:
    """Write n small films, each with a mask beside it."""
    first = root / "first.png"
    films = {
        ".png": write_picture(first).read_bytes(),
        ".edema.png": write_picture(first, np.uint8(255) * square()).read_bytes(),
    }
    first.unlink()
    for i in range(n):
        for suffix, data in films.items():
            (root / f"patient{i:05d}_frontal{suffix}").write_bytes(data)
    return root


def test_folder_import_grows_with_its_images(tmp_path: Path) -> None:
    seconds = []
    for n in SIZES:
        root = _folder_of(tmp_path / f"{n}", n)
        with open_store(tmp_path / f"{n}.sqlite") as store:
            began = time.process_time()
            assert "folder" in formats_of(root)
            dataset = import_dataset(store, "folder", root, "films")
            seconds.append(time.process_time() - began)
        assert sum("Edema" in image.masks for image in dataset.images) == n
        print(f"\n{n} films with masks: {seconds[-1]:.2f} s of CPU", end="")
    growth = math.log(seconds[-1] / seconds[0]) / math.log(SIZES[-1] / SIZES[0])
    print(f"\nseconds grow with the number of films to the power {growth:.2f}")
