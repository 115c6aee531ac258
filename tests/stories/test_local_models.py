"""The main job with models of transformers in this process: seven families."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import tiny_vlm
from viewer.models.catalog import ADAPTERS, missing_dependency

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")
STUDY = """
study = "grid_localization"
dataset = "phantom"
models = {names}
[params]
grids = [8]
"""
MODEL = """
[[model]]
name = "{family}"
adapter = "transformers_local"
model = "{folder}"
device = "cpu"
max_new_tokens = 8
"""


def ask(overread: Callable[..., Any], phantom: Path, folder: Path, n: int) -> Any:  # noqa: ANN401 - any JSON
    """Ask every family about ``n`` items; return the run's summary."""
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    tables = [
        MODEL.format(family=f, folder=tiny_vlm.build(f, folder / f).as_posix())
        for f in tiny_vlm.FAMILIES
    ]
    study = folder / "study.toml"
    names = str(list(tiny_vlm.FAMILIES)).replace("'", '"')
    study.write_text(STUDY.format(names=names) + "".join(tables))
    return overread("run", study, "--limit", n)


def check_statuses(result: Any, n: int) -> None:  # noqa: ANN401 - any JSON
    counts = result["counts"]
    assert sum(counts.values()) == n * len(tiny_vlm.FAMILIES)
    assert "pending" not in counts
    assert "provider_error" not in counts


def test_that_seven_families_answer_each_item_with_one_status(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path
) -> None:
    result = ask(overread, phantom, tmp_path, 2)
    check_statuses(result, 2)
    assert {row["model"] for row in result["results"]} == set(tiny_vlm.FAMILIES)


@pytest.mark.proof
def test_that_seven_families_answer_twenty_phantoms_each(
    overread: Callable[..., Any], tmp_path: Path
) -> None:
    phantom = tmp_path / "D"
    overread("phantom", "--out", phantom, "--n", 10, "--seed", 1, "--size", "400x500")
    result = ask(overread, phantom, tmp_path, 20)
    print(result["counts"], os.cpu_count(), "cores")  # noqa: T201 - a figure to read
    check_statuses(result, 20)
    assert {row["model"] for row in result["results"]} == set(tiny_vlm.FAMILIES)
