import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from viewer import cli
from viewer.domain.errors import MissingDependencyError, WrongUseError
from viewer.domain.geometry import SizePx
from viewer.services.benchmarking import bench
from viewer.services.benchmarking import engine as bench_engine
from viewer.services.benchmarking import samples as bench_samples
from viewer.services.benchmarking import start as bench_start
from viewer.services.benchmarking.samples import Samples
from viewer.services.benchmarking.start import FirstImage, time_first_image
from viewer.settings import FIRST_IMAGE_VARIABLE
from viewer.terminal import WindowParts

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWS_AT_ONCE = f"""
import json, os
told = {{"painted_ns": 4_500_000_000, "cpu_seconds": 0.7, "resident_bytes": 5}}
open(os.environ["{FIRST_IMAGE_VARIABLE}"], "w").write(json.dumps(told))
"""


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_samples, "_PATIENTS", 1)
    monkeypatch.setattr(bench_samples, "_SIZE", SizePx(250, 200))
    monkeypatch.setattr(bench_samples, "_SLICES", 3)
    monkeypatch.setattr(bench_samples, "_SLICE_SIDE", 16)
    for module in (bench_engine, bench_start):
        monkeypatch.setattr(module, "_ROUNDS", 1)


def rows_of(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    return {row["what"]: row for row in json.loads(capsys.readouterr().out)}


@pytest.mark.usefixtures("_small")
def test_that_the_bench_has_a_row_for_each_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(samples: Samples) -> bench.WindowSpeeds:
        assert samples.radiograph.exists()
        assert len(list(samples.series.iterdir())) == 3
        return bench.WindowSpeeds({"pan 3000": [1.0, 9.0, 2.0]}, "offscreen")

    starts: dict[str, Sequence[float]] = {"start": [0.9, 0.8]}
    monkeypatch.setattr(bench, "start_speeds", lambda _: starts)
    window = WindowParts(measure=measured)
    assert cli.run_command_line(["doctor", "--bench", "--json"], window) == 0
    rows = rows_of(capsys)
    assert list(rows) == [budget.what for budget in bench.BUDGETS]
    pan = rows["pan, 3000 × 3000 16-bit"]
    assert (pan["measured"], pan["lowest"], pan["highest"]) == (2.0, 1.0, 9.0)
    assert (pan["within"], pan["note"]) == (True, "without a display")
    slow = rows["start to first radiograph painted (2000 × 2500)"]
    assert (slow["within"], slow["budget"]) == (False, 0.7)
    assert rows["batch overhead per case, 1 in flight"]["measured"]
    assert rows["index a folder, DICOM headers"]["measured"]
    assert rows["re-scoring, replies"]["measured"]
    later = rows["dashboard over 100,000 predictions, any grouping"]
    assert (later["measured"], later["note"]) == (None, "not built")


@pytest.mark.usefixtures("_small")
def test_that_without_qt_the_lines_of_the_window_say_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for elsewhere in ("start_speeds", "engine_speeds", "install_speeds"):
        monkeypatch.setattr(bench, elsewhere, lambda *_: {})

    def no_qt(_: Samples) -> bench.WindowSpeeds:
        raise MissingDependencyError("The window needs Qt.", "Install it.")

    window = WindowParts(measure=no_qt)
    assert cli.run_command_line(["doctor", "--bench"], window) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["what", "measured", "range", "budget", "within", "note"]
    zoom = next(line for line in lines if line.startswith("zoom, 3000"))
    assert zoom.endswith("The window needs Qt. Install it.")


@pytest.mark.parametrize(
    ("value", "at_least", "within"),
    [(4.0, False, "yes"), (6.0, False, "NO"), (4.0, True, "NO"), (6.0, True, "yes")],
)
def test_that_a_rate_is_within_from_its_budget_upwards(
    value: float, within: str, *, at_least: bool
) -> None:
    budget = bench.Budget("k", "thing", "ms", 5.0, at_least=at_least)
    row = bench._row(budget, bench._Findings({"k": [value]}))
    (shown,) = bench.bench_table([row])
    assert shown["within"] == within
    assert shown["budget"] == ("≥ 5.00 ms" if at_least else "≤ 5.00 ms")


def test_that_a_start_is_timed_up_to_what_the_program_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "viewer.services.benchmarking.start.time.monotonic_ns", lambda: 0
    )
    first = time_first_image([sys.executable, "-c", SHOWS_AT_ONCE], tmp_path)
    assert first == FirstImage(4.5, 0.7, 5)


def test_that_a_program_without_an_image_is_told(tmp_path: Path) -> None:
    time_first_image([sys.executable, "-c", SHOWS_AT_ONCE], tmp_path)
    with pytest.raises(WrongUseError, match="painted no image"):
        time_first_image([sys.executable, "-c", "pass"], tmp_path)


def test_that_a_program_that_never_ends_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_start, "_LONGEST_S", 0.2)
    with pytest.raises(WrongUseError, match="no image in 0 seconds"):
        time_first_image(
            [sys.executable, "-c", "import time; time.sleep(60)"], tmp_path
        )


def test_that_a_packaged_program_is_weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "overread"
    program.write_bytes(b"x" * 1_000_000)
    (tmp_path / "library").write_bytes(b"x" * 500_000)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(bench_start, "_run", lambda *_: None)
    speeds = bench_start.install_speeds()
    assert speeds["size"] == [1.5]
    assert len(speeds["command"]) == 5
