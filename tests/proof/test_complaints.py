"""Every complaint about other viewers' pictures and measures has a test here.

The rows are those of spec/workstation.md, sections 6.1 to 6.6, and the hanging of 7.12.
"""

import ast
import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
with Path(__file__).with_name("complaints.tsv").open(encoding="utf-8") as stream:
    ROWS = list(csv.DictReader(stream, delimiter="\t"))
NOT_OFFERED = "not offered: "


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["complaint"])
def test_that_a_complaint_has_its_test_or_its_reason(row: dict[str, str]) -> None:
    if row["test"].startswith(NOT_OFFERED):
        return
    path, name = row["test"].split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}


def test_that_no_section_is_left_out() -> None:
    counts = [sum(row["section"] == f"6.{n}" for row in ROWS) for n in range(1, 7)]
    assert counts == [7, 5, 5, 4, 3, 8]
