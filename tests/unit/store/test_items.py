from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.small_store import a_dataset
from viewer.domain.errors import StoreError, WrongUseError
from viewer.domain.item import Item
from viewer.readers.datasets.files import content_sha256
from viewer.services.inspecting.listing import item_rows
from viewer.store import cases
from viewer.store.database import open_store

PLAIN = a_dataset()
IMAGES = tuple(image.key for image in PLAIN.images)
ITEMS = (
    Item(
        "q2",
        "patient0",
        "closed",
        IMAGES,
        {"question": "Ist es größer?", "options": ["ja", "nein"], "year": 2020},
        {"option": 1, "share": 0.1, "none": None},
    ),
    Item("q1", "patient9", "text"),
)
ASKED = replace(
    PLAIN,
    name="asked",
    items=ITEMS,
    root_sha256=content_sha256(PLAIN.images, ITEMS),
)
KNOWN = "82a4b2812d83bd3c55859a316dfae69f4314d418cffc37d99b5186dbe3300fa2"
"""What the data set without items was called before there were any."""


def test_that_items_are_kept_in_their_order_and_listed(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, PLAIN)
        cases.add_dataset(store, ASKED)
        kept = cases.dataset_named(store, "asked")
        assert [item.key for item in kept.items] == ["q2", "q1"]
        assert kept.items == ITEMS
        rows = item_rows(store, "asked")
        assert rows[0]["images"] == list(IMAGES)
        assert rows[0]["reference"] == {"option": 1, "share": 0.1, "none": None}
        plain, asked = cases.dataset_summaries(store)
        assert asked.items == plain.items + 2
        assert (plain.patients, asked.patients) == (2, 3)


def test_that_items_name_the_content_and_data_sets_without_keep_their_name() -> None:
    known = content_sha256(PLAIN.images)
    assert known == content_sha256(PLAIN.images, ())
    assert known == KNOWN
    swapped = content_sha256(PLAIN.images, ITEMS[::-1])
    assert swapped == ASKED.root_sha256 != known
    other = replace(ITEMS[0], reference={"option": 0})
    assert content_sha256(PLAIN.images, (other, ITEMS[1])) != ASKED.root_sha256


def test_that_the_same_name_with_other_items_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, ASKED)
        fewer = replace(
            ASKED,
            items=ITEMS[:1],
            root_sha256=content_sha256(PLAIN.images, ITEMS[:1]),
        )
        with pytest.raises(WrongUseError, match="other content"):
            cases.add_dataset(store, fewer)


def test_that_what_an_answer_was_read_from_cannot_be_rewritten(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        with pytest.raises(StoreError), store.transaction():
            store.execute("INSERT INTO parse_step VALUES (1, 0, 'answer', '', 0, 1)")
        triggers = {
            row[0]
            for row in store.rows("SELECT name FROM sqlite_master WHERE type='trigger'")
        }
    assert {"parse_step_no_update", "parse_step_no_delete"} <= triggers
