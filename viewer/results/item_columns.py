"""The columns of ``items.csv``, in one list that everything else follows.

The table and its types, the frame of records, the record of a trial in a bundle, the
table of the documentation and that of the Python interface are made from this list or
compared with it. ``docs/extending/table.md`` says how to add a column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Origin(Enum):
    """The source of a column's values."""

    STORED = auto()
    """The store has it (`viewer.store.trial_columns`); verify.py knows it by name."""
    COPIED = auto()
    """The store has it, perhaps in another unit; a bundle carries it unchanged."""
    DERIVED = auto()
    """Worked out from other columns, and once more by verify.py."""


@dataclass(frozen=True, slots=True)
class ItemColumn:
    """A column of ``items.csv``.

    ``kind`` is str, int, float or bool. A column ``of_places`` exists only in studies
    whose answers are locations.
    """

    name: str
    kind: type
    meaning: str
    origin: Origin = Origin.STORED
    of_places: bool = False


ITEM_COLUMNS: Final = (
    ItemColumn("item", str, "the question"),
    ItemColumn("patient", str, "the patient it is about"),
    ItemColumn("image", str, "the image; empty where there is none"),
    ItemColumn("finding", str, "the finding, or what else `results.csv` groups by"),
    ItemColumn("view", str, "the view, or what else `results.csv` groups by"),
    ItemColumn("condition", str, "the change of the stimulus, such as `grid=8`"),
    ItemColumn("repeat", int, "the number of the repeat, from 0"),
    ItemColumn("model", str, "the model's name in the run"),
    ItemColumn("status", str, "how the trial ended, one of the eleven above"),
    ItemColumn("reason", str, "why it ended so"),
    ItemColumn("answer", str, "the answer as tables write it: `D4`, `B`, `Yes`"),
    ItemColumn(
        "gold",
        str,
        "the right answer, as JSON; empty where no program can tell",
        Origin.DERIVED,
    ),
    ItemColumn(
        "correct",
        bool,
        "empty where a trial is in no rate (excluded, pending), so that its mean is "
        "the rate",
        Origin.DERIVED,
    ),
    ItemColumn(
        "chance",
        float,
        "how often an option drawn at random is right, 0 to 1",
        Origin.DERIVED,
    ),
    ItemColumn(
        "coverage",
        float,
        "the fraction of the answered cell that the reference covers, 0 to 1",
        of_places=True,
    ),
    ItemColumn(
        "outcome",
        str,
        "how the answered cell meets the reference: `full`, `full_fallback`, `partial` "
        "or `miss`",
        of_places=True,
    ),
    ItemColumn(
        "outside_crop",
        float,
        "the fraction of the reference mask that the crop cuts off, 0 to 1; empty "
        "where there is no mask",
        Origin.DERIVED,
        of_places=True,
    ),
    ItemColumn("reply", str, "the model's last reply", Origin.DERIVED),
    ItemColumn(
        "tokens_in",
        int,
        "tokens sent, for all replies that the answer was read from",
        Origin.COPIED,
    ),
    ItemColumn("tokens_out", int, "tokens of these replies", Origin.COPIED),
    ItemColumn("seconds", float, "the time that they took", Origin.COPIED),
    ItemColumn("cost_usd", float, "their cost in US dollars", Origin.COPIED),
    ItemColumn("prompt_sha256", str, "hash of the prompt's template"),
    ItemColumn("request_sha256", str, "hash of everything that was sent"),
)
"""Every column, in order; a study's own strata follow ``view``, its numbers come last.

Text that is not there is "", other values are None.
"""
ASKED: Final = ("item", "patient", "image", "finding", "view")
"""The columns before the study's own strata."""
ITEM_KINDS: Final[Mapping[str, type]] = {one.name: one.kind for one in ITEM_COLUMNS}


def names_of(*origins: Origin) -> tuple[str, ...]:
    """Return the columns of some origins, in order."""
    return tuple(one.name for one in ITEM_COLUMNS if one.origin in origins)
