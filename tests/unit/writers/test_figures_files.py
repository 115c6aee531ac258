"""Every kind of figure becomes SVG, PDF and CSV, the same bytes each time."""

import csv
import hashlib
import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.sample_figures import SAMPLES, rates
from viewer.domain.figure import Figure
from viewer.domain.report import BarSeries
from viewer.domain.styles import LIGHT, MODELS
from viewer.studies.grid_localization.findings import NINE
from viewer.writers.figures_bars import room_for_counts, whiskers, write_counts
from viewer.writers.figures_files import figure_files
from viewer.writers.figures_style import PAGE_MM, SMALL_PT, name_groups, settings

pytestmark = pytest.mark.statement("E000-28")
_HASHES = """
import hashlib
from tests.helpers.sample_figures import SAMPLES
from viewer.writers.figures_files import figure_files
for sample in SAMPLES:
    for name, content in figure_files(sample).items():
        print(name, hashlib.sha256(content).hexdigest())
"""


def named(figure: Figure) -> str:
    return figure.head.name


@cache
def written(place: int) -> Mapping[str, bytes]:
    return figure_files(SAMPLES[place])


def numbers(figure: Figure) -> list[dict[str, str]]:
    content = written(SAMPLES.index(figure))[f"{figure.head.name}.csv"].decode()
    return list(csv.DictReader(content.splitlines()))


def test_that_another_process_writes_the_same_bytes() -> None:
    there = subprocess.run(
        [sys.executable, "-c", _HASHES],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
        env={"PYTHONHASHSEED": "1", "PATH": "", "OMP_NUM_THREADS": "1"},
    ).stdout.splitlines()
    here = [
        f"{name} {hashlib.sha256(content).hexdigest()}"
        for place in range(len(SAMPLES))
        for name, content in written(place).items()
    ]
    assert len(here) == 3 * len(SAMPLES)
    assert there == here


@pytest.mark.parametrize("figure", SAMPLES, ids=named)
def test_that_a_figure_is_a_page_wide_at_most_and_has_no_date(figure: Figure) -> None:
    files = written(SAMPLES.index(figure))
    name = figure.head.name
    assert set(files) == {f"{name}.{kind}" for kind in ("svg", "pdf", "csv")}
    root = ET.fromstring(files[f"{name}.svg"])  # noqa: S314 - our own drawing
    width = float(root.get("width", "").removesuffix("pt")) * 25.4 / 72
    assert width <= 183.01
    assert b"<dc:date>" not in files[f"{name}.svg"]
    assert b"<text" not in files[f"{name}.svg"]
    assert b"CreationDate" not in files[f"{name}.pdf"]


@pytest.mark.parametrize("figure", SAMPLES, ids=named)
def test_that_the_fonts_of_a_pdf_lie_in_it(figure: Figure) -> None:
    pdf = written(SAMPLES.index(figure))[f"{figure.head.name}.pdf"]
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


@pytest.mark.statement("X-05")
def test_that_printed_values_are_open_diamonds_without_whiskers() -> None:
    bare = figure_files(rates(published=False))["fig2.svg"].decode()
    marked = figure_files(rates(published=True))["fig2.svg"].decode()
    white = re.compile(f"fill: #ffffff; stroke: {LIGHT.ink.lower()}")
    # one for the value, one for the key
    assert len(white.findall(marked)) - len(white.findall(bare)) == 2
    errors = re.compile(r'id="LineCollection_\d+"')
    assert len(errors.findall(marked)) == len(errors.findall(bare))


