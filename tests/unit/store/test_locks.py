import subprocess
from pathlib import Path

import pytest

from tests.helpers.forked import start_program
from viewer.domain.errors import RunHeldError, WrongUseError
from viewer.store import locks
from viewer.store.locks import run_lock

HOLD = (
    "import sys, time; from pathlib import Path;"
    "from viewer.store.locks import run_lock\n"
    "with run_lock(Path(sys.argv[1]), 3, 'then'):\n"
    "    print('held', flush=True); time.sleep(60)\n"
)


def test_that_a_second_coordinator_is_told_who_holds_the_run(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with start_program(store, code=HOLD, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(RunHeldError, match=f"process {holder.pid} on"),
            run_lock(store, 3, "now"),
        ):
            pass
        with run_lock(store, 4, "now"):
            pass
        holder.kill()
        holder.wait()
    with run_lock(store, 3, "now"):
        held = (tmp_path / "s.sqlite.run3.lock").exists()
    assert held


def test_that_a_lock_on_a_removed_file_holds_no_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def acquire_late(_: object) -> None:
        next(tmp_path.glob("*.lock")).unlink()  # as the last holder does at its end

    monkeypatch.setattr(locks, "_acquire", acquire_late)
    with (
        pytest.raises(WrongUseError, match="being imported"),
        locks.import_lock(tmp_path / "s.sqlite", "films", "now"),
    ):
        pytest.fail("two processes would import at once")
