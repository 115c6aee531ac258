"""Works a table out of a run's items.csv, with pandas alone: the body of its script."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import nan, sqrt
from statistics import NormalDist
from typing import Any

import pandas as pd


def trials_in(path: str) -> pd.DataFrame:
    """Return the trials as text; what is counted follows from how each ended."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows["counted"] = ~rows["status"].isin(["excluded", "pending"])
    rows["answered"] = rows["status"].isin(["scored_correct", "scored_wrong"])
    rows["right"] = rows["status"] == "scored_correct"
    return rows


def those(rows: pd.DataFrame, where: Mapping[Any, Sequence[object]]) -> pd.DataFrame:
    """Return the rows whose columns have one of the values wanted."""
    for column, values in where.items():
        rows = rows[rows[column].isin(values)]
    return rows


def rate(k: int, n: int) -> list[float]:
    """Return k, n, k / n and Wilson's 95 % interval."""
    if not n:
        return [k, n, nan, nan, nan]
    z = NormalDist().inv_cdf(0.975)
    p, z2 = k / n, z * z
    middle = p + z2 / (2 * n)
    half = z * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low = 0.0 if k == 0 else (middle - half) / (1 + z2 / n)
    high = 1.0 if k == n else (middle + half) / (1 + z2 / n)
    return [k, n, p, low, high]


def numbers(kind: str, rows: pd.DataFrame, column: str = "") -> list[float]:
    """Return a size, a share, a rate with its interval, or a mean of what is told."""
    if kind == "size":
        return [len(rows)]
    if kind == "mean":
        values = [float(value) for value in rows[column] if value]
        return [sum(values) / len(values) if values else nan]
    found = rate(int(rows[column].sum()), len(rows))
    return found if kind == "rate" else found[2:3]


def rows_of(trials: pd.DataFrame, table: Mapping[str, Any]) -> Iterator[list[object]]:
    """Yield the rows: of each outer combination, those of one set after another."""
    for values in product(*(trials[name].unique() for name in table["outer"])):
        about = dict(zip(table["outer"], values, strict=True))
        own = those(trials, {name: [value] for name, value in about.items()})
        for names in table["sets"] if len(own) or table["every"] else ():
            alone = set(names) & set(table["only_several"])
            if any(own[name].nunique() < 2 for name in alone):
                continue
            inner = own[names].drop_duplicates().to_dict("records") if names else [{}]
            for more in inner:
                rows = those(own, {name: [value] for name, value in more.items()})
                told = {**about, **more}
                yield [told.get(name, total) for name, _, total in table["keys"]] + [
                    number
                    for kind, heads, of, where in table["cells"]
                    for number in numbers(kind, those(rows, where), *of)[: len(heads)]
                ]


def show(table: Mapping[str, Any], path: str) -> None:
    """Print the table as CSV."""
    header = [name for _, name, _ in table["keys"]]
    header += [name for _, names, _, _ in table["cells"] for name in names]
    rows = list(rows_of(trials_in(path), table))
    pd.DataFrame(rows, columns=header, dtype=object).to_csv(sys.stdout, index=False)
