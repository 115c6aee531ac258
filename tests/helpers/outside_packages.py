"""Distributions of other people as pip would leave them, and questions for them.

One brings an adapter that is loaded before it is asked, so that the real catalogue,
worker and window can be tried with it.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from PIL import Image

from viewer.models import catalog

BRINGS: Final = Path(__file__).parent / "outside"
Lines = Mapping[str, Mapping[str, str]]
SIDED: Final[Lines] = {"viewer.studies": {"laterality": "laterality:STUDY"}}


def install(site: Path, package: str, module: str, lines: Lines) -> None:
    """Install a distribution of one module into a folder that is on the path."""
    about = site / f"{package}-2.1.dist-info"
    about.mkdir(parents=True)
    (site / f"{package}.py").write_text(module, encoding="utf-8")
    said = f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.1\n"
    (about / "METADATA").write_text(said, encoding="utf-8")
    groups = (
        "\n".join((f"[{group}]", *(f"{k} = {v}" for k, v in own.items())))
        for group, own in lines.items()
    )
    (about / "entry_points.txt").write_text("\n\n".join(groups), encoding="utf-8")


def bring(site: Path, module: str, lines: Lines) -> None:
    """Install one of the modules beside the tests."""
    install(site, module, (BRINGS / f"{module}.py").read_text(encoding="utf-8"), lines)


def write_sides(folder: Path) -> None:
    """Write four images, each with its question, as PathMMU lays them out."""
    (folder / "images").mkdir(parents=True)
    for number in range(4):
        pixels = np.full((20, 24), 90 + 30 * number, np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{number}.png")
    rows = [
        {
            "No": number,
            "img": f"{number}.png",
            "question": "On which side?",
            "options": ["A) left", "B) right"],
            "answer": "A) left" if number < 3 else "B) right",
        }
        for number in range(4)
    ]
    table = {"sides": {"test": rows}}
    (folder / "data.json").write_text(json.dumps(table), encoding="utf-8")


SLOW = '''
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
    """Install it into a folder; return the folder."""
    lines = {"viewer.models": {"slow": "slow_to_load:SPEC"}}
    install(folder, "slow_to_load", SLOW, lines)
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
