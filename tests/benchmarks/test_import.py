"""How fast a folder is indexed; printed, never asserted (budget: 1,500 headers/s)."""

from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from tests.helpers.small_datasets import SmallChexlocalize, coded, square, write_dicom
from viewer.readers.catalog import read_headers
from viewer.readers.datasets.chexlocalize import read

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