def test_that_whiskers_may_reach_further_below_than_above() -> None:
    even = rates(published=False)
    bars = even.panels[0].series
    nothing = (None,) * len(bars[0].values)
    ends = (((0.1, 0.6), None), ((0.05, 0.9), (0.4, 1.0)))
    series = tuple(
        replace(one, errors=nothing, limits=limits)
        for one, limits in zip(bars, ends, strict=True)
    )
    panel = replace(even.panels[0], series=series)
    files = figure_files(replace(even, panels=(panel,)))
    rows = list(csv.DictReader(files["fig2.csv"].decode().splitlines()))
    told = {(r["group"], r["series"]): r for r in rows if r["kind"] == "bar"}
    first, last = panel.groups[0], panel.groups[-1]
    assert (told[first, "a"]["low"], told[first, "a"]["high"]) == ("0.1", "0.6")
    assert (told[last, "a"]["low"], told[last, "b"]["low"]) == ("", "0.4")
    assert {r["error"] for r in told.values()} == {""}
    assert (whiskers(series[1]) == np.array([[20, 60], [65, 0]])).all()
    assert np.isnan(whiskers(series[0])[:, 1]).all()
    assert "low" not in numbers(SAMPLES[0])[0]


def test_that_each_model_has_the_colour_it_has_on_the_screen() -> None:
    svg = figure_files(rates(published=False))["fig2.svg"].decode()
    assert MODELS[0].lower() in svg
    assert MODELS[1].lower() in svg
    assert MODELS[2].lower() not in svg


@pytest.mark.parametrize("groups", [(*NINE, "Mean of findings"), NINE, NINE[:2]])
def test_that_the_name_of_no_group_meets_the_next(groups: tuple[str, ...]) -> None:
    """Long words are parted and letters made smaller, as a page's width asks."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Page

    with rc_context(settings()):
        sheet = Page(figsize=(PAGE_MM / 25.4, 2))
        axes = sheet.add_axes((0.06, 0.3, 0.92, 0.6))
        axes.set_xlim(-0.55, len(groups) - 0.45)
        name_groups(axes, groups)
        sheet.savefig(io.BytesIO(), format="png")
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert len(boxes) == len(groups)
    assert all(box.width > 0 for box in boxes)
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


@pytest.mark.parametrize("inches", [1, 3, 9])
def test_that_no_n_meets_the_name_of_its_group(inches: float) -> None:
    """However tall the axes are: n once stood below by a share of their height."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Page

    series = BarSeries("a", (0.5, 1.0), (None, None), (35, 1234))
    with rc_context(settings()):
        sheet = Page(figsize=(PAGE_MM / 25.4, inches))
        axes = sheet.add_axes((0.06, 0.3, 0.92, 0.6))
        name_groups(axes, ("Edema", "Pleural Effusion"))
        axes.tick_params(axis="x", length=0, pad=room_for_counts([series], SMALL_PT))
        write_counts(axes, np.arange(2.0), series.counts, SMALL_PT, "black")
        sheet.savefig(io.BytesIO(), format="png")
        names = [label.get_window_extent() for label in axes.get_xticklabels()]
        counts = [text.get_window_extent() for text in axes.texts]
    assert len(counts) == 2
    assert min(box.y0 for box in counts) > max(box.y1 for box in names)
    assert max(box.y1 for box in counts) < axes.get_window_extent().y0


def test_that_a_csv_has_every_number_of_its_figure() -> None:
    by_name = {figure.head.name: numbers(figure) for figure in SAMPLES}
    bars = [r for r in by_name["fig2"] if r["kind"] == "bar"]
    assert [(r["group"], r["series"], r["rate"], r["n"]) for r in bars[:2]] == [
        ("Edema", "a", "0.5", "10"),
        ("Edema", "b", "0.25", "10"),
    ]
    printed = [r for r in by_name["fig2"] if r["kind"] == "published"]
    assert [(r["series"], r["rate"], r["error"]) for r in printed] == [
        ("CNN", "0.4", "")
    ]
    shares = [float(r["share"]) for r in by_name["fig3"] if r["bar"] == "a"]
    assert shares == pytest.approx([0.5, 0.25, 0.25])
    cells = [float(r["share"]) for r in by_name["fig4"] if r["column"] == "a"]
    assert cells == list(np.arange(4) / 4)
