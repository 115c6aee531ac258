"""A figure's script draws the very picture that the program draws."""

import ast
import io
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.line_process import ScriptProcess
from tests.helpers.sample_figures import SAMPLES, head, rates
from viewer.domain.figure import Figure, Step, StripFigure
from viewer.domain.styles import DARK, GROUNDS, LIGHT, Ground
from viewer.writers.figures_files import figure_files, figure_picture, figure_script
from viewer.writers.recorded import Script, made, recorded

pytestmark = pytest.mark.statement("E000-28")
_ALLOWED = {"base64", "math", "matplotlib", "numpy", "sys", "zlib"}


def named(figure: Figure) -> str:
    return figure.head.name


NOISE = np.random.default_rng(0).integers(0, 256, (300, 300), dtype=np.uint8)
LARGE = StripFigure(head("large"), (Step("Image", NOISE, "a"),) * 6)
"""Of pictures that have more pixels than the page."""


@pytest.fixture(scope="module")
def run_script() -> Iterator[ScriptProcess]:
    """Return a process in which scripts have Matplotlib, and not Overread."""
    with ScriptProcess(
        "matplotlib.backends.backend_agg", "matplotlib.figure"
    ) as process:
        yield process


@pytest.mark.parametrize("figure", [*SAMPLES, LARGE], ids=named)
def test_that_a_script_draws_the_same_picture_in_another_process(
    figure: Figure, tmp_path: Path, run_script: ScriptProcess
) -> None:
    script = figure_script(figure)
    tree = ast.parse(script)
    imports = [one for one in ast.walk(tree) if isinstance(one, ast.Import)]
    froms = [one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
    modules = [alias.name for one in imports for alias in one.names]
    modules += [str(one.module) for one in froms]
    assert {name.partition(".")[0] for name in modules} <= _ALLOWED
    path = tmp_path / "draw.py"
    path.write_text(script, encoding="utf-8")
    run_script(path)
    there = (tmp_path / f"{figure.head.name}.png").read_bytes()
    assert there == figure_picture(figure, "png")


def test_that_a_script_saves_to_another_file_when_told(tmp_path: Path) -> None:
    figure = rates(published=True)
    path = tmp_path / "draw.py"
    path.write_text(figure_script(figure), encoding="utf-8")
    subprocess.run([sys.executable, path, "mine.svg"], check=True, cwd=tmp_path)
    assert (tmp_path / "mine.svg").read_bytes().count(b"</svg>") == 1
    assert not (tmp_path / "fig2.png").exists()


def test_that_no_name_from_outside_is_run_as_python(
    tmp_path: Path, run_script: ScriptProcess
) -> None:
    figure = rates(published=True)
    evil = '\'"""\n);import os;os.abort()#{x}\\'
    panel = replace(figure.panels[0], groups=(evil, "Edema"), title=evil)
    script = figure_script(replace(figure, panels=(panel,)))
    path = tmp_path / "draw.py"
    path.write_text(script, encoding="utf-8")
    run_script(path)  # which fails unless it ends with 0


def colours(picture: bytes) -> set[tuple[int, ...]]:
    with Image.open(io.BytesIO(picture)) as opened:
        pixels = np.asarray(opened.convert("RGB")).reshape(-1, 3)
    return {tuple(map(int, pixel)) for pixel in np.unique(pixels, axis=0)}


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


@pytest.mark.parametrize("figure", SAMPLES, ids=named)
@pytest.mark.parametrize("ground", GROUNDS.values(), ids=lambda ground: ground.name)
def test_that_every_kind_of_figure_is_drawn_on_both_grounds(
    figure: Figure, ground: Ground
) -> None:
    seen = colours(figure_picture(figure, "png", ground, dpi=80))
    other = LIGHT if ground is DARK else DARK
    assert rgb(ground.paper) in seen
    assert (rgb(other.paper) in seen) <= (other is LIGHT)  # pictures have white
    assert len(seen) > 3


def test_that_the_screen_shows_the_drawing_of_print() -> None:
    for figure in SAMPLES[:3]:
        printed = figure_files(figure)[f"{figure.head.name}.svg"]
        assert figure_picture(figure, "svg", LIGHT) == printed


def test_that_calls_are_drawn_and_written_down_once() -> None:
    from matplotlib.figure import Figure as Page
    from matplotlib.lines import Line2D

    sheet = recorded("figure", Page, figsize=(2.0, 1.0))
    axes = sheet.add_subplot(1, 1, 1)
    axes.plot(np.array([0.0, np.nan]), [np.float64(1), 2], label="$_'")
    axes.spines[:].set_visible(False)
    axes.text(0, 1, "n", transform=axes.get_xaxis_transform())
    sheet.legend(handles=[made(Line2D, [], [], label="a")])
    script = sheet.script  # type: ignore[attr-defined]
    assert isinstance(script, Script)
    text = script.text({"font.size": 7.0}, "# end")
    assert text.splitlines() == [
        "import sys",
        "from math import nan",
        "",
        "import matplotlib",
        "from matplotlib.figure import Figure",
        "from matplotlib.lines import Line2D",
        "",
        "matplotlib.rcParams.update({",
        "    'font.size': 7.0,",
        "})",
        "",
        "figure = Figure(figsize=(2.0, 1.0))",
        "axes_1 = figure.add_subplot(1, 1, 1)",
        'axes_1.plot([0.0, nan], [1.0, 2], label="$_\'")',
        "axes_1.spines[:].set_visible(False)",
        "axes_1.text(0, 1, 'n', transform=axes_1.get_xaxis_transform())",
        "figure.legend(handles=[Line2D([], [], label='a')])",
        "# end",
    ]
