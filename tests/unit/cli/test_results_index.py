import json
from pathlib import Path

import pytest

from tests.helpers.small_store import a_run, some_trials
from viewer.cli import run_command_line
from viewer.store.database import open_store


def test_that_a_changed_table_is_told_by_check_and_mended_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        a_run(store, some_trials(4, excluded=1))
        with store.transaction():
            store.execute("UPDATE prediction SET coverage = 0.5 WHERE trial_id = 2")
    words = ["reindex", "--store", str(path)]
    assert run_command_line([*words, "--check"]) == 1
    assert capsys.readouterr().out == "1 prediction differs from its trial.\n"
    assert run_command_line([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"wrong": 1, "rows": 4}
    assert run_command_line([*words, "--check"]) == 0
    assert capsys.readouterr().out == "Every prediction matches its trial.\n"
