"""What every cell of the grid2025 pack must be, counted from the masks one by one.

Nothing of the program is used here: masks come from the collection's JSON through
pycocotools, cells are counted pixel by pixel, rates and expectations are fractions.
"""

import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pycocotools import mask as coco

FINDINGS = (
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Lesion",
    "Airspace Opacity",
    "Edema",
    "Consolidation",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
)
SIDE = 256
REFUSAL = "I'm sorry, but I can't assist with that."
AMBIGUOUS = "D4 or D5"


@dataclass(frozen=True)
class Cells:
    """The cells that qualify and those that are touched, row-major indices."""

    hits: set[int]
    touched: set[int]
    falls_back: bool


@dataclass(frozen=True, eq=False)
class Pair:
    """An image and a finding of it.

    ``mask`` is the 256 × 256 one that was sent, ``native`` the square it came from.
    """

    item: str
    patient: str
    view: str
    finding: str
    mask: npt.NDArray[np.bool_]
    native: npt.NDArray[np.bool_]

    @cached_property
    def cells(self) -> Mapping[int, Cells]:
        """What qualifies among n × n cells, by n, counted pixel by pixel."""
        return {n: self._cells(n) for n in (8, 16)}

    def _cells(self, n: int) -> Cells:
        step = SIDE // n
        covered = [
            int(self.mask[r * step : (r + 1) * step, c * step : (c + 1) * step].sum())
            for r in range(n)
            for c in range(n)
        ]
        half = {i for i, count in enumerate(covered) if 2 * count >= step**2}
        touched = {i for i, count in enumerate(covered) if count}
        return Cells(half or touched, touched, falls_back=not half)

    @cached_property
    def exact_hits(self) -> Mapping[int, set[int]]:
        """Cells that qualify by area at native resolution, by n, in integers."""
        return {n: self._exact_hits(n) for n in (8, 16)}

    def _exact_hits(self, n: int) -> set[int]:
        side = self.native.shape[0]
        share = np.zeros((n, side), dtype=np.int64)  # of a pixel, in n-ths
        for cell in range(n):
            for pixel in range(side):
                first = max(cell * side, pixel * n)
                last = min((cell + 1) * side, (pixel + 1) * n)
                share[cell, pixel] = max(0, last - first)
        areas = (share @ self.native @ share.T).ravel()
        half = {int(i) for i in np.flatnonzero(2 * areas >= side**2)}
        return half or {int(i) for i in np.flatnonzero(areas)}

    def hits(self, n: int) -> set[int]:
        """Return the cells of at least half, else those touched."""
        return self.cells[n].hits

    def touched(self, n: int) -> set[int]:
        return self.cells[n].touched

    def falls_back(self, n: int) -> bool:
        return self.cells[n].falls_back

    @property
    def excluded(self) -> bool:
        """Whether nothing of the mask is left in what was sent."""
        return not self.mask.any()


def pairs_of(collection: Path) -> list[Pair]:
    """Read every positive pair of a phantom collection."""
    path = collection / "CheXlocalize" / "gt_segmentations_test.json"
    truth = json.loads(path.read_text())
    found = []
    for key, masks in truth.items():
        for finding, code in masks.items():
            mask = _decoded(code)
            if finding in FINDINGS and mask.any():
                view = key.rsplit("_", 1)[1]
                item, patient = f"{key}|{finding}", key.split("_")[0]
                native = _square(mask.astype(bool))
                sent = _sent(native)
                found.append(Pair(item, patient, view, finding, sent, native))
    return found


def _decoded(code: Mapping[str, object]) -> npt.NDArray[np.uint8]:
    with warnings.catch_warnings():  # pycocotools still asks numpy 2 the way of 1
        warnings.simplefilter("ignore", DeprecationWarning)
        decoded: npt.NDArray[np.uint8] = coco.decode(dict(code))
    return decoded


