import json

import pytest

from viewer.cli import run_command_line
from viewer.services.reporting.published_rows import published_rows


def test_that_published_rows_that_cannot_be_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command_line(["published", "rubric_reading"]) == 0
    printed = capsys.readouterr().out
    assert "11 rows" in printed
    assert "34.5" in printed
    assert run_command_line(["published", "rubric_reading", "--all", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(published_rows("rubric_reading", every=True)) == 83
    assert rows[0]["printed"] == "37"


def test_that_an_unknown_paper_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["published", "rubric"]) == 2
    assert "Did you mean 'rubric_reading'" in capsys.readouterr().err
