"""A package of somebody else's that brings an adapter loaded before it is asked.

It is written into a folder and found through its entry point, in this process or in a
worker's, so that the real catalogue, worker and window can be tried with it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from viewer.models import catalog

MODULE = '''
import json
import threading
import time

from viewer.domain.exchange import ModelIdentity, RawReply, ReplyKind
from viewer.models.loaded import Holder, Made, check_cancelled
from viewer.models.protocol import AdapterSpec, Setting
from viewer.models.reading import read_reply


class Slow:
    """Answers D4 once it is loaded, which takes as many seconds as its profile says."""

    def __init__(self, profile):
        self._settings = profile.settings
        self._holder = Holder(self._make, lambda: None)

    def _make(self, progress, cancelled):
        for step in range(20):
            progress(step / 20, "reading weights")
            end = time.monotonic() + self._settings["seconds"] / 20
            while time.monotonic() < end:
                check_cancelled(cancelled)
                time.sleep(0.005)
        return Made("D4", self._settings["bytes"])

    @property
    def state(self):
        return self._holder.state

    def load(self, progress, cancelled):
        self._holder.load(progress, cancelled)

    def unload(self):
        self._holder.unload()

    def memory_bytes(self):
        return self._settings["bytes"]

    def interrupt(self):
        self._holder.interrupt()

    def watch(self, progress):
        return self._holder.watch(progress)

    def identity(self, repeat):
        return ModelIdentity({"kind": "slow"}, "slow", "1")

    def generate(self, request):
        with self._holder.in_use() as answer:
            body = json.dumps({"text": answer, "note": ""}).encode()
            return RawReply(ReplyKind.PLAIN, body)

    def read(self, raw):
        return read_reply(raw)


SPEC = AdapterSpec(
    name="slow",
    summary="a model that takes its time to load",
    factory="slow_to_load:Slow",
    settings=(
        Setting("seconds", float, 0.2, "seconds that loading takes", minimum=0),
        Setting("bytes", int, 4_100_000_000, "bytes that its weights hold", minimum=0),
    ),
)
'''


def write_package(folder: Path) -> Path:
    """Write the package, as if it was installed there; return the folder."""
    information = folder / "slow_to_load-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "slow_to_load.py").write_text(MODULE)
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: slow-to-load\nVersion: 1.0\n"
    )
    (information / "entry_points.txt").write_text(
        "[viewer.models]\nslow = slow_to_load:SPEC\n"
    )
    return folder


@contextmanager
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the package, for a test and its workers."""
    package = str(write_package(folder))
    monkeypatch.syspath_prepend(package)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    catalog._others.cache_clear()
    yield
    catalog._others.cache_clear()
