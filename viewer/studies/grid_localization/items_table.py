"""items.csv: one row for every trial."""

from collections.abc import Sequence

from viewer.domain.answer import Status
from viewer.domain.report import Table
from viewer.domain.result import Score, TrialResult

HEADER = (
    "item",
    "patient",
    "image",
    "view",
    "finding",
    "condition",
    "repeat",
    "model",
    "status",
    "answer",
    "coverage",
    "outcome",
    "reference_cells",
    "request_sha256",
)


def items_table(results: Sequence[TrialResult]) -> Table:
    """Return one row for every trial, by item, condition, repeat and model."""
    ordered = sorted(results, key=lambda r: (r.item, r.condition, r.repeat, r.model))
    return Table("items", HEADER, tuple(_row(result) for result in ordered))


def printed_status(score: Score) -> str:
    """Return an X-01 status, an exclusion with its reason."""
    if score.status is Status.EXCLUDED:
        return f"excluded({score.reason})"
    return str(score.status)


def _row(result: TrialResult) -> tuple[object, ...]:
    score = result.score
    return (
        result.item,
        result.patient,
        result.image,
        result.view,
        result.finding,
        result.condition,
        result.repeat,
        result.model,
        printed_status(score),
        score.answer,
        score.coverage,
        None if score.outcome is None else str(score.outcome),
        ";".join(result.reference_cells),
        result.request_sha256,
    )
