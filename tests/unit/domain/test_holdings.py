from viewer.domain.holdings import Holdings, Wanted

HELD = Holdings(facts=(frozenset({"question", "options"}), frozenset({"views"})))


def test_that_one_item_must_have_all_the_facts_and_none_of_the_excluded() -> None:
    assert HELD.has_item("question")
    assert HELD.has_item("options", "question", without=["views"])
    assert not HELD.has_item("question", "views")
    assert not HELD.has_item("question", without=["options"])
    assert not Holdings().has_item("question")


def test_that_what_a_data_set_lacks_is_named() -> None:
    wanted = Wanted("questions", "Import a pack.", lambda of: of.has_item("question"))
    assert wanted.lacking(HELD) == ""
    assert wanted.lacking(Holdings(places=True)) == "no questions"
