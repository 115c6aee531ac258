"""Chinese in figures: drawn where a font has it, named where none does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import get_data_path
from matplotlib.figure import Figure
from matplotlib.text import Text

from viewer.domain.styles import Ground
from viewer.writers import han_font as module
from viewer.writers.figures_letters import NOTE, STAND_IN
from viewer.writers.figures_style import drawn_as
from viewer.writers.han_font import (
    ASKED_FOR,
    HanFont,
    figure_families,
    first_with_han,
    han_font,
)

DEJAVU = Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


def made_font(path: Path, letters: str) -> Path:
    """Write a font whose letters are all the same square."""
    names = {ord(letter): f"u{ord(letter):04X}" for letter in letters}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    pen = TTGlyphPen(None)
    for turn, corner in enumerate(((0, 0), (0, 800), (800, 800), (800, 0))):
        (pen.lineTo if turn else pen.moveTo)(corner)
    pen.closePath()
    square = pen.glyph()
    every = [".notdef", *names.values()]
    builder.setupGlyf(dict.fromkeys(every, square))
    builder.setupHorizontalMetrics(dict.fromkeys(every, (1000, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    names_of_it = {"familyName": "Squares", "styleName": "Regular", "psName": "Squares"}
    builder.setupNameTable(names_of_it)
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return path


@pytest.fixture(autouse=True)
def _looked_for_anew() -> Iterator[None]:
    han_font.cache_clear()
    module._make_known.cache_clear()
    yield
    han_font.cache_clear()
    module._make_known.cache_clear()


def test_that_the_first_font_with_all_the_characters_is_found(tmp_path: Path) -> None:
    (tmp_path / "none.ttf").write_bytes(b"no font")
    half = made_font(tmp_path / "half.ttf", ASKED_FOR[:2])
    whole = made_font(tmp_path / "whole.ttf", ASKED_FOR)
    paths = [str(tmp_path / "none.ttf"), str(DEJAVU), str(half), str(whole)]
    assert first_with_han(paths) == HanFont(whole, "Squares")
    assert first_with_han(paths[:3]) is None


def test_that_fonts_of_this_machine_are_looked_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = made_font(tmp_path / "whole.ttf", ASKED_FOR)
    there = "matplotlib.font_manager.findSystemFonts"
    monkeypatch.setattr(there, lambda: [str(whole), str(DEJAVU)])
    assert han_font() == HanFont(whole, "Squares")
    assert figure_families("DejaVu Sans") == ["DejaVu Sans", "Squares"]


def drawn(words: str) -> tuple[Figure, bytes, bytes]:
    """Return a page with words as a title and a tick, and its two files."""
    page = Figure(figsize=(3, 2), layout="constrained")

    def draw(told: tuple[str, ...], _: Ground) -> Figure:
        axes = page.subplots()
        axes.set_title(told[0], fontweight="bold")
        axes.set_xticks([0, 1], told)
        return page

    files = drawn_as((words, "plain"), draw, ("svg", "pdf"))
    return page, files["svg"], files["pdf"]


def texts(page: Figure) -> list[str]:
    found = (text for text in page.findobj(Text) if isinstance(text, Text))
    return [text.get_text() for text in found if text.get_text()]


def test_that_letters_no_font_has_are_named_below_and_not_drawn_as_boxes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "han_font", lambda: None)
    page, svg, _ = drawn("肺炎 at 7")
    assert NOTE in texts(page)
    assert texts(page).count(f"{STAND_IN} at 7") == 3
    assert not any("肺" in text for text in texts(page))
    assert drawn("肺炎 at 7")[1] == svg
    plain, _, _ = drawn("pneumonia at 7")
    assert NOTE not in texts(plain)


def test_that_a_font_with_chinese_draws_it_and_changes_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "han_font", lambda: None)
    _, svg_before, pdf_before = drawn("pneumonia at 7")
    font = HanFont(made_font(tmp_path / "w.ttf", ASKED_FOR), "Squares")
    monkeypatch.setattr(module, "han_font", lambda: font)
    page, _, pdf = drawn("肺部 at 7")
    assert texts(page).count("肺部 at 7") == 3
    assert NOTE not in texts(page)
    assert b"Squares" in pdf
    assert drawn("pneumonia at 7")[1:] == (svg_before, pdf_before)
