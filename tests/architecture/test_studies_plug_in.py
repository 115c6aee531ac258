"""A study joins by its folder and its lines in the catalogue, and nowhere else."""

from pathlib import Path
from typing import Final

import pytest

from viewer.studies.catalog import OURS

VIEWER: Final = Path(__file__).parents[2] / "viewer"
MAY_NAME: Final = {"asking", "exporting", "importing", "readings", "synthetic"}
"""Packages of services that are about one study, or make something for it."""
PACKAGES: Final = [
    one for one in (VIEWER / "services").iterdir() if one.name not in MAY_NAME
]


@pytest.mark.parametrize("study", sorted(OURS))
def test_that_the_window_and_the_run_path_name_no_study(study: str) -> None:
    modules = [
        *VIEWER.joinpath("ui").rglob("*.py"),
        *(m for one in PACKAGES for m in one.rglob("*.py")),
        *VIEWER.joinpath("store").rglob("*.py"),
    ]
    naming = [m.name for m in modules if study in m.read_text(encoding="utf-8")]
    assert naming == []
