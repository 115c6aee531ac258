"""What the documentation says is there: pages, commands, menus; nothing is fetched."""

import inspect
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import click
import pytest

from tests.architecture.conftest import loaded_script
from tests.helpers.markdown_pages import read_page
from viewer import api
from viewer.cli import overread
from viewer.domain.result import Outcome
from viewer.models.protocol import Adapter
from viewer.results.estimators import Metric
from viewer.results.item_columns import ITEM_COLUMNS
from viewer.studies.catalog import OURS, study_named
from viewer.studies.study import Study
from viewer.ui.application.action_set import as_displayed
from viewer.ui.application.actions import ACTIONS, SPECS
from viewer.ui.application.keymap import presets

ROOT = Path(__file__).parents[2]
GENERATED = {"commands.md", "keys.md"}


CODE = re.compile(r"\b(?:E\d{3}|M|X)-\d{2}\b")


@contextmanager
def hook(name: str) -> Iterator[ModuleType]:
    """Yield a hook of MkDocs, loaded from its file."""
    with loaded_script(name) as module:
        yield module


@pytest.fixture(scope="module")
def made() -> Iterator[ModuleType]:
    """Return the hook that makes the generated pages."""
    with hook("docs_pages") as module:
        yield module


def shown(group: click.Group, path: str = "overread") -> Iterator[str]:
    """Yield the words of each command that ``--help`` lists."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield f"{path} {name}"
            if isinstance(command, click.Group):
                yield from shown(command, f"{path} {name}")


def test_that_the_command_page_has_every_command_and_option(made: ModuleType) -> None:
    page = made.commands_page()
    titles = re.findall(r"^###? (overread .+)$", page, re.MULTILINE)
    assert sorted(titles) == sorted(shown(overread))
    section = page.partition("## overread run\n")[2].partition("\n## ")[0]
    run = overread.get_command(click.Context(overread), "run")
    assert run is not None
    for parameter in run.params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("--"):
                assert f"`{option}" in section or f" {option}" in section


def test_that_the_command_page_keeps_signs_that_markdown_would_read(
    made: ModuleType,
) -> None:
    @click.command(help="Take <b> and a|b.\n\n\b\nkept\nlines")
    @click.option("--way", type=click.Choice(["a", "b"]))
    def odd() -> None: ...

    group = click.Group("overread", commands={"odd": odd})
    ((command, context),) = made.commands(click.Context(group, info_name="overread"))
    section = made._section(command, context)
    assert r"Take \<b\> and a\|b." in section
    assert "```text\nkept\nlines\n```" in section
    assert "| `--way [a|b]` |" in section


def test_that_the_page_of_keys_has_every_action_of_the_window(
    made: ModuleType,
) -> None:
    page, _, keymaps = made.keys_page().partition("\n## Keymaps\n")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    plain = [row.replace("\\", "") for row in rows]
    for action in ACTIONS:
        row = f"| {action.text} | {as_displayed(action.shortcut)} |"
        assert any(line.startswith(row) for line in plain), action.id
    heads = sum(row.startswith("| command |") for row in rows)
    assert len(rows) == len(ACTIONS) + heads
    for keymap in presets():
        assert keymap.name in keymaps
        assert keymap.source in keymaps
        for name, key in keymap.keys.items():
            row = f"| {SPECS[name].text} |"
            (line,) = [line for line in keymaps.splitlines() if line.startswith(row)]
            assert f"| {key} |" in line.replace("\\", "")


def test_that_no_page_fetches_anything_from_another_host() -> None:
    """Fonts are the system's own, and every script lies beside the pages."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "  font: false\n" in config
    assert "://" not in config
    (script,) = re.findall(r"polyfills: \[(.+)\]", config)
    assert "iframe-worker" in script  # else the plug-in "offline" names unpkg.com
    assert (ROOT / "docs" / script).is_file()


def test_that_every_page_is_in_the_navigation() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = config.partition("\nnav:\n")[2].partition("\n\n")[0]
    named = re.findall(r": (\S+\.md)$", nav, re.MULTILINE)
    pages = {
        path.relative_to(ROOT / "docs").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
    }
    assert sorted(named) == sorted(pages | GENERATED)


