"""The one query of a run's trials: each with its verdict, in the order planned."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from viewer.store.database import Store

Columns = Mapping[str, Sequence[Any]]

_VERDICT: Final = {
    "id": "t.id",
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
_LEDGER: Final = {
    "prompt_sha256": "coalesce(q.prompt_sha256, '')",
    "tokens_in": "sum(r.tokens_in)",
    "tokens_out": "sum(r.tokens_out)",
    "latency_ms": "sum(r.latency_ms)",
    "cost_microusd": "sum(r.cost_microusd)",
}
_ALL: Final = _VERDICT | _LEDGER
_OF_VERDICTS: Final = (
    " FROM trial t LEFT JOIN score s ON s.id = t.score_id"
    " LEFT JOIN parse p ON p.id = s.parse_id"
)
_OF_LEDGER: Final = (
    " LEFT JOIN parse_step e ON e.parse_id = p.id"
    " LEFT JOIN reply r ON r.id = coalesce(e.reply_id, p.reply_id)"
    " LEFT JOIN request q ON q.sha256 = t.request_sha256"
)
_OF_RUN: Final = (
    " WHERE t.id BETWEEN (SELECT min(id) FROM trial WHERE run_id = ?1)"
    " AND (SELECT max(id) FROM trial WHERE run_id = ?1)"
    " AND +t.run_id = ?1 AND (?2 = '' OR t.model = ?2) "
)
"""A range of ids, which is read in the order planned without being sorted."""


def trial_columns(
    store: Store, run: int, names: Sequence[str], model: str = ""
) -> Columns:
    """Return named columns of every trial of a run, or of one model of it.

    Of a trial without a verdict text is "", ``numbers`` "[]" and the rest None.
    ``tokens_in``, ``tokens_out``, ``latency_ms`` and ``cost_microusd`` are those of all
    replies that the verdict was read from together, None where no reply says them.
    """
    told = ", ".join(f"{_ALL[name]} AS {name}" for name in names)
    asks_ledger = not _LEDGER.keys().isdisjoint(names)
    found = _OF_VERDICTS + (_OF_LEDGER if asks_ledger else "") + _OF_RUN
    order = "GROUP BY t.id ORDER BY t.id" if asks_ledger else "ORDER BY t.id"
    return store.columns(f"SELECT {told}{found}{order}", (run, model))
