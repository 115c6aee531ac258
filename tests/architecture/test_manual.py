"""The pages say what is there: links, commands, names on the screen, messages."""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import pytest

import viewer
from tests.helpers.markdown_pages import Page, read_page
from viewer.cli import overread
from viewer.readers.datasets.catalog import formats
from viewer.services.configuring.model_profiles import known_models
from viewer.services.configuring.study_file import read_study_file
from viewer.ui.application.actions import ACTIONS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {DOCS / "commands.md", DOCS / "keys.md"}
PATHS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(DOCS.rglob("*.md")),
]
MENUS = {f"{action.menu} ▸ {action.text}" for action in ACTIONS}
PAGES = [read_page(path) for path in PATHS]
TARGETS = re.findall(
    r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
)
OF_THE_PROGRAM = {DOCS, DOCS / "studies"}
"""Where what stands in bold is what the window shows."""
pages = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.path.relative_to(ROOT).as_posix()
)
_HOLE = "\0"
_LEAST = 3
"""Letters that a text must have; "{}: {}" could be anything."""


@dataclass(frozen=True, slots=True)
class Said:
    """Texts without holes, and patterns of those that are filled in."""

    texts: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    def says(self, words: str) -> bool:
        """Tell whether exactly these words are shown, whatever is filled in."""
        return words in self.texts or any(
            pattern.fullmatch(end)
            for pattern in self.patterns
            for end in (words, f"{words} ")
        )

    def holds(self, part: str) -> bool:
        """Tell whether a text has this part."""
        return any(part in text for text in self.texts) or any(
            re.escape(part) in pattern.pattern for pattern in self.patterns
        )


@cache
def said_below(folder: Path) -> Said:
    """Return every text in the modules below a folder."""
    trees = (ast.parse(p.read_text("utf-8")) for p in sorted(folder.rglob("*.py")))
    found = {text.strip() for tree in trees for text in _texts(tree)}
    filled = {text for text in found if _HOLE in text}
    patterns = (
        re.compile(re.escape(text).replace(re.escape(_HOLE), ".*"), re.DOTALL)
        for text in sorted(filled)
        if sum(map(str.isalpha, text)) >= _LEAST
    )
    return Said(frozenset(found - filled), tuple(patterns))


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else _HOLE
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pages
def test_that_every_link_and_picture_is_there(page: Page) -> None:
    for target in (*page.links, *page.images):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve() if name else page.path
        if path in GENERATED and page.path.is_relative_to(DOCS):
            continue
        assert path.exists(), target
        assert not anchor or anchor in read_page(path).anchors, target


@pages
def test_that_every_command_is_one_of_the_program(page: Page) -> None:
    blocks = "\n".join(code.text for code in page.blocks if not code.language)
    for line in (*blocks.splitlines(), *page.spans):
        words = shlex.split(line, comments=True) if "overread" in line else line.split()
        if words[:1] == ["overread"]:
            parse(words[1:])
        elif words[:1] == ["make"] and len(words) > 1:
            assert words[1] in TARGETS, line


def parse(words: list[str]) -> None:
    """Parse a command line without running it; a name alone need only be there."""
    known = overread.list_commands(click.Context(overread))
    if words and words[0] not in known and re.search(r"[./]", words[0]):
        words = ["open", *words]
    command: click.Command = overread
    context = click.Context(overread, info_name="overread")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
        if words and not isinstance(command, click.Group):
            command.make_context(command.name, words, context)


@pages
def test_that_every_name_in_bold_stands_on_the_screen(page: Page) -> None:
    """What begins an item of a list may be any term."""
    screen = said_below(ROOT / "viewer" / "ui")
    for words in page.bold:
        if " ▸ " in words:
            assert words in MENUS
        elif page.path.parent in OF_THE_PROGRAM and f"\n- **{words}**" not in page.text:
            assert screen.says(words), words


def test_that_a_name_that_is_not_on_the_screen_is_found() -> None:
    screen = said_below(ROOT / "viewer" / "ui")
    assert screen.says("Ask 3 models")
    assert not screen.says("Frobnicate 3 models")
    assert not screen.says("Launch")


def test_that_every_message_of_troubleshooting_is_said_somewhere() -> None:
    page = read_page(DOCS / "troubleshooting.md")
    messages = re.findall(r"^\| \*(.+)\* \|", page.text, re.MULTILINE)
    assert len(messages) > 20
    program = said_below(ROOT / "viewer")
    bootstrap = (ROOT / "packaging" / "bootstrap").read_text("utf-8")
    for message in messages:
        for part in (part.strip(" :,.'") for part in message.split("…")):
            assert program.holds(part) or part in bootstrap, message


def test_that_models_and_studies_that_are_shown_can_be_read(tmp_path: Path) -> None:
    users = (page for page in PAGES if page.path.parent != DOCS / "extending")
    blocks = [
        code.text for page in users for code in page.blocks if code.language == "toml"
    ]
    models = [text for text in blocks if text.startswith("[[model]]")]
    (tmp_path / "models.toml").write_text("\n".join(models), encoding="utf-8")
    known = known_models(tmp_path / "models.toml")
    assert len(models) == sum(model.own for model in known) > 2
    studies = [text for text in blocks if text.startswith("study =")]
    assert studies
    for study in studies:
        (tmp_path / "study.toml").write_text(study, encoding="utf-8")
        spec = read_study_file(tmp_path / "study.toml", tmp_path / "models.toml")
        assert spec.dataset == "phantom"
    assert all(tomllib.loads(text) for text in blocks)


def test_that_every_format_of_data_sets_is_on_the_page() -> None:
    page = read_page(DOCS / "formats.md")
    assert {one.name for one in formats().values()} - set(page.spans) == set()


def test_that_every_picture_is_shown_and_small() -> None:
    shown = {
        (page.path.parent / target).resolve()
        for page in PAGES
        for target in page.images
    }
    pictures = set((DOCS / "images").iterdir())
    assert pictures == shown
    assert max(picture.stat().st_size for picture in pictures) < 300_000


def test_that_the_citation_names_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {viewer.__version__}\n" in text
    assert "\nlicense: Apache-2.0\n" in text