def codes_used() -> set[str]:
    """Return every statement that the program or its tests name."""
    folders = (ROOT / "viewer", ROOT / "packaging", *(ROOT / "tests").iterdir())
    return {
        code
        for folder in folders
        if folder.name != "architecture"  # whose tests name some that are none
        for path in folder.rglob("*")
        if path.suffix in {".py", ".md", ".txt"}
        for code in CODE.findall(path.read_text(encoding="utf-8"))
    }


def test_that_every_statement_that_is_used_stands_in_the_documentation_once() -> None:
    pages = (read_page(path) for path in (ROOT / "docs" / "studies").glob("*.md"))
    named = [name for page in pages for name in page.names]
    assert sorted(named) == sorted(codes_used())


@pytest.mark.parametrize("study", sorted(OURS))
def test_that_a_study_page_has_every_setting_and_every_number(study: str) -> None:
    page = read_page(ROOT / "docs" / "studies" / f"{study}.md")
    with hook("docs_studies") as module:
        text = module.filled(page.text)
    assert "<!--" not in text
    found = study_named(study)
    for param in fields(found.read_params(found.presets()[0], {})):
        assert f"\n| `{param.name}` | " in text
    assert text.count("\n| number | is |\n") == 1


CONTRACTS = ("layers", "packages of services", "packages of ui", "packages of readers")


def test_that_the_architecture_page_draws_every_layer_and_says_what_it_is_for() -> None:
    page = read_page(ROOT / "docs" / "architecture" / "index.md")
    with hook("docs_layers") as module:
        drawn = module.filled(page.text)
        packages = [
            one for name in CONTRACTS for layer in module.layers(name) for one in layer
        ]
        assert [one for one in packages if not module.purpose(one)] == []
    assert "<!--" not in drawn
    for one in packages:
        assert f"<strong>{one.name}</strong>" in drawn
    assert drawn.count('class="package"') == len(packages)


def test_that_the_reference_has_every_part_of_a_plug_in() -> None:
    page = read_page(ROOT / "docs" / "extending" / "reference.md")
    with hook("docs_reference") as module:
        text = module.filled(page.text)
    assert "<!--" not in text
    parts = {*Study.__annotations__, *vars(Study), *vars(Adapter), *vars(Metric)}
    for part in parts:
        if not part.startswith("_"):
            assert re.search(rf"^`?{part}\b", text, re.MULTILINE), part


def test_that_the_reference_lists_parameters_and_errors() -> None:
    with hook("docs_reference") as module:
        said = module.described("viewer.models.loaded", "Loadable")
    assert "*Raises*" in said
    assert "- `LoadCancelledError`: Soon after `cancelled` was set." in said


def test_that_the_page_of_the_interface_has_all_that_it_offers() -> None:
    page = read_page(ROOT / "docs" / "api.md")
    with hook("docs_reference") as module:
        text = module.filled(page.text)
    assert "<!--" not in text
    errors = {name for name in api.__all__ if name.endswith("Error")}
    assert "`api.ITEM_COLUMNS`" in text
    for name in {*api.__all__} - errors - {"Store", "ITEM_COLUMNS"}:
        assert re.search(rf"^(### {name}$|`{name}\()", text, re.MULTILINE), name
    for name, _ in inspect.getmembers(api.Store, inspect.isfunction):
        if not name.startswith("_"):
            assert re.search(rf"^`{name}\(", text, re.MULTILINE), name
    assert "_opened" not in text


def test_that_what_a_page_takes_from_a_file_is_there() -> None:
    taking = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
    for path in (ROOT / "docs").rglob("*.md"):
        for taken in taking.findall(path.read_text("utf-8")):
            assert (ROOT / taken).is_file(), (path, taken)


def test_that_every_entry_point_that_is_shown_is_one_of_the_examples() -> None:
    outside = ROOT / "tests" / "helpers" / "outside"
    groups = set()
    for path in (ROOT / "docs" / "extending").glob("*.md"):
        for code in read_page(path).blocks:
            if code.language != "toml" or "entry-points" not in code.text:
                continue
            shown = tomllib.loads(code.text)["project"]["entry-points"]
            groups |= set(shown)
            for target in (one for of in shown.values() for one in of.values()):
                module, _, name = target.partition(":")
                assert f"\n{name} = " in (outside / f"{module}.py").read_text("utf-8")
    assert groups == {
        f"viewer.{of}" for of in ("models", "readers", "studies", "metrics")
    }


