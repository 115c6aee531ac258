"""From generated tiles to a compared table, on the command line alone (PathMMU)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stories.conftest import rows_of
from viewer.cli import run_command_line
from viewer.domain.choice import letter_of
from viewer.store.database import open_store

Overread = Callable[..., Any]
STUDY = """
study = "pathology_mcq"
dataset = "tiles"
seed = 7
models = ["knows", "errs"]
[params]
arms = ["image", "text_only"]
[[model]]
name = "knows"
adapter = "scripted"
answers_file = "right.json"
[[model]]
name = "errs"
adapter = "scripted"
answers_file = "wrong.json"
"""


def _asked(overread: Overread, folder: Path) -> list[dict[str, Any]]:
    """Write and import tiles, scripts and a study file; return the items."""
    store = ["--store", folder / "s.sqlite"]
    tiles = ["--out", folder / "tiles", "--n", 10, "--seed", 1, "--size", "128x128"]
    overread("phantom", "--study", "pathology_mcq", *tiles)
    told = overread("import", "pathmmu", folder / "tiles", "--name", "tiles", *store)
    items: list[dict[str, Any]] = overread("cases", "tiles", *store)["items"]
    assert told["items"] == len(items) > 10
    right = {one["item"]: letter_of(one["reference"]["option"]) for one in items}
    wrong = {
        key: ("B" if right[key] == "A" else "A") if i % 3 == 0 else right[key]
        for i, key in enumerate(sorted(right))
    }
    (folder / "right.json").write_text(json.dumps(right), encoding="utf-8")
    (folder / "wrong.json").write_text(json.dumps(wrong), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    return items


def test_that_questions_are_run_reported_judged_again_and_compared(
    overread: Overread, tmp_path: Path
) -> None:
    items, store = _asked(overread, tmp_path), ["--store", tmp_path / "s.sqlite"]
    n, misses = len(items), len(range(0, len(items), 3))
    ran = overread("run", tmp_path / "study.toml", *store)
    assert ran["status"] == "finished"
    assert sum(ran["counts"].values()) == 4 * n
    overread("report", "last", "--out", tmp_path / "out", *store)
    listed = rows_of(tmp_path / "out" / "items.csv")
    assert len(listed) == 4 * n
    rates = {
        (row["condition"], row["model"]): (int(row["k"]), int(row["n"]))
        for row in rows_of(tmp_path / "out" / "results.csv")
        if (row["finding"], row["view"]) == ("(micro)", "all")
    }
    assert {key[1]: of for key, of in rates.items()} == {
        "knows": (n, n),
        "errs": (n - misses, n),
    }
    assert len(rates) == 4
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert overread("rescore", "last", *store) == {"replies": 4 * n, "changed": 0}
    overread("report", "last", "--out", tmp_path / "out", *store)
    assert {path: path.read_bytes() for path in before} == before
    compared = overread("compare", "1:knows", "1:errs", *store)
    assert compared["flips_by_cause"] == {"answer": 2 * misses}


def test_that_a_run_goes_on_where_it_stopped_and_asks_nothing_twice(
    overread: Overread, tmp_path: Path
) -> None:
    items, store = _asked(overread, tmp_path), ["--store", tmp_path / "s.sqlite"]
    overread("run", tmp_path / "study.toml", "--limit", 3, *store)
    overread("run", tmp_path / "study.toml", *store)
    overread("run", tmp_path / "study.toml", *store)
    (_, whole) = overread("runs", *store)
    assert whole["n_planned"] == 4 * len(items)
    with open_store(tmp_path / "s.sqlite") as opened:
        keys = opened.rows("SELECT request_sha256 FROM attempt")
    assert len({row[0] for row in keys}) == len(keys) == 4 * len(items)


def test_that_people_read_its_table_in_words(
    overread: Overread, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _asked(overread, tmp_path)
    study, store = str(tmp_path / "study.toml"), str(tmp_path / "s.sqlite")
    capsys.readouterr()
    assert run_command_line(["run", study, "--store", store]) == 0
    said = capsys.readouterr().out
    assert "text only" in said
    assert "text_only" not in said
    assert "random" not in said
    assert "gain" not in said
    assert run_command_line(["cases", "tiles", "--store", store]) == 0
    assert "PubMed" in capsys.readouterr().out
