"""Computes a table from a run's items.csv with pandas and scipy; body of a script."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import fsum, nan
from typing import Any

import pandas as pd
from scipy.stats import beta


def trials_in(path: str) -> pd.DataFrame:
    """Return the trials as text, and whether each counts, by its status."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows["counted"] = ~rows["status"].isin(["excluded", "pending"])
    rows["answered"] = rows["status"].isin(["scored_correct", "scored_wrong"])
    rows["correct"] = rows["status"] == "scored_correct"
    return rows


def select(rows: pd.DataFrame, where: Mapping[Any, Sequence[object]]) -> pd.DataFrame:
    """Return the rows whose columns have one of the given values."""
    for column, values in where.items():
        rows = rows[rows[column].isin(values)]
    return rows


def interval(rows: pd.DataFrame, column: str) -> list[object]:
    """Return the 95 % interval of a rate by patient (Clopper-Pearson), and its name.

    It is that of as many independent trials as vary like the patients do, at most one
    an item.
    """
    units = rows.groupby("patient")[column].agg(["sum", "size"])
    patients, n, k = len(units), len(rows), int(rows[column].sum())
    if patients < 2:
        why = "not estimable from one patient" if patients else "no trial"
        return [nan, nan, f"{why}, 95 %"]
    name = "Clopper-Pearson" if n == patients else "Clopper-Pearson by patient"
    size: float = n
    if n > patients:
        worth = effective_trials(units["sum"], units["size"])
        size = min(worth, rows["item"].nunique())
    x = k / n * size if n > patients else k
    low = beta.ppf(0.025, x, size - x + 1) if k else 0.0
    high = beta.ppf(0.975, x + 1, size - x) if k < n else 1.0
    return [float(low), float(high), f"{name}, 95 %"]


def effective_trials(hits: "pd.Series[float]", trials: "pd.Series[float]") -> float:
    """Return the trials over their design effect, at least one a patient.

    Patients of unequal size count as fewer of equal size. A quarter of a patient is
    added at each end, more if sizes are unequal.
    """
    n, rate = float(trials.sum()), float(hits.sum() / trials.sum())
    patients = n**2 / float((trials**2).sum())
    size, ends = n / patients, rate**2 + (1 - rate) ** 2
    added = 0.25 * (len(trials) / patients) ** 2 * size * ends
    between = float(((hits - rate * trials) ** 2).sum()) * patients / (patients - 1)
    effect = (between + added * size) / (n * rate * (1 - rate) + added)
    return max(n / max(effect, 1), patients)


def numbers(kind: str, rows: pd.DataFrame, column: str = "", *_: str) -> list[object]:
    """Return a size, a share, a rate with its interval, or a mean of known values.

    Chance has a mean where every row tells of it.
    """
    if kind == "size":
        return [len(rows)]
    if kind in ("mean", "chance level"):
        values = [float(value) for value in rows[column] if value]
        if not values or (kind == "chance level" and len(values) < len(rows)):
            return [nan]
        return [(sum if kind == "mean" else fsum)(values) / len(values)]
    k, n = int(rows[column].sum()), len(rows)
    share = k / n if n else nan
    return [k, n, share, *interval(rows, column)] if kind == "rate" else [share]


def rows_of(trials: pd.DataFrame, table: Mapping[str, Any]) -> Iterator[list[object]]:
    """Yield the rows: for each outer combination, those of one set after another."""
    for values in product(*(trials[name].unique() for name in table["outer"])):
        about = dict(zip(table["outer"], values, strict=True))
        own = select(trials, {name: [value] for name, value in about.items()})
        for names in table["sets"] if len(own) or table["every"] else ():
            alone = set(names) & set(table["only_several"])
            if any(own[name].nunique() < 2 for name in alone):
                continue
            inner = own[names].drop_duplicates().to_dict("records") if names else [{}]
            for more in inner:
                rows = select(own, {name: [value] for name, value in more.items()})
                record = {**about, **more}
                yield [record.get(name, total) for name, _, total in table["keys"]] + [
                    number
                    for kind, heads, of, where in table["cells"]
                    for number in numbers(kind, select(rows, where), *of)[: len(heads)]
                ]


def show(table: Mapping[str, Any], path: str) -> None:
    """Print the table as CSV."""
    header = [name for _, name, _ in table["keys"]]
    header += [name for _, names, _, _ in table["cells"] for name in names]
    rows = list(rows_of(trials_in(path), table))
    pd.DataFrame(rows, columns=header, dtype=object).to_csv(sys.stdout, index=False)