def is_there(name: str) -> bool:
    """Tell whether a dotted name is a package, a module, or a name in one of them."""
    path = ROOT.joinpath(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    if not module.is_file():
        return False
    named = rf"^(?:(?:class|def) {path.name}\b|{path.name}(?:: .+)? = )"
    return bool(re.search(named, module.read_text("utf-8"), re.MULTILINE))


def test_that_every_word_is_explained_once_and_is_where_it_is_said_to_be() -> None:
    text = read_page(ROOT / "docs" / "glossary.md").text
    rows = re.findall(r"^\| (.+?) \| .+ \| `(.+)` \|$", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == sum(not line.startswith("| word ") for line in lines) > 60
    words = [word for row in rows for word in row[0].split(", ")]
    assert sorted(set(words)) == sorted(words)
    names = [place.replace("` `", ".") for _, place in rows]
    assert [name for name in names if not is_there(name)] == []
    assert not is_there("viewer.domain.case.Lane")


def test_that_the_code_that_an_architecture_page_names_is_there() -> None:
    """Names follow the file that they are in: `viewer/a.py` `one`, `other`."""
    for path in (ROOT / "docs" / "architecture").glob("*.md"):
        for line in read_page(path).text.splitlines():
            file = ROOT
            for name in (
                re.findall(r"`([\w./]+)`", line) if line.startswith("|") else ()
            ):
                if "/" in name:
                    file = ROOT / name
                    assert file.exists(), (path.name, name)
                elif file.suffix == ".py":
                    named = rf"^\s*(?:class|def) {name}\b"
                    assert re.search(named, file.read_text("utf-8"), re.MULTILINE), name


def absent_documents(path: Path) -> Iterator[str]:
    """Yield the documents that a source names and that are not in the repository."""
    text = path.read_text("utf-8")
    yield from re.findall(r"\bDESIGN\b|\(studies \d", text)
    for named in re.findall(r"(?<![\w/*.-])[\w/-]+\.md\b", text):
        places = (ROOT, ROOT / "docs", path.parent)
        if not any((place / named).is_file() for place in places):
            yield named


def test_that_the_sources_refer_to_documents_that_are_there(tmp_path: Path) -> None:
    found = {
        path: [*absent_documents(path)] for path in (ROOT / "viewer").rglob("*.py")
    }
    assert {path: absent for path, absent in found.items() if absent} == {}
    odd = tmp_path / "odd.py"
    odd.write_text("As studies.md 3.2 and DESIGN 4 say; see docs/batch.md.")
    assert [*absent_documents(odd)] == ["DESIGN", "studies.md"]


@pytest.mark.parametrize("study", sorted(OURS))
def test_that_a_study_page_names_the_code_of_its_parts(study: str) -> None:
    text = (ROOT / "docs" / "studies" / f"{study}.md").read_text("utf-8")
    folder, _, parts = text.partition("\nCode: `")[2].partition("`")
    named = re.findall(r"`(\w+\.py)`", parts.partition("\n\n")[0])
    assert len(named) > 5
    assert [name for name in named if not (ROOT / folder / name).is_file()] == []


KINDS = {str: "text", int: "whole number", float: "number", bool: "yes or no"}


def test_that_the_page_of_results_has_every_column_of_items_csv() -> None:
    text = (ROOT / "docs" / "results.md").read_text("utf-8")
    after = text.partition("### The columns of items.csv")[2]
    table = after.partition("\n\nA bundle")[0]
    rows = [f"| `{c.name}` | {KINDS[c.kind]} | {c.meaning} |" for c in ITEM_COLUMNS]
    assert [row for row in table.splitlines() if row.startswith("| `")] == rows


@pytest.mark.parametrize("outcome", Outcome)
def test_that_every_outcome_is_explained(outcome: Outcome) -> None:
    for page in ("results.md", "glossary.md"):
        assert f"`{outcome}`" in (ROOT / "docs" / page).read_text("utf-8"), page
    assert outcome in (api.Answer.__doc__ or "")


def test_that_decisions_are_numbered_and_say_what_follows_from_them() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text("utf-8")
    found = sorted(folder.glob("[0-9]*.md"))
    assert len(found) > 9
    for number, path in enumerate(found, 1):
        assert path.name.startswith(f"{number:04d}-")
        assert f"]({path.name})" in index
        page = read_page(path)
        assert page.text.startswith(f"# {number}. ")
        for title in ("Context", "Decision", "Consequences"):
            assert len(page.section(title)) > 80
