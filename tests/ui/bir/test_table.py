"""The table of the IHE profile in docs/bir.md: every row has its tests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from viewer.ui.application.preferences import WORDS

ROOT = Path(__file__).parents[3]
REQUIREMENTS = range(1, 39)
NONE = "–"


@dataclass(frozen=True)
class Row:
    """A requirement, what is done, where it differs, the preference and the tests."""

    number: int
    here: str
    differs: str
    preference: str
    tests: tuple[str, ...]


def _rows() -> Iterator[Row]:
    for line in (ROOT / "docs" / "bir.md").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\| B(\d+) \|", line):
            _, _, here, differs, preference, tests, _ = map(str.strip, line.split("|"))
            names = tuple(re.findall(r"`(\w+)`", tests))
            yield Row(int(found[1]), here, differs, preference, names)


def _tests() -> set[str]:
    """Return the tests of the window that are named after a requirement."""
    found: set[str] = set()
    for path in (ROOT / "tests" / "ui").rglob("test_*.py"):
        source = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"^def (test_b\d\d_\w+)", source, re.MULTILINE))
    return found


def test_that_every_requirement_has_a_row_with_all_its_tests() -> None:
    rows = list(_rows())
    assert [row.number for row in rows] == list(REQUIREMENTS)
    there = _tests()
    for row in rows:
        own = {name for name in there if name.startswith(f"test_b{row.number:02}_")}
        assert own
        assert set(row.tests) == own


def test_that_each_row_says_what_is_done_and_what_differs_and_why() -> None:
    lines = {wording.line for wording in WORDS.values()}
    for row in _rows():
        assert row.here not in {"", NONE}
        assert row.differs
        assert "partly" not in f"{row.here} {row.differs}".casefold()
        assert row.preference == NONE or row.preference in lines
