"""Registering a data set: what its items must be, whatever format it came in."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.small_store import a_dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item
from viewer.readers.datasets import catalog
from viewer.services.importing import import_dataset as module
from viewer.store import cases
from viewer.store.database import open_store


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ((Item("q", "p"), Item("q", "p")), "Two items are called 'q'"),
        ((Item("q", "p", "", ("nowhere",)),), "shows the image 'nowhere'"),
    ],
)
def test_that_items_that_cannot_be_told_apart_or_shown_are_not_registered(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    items: tuple[Item, ...],
    said: str,
) -> None:
    found = replace(a_dataset("odd"), items=items)
    monkeypatch.setattr(catalog, "read_dataset", lambda *_: found)
    with open_store(tmp_path / "s.sqlite") as store:
        with pytest.raises(WrongUseError, match=said):
            module.import_dataset(store, "outsider", tmp_path, "odd")
        assert cases.dataset_summaries(store) == ()
