"""A run's figures as the worker lists and draws them."""

import base64
from pathlib import Path

import pytest

from tests.helpers.sample_figures import SAMPLES, heat, rates
from tests.helpers.tiny_study import finished_run
from viewer.domain.errors import WrongUseError
from viewer.domain.plain import made, plain
from viewer.domain.styles import DARK
from viewer.services.commands import FigureCommand
from viewer.services.reporting.figures import RunFigures
from viewer.services.worker.figures import (
    drawn,
    drawn_figure,
    listed,
    listed_figures,
    save_figure,
)
from viewer.writers.figures_files import figure_csv, figure_picture, figure_script

pytestmark = pytest.mark.statement("E000-28")
FOUND = RunFigures(SAMPLES, ("Figure 9 needs masks.",))


def content(command: FigureCommand) -> bytes:
    return base64.b64decode(str(drawn(FOUND, command)["content"]))


def test_that_figures_are_listed_as_they_are_called() -> None:
    told = listed(RunFigures((rates(published=True), heat()), ("No masks.",)))
    assert told == {
        "figures": [
            {
                "name": "fig2",
                "called": "Figure 2 · Title of fig2",
                "words": "A caption.",
                "orders": ["a", "b", "chance", "CNN"],
            },
            {
                "name": "fig4",
                "called": "Figure 4 · Title of fig4, Edema",
                "words": "A caption.",
                "orders": [],
            },
        ],
        "missing": ["No masks."],
    }


def test_that_a_figure_comes_as_the_file_that_is_asked_for() -> None:
    figure = SAMPLES[2]
    name = figure.head.name
    assert content(FigureCommand(1, name, "csv")) == figure_csv(figure)
    assert content(FigureCommand(1, name, "py")).decode() == figure_script(figure)
    dark = FigureCommand(1, name, "png", "dark", 100.0)
    assert content(dark) == figure_picture(figure, "png", DARK, 100.0)
    tiny = FigureCommand(1, name, "png", dpi=0.0)
    assert content(tiny) == figure_picture(figure, "png", dpi=20.0)


def test_that_an_order_is_in_the_words_and_in_the_numbers() -> None:
    command = FigureCommand(1, "fig2", "csv", order=("b", "chance"))
    assert "(b − chance) / chance" in str(drawn(FOUND, command)["words"])
    first = content(command).decode().splitlines()[1]
    assert first.startswith(",Cardiomegaly,a")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (FigureCommand(3, "fig99"), "Run 3 no longer has a figure 'fig99'."),
        (FigureCommand(3, "fig2", ground="pink"), "Run 3 no longer has"),
        (FigureCommand(3, "fig2", "docx"), "A figure cannot be saved"),
        (FigureCommand(3, "fig2", order=("a", "z")), "no series named 'z'"),
    ],
)
def test_that_what_cannot_be_drawn_is_told(command: FigureCommand, words: str) -> None:
    with pytest.raises(WrongUseError, match=words):
        drawn(FOUND, command)


def test_that_a_command_is_read_as_it_was_written() -> None:
    for command in (
        FigureCommand(3, "fig2", "svg", "dark", 144.5, ("a", "b")),
        FigureCommand(3, "fig2"),
    ):
        assert made(FigureCommand, plain(command), where="the command") == command


def test_that_a_runs_own_figures_are_drawn(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    run = finished_run(store, tmp_path / "images")
    cards = listed_figures(store, run)["figures"]
    assert isinstance(cards, list)
    names = [card["name"] for card in cards]
    assert names[:2] == ["fig1_method", "fig2_hit_rates_8"]
    told = drawn_figure(store, FigureCommand(run, "fig2_hit_rates_8", "svg"))
    path = tmp_path / "out" / "mine.svg"
    save_figure(path, base64.b64decode(str(told["content"])))
    assert b"</svg>" in path.read_bytes()
