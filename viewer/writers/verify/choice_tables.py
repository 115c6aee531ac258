"""The rows of PathMMU's tables that follow from trials, worked out once more."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import fsum
from random import Random

from viewer.writers.verify.comparing import TAKEN
from viewer.writers.verify.item_tables import (
    Verdicts,
    rate_cells,
    share_of,
    tally_of,
    verdicts_by_arm,
)
from viewer.writers.verify.judging import Row
from viewer.writers.verify.verdicts import ItemVerdict

_PARTS = {"val": ("val",), "tiny": ("test_tiny",), "all": ("test_tiny", "test")}
_SUBSETS = ("PubMed", "SocialPath", "EduContent", "Atlas", "PathCLS")
_CORRUPTIONS = (
    *("brightness", "bubble", "defocus", "hue", "jpeg", "motion", "pixelate"),
    "saturate",
)
_SCRIPT_SPLITS = ("test_tiny", "test", "val")
_SCRIPT_SUBSETS = ("PubMed", "PathCLS", "SocialPath", "Atlas", "EduContent")


def accuracy_rows(verdicts: Verdicts) -> list[Row]:
    """Return accuracy_paper.csv: each model and condition in each part and subset."""
    return [
        (
            *(*key, *rate_cells(some)[:-4], share_of(*tally_of(some))),
            *(_by_chance(some), TAKEN, TAKEN),
        )
        for key, some in _parted(verdicts)
    ]


def _by_chance(verdicts: Verdicts) -> float:
    """Return the mean of 1 / options over the items, each once."""
    options = {one.item: len(one.gold["options"]) for one in verdicts}
    return float(sum(Fraction(1, n) for n in options.values()) / len(options))


def corruption_rows(verdicts: Verdicts) -> list[Row]:
    """Return corruption.csv: means over levels by kind, and what they change."""
    rates = {
        (str(key[0]), str(key[1])): share_of(*tally_of(some))
        for key, some in _parted(verdicts)
        if key[2:] == ("tiny", "Overall")
    }
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in verdicts):
        clean = rates.get((model, "plain"))
        kinds = [
            _mean_known(
                [rates.get((model, f"{kind}-{level}")) for level in range(1, 6)]
            )
            for kind in _CORRUPTIONS
        ]
        if any(value is not None for value in kinds):
            named = zip(
                (*_CORRUPTIONS, "overall"), (*kinds, _mean_known(kinds)), strict=True
            )
            rows += [(model, n, clean, v, *_changed(v, clean)) for n, v in named]
    return rows


def noise_rows(verdicts: Verdicts) -> list[Row]:
    """Return noise.csv: accuracy with noise for images beside that with images."""
    rates = {key: share_of(*tally_of(some)) for key, some in _parted(verdicts)}
    rows: list[Row] = []
    for (model, condition, part, subset), rate in rates.items():
        if condition == "noise":
            clean = rates.get((model, "plain", part, subset))
            rows.append((model, part, subset, clean, rate, *_changed(rate, clean)))
    return rows


def _mean_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _changed(value: float | None, clean: float | None) -> Row:
    """Return a value less the clean one, with its sign as an arrow."""
    if value is None or clean is None:
        return None, ""
    change = value - clean
    return change, "\u2191" if change > 0 else "\u2193" if change < 0 else "="


def accuracy_interval_rows(verdicts: Verdicts) -> list[Row]:
    """Return accuracy_recommended.csv; intervals over images are taken."""
    rows: list[Row] = []
    for key, some in _parted(verdicts):
        rates = rate_cells(some)
        rows.append((*key, *rates[:-1], TAKEN, TAKEN, rates[-1]))
    return rows


def _parted(verdicts: Verdicts) -> Iterable[tuple[Row, Verdicts]]:
    """Yield the trials of every model and condition in every part that has any."""
    there = list(dict.fromkeys(one.finding for one in verdicts))
    known = [name for name in _SUBSETS if name in there]
    subsets = ["Overall", *known, *(name for name in there if name not in known)]
    splits = dict.fromkeys(one.view for one in verdicts)
    paper = {split for held in _PARTS.values() for split in held}
    parts = {**_PARTS, **{s: (s,) for s in splits if s not in paper}}
    for model, condition, own in verdicts_by_arm(verdicts):
        for subset in subsets:
            for part, held in parts.items():
                some = [
                    one
                    for one in own
                    if one.view in held and subset in ("Overall", one.finding)
                ]
                if some:
                    yield (model, condition, part, subset), some


def official_rows(verdicts: Verdicts, seed: int) -> list[Row]:
    """Return official.csv: both readings of first repeats, with the script's chance."""
    rows: list[Row] = []
    for model, condition, own in verdicts_by_arm(sorted(verdicts, key=_script_turn)):
        some = [one for one in own if one.repeat == 0 and one.counted]
        if not some:
            continue
        chance = Random(seed)  # noqa: S311 - the script's own numbers
        found = [_official(one, chance) for one in some]
        dropped, drawn = (sum(one[i] for one in found) for i in (1, 2))
        n, k = len(some) - dropped, sum(one[0] for one in found)
        typed = sum(one.is_right for one in some)
        change = 100 * (k / n - typed / len(some)) if n else None
        differ = sum(
            lost or right != one.is_right
            for one, (right, lost, _) in zip(some, found, strict=True)
        )
        row = (typed, len(some), k, n, drawn, dropped, change, differ)
        rows.append((model, condition, *row))
    return rows


def _script_turn(one: ItemVerdict) -> int:
    """Return where the script reads a trial's part of the data."""
    order = [
        (subset, split)
        for subset in _SCRIPT_SUBSETS
        for split in (
            ("test", "test_tiny", "val") if subset == "Atlas" else _SCRIPT_SPLITS
        )
    ]
    part = (one.finding, one.view)
    return order.index(part) if part in order else len(order)


def _official(one: ItemVerdict, chance: Random) -> tuple[bool, bool, bool]:
    """Return whether the script calls a reply right, drops it, and drew its answer."""
    code = int(one.numbers.get("official", -2))
    if code == -2:
        return False, True, False
    options = [text.split(")")[1].strip() for text in one.gold["written"]]
    right = options[ord(one.gold["letter"][0].upper()) - ord("A")].lower()
    if code >= 0:
        return options[code].lower() == right, False, False
    drawn = chance.choice(range(len(options)))
    return code == -3 or options[drawn].lower() == right, False, True
