"""Made-up results of runs, for the report's tests."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.unit.studies.grid_localization.cases import spec
from viewer.domain.answer import Status
from viewer.domain.grid import Grid
from viewer.domain.result import Outcome, Score
from viewer.domain.run import RunSpec
from viewer.studies.grid_localization.placed import Placed, PlacedTrial

FINDINGS = ("Cardiomegaly", "Edema", "Pneumothorax")


def result(
    image: str,
    finding: str,
    answer: int | None,
    hits: tuple[int, ...],
    *,
    model: str = "m",
    repeat: int = 0,
    rows: int = 8,
    view: str = "frontal",
    status: Status = Status.UNPARSED,
    reason: str = "",
) -> PlacedTrial:
    """Return a scored trial, or one that ended as ``status`` if it has no answer."""
    grid = Grid(rows, rows)
    cells = grid.cells()
    score = Score(status, reason)
    if answer is not None:
        hit = answer in hits
        score = Score(
            Status.SCORED_CORRECT if hit else Status.SCORED_WRONG,
            "",
            grid.label(cells[answer]),
            0.75 if hit else 0.0,
            Outcome.FULL if hit else Outcome.MISS,
        )
    return PlacedTrial(
        item=f"{image}|{finding}",
        patient=image.split("_", maxsplit=1)[0],
        image=image,
        view=view,
        finding=finding,
        condition=f"grid={rows}",
        repeat=repeat,
        model=model,
        score=score,
        request_sha256="0" * 64,
        placed=Placed(
            n_cells=len(cells),
            cell_index=answer,
            reference_index=hits,
            alternate_index=hits,
        ),
    )


def placed(one: PlacedTrial, **changes: Any) -> PlacedTrial:  # noqa: ANN401 - any field
    """Return a trial with some of what it was held against changed."""
    return replace(one, placed=replace(one.placed, **changes))


def random_run(
    seed: int = 0,
    n_patients: int = 12,
    models: tuple[str, ...] = ("a", "constant"),
    repeats: int = 2,
    grids: tuple[int, ...] = (8, 16),
) -> tuple[list[PlacedTrial], RunSpec]:
    """Return a run with a random and a constant model, some replies not cells."""
    rng = np.random.default_rng(seed)
    results = [
        result(
            f"p{patient:02d}_{view}",
            finding,
            answer,
            hits,
            model=model,
            repeat=repeat,
            rows=rows,
            view=view,
            status=Status.REFUSED if patient % 2 else Status.AMBIGUOUS,
        )
        for patient in range(n_patients)
        for view in ("frontal", "lateral")
        for finding in rng.choice(FINDINGS, 2, replace=False).tolist()
        for rows in grids
        for hits in [_hits(rng, rows * rows)]
        for model in models
        for repeat in range(repeats)
        for answer in [_answer(rng, model, rows * rows)]
    ]
    return results, spec(
        models, repeats, grids=list(grids), findings=list(FINDINGS), replicates=200
    )


def ended(one: PlacedTrial, status: Status, reason: str = "") -> PlacedTrial:
    """Return a trial that ended without an answer instead."""
    return placed(replace(one, score=Score(status, reason)), cell_index=None)


def _hits(rng: np.random.Generator, n_cells: int) -> tuple[int, ...]:
    size = int(rng.integers(1, n_cells // 4))
    return tuple(sorted(rng.choice(n_cells, size, replace=False).tolist()))


def _answer(rng: np.random.Generator, model: str, n_cells: int) -> int | None:
    if model == "constant":
        return n_cells // 2
    return None if rng.random() < 0.2 else int(rng.integers(n_cells))
