import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item, check_items, item_of

TILE = Item("t1", "p1", "PubMed", ("a",), {"question": "Which?"}, {"option": 2})


def test_that_an_item_is_found_by_its_key_and_by_the_name_of_a_task() -> None:
    piped = Item("t1|b", "p1")
    items = {item.key: item for item in (TILE, piped)}
    assert item_of(items, "t1") is TILE
    assert item_of(items, TILE.named("final")) is TILE
    assert item_of(items, "t1|b") is piped
    assert item_of(items, piped.named("final")) is piped
    assert TILE.named() == "t1"


def test_that_a_name_of_no_item_is_refused() -> None:
    with pytest.raises(WrongUseError, match="no item 'other'"):
        item_of({"t1": TILE}, "other")


def test_that_the_content_tells_everything_in_any_order_of_its_facts() -> None:
    facts = {"b": [1, 2.5, None], "a": "ü"}
    one = Item("k", "p", facts=facts)
    other = Item("k", "p", facts=dict(reversed(facts.items())))
    assert one.content == other.content
    changed = [
        Item("k2", "p", facts=facts),
        Item("k", "p2", facts=facts),
        Item("k", "p", "kind", facts=facts),
        Item("k", "p", images=("a",), facts=facts),
        Item("k", "p"),
        Item("k", "p", facts=facts, reference={"option": 1}),
    ]
    assert len({one.content, *(item.content for item in changed)}) == 7


def test_that_items_of_one_key_or_without_their_image_are_refused() -> None:
    check_items((TILE, Item("t2", "p1")), ["a"])
    with pytest.raises(WrongUseError, match="Two items are called 't1'"):
        check_items((TILE, TILE), ["a"])
    with pytest.raises(WrongUseError, match="shows the image 'a'"):
        check_items((TILE,), ["b"])
