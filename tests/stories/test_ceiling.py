"""A run that may cost no more than so much, on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.metered_server import Meter, MeteredServer
from viewer.cli import run_command_line

Overread = Callable[..., Any]

STUDY = """
study = "grid_localization"
dataset = "phantom"
models = ["priced"]
ceiling = 0.02
[params]
grids = [8]
[[model]]
name = "priced"
adapter = "openai_api"
base_url = "BASE_URL"
model = "tiny"
max_tokens = 16
price_in = 1
price_out = 1
"""


def test_that_a_run_pauses_at_its_ceiling_and_goes_on_with_a_higher_one(
    overread: Overread, phantom: Path, tmp_path: Path
) -> None:
    study = tmp_path / "study.toml"
    store = ["--store", tmp_path / "s.sqlite"]
    overread("import", "chexlocalize", phantom, "--name", "phantom", *store)
    meter = Meter(price_in=1_000_000, price_out=1_000_000)
    with MeteredServer(meter) as server:
        study.write_text(STUDY.replace("BASE_URL", server.base_url))
        first = overread("run", study, *store, code=1)
        assert first["status"] == "paused"
        assert 0 < meter.bill <= 20_000 * 1_000_000
        asked = len(meter.times)
        assert overread("run", study, *store, code=1)["counts"] == first["counts"]
        assert len(meter.times) == asked
        done = overread("run", study, "--ceiling", "5.00", *store)
        assert done["status"] == "finished"
        assert done["run"] == first["run"]
        assert len(meter.times) == sum(done["counts"].values())


@pytest.mark.parametrize("ceiling", ["0", "-1", "nan", "inf", "0.0000001"])
def test_that_a_ceiling_that_is_none_is_refused(
    ceiling: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace("BASE_URL", "http://127.0.0.1:9/v1"))
    words = ["run", str(study), "--ceiling", ceiling, "--store", str(tmp_path / "s")]
    assert run_command_line(words) == 2
    assert "Give the most that the run may cost in dollars" in capsys.readouterr().err


@pytest.mark.parametrize("ceiling", ['"5"', "true", "[5]"])
def test_that_a_ceiling_of_a_study_file_is_a_number_of_dollars(
    ceiling: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    text = STUDY.replace("BASE_URL", "http://127.0.0.1:9/v1")
    study.write_text(text.replace("ceiling = 0.02", f"ceiling = {ceiling}"))
    assert run_command_line(["run", str(study), "--store", str(tmp_path / "s")]) == 2
    assert "'ceiling' in study.toml must be a number" in capsys.readouterr().err
