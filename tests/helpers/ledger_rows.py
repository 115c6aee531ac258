"""What the ledger has of each trial, read reply by reply."""

import json
from typing import Any

from viewer.store import steps
from viewer.store.database import Store
from viewer.store.trials import reply_with_id

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
