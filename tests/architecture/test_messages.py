"""The list of every message that a person may read."""

from difflib import unified_diff

from tests.helpers.messages import COMMAND, LIST, messages


def test_that_the_list_of_messages_is_up_to_date() -> None:
    kept = LIST.read_text(encoding="utf-8").splitlines()
    changed = [*unified_diff(kept, [*messages()], LIST.name, "viewer", "", "", 0, "")]
    assert not changed, "\n".join((*changed, f"Renew it: {COMMAND}"))
