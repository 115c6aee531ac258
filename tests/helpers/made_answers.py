"""Stored answers that nobody gave."""

from pathlib import Path

from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.result import Outcome, Score
from viewer.services.inspecting.answers import StoredAnswer


def a_stored_answer(
    label: str = "C2",
    outcome: Outcome | None = Outcome.MISS,
    status: Status = Status.SCORED_WRONG,
    model: str = "asymmetry",
    grid: Grid | None = None,
    field: BoxPx | None = None,
) -> StoredAnswer:
    """Return an answer about a nodule: a cell, or another label."""
    return StoredAnswer(
        trial=7,
        run=3,
        ref=ImageRef(Path("somewhere.dcm")),
        finding="Nodule",
        view="frontal",
        model=model,
        adapter="scripted",
        grid=grid or Grid(8, 8),
        field=field or BoxPx(0, 50, 500, 550),
        score=Score(status, "", label, 0.0, outcome),
        reference_cells=("D4",),
        reply_text="C2",
        note="",
        latency_ms=5,
        cost_microusd=None,
        model_returned="asymmetry-1.2",
        prompt_sha256="ab" * 32,
        request_sha256="cd" * 32,
        parameters={"temperature": "0"},
        asked_at="2026-01-01T00:00:00Z",
    )
