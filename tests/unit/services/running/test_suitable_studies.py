"""Which data sets a study can ask about is told by what they hold."""

from pathlib import Path

import pytest

from tests.helpers.tiny_study import write_images
from viewer.domain.geometry import SizePx
from viewer.domain.holdings import Holdings, Wanted
from viewer.readers.datasets.catalog import formats_of
from viewer.services.importing.draw_questions import (
    Drawn,
    drawing,
    keep_drawn,
    source_dataset,
)
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.suitable_studies import Suiting, suiting_of
from viewer.services.synthetic.phantoms import PHANTOMS
from viewer.store.database import open_store
from viewer.studies.catalog import OURS, study_named

WANTED = Wanted("pears", "Import pears.", lambda held: held.has_item("pear"))
PICKED = Suiting(
    {
        "apples": {"new": "no apples", "middle": "", "old": ""},
        "pears": {"new": "no pears", "middle": "no pears", "old": "no pears"},
    },
    {"pears": WANTED},
)


@pytest.mark.parametrize("study", sorted({*PHANTOMS} - {"grounded_vqa"}))
def test_that_a_synthetic_collection_suits_the_study_it_is_made_for(
    study: str, tmp_path: Path
) -> None:
    folder, store = tmp_path / "made", tmp_path / "store.sqlite"
    PHANTOMS[study].write(folder, 2, 1, SizePx(192, 160), lambda *_: None)
    with open_store(store) as opened:
        import_dataset(opened, formats_of(folder)[0], folder, "made")
    found = suiting_of(store)
    assert [s for s in OURS if not found.lacking[s]["made"]] == [study]
    assert found.study_for("made", "none of them") == study


def test_that_drawn_questions_choose_the_study_that_asks_them(tmp_path: Path) -> None:
    folder, store = tmp_path / "made", tmp_path / "store.sqlite"
    PHANTOMS["grounded_vqa"].write(folder, 2, 1, SizePx(120, 96), lambda *_: None)
    with open_store(store) as opened:
        import_dataset(opened, "vindr", folder, "films")
    keep_drawn(store, Drawn((drawing(source_dataset(store, "films")),)), "drawn")
    found = suiting_of(store)
    assert found.newest_beside(["films"]) == "drawn"
    assert found.study_for("films", "") == "grid_localization", "films have boxes alone"
    assert found.study_for("drawn", "") == "grounded_vqa"
    assert found.dataset_for("grounded_vqa", "films") == "drawn"


def test_that_images_without_a_reference_suit_no_study(tmp_path: Path) -> None:
    store, folder = tmp_path / "store.sqlite", write_images(tmp_path / "images", 1)
    for mask in folder.glob("*.*.png"):
        mask.unlink()
    with open_store(store) as opened:
        import_dataset(opened, "folder", folder, "bare")
    lacking = {study: of["bare"] for study, of in suiting_of(store).lacking.items()}
    assert all(lacking.values())
    assert set(lacking) == set(OURS)


def test_that_every_study_says_what_it_wants_and_where_that_is_from() -> None:
    for name in OURS:
        wanted = study_named(name).wanted
        assert wanted.lacking(Holdings()) == f"no {wanted.what}"
        assert wanted.source.startswith("Import ")
        assert wanted.source.endswith(".")


def test_that_items_are_told_by_their_facts() -> None:
    held = Holdings(facts=(frozenset({"pear", "stalk"}), frozenset({"plum"})))
    assert held.has_item("pear", "stalk")
    assert not held.has_item("pear", "plum")
    assert not held.has_item("pear", without=("stalk",))
    assert WANTED.lacking(held) == ""


def test_that_sets_that_suit_come_first_and_the_newest_of_them_is_chosen() -> None:
    assert list(PICKED.ordered("apples")) == ["middle", "old", "new"]
    assert PICKED.dataset_for("apples", "new") == "middle"
    assert PICKED.dataset_for("apples", "old") == "old"
    assert PICKED.dataset_for("pears", "old") == ""
    assert PICKED.datasets == ("new", "middle", "old")


def test_that_a_data_set_chooses_a_study_it_suits() -> None:
    assert PICKED.study_for("old", "pears") == "apples"
    assert PICKED.study_for("new", "pears") == "pears", "it suits none"
    assert PICKED.newest_beside(["middle"]) == "new"
    assert PICKED.newest_beside(["new"]) == ""


def test_that_where_none_suits_a_sentence_says_how_to_get_one() -> None:
    told = PICKED.how_to_get("pears")
    assert told.startswith("No data set here has pears. Import pears.")
    assert "overread phantom --study pears" in told
    none = Suiting({"pears": {}}, {"pears": WANTED})
    assert none.how_to_get("pears").startswith("There is no data set yet. Import")
    assert Suiting().how_to_get("pears") == ""
    assert Suiting().datasets == ()
