"""The window's process is told to end while a batch is in flight."""

import signal
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import write_images
from viewer.services.importing.import_dataset import import_dataset
from viewer.store import runs, trials
from viewer.store.database import open_store

if sys.platform == "win32":
    pytest.skip("signals of POSIX", allow_module_level=True)
pytest.importorskip("PySide6.QtWidgets")
pytestmark = pytest.mark.usefixtures("hears_the_terminal_close")


@pytest.mark.parametrize(
    # one handler hears both signals
    "number",
    [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.proof)],
)
def test_that_a_window_that_is_told_to_end_loses_nothing_in_flight(
    tmp_path: Path, number: int
) -> None:
    from tests.helpers.window_process import start_window

    store_path, study_file = tmp_path / "s.sqlite", tmp_path / "study.toml"
    with open_store(store_path) as store:
        import_dataset(store, "folder", write_images(tmp_path / "d", 12), "tiny")
    with ScriptedServer(Script(behaviours=["ok"], default="held")) as server:
        study_file.write_text(
            'study = "grid_localization"\ndataset = "tiny"\nmodels = ["my-server"]\n'
            "[params]\ngrids = [8]\n[[model]]\n"
            'name = "my-server"\nadapter = "openai_api"\nmodel = "tiny-vlm"\n'
            f'base_url = "{server.base_url}"\ntemperature = 0.0\n'
        )
        process = start_window(store_path, "batch", study_file)
        while len(server.script.received) < 3:
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait() == 0
        server.script.release()
        with open_store(store_path) as store:
            (run,) = runs.run_summaries(store, include_adhoc=False)
            while trials.orphans(store, run.id):  # the worker goes on by itself
                time.sleep(0.05)
            replies = store.rows("SELECT count(*) FROM reply")[0][0]
            assert replies == len(server.script.received)
