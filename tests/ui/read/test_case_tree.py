"""The list of cases lets go of what is not listed any more."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import write_images
from viewer.services.viewing.open_case import open_cases
from viewer.ui.panels.read.case_tree import CaseTree
from viewer.ui.panels.read.hanging import CaseRows, rows_of


@pytest.fixture
def listed(tmp_path: Path) -> Sequence[CaseRows]:
    *_, last = open_cases([write_images(tmp_path / "images", 3)], threading.Event())
    return rows_of(last.cases)


def test_that_cases_that_are_closed_leave_no_row(
    qtbot: QtBot, listed: Sequence[CaseRows]
) -> None:
    tree = CaseTree()
    qtbot.addWidget(tree)
    tree.show_cases(listed)
    first = [row.key for row in tree.rows()]
    assert len(first) >= 3
    tree.show_cases(())
    assert list(tree.rows()) == []
    tree.show_cases(listed)
    assert [row.key for row in tree.rows()] == first
