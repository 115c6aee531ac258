"""Tables in a folder, and which of their cells somebody checked; rows of the ledger."""

import csv
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from viewer.store import steps
from viewer.store.database import Store
from viewer.store.trials import reply_with_id

EXACT = 1e-12


class Sheet:
    """One CSV file; every cell is to be compared with what it should be."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8", newline="") as stream:
            self.header, *rows = list(csv.reader(stream))
        self.rows = [dict(zip(self.header, row, strict=True)) for row in rows]
        self._seen: set[tuple[int, str]] = set()

    def keyed(self, *names: str) -> dict[tuple[str, ...], int]:
        """Return the number of each row by some of its cells, which must tell it."""
        found = {
            tuple(row[name] for name in names): i for i, row in enumerate(self.rows)
        }
        assert len(found) == len(self.rows)
        return found

    def check(self, row: int, wanted: Mapping[str, object]) -> None:
        """Compare cells of a row with what they should be, and note them as checked."""
        for name, value in wanted.items():
            got = self.rows[row][name]
            assert is_same(got, value), (row, name, got, value, self.rows[row])
            self._seen.add((row, name))

    def pair(self, rows: Mapping[tuple[str, ...], Mapping[str, object]]) -> None:
        """Compare rows by their first cells; there are no others."""
        width = len(next(iter(rows)))
        names = tuple(self.header[:width])
        found = self.keyed(*names)
        assert set(found) == set(rows), set(found) ^ set(rows)
        for key, wanted in rows.items():
            self.check(found[key], {**dict(zip(names, key, strict=True)), **wanted})

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.rows) * len(self.header)

    @property
    def unchecked(self) -> Iterator[tuple[int, str]]:
        """Yield the row and name of every cell that nobody compared."""
        for i in range(len(self.rows)):
            for name in self.header:
                if (i, name) not in self._seen:
                    yield i, name


def sheets_below(folder: Path) -> dict[str, Sheet]:
    """Return every CSV file below a folder, by its path in it."""
    files = sorted(folder.rglob("*.csv"))
    return {path.relative_to(folder).as_posix(): Sheet(path) for path in files}


def is_same(cell: str, wanted: object) -> bool:
    """Tell whether a cell is as wanted; numbers to 1e-12, None is an empty cell."""
    if wanted is None:
        return cell == ""
    if isinstance(wanted, float | Fraction):
        return cell != "" and abs(float(cell) - wanted) <= EXACT
    return cell == str(wanted)


Key = tuple[str, str, int, str]
Row = dict[str, Any]
_SUMS = {"tokens_in": 1, "tokens_out": 1, "latency_ms": 1000, "cost_microusd": 10**6}
_COLUMNS = ("tokens_in", "tokens_out", "seconds", "cost_usd")


def ledger_rows(store: Store, run: int) -> dict[Key, Row]:
    """Return reply, tokens, time, cost and hashes by item, condition, repeat, model."""
    trials = store.rows("SELECT * FROM trial WHERE run_id = ?", (run,))
    return {
        (one["item"], one["condition"], one["repeat"], one["model"]): _row(store, one)
        for one in trials
    }


def _row(store: Store, trial: Any) -> Row:  # noqa: ANN401 - a row of the store
    last = steps.asked_of_trial(store, trial["id"]).reply
    read = [one.id for one in steps.replies_read(store, trial["id"])]
    kept = [_kept(store, one) for one in read or ([] if last is None else [last])]
    sums = (_sum(kept, name, unit) for name, unit in _SUMS.items())
    return {
        "reply": "" if last is None else _text(reply_with_id(store, last).raw.body),
        **dict(zip(_COLUMNS, sums, strict=True)),
        "prompt_sha256": _prompt(store, trial["request_sha256"]),
        "request_sha256": trial["request_sha256"] or "",
    }


def _kept(store: Store, reply: int) -> Any:  # noqa: ANN401 - a row of the store
    (row,) = store.rows("SELECT * FROM reply WHERE id = ?", (reply,))
    return row


def _sum(kept: list[Any], name: str, unit: int) -> float | None:
    known = [row[name] for row in kept if row[name] is not None]
    total = sum(known)
    return None if not known else total if unit == 1 else total / unit


def _text(body: bytes) -> str:
    told = json.loads(body)
    if "choices" in told:
        told = {"text": told["choices"][0]["message"]["content"]}
    return str(told["text"])


def _prompt(store: Store, request: str | None) -> str:
    found = store.rows("SELECT prompt_sha256 FROM request WHERE sha256 = ?", (request,))
    return str(found[0][0]) if found else ""