def _square(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Crop the middle square of the shorter side."""
    rows, columns = mask.shape
    side = min(rows, columns)
    top, left = (rows - side) // 2, (columns - side) // 2
    return mask[top : top + side, left : left + side]


def _sent(square: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Take the nearest pixel of each of 256 × 256."""
    side = square.shape[0]
    index = [(2 * i + 1) * side // (2 * SIDE) for i in range(SIDE)]
    return np.asarray(square[index][:, index])


def cell_name(index: int, n: int) -> str:
    return f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[index // n]}{index % n + 1}"


def scripts(pairs: Sequence[Pair]) -> dict[str, dict[str, str]]:
    """Return what three models say about every item: known beforehand, all of it.

    One always names a cell that qualifies, one always the same cell, and one in turn
    qualifies, touches, misses, refuses and names two cells.
    """
    always, constant, mixed = {}, {}, {}
    for place, pair in enumerate(pairs):
        for n in (8, 16):
            key = f"{pair.item}|grid={n}|0"
            hits, touched = sorted(pair.hits(n)), sorted(pair.touched(n))
            outside = sorted(set(range(n * n)) - set(touched))
            only = sorted(set(touched) - set(hits)) or outside
            always[key] = cell_name(hits[0] if hits else 0, n)
            constant[key] = "E5"
            turns = [
                *(cell_name(c[0] if c else 0, n) for c in (hits, only, outside)),
                *(REFUSAL, AMBIGUOUS),
            ]
            mixed[key] = turns[place % len(turns)]
    return {"always": always, "constant": constant, "mixed": mixed}


@dataclass(frozen=True)
class Asked:
    """A pair, what was said about it, and what that cell is worth."""

    pair: Pair
    said: str
    cell: int | None
    n: int

    @property
    def hit(self) -> bool:
        return self.cell is not None and self.cell in self.pair.hits(self.n)

    @property
    def exact_hit(self) -> bool:
        return self.cell is not None and self.cell in self.pair.exact_hits[self.n]

    @property
    def touches(self) -> bool:
        return self.cell is not None and self.cell in self.pair.touched(self.n)


def asked(pairs: Iterable[Pair], script: Mapping[str, str], n: int) -> list[Asked]:
    """Return what a script says about every pair under a grid."""
    names = {cell_name(i, n): i for i in range(n * n)}
    said = ((pair, script[f"{pair.item}|grid={n}|0"]) for pair in pairs)
    return [Asked(pair, text, names.get(text), n) for pair, text in said]


@dataclass(frozen=True)
class Expected:
    """Exact numbers of one row; ``sd`` is that of endlessly many resamples."""

    planned: int
    scored: int
    refused: int
    unparsed: int
    excluded: int
    k: int
    n: int
    rate: Fraction | None
    chance: Fraction | None
    prior: Fraction | None
    gain: Fraction | None
    sd: float | None


def of_finding(trials: Sequence[Asked]) -> Expected:
    """Return the exact numbers of one finding's trials, in one view or in all."""
    return _pooled(trials, lambda kept: sqrt(_variance(kept)))


def pooled(trials: Sequence[Asked]) -> Expected:
    """Return the exact numbers of all findings' trials together."""

    def spread(kept: Sequence[Asked]) -> float:
        parts = _by(kept, lambda t: t.pair.finding).values()
        sums = (len(part) ** 2 * _variance(part) for part in parts)
        return sqrt(sum(sums)) / len(kept)

    return _pooled(trials, spread)


def mean_of_findings(trials: Sequence[Asked]) -> Expected:
    """Return the unweighted means over the findings."""
    whole = pooled(trials)
    groups = _by(trials, lambda t: t.pair.finding).values()
    parts = [e for e in map(of_finding, groups) if e.n]
    return Expected(
        *(whole.planned, whole.scored, whole.refused, whole.unparsed),
        *(whole.excluded, whole.k, whole.n),
        _mean([p.rate for p in parts]),
        _mean([p.chance for p in parts]),
        _mean([p.prior for p in parts]),
        _mean([p.gain for p in parts]),
        sqrt(sum((p.sd or 0.0) ** 2 for p in parts)) / len(parts)
        if any(p.sd is not None for p in parts)
        else None,
    )


def _pooled(
    trials: Sequence[Asked], spread: Callable[[Sequence[Asked]], float]
) -> Expected:
    kept = [t for t in trials if not t.pair.excluded]
    counts = (
        sum(t.cell is not None for t in kept),
        sum(t.said == REFUSAL for t in kept),
        sum(t.said == AMBIGUOUS for t in kept),
        len(trials) - len(kept),
    )
    k = sum(t.hit for t in kept)
    if not kept:
        return Expected(len(trials), *counts, 0, 0, *5 * (None,))
    cells = kept[0].n ** 2
    chance = Fraction(sum(len(t.pair.hits(t.n)) for t in kept), len(kept) * cells)
    rate = Fraction(k, len(kept))
    return Expected(
        *(len(trials), *counts, k, len(kept), rate, chance),
        *over_prior(kept),
        spread(kept) if _tells_spread(kept) else None,
    )


def _tells_spread(kept: Sequence[Asked]) -> bool:
    """Whether any finding has two items; resamples of one are all alike."""
    return any(len(of) > 1 for of in _by(kept, lambda t: t.pair.finding).values())


def over_prior(kept: Sequence[Asked]) -> tuple[Fraction | None, Fraction | None]:
    """Hand every answer to the images of others with the finding and view.

    Return what that hits on average, and by how much the hits exceed it, of the trials
    that another patient's answer can be handed to; those without an answer get none.
    """
    total, hits, n = Fraction(0), 0, 0
    for group in _by(kept, lambda t: (t.pair.finding, t.pair.view)).values():
        for one in group:
            others = [t for t in group if t.pair.patient != one.pair.patient]
            told = [t.cell for t in others if t.cell is not None]
            if not others or (one.cell is not None and not told):
                continue
            hits, n = hits + one.hit, n + 1
            if one.cell is not None:
                meets = sum(cell in one.pair.hits(one.n) for cell in told)
                total += Fraction(meets, len(told))
    return (total / n, (hits - total) / n) if n else (None, None)


def _variance(trials: Sequence[Asked]) -> float:
    """Return the variance of a rate over resamples of its trials, p(1 - p) / n."""
    p = sum(t.hit for t in trials) / len(trials)
    return p * (1 - p) / len(trials)


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    there = [value for value in values if value is not None]
    return sum(there, Fraction(0)) / len(there) if there else None


def _by(
    trials: Iterable[Asked], key: Callable[[Asked], object]
) -> dict[object, list[Asked]]:
    groups: dict[object, list[Asked]] = defaultdict(list)
    for trial in trials:
        groups[key(trial)].append(trial)
    return groups
