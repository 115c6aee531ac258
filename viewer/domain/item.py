"""One question of a data set: its facts, images and reference."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.plain import plain

TASK_MARK: Final = "|"
"""What stands between an item's key and the task in the name of what is asked."""


@dataclass(frozen=True)
class Item:
    """An item of a data set whose questions are not just a finding in an image.

    ``key`` is unique in the data set; ``patient`` is a pseudonym, by which intervals
    are clustered; ``kind`` the subset or type it counts under. ``images`` are keys of
    the data set's images, in the order shown. ``facts`` may be sent to a model,
    ``reference`` is the truth and never is; both hold plain JSON values (lists, not
    tuples), so that a round trip through the store does not change them.
    """

    key: str
    patient: str
    kind: str = ""
    images: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    reference: Mapping[str, object] = field(default_factory=dict)

    def named(self, task: str = "") -> str:
        """Return the name of one of this item's tasks: its key if it has only one."""
        return f"{self.key}{TASK_MARK}{task}" if task else self.key

    @property
    def content(self) -> str:
        """The whole item as one line of JSON with sorted keys."""
        return json.dumps(plain(self), sort_keys=True, separators=(",", ":"))


def item_of(items: Mapping[str, Item], name: str) -> Item:
    """Return the item, by key, that a task's name belongs to.

    A name that belongs to none of them raises WrongUseError.
    """
    key = name
    while key not in items:
        key, mark, _ = key.rpartition(TASK_MARK)
        if not mark:
            raise WrongUseError(
                f"The data set has no item '{name}'.",
                "Plan the run again with overread run --new.",
            )
    return items[key]


def check_items(items: Iterable[Item], images: Iterable[str]) -> None:
    """Raise WrongUseError for duplicate keys, or an item with a missing image."""
    known, seen = frozenset(images), set[str]()
    for item in items:
        if item.key in seen:
            raise WrongUseError(
                f"Two items are called '{item.key}'.", "Give each its own name."
            )
        seen.add(item.key)
        missing = [key for key in item.images if key not in known]
        if missing:
            raise WrongUseError(
                f"The item '{item.key}' shows the image '{missing[0]}', which the data "
                "set does not have.",
                "Add the image, or remove it from the item.",
            )
