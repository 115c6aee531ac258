"""The commands on each study's page run as they stand, and make what it lists."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.helpers.markdown_pages import Page, read_page
from tests.helpers.proof_params import always
from viewer.cli import run_command_line
from viewer.settings import HOME_VARIABLE

STUDIES: Final = Path(__file__).parents[2] / "docs" / "studies"
SMALL: Final[Mapping[str, tuple[str, ...]]] = {
    "grid_localization": ("--n", "4", "--size", "160x200"),
    "rubric_reading": ("--n", "5", "--size", "100x125"),
    "grounded_vqa": ("--n", "6", "--size", "96x120"),
    "pathology_mcq": ("--n", "7", "--size", "128x128"),
    "evidence_diagnosis": ("--n", "5", "--size", "128x128"),
    "question_set": ("--n", "12", "--size", "96x120"),
}
"""How much is made of each collection here; the pages make a little more."""


def commands(page: Page) -> Iterator[list[str]]:
    """Yield the words of every command of a page's section on them."""
    section = Page(page.path, page.section("On the command line"), "")
    for code in section.blocks:
        for line in code.text.splitlines() if not code.language else ():
            words = shlex.split(line, comments=True)
            if words:
                yield words[1:]


def listed(page: Page) -> set[str]:
    """Return the files that its tables of what comes out name."""
    rows = re.findall(r"^\| (`.+?) \|", page.section("What comes out"), re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`(.+?)`", row)}
    return names - {"fig_12_1.svg"}  # whose page says that it needs a model here


@pytest.mark.parametrize("study", always({"grounded_vqa", "question_set"}, SMALL))
def test_that_the_commands_of_a_study_page_make_what_it_lists(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = read_page(STUDIES / f"{study}.md")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    for code in page.blocks:
        if code.language == "toml":
            (tmp_path / "study.toml").write_text(code.text, encoding="utf-8")
    run = list(commands(page))
    assert len(run) > 4
    for words in run:
        small = SMALL[study] if words[0] == "phantom" else ()
        assert run_command_line([*words, *small]) == 0, words
    made = {path.name for path in tmp_path.rglob("*.*")}
    assert sorted(listed(page) - made) == []
