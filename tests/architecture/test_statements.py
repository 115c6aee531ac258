"""Statements have a test or wait for a screen, and no test names another one."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.architecture.conftest import loaded_script

ROOT = Path(__file__).parents[2]
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """Return the script that prints the table, loaded from its file."""
    with loaded_script("statements") as module:
        yield module


def named(path: Path) -> set[str]:
    """Return the statements that the tests of a file name."""
    text = path.read_text(encoding="utf-8")
    if "mark.statement(" not in text:
        return set()
    return {
        argument.value
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("statement")
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def test_that_every_statement_has_a_test_and_every_name_is_a_statement(
    script: ModuleType,
) -> None:
    found = {statement for path in TESTS for statement in named(path)}
    complete = set(script.GRID_LOCALIZATION) | set(script.SHARED)
    assert complete <= found <= set(script.STATEMENTS)
    assert set(script.WAITING) <= set(script.STATEMENTS) - found


def test_that_the_table_has_a_line_for_each_test_and_says_what_is_not_proved(
    script: ModuleType,
) -> None:
    book = script.Book()
    book.named = {"E000-01": ["a.py::test_that_it_is[1]", "a.py::test_that_it_is[2]"]}
    book.results = {"a.py::test_that_it_is[1]": "passed"}
    lines = tuple(script.lines(book))
    assert (lines[0].test, lines[0].result) == (
        "a.py::test_that_it_is",
        "passed 1, not run 1",
    )
    assert "| E000-01 | a.py: it is | passed 1, not run 1 |" in script.printed(lines)
    assert lines[1].result == "no test"
    wrong = list(script.problems(lines, only_list=False))
    assert len(wrong) == len(script.STATEMENTS) - len(script.WAITING) - 1
    book.results["a.py::test_that_it_is[2]"] = "failed"
    first = next(script.problems(tuple(script.lines(book)), only_list=False))
    assert first == "E000-01 fails: a.py::test_that_it_is."
    book.named["E000-99"] = ["b.py::test_x"]
    *_, last = script.problems(tuple(script.lines(book)), only_list=True)
    assert last == "E000-99 is no statement."
