"""The query that reads trials with their verdicts for every view."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from viewer.store.database import Store

Columns = Mapping[str, Sequence[Any]]

_VERDICT: Final = {
    "id": "t.id",
    "run": "t.run_id",
    "item": "t.item",
    "patient": "t.patient",
    "image": "t.image",
    "finding": "t.finding",
    "view": "t.view",
    "condition": "t.condition",
    "condition_params": "t.condition_params",
    "repeat": "t.repeat",
    "model": "t.model",
    "status": "t.status",
    "reason": "coalesce(s.reason, '')",
    "answer": "coalesce(s.answer, '')",
    "coverage": "s.coverage",
    "outcome": "coalesce(s.outcome, '')",
    "numbers": "coalesce(s.numbers, '[]')",
    "scorer_version": "coalesce(s.scorer_version, '')",
    "parser_version": "coalesce(p.parser_version, '')",
    "parsed": "coalesce(p.answer, '')",
    "request_sha256": "coalesce(t.request_sha256, '')",
    "reply_id": "p.reply_id",
}
_SPENT: Final = ("tokens_in", "tokens_out", "latency_ms", "cost_microusd")
_OF_STEPS: Final = (
    "(SELECT sum(x.{0}) FROM parse_step y JOIN reply x ON x.id = y.reply_id"
    " WHERE y.parse_id = p.id)"
)
_LEDGER: Final = {
    "prompt_sha256": "coalesce(q.prompt_sha256, '')",
    **{
        # A trial of one step has no row in parse_step: its only reply is the verdict's.
        name: f"iif(e.parse_id IS NULL, r.{name}, {_OF_STEPS.format(name)})"
        for name in _SPENT
    },
}
_FILE: Final = {"path": "i.path", "frame": "i.frame"}
_ALL: Final = _VERDICT | _LEDGER | _FILE
_OF_VERDICTS: Final = (
    " LEFT JOIN score s ON s.id = t.score_id LEFT JOIN parse p ON p.id = s.parse_id"
)
_OF_LEDGER: Final = (
    " LEFT JOIN reply r ON r.id = p.reply_id"
    " LEFT JOIN parse_step e ON e.parse_id = p.id AND e.position = 0"
    " LEFT JOIN request q ON q.sha256 = t.request_sha256"
)
_OF_FILE: Final = (
    " JOIN run ON run.id = t.run_id"
    " LEFT JOIN image i ON i.dataset_id = run.dataset_id AND i.key = t.image"
)
_OF_RUN: Final = (
    " WHERE t.id BETWEEN (SELECT min(id) FROM trial WHERE run_id = ?1)"
    " AND (SELECT max(id) FROM trial WHERE run_id = ?1)"
    # The plus keeps SQLite off the index of runs, whose rows it would have to sort.
    " AND +t.run_id = ?1 AND (?2 = '' OR t.model = ?2) "
)
"""A range of ids, which is read in the order planned without being sorted."""


def trial_columns(
    store: Store, run: int, names: Sequence[str], model: str = ""
) -> Columns:
    """Return named columns of every trial of a run, or of one model of it.

    For a trial without a verdict text is "", ``numbers`` "[]" and the rest None.
    ``tokens_in``, ``tokens_out``, ``latency_ms`` and ``cost_microusd`` are totals over
    all replies behind the verdict, None if no reply has them. ``path`` and ``frame``
    are those of its image, None without one.
    """
    source = f" FROM trial t{_joined(names)}{_OF_RUN}ORDER BY t.id"
    return store.columns(f"SELECT {_selected(names)}{source}", (run, model))


def columns_of_trials(
    store: Store, ids: Sequence[int], names: Sequence[str]
) -> Columns:
    """Return named columns of trials by their ids, in that order."""
    source = f" FROM json_each(?) j JOIN trial t ON t.id = j.value{_joined(names)}"
    wanted = json.dumps(list(map(int, ids)))
    return store.columns(f"SELECT {_selected(names)}{source} ORDER BY j.key", (wanted,))


def _selected(names: Sequence[str]) -> str:
    return ", ".join(f"{_ALL[name]} AS {name}" for name in names)


def _joined(names: Sequence[str]) -> str:
    ledger = _OF_LEDGER if _asks(_LEDGER, names) else ""
    return f"{_OF_VERDICTS}{ledger}{_OF_FILE if _asks(_FILE, names) else ''}"


def _asks(which: Mapping[str, str], names: Sequence[str]) -> bool:
    return not which.keys().isdisjoint(names)
