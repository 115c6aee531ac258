"""The frames of any study: its trials as rows, and the sources of others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.verdicts import RIGHT, WRONG, Verdict

Verdicts = Sequence[Verdict]


@dataclass(frozen=True)
class Source:
    """The input of frames: the plan, every verdict, and people's answers.

    ``grades`` are readers' grades of outputs, ``people`` what people answered or
    scored, by what it is. ``asked`` has columns' values in the order of the run's
    tables, where answers are places. ``verdicts`` are of the run's own prompts, which a
    study's tables count; ``planned`` are those of variants too, if there are any.
    ``images`` have the size and masks of images by name, where answers are places.
    """

    plan: Mapping[str, Any]
    verdicts: Verdicts
    grades: Sequence[Mapping[str, Any]] = ()
    people: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    asked: Mapping[str, list[Any]] = field(default_factory=dict)
    planned: Verdicts = ()
    images: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def every(self) -> Verdicts:
        """Every verdict, including variants of the prompts, in planned order."""
        return self.planned or self.verdicts

    @property
    def params(self) -> Mapping[str, Any]:
        """The study's parameters."""
        found: Mapping[str, Any] = self.plan["params"]
        return found


def number_names(verdicts: Verdicts) -> list[str]:
    """Return the names of numbers in the order in which they first appear."""
    return list(dict.fromkeys(name for one in verdicts for name in one.numbers))


def trial_rows(verdicts: Verdicts) -> Rows:
    """Return every trial with its verdict, in planned order, with numbers by name."""
    names = number_names(verdicts)
    return [
        {
            **{name: getattr(one, name) for name in _COLUMNS},
            "gold": json.dumps(one.gold, sort_keys=True, ensure_ascii=False)
            if one.gold
            else "",
            "request_sha256": one.request,
            "counted": one.counted,
            "answered": one.status in (RIGHT, WRONG),
            "correct": one.is_right,
            "chance": chance_of(one),
            **{name: one.numbers.get(name) for name in names},
        }
        for one in verdicts
    ]


def add_comparable(rows: Rows, *by: str) -> None:
    """Add whether each is settled, and any settled one of the same got a reply."""
    replied = {
        tuple(row[name] for name in by)
        for row in rows
        if row["counted"] and row["status"] != "provider_error"
    }
    for row in rows:
        of = tuple(row[name] for name in by)
        row["comparable"] = row["counted"] and of in replied


def item_rows(verdicts: Verdicts) -> Rows:
    """Return every trial with all its values, as items.csv lists them."""
    return [
        {
            **row,
            **one.listed,
            "correct": one.is_right if one.counted else None,
            "coverage": one.placed.coverage,
            "outcome": one.placed.outcome,
            "outside_crop": one.placed.outside_crop,
        }
        for one, row in zip(verdicts, trial_rows(verdicts), strict=True)
    ]


def variant_of(condition: str) -> str:
    """Return the prompt variant in a condition's name, "" for the run's own."""
    return condition.partition(_VARIANT)[2]


def variant_rows(verdicts: Verdicts) -> Rows:
    """Return every trial beside the same trial with the run's own prompts."""
    rows = trial_rows(verdicts)
    add_comparable(rows, "model", "condition")
    for row in rows:
        row["asked"], _, variant = row["condition"].partition(_VARIANT)
        row["variant"] = variant or _BASE
        row["right"] = float(row["correct"]) if row["comparable"] else None
    own = {_pair(row): row["right"] for row in rows if row["variant"] == _BASE}
    for row in rows:
        varied = row["variant"] != _BASE
        row["before"] = own.get(_pair(row)) if varied else None
        both = (row["right"], row["before"])
        row["gained"], row["lost"] = (int(both == of) for of in ((1, 0), (0, 1)))
    return rows


def _pair(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["item"], row["asked"], row["repeat"], row["model"]


_VARIANT, _BASE = " prompt=", "base"
_COLUMNS = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    *("status", "reason", "answer"),
)


def chance_of(one: Verdict) -> float | None:
    """Return the chance of a random option being right; one half for yes or no."""
    if one.gold.get("options"):
        return 1 / len(one.gold["options"])
    return 0.5 if "yes" in one.gold else None


def letter_at(place: int) -> str:
    """Return the letter of a position, A for 0."""
    return chr(ord("A") + place)
