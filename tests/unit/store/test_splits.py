from dataclasses import replace
from pathlib import Path

from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.store import cases
from viewer.store.database import open_store

IMAGE = DatasetImage(
    key="a",
    patient="p",
    study="s",
    view=View.FRONTAL,
    ref=ImageRef(Path("a.png")),
    geometry=ImageGeometry(SizePx(4, 4)),
    sha256="0" * 64,
)
DATASET = Dataset("d", "chexlocalize", Path("root"), (IMAGE,), (), "f" * 64, "test")


def test_that_a_split_is_kept_and_not_forgotten_by_who_does_not_know_it(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        first = cases.add_dataset(store, DATASET)
        assert cases.dataset_named(store, "d") == DATASET
        assert cases.add_dataset(store, replace(DATASET, split="")) == first
        assert cases.dataset_named(store, "d").split == "test"
