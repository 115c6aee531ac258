"""Items of several data sets as those of one."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.evidence_cases import cases_dataset
from tests.helpers.small_store import a_dataset
from viewer.domain.case import Dataset
from viewer.domain.evidence import EvidenceCase
from viewer.domain.item import Item
from viewer.readers.datasets.files import content_sha256
from viewer.readers.datasets.merge import merge


def _asking(name: str, *items: Item) -> Dataset:
    return replace(a_dataset(name), images=(), notices=(), items=items)


def test_that_items_of_different_names_stay_as_they_are() -> None:
    parts = [_asking("one", Item("q1", "p")), _asking("two", Item("q2", "p"))]
    both = merge("both", parts)
    assert both.items == (Item("q1", "p"), Item("q2", "p"))
    assert both.root_sha256 == content_sha256((), both.items)


def test_that_a_common_name_of_items_makes_both_parts_carry_theirs() -> None:
    parts = [_asking("one", Item("q", "p")), _asking("two", Item("q", "p"))]
    both = merge("both", parts)
    assert [item.key for item in both.items] == ["one/q", "two/q"]
    assert [item.patient for item in both.items] == ["one/p", "two/p"]


def test_that_items_follow_their_images_to_new_names() -> None:
    first, second = a_dataset("one"), a_dataset("two")
    shown = tuple(image.key for image in second.images)
    both = merge("both", [first, replace(second, items=(Item("q", "p", "", shown),))])
    (item,) = both.items
    assert item.images == tuple(f"two/{key}" for key in shown)
    assert set(item.images) <= {image.key for image in both.images}


@pytest.mark.statement("E004-01")
def test_that_the_evidence_of_cases_follows_its_images_to_new_names(
    tmp_path: Path,
) -> None:
    first = cases_dataset(tmp_path / "cases", 2)
    parts = [replace(first, name=name) for name in ("one", "two")]
    both = merge("both", parts)
    known = {image.key for image in both.images}
    assert len(both.items) == 4
    for item in both.items:
        case = EvidenceCase.of_item(item)
        assert case.images == item.images
        assert set(case.images) <= known
    assert both.root_sha256 == content_sha256(both.images, both.items)
