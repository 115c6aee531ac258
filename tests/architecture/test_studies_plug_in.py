"""A study joins by its folder and its lines in the catalogue, and nowhere else."""

from pathlib import Path
from typing import Final

import pytest

from viewer.studies.catalog import OURS

VIEWER: Final = Path(__file__).parents[2] / "viewer"
RUN_PATH: Final = (
    *("bench", "sources", "run_trial", "plan_run", "run_batch"),
    *("lanes", "flights", "ledger", "spending", "rescore", "report_run", "manifest"),
    *(
        "gate",
        "preview",
        "measure",
        "answers",
        "told_trial",
        "batch_form",
        "study_file",
    ),
    *("batch_estimate", "learned", "figures", "worker"),
)


@pytest.mark.parametrize("study", sorted(OURS))
def test_that_the_window_and_the_run_path_name_no_study(study: str) -> None:
    modules = [
        *VIEWER.joinpath("ui").rglob("*.py"),
        *(VIEWER / "services" / f"{name}.py" for name in RUN_PATH),
        *VIEWER.joinpath("services", "results").glob("*.py"),
        *VIEWER.joinpath("services", "comparing").glob("*.py"),
        *VIEWER.joinpath("store").rglob("*.py"),
    ]
    naming = [m.name for m in modules if study in m.read_text(encoding="utf-8")]
    assert naming == []
