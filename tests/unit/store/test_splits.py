from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.older_store import add_old_dataset, store_of_version
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.store import cases
from viewer.store.database import open_store
from viewer.store.migrations import m0007_splits

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


@pytest.mark.parametrize("version", range(1, m0007_splits.VERSION))
def test_that_a_data_set_of_an_older_store_has_no_split_until_somebody_says_it(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "old.sqlite"
    with store_of_version(path, version) as connection:
        add_old_dataset(connection, "d", "chexlocalize")
    with open_store(path) as store:
        assert cases.dataset_named(store, "d").split == ""
        cases.add_dataset(store, DATASET)
        assert cases.dataset_named(store, "d").split == "test"


def test_that_a_split_is_kept_and_not_forgotten_by_who_does_not_know_it(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        first = cases.add_dataset(store, DATASET)
        assert cases.dataset_named(store, "d") == DATASET
        assert cases.add_dataset(store, replace(DATASET, split="")) == first
        assert cases.dataset_named(store, "d").split == "test"
