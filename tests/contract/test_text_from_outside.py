"""Hostile names go through everything that shows or writes them, and do nothing."""

import csv
import io
import json
import os
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from viewer.cli import run_command_line
from viewer.settings import HOME_VARIABLE
from viewer.writers.verify.comparing import read_csv

FINDINGS = (
    "$\\frac{x$",
    "=1+1",
    "@SUM(A1)",
    "-2+3",
    "[red]",
    "[%]",
    "<img src=x onerror=alert(1)>",
    "Ed\x1b[2Jema",
    "a\u202egnp",
    "under&{}%#~^score",
    "\x9b31mC1",
)
_NAME = "data\x1b[31m<b>"
_REPLY = 'E5 \x1b]0;title\x07 <script>alert(1)</script> =1+1 [/] $\\frac{x$ "\\ud800"'
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FORMULA = re.compile("[=+@\t\r]|-(?!\\d*\\.?\\d+(e[+-]?\\d+)?$)")


@dataclass(frozen=True)
class Told:
    """What the commands wrote, and the folder with their files."""

    text: str
    folder: Path


class _Tags(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag, and every attribute that is a script."""
        self.tags.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Import, run, report and export a data set whose every name is hostile."""
    if sys.platform != "linux":
        pytest.skip("names of this kind need a file system that takes any byte")
    folder = tmp_path_factory.mktemp("hostile")
    _write_films(folder / "films")
    _write_study(folder)
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(folder / "home"))
        patch.chdir(folder)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        codes = [run_command_line(words) for words in _COMMANDS]
    assert codes == [0] * len(codes), err.getvalue()
    return Told(out.getvalue() + err.getvalue(), folder)


_COMMANDS = (
    ("import", "folder", "films", "--name", _NAME, "--view", "frontal"),
    ("cases",),
    ("cases", "--json"),
    ("run", "study.toml"),
    ("runs",),
    ("runs", "--json"),
    ("report", "last", "--out", "report"),
    ("export", "bundle", "last", "--out", "run.zip"),
    ("verify", "run.zip"),
    ("export", "answers", "last", "--out", "answers"),
    ("pack", "grid2025", "--run", "last", "--out", "pack"),
    ("compare", "last:one", "last:_two$", "--out", "compared"),
)


def _write_films(folder: Path) -> None:
    folder.mkdir()
    pixels = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    mask = np.zeros((64, 64), np.uint8)
    mask[8:40, 8:40] = 255
    for stem in (b"caf\xe9", b"=1+1", b"a\x1b[31m\xe2\x80\xaegnp", b"<b>x"):
        path = os.fsdecode(os.fsencode(folder) + b"/" + stem)
        Image.fromarray(pixels).save(f"{path}.png")
        for finding in FINDINGS:
            Image.fromarray(mask).save(f"{path}.{finding.replace('/', ':')}.png")
        pixels = pixels + 1
    Path(folder, "no\x1b[5mimage.png").write_bytes(b"none")


def _write_study(folder: Path) -> None:
    models = "".join(
        f"[[model]]\nname = {json.dumps(name)}\nadapter = 'scripted'\n"
        f"answer = {json.dumps(reply)}\n"
        for name, reply in (("one", _REPLY), ("_two$", "A1 \x1b[31m"))
    )
    (folder / "study.toml").write_text(
        "study = 'grid_localization'\nmodels = ['one', '_two$']\n"
        f"dataset = {json.dumps(_NAME)}\n{models}"
        "[params]\ngrids = [8]\nreplicates = 100\npaper_replicates = 100\n"
        f"findings = {json.dumps(FINDINGS, ensure_ascii=True)}\n".replace(
            "\x9b", "\\u009b"
        )
    )


def test_that_nothing_on_the_terminal_is_obeyed(told: Told) -> None:
    lines = told.text.replace("\n", "")
    assert _OBEYED.findall(lines) == []
    assert r"data\x1b[31m<b>" in told.text
    assert "VERIFIED" in told.text


def test_that_no_table_holds_a_formula_and_every_name_reads_back(told: Told) -> None:
    tables = [*told.folder.rglob("*.csv")]
    assert len(tables) > 10
    for path in tables:
        rows = csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))
        cells = [cell for row in rows for cell in row]
        assert [c for c in cells if _FORMULA.match(c)] == [], path.name
    items = read_csv((told.folder / "report" / "items.csv").read_bytes())
    place = items[0].index("finding")
    assert {row[place] for row in items[1:]} == set(FINDINGS)
    assert r"caf\xe9" in {row[items[0].index("image")] for row in items[1:]}


def test_that_no_page_has_a_tag_of_somebody_elses(told: Told) -> None:
    pages = [*told.folder.rglob("*.html")]
    assert pages
    for path in pages:
        seen = _Tags()
        text = path.read_text("utf-8")
        seen.feed(text)
        assert "img" not in seen.tags or "pack" in path.parts
        assert "script" not in seen.tags
        assert seen.handlers == []
        assert _OBEYED.findall(text.replace("\n", "")) == []


def test_that_every_figure_is_drawn(told: Told) -> None:
    figures = [*told.folder.rglob("*.svg")]
    assert len(figures) > 3
    for path in figures:
        ET.fromstring(path.read_bytes())  # noqa: S314 - drawn here


def test_that_no_name_is_a_latex_command(told: Told) -> None:
    tables = [*told.folder.rglob("*.tex")]
    assert tables
    for path in tables:
        text = path.read_text("utf-8")
        assert "\\frac" not in text
        assert _OBEYED.findall(text.replace("\n", "")) == []
