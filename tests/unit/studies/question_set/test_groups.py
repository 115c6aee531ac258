"""An item's groups: JSON in a column, words on its trial's page."""

import json

from viewer.domain.item import Item
from viewer.studies.question_set.words import WORDS


def test_that_groups_are_told_in_words() -> None:
    groups = {"view": "frontal", "age_group": "over 60"}
    item = Item("q1", "p", "Chest", facts={"groups": json.dumps(groups)})
    told = [("groups", "view: frontal; age group: over 60")]
    assert list(WORDS.about(item, "q1", "image")) == told
    assert json.loads(WORDS.strata["groups"](item)) == groups
    ungrouped = Item("q2", "p", "Chest", facts={})
    assert list(WORDS.about(ungrouped, "q2", "image")) == [("groups", "")]
