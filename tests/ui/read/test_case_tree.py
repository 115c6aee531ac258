"""The list of cases: a part of it at a time, whatever the number of cases."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import write_images
from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.services.viewing.open_case import open_cases
from viewer.ui.panels.read.case_listing import Entries
from viewer.ui.panels.read.case_rows import CaseRow
from viewer.ui.panels.read.case_tree import CaseTree
from viewer.ui.panels.read.hanging import CaseRows, Stack, StudyRows, rows_of


@pytest.fixture
def listed(tmp_path: Path) -> Sequence[CaseRows]:
    *_, last = open_cases([write_images(tmp_path / "images", 3)], threading.Event())
    return rows_of(last.cases)


def _many(n: int) -> tuple[CaseRows, ...]:
    """Return patients with a film each."""
    geometry = ImageGeometry(SizePx(4, 6))

    def case(name: str) -> CaseRows:
        ref = ImageRef(Path(f"{name}.dcm"))
        header = ImageHeader(ref, geometry, 1, "DX", View.FRONTAL, name, "s", "s")
        study = StudyRows("s", "2020-01-01", (Stack(name, "DX", (header,), name),))
        return CaseRows(name, name, (study,))

    return tuple(case(f"patient{i:05}") for i in range(n))


def _show(tree: CaseTree, cases: Sequence[CaseRows]) -> None:
    tree.show_entries(Entries().of(cases))


def _names(tree: CaseTree) -> list[str]:
    return [row.key[0] for row in tree.rows()]


def _goes_beyond(tree: CaseTree, last: str) -> bool:
    return _names(tree)[-1] > last


@pytest.fixture
def tree(qtbot: QtBot) -> CaseTree:
    made = CaseTree()
    qtbot.addWidget(made)
    made.resize(300, 500)
    made.show()
    return made


def test_that_cases_that_are_closed_leave_no_row(
    tree: CaseTree, listed: Sequence[CaseRows]
) -> None:
    _show(tree, listed)
    first = [row.key for row in tree.rows()]
    assert len(first) >= 3
    _show(tree, ())
    assert list(tree.rows()) == []
    _show(tree, listed)
    assert [row.key for row in tree.rows()] == first


def test_that_a_filter_makes_rows_only_of_what_may_be_seen(tree: CaseTree) -> None:
    tree.resize(300, 800)
    _show(tree, _many(5000))
    assert len(_names(tree)) < 1000
    assert tree.set_filter("patient")
    assert len(_names(tree)) < 20
    assert tree.set_filter("patient0499")
    assert _names(tree) == [f"patient0499{i}" for i in range(10)]
    assert tree.set_filter("patient0499 998")
    assert _names(tree) == ["patient04998"]
    assert not tree.set_filter("patient0499 998 lateral")
    tree.set_filter("")
    assert _names(tree)[0] == "patient00000"


def test_that_scrolling_to_the_end_of_what_is_there_adds_more_and_moves_nothing(
    tree: CaseTree, qtbot: QtBot
) -> None:
    _show(tree, _many(2000))
    for _ in range(5):
        last = _names(tree)[-1]
        tree.scrollToBottom()
        seen = tree.itemAt(QPoint(60, 250))
        assert seen is not None
        top = tree.visualItemRect(seen).top()
        qtbot.waitUntil(partial(_goes_beyond, tree, last))
        assert tree.visualItemRect(seen).top() == top
    assert len(_names(tree)) < 1000


def test_that_a_filter_finds_letters_of_any_script_wherever_a_case_is_listed(
    tree: CaseTree,
) -> None:
    (late,) = _many(1)
    late = replace(late, key="late", words="Ångström · 日本")
    _show(tree, (*_many(5000), late))
    for text in ("ÅNGSTRÖM", "本 frontal", "å 日"):
        assert tree.set_filter(text)
        assert _names(tree) == ["late"]
    assert not tree.set_filter("angstrom")


def test_that_any_row_can_be_gone_to(tree: CaseTree) -> None:
    _show(tree, _many(2000))
    row = tree.row_at(1500)
    assert row is not None
    assert row.key[0] == "patient01500"
    assert tree.row_at(2000) is None


def test_that_a_row_which_a_filter_hides_is_marked_again_later(tree: CaseTree) -> None:
    _show(tree, _many(20))
    row = tree.row_at(3)
    assert row is not None
    marked = row.key
    tree.mark(marked)
    tree.set_filter("patient00010")
    assert not tree.selectedItems()
    tree.set_filter("")
    assert [r.key for r in tree.selectedItems() if isinstance(r, CaseRow)] == [marked]
