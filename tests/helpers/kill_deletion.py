"""Kill a deletion at random moments, and look at what is left of the data set."""

import os
import random
import shutil
import subprocess
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Final

from tests.helpers.forked import start_program
from tests.helpers.search_everything import found, sent_bytes
from tests.helpers.tiny_study import a_spec, finish, write_images
from viewer.services.housekeeping.backup import content_of
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.plan_run import plan_run
from viewer.services.viewing.unpacking import UnpackedZips
from viewer.settings import HOME_VARIABLE, Settings
from viewer.store.database import open_store

_DELETION: Final = """
import sys
from pathlib import Path
from viewer.services.housekeeping.delete import Kind, Target, delete
from viewer.settings import read_settings
print("ready", flush=True)
sys.stdin.readline()
delete(read_settings(), Target(Kind.DATASET, "tiny"))
"""


def fill(settings: Settings, folder: Path, n: int) -> None:
    """Import a ZIP file of ``n`` cases into a store, and ask about them."""
    packed = folder / "cases.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(write_images(folder / "cases", n).iterdir()):
            archive.write(file, file.name)
    unpacked = UnpackedZips(settings).folder_of(packed, lambda: False)
    with open_store(settings.store) as store:
        import_dataset(store, "folder", unpacked, "tiny")
        finish(store, plan_run(store, a_spec()))


def run_kills(settings: Settings, folder: Path, n_kills: int) -> Counter[str]:
    """Kill ``n_kills`` deletions, each of a fresh copy; count how they ended.

    "whole" is a data set that is still complete, "gone" one of which nothing is found.
    """
    fill(settings, folder, 6)
    filled = folder / "filled"
    shutil.copytree(settings.home, filled)
    needles = [b"patient0000", *sent_bytes(settings.store)]
    before = content_of(settings.store)
    longest = _deleted_in(settings, None)
    rng, ended = random.Random(n_kills), Counter[str]()
    for _ in range(n_kills):
        shutil.rmtree(settings.home)
        shutil.copytree(filled, settings.home)
        _deleted_in(settings, rng.uniform(0, longest))
        with open_store(settings.store):  # as the next start does
            pass
        if content_of(settings.store).images:
            assert content_of(settings.store) == before
            assert len(list(settings.home.rglob("patient*.png"))) == 12
            ended["whole"] += 1
        else:
            assert found(settings, needles) == []
            ended["gone"] += 1
    return ended


def _deleted_in(settings: Settings, kill_after: float | None) -> float:
    """Delete the data set in a process; return its seconds. Kill it after some."""
    environment = {**os.environ, HOME_VARIABLE: str(settings.home)}
    pipe = subprocess.PIPE
    with start_program(
        code=_DELETION, env=environment, stdin=pipe, stdout=pipe
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        began = time.monotonic()
        process.stdin.write(b"\n")
        process.stdin.flush()
        if kill_after is not None:
            time.sleep(kill_after)
            process.kill()
        assert process.wait() == 0 or kill_after is not None
        return time.monotonic() - began
