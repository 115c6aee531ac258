"""Eight tags of a task, parsed strictly (E001-04)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.answer import Status, Unparsed
from viewer.domain.task_selection import TAGS
from viewer.studies.reply_text import answering_text, without_markup

MULTIPLE: Final = "Multiple"
"""What stands for more than four values."""
_MOST: Final = 4
_LINE: Final = re.compile(r"^\W*(tag_\w+)\W*:\s*(.*)$")
_BETWEEN: Final = re.compile(r"\s+[-–—]\s+")
_JOINED: Final = " – "


@dataclass(frozen=True, slots=True)
class Tags:
    """The values of every dimension in their order; none is ``("None",)``."""

    values: Mapping[str, tuple[str, ...]]

    def written(self, tag: str) -> str:
        """Return the values of a dimension with en dashes between them."""
        return _JOINED.join(self.values[tag])


def read_tags(text: str) -> Tags | Unparsed:
    """Parse a reply of eight lines ``dimension: value – value``.

    Every dimension must occur exactly once with a value, and no others; more than four
    values are Multiple.
    """
    found: dict[str, tuple[str, ...]] = {}
    for line in answering_text(text).splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        tag, value = match[1], without_markup(match[2])
        if tag not in TAGS:
            return Unparsed(Status.UNPARSED, f"unknown {tag}")
        if tag in found:
            return Unparsed(Status.AMBIGUOUS, f"twice {tag}")
        found[tag] = values_of(value)
        if not found[tag]:
            return Unparsed(Status.UNPARSED, f"empty {tag}")
    missing = [tag for tag in TAGS if tag not in found]
    if missing:
        return Unparsed(Status.UNPARSED, f"missing {missing[0]}")
    return Tags({tag: found[tag] for tag in TAGS})


def values_of(written: str) -> tuple[str, ...]:
    """Return the values between dashes; Multiple for more than four."""
    values = [part.strip() for part in _BETWEEN.split(written.strip())]
    tags = tuple(dict.fromkeys(value for value in values if value))
    return (MULTIPLE,) if len(tags) > _MOST else tags


def tag_counts(tags: Sequence[Tags], tag: str) -> Mapping[str, int]:
    """Return how many tasks have each value of a dimension, the most first.

    A task with two values counts under both (Supplementary Fig. 1b).
    """
    counts: dict[str, int] = {}
    for one in tags:
        for value in one.values[tag]:
            counts[value] = counts.get(value, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
