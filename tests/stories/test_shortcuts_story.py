"""Cases solved from their options alone are found, revised or excluded, asked again."""

import csv
from pathlib import Path

import pytest

from tests.stories.conftest import Overread, Said, rows_of

MODELS = """
study = "evidence_diagnosis"
dataset = "{name}"
models = ["first", "second", "third"]
[params]
tasks = ["ddx", "fdx"]
controls = ["options_only"]
option_order = "given"
[[model]]
name = "first"
adapter = "scripted"
answer = "A"
[[model]]
name = "second"
adapter = "scripted"
answer = "A"
[[model]]
name = "third"
adapter = "scripted"
answer = "1. Amyloidosis\\n2. Vasculitis"
"""
NEW = "Amyloidosis"


def ask(folder: Path, name: str, overread: Overread, store: list[object]) -> int:
    path = folder / f"{name}.toml"
    path.write_text(MODELS.format(name=name), encoding="utf-8")
    return int(overread("run", path, *store)["run"])


@pytest.mark.statement("E004-23")
def test_that_shortcuts_are_found_revised_or_excluded_and_looked_for_again(
    tmp_path: Path, overread: Overread, say: Said
) -> None:
    store: list[object] = ["--store", tmp_path / "s.sqlite"]
    made = ["--out", tmp_path / "cases", "--n", 10, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *made)
    overread("import", "medsyn", tmp_path / "cases", *store)
    run = ask(tmp_path, "cases", overread, store)
    export = ["export", "shortcuts", run, "--out", tmp_path / "next", *store]
    _, out, _ = say(*export)
    rows = rows_of(tmp_path / "next" / "options.csv")
    found = [row for row in rows if row["shortcut"] == "yes"]
    assert [row["models_right"] for row in found] == ["2"] * len(found)
    assert f"Most models solve {len(found)} of 10 cases from the options alone" in out
    # two or three of three guesses at four options: 3 · 1/16 · 3/4 + 1/64
    assert f"guessing would solve {10 * 10 / 64:.1f}" in out
    assert all(NEW in row["candidates"] for row in rows)

    revised, excluded, *others = (row["case"] for row in found)
    for row in rows:
        if row["case"] == revised:
            row |= {"verdict": "revise", "new_2": NEW}
        elif row["case"] == excluded:
            row["verdict"] = "exclude"
    path = tmp_path / "next" / "options.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    _, out, _ = say(*export)
    for case in others:
        assert f"The case '{case}' has no verdict, although 2 of 3 models" in out
    assert f"{9 - len(others)} cases written, 1 excluded" in out

    told = overread("import", "medsyn", tmp_path / "next", *store)
    assert told["items"] == 9 - len(others)
    items = {one["item"]: one for one in overread("cases", "next", *store)["items"]}
    assert excluded not in items
    before = next(row for row in rows if row["case"] == revised)
    options = items[revised]["facts"]["options"]
    assert sorted(options) == sorted(
        (before["diagnosis"], before["distractor_1"], NEW, before["distractor_3"])
    )
    again = ask(tmp_path, "next", overread, store)
    last = tmp_path / "last"
    say("export", "shortcuts", again, "--out", last, *store)
    left = {row["case"] for row in rows_of(last / "options.csv")}
    assert left == set(items)


def test_that_a_run_without_the_control_says_how_to_find_shortcuts(
    tmp_path: Path, overread: Overread, say: Said
) -> None:
    store: list[object] = ["--store", tmp_path / "s.sqlite"]
    made = ["--out", tmp_path / "cases", "--n", 2, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *made)
    overread("import", "medsyn", tmp_path / "cases", *store)
    path = tmp_path / "plain.toml"
    text = MODELS.format(name="cases").replace('["options_only"]', "[]")
    path.write_text(text, encoding="utf-8")
    run = overread("run", path, *store)["run"]
    code, _, err = say("export", "shortcuts", run, "--out", tmp_path / "x", *store)
    assert code == 2
    assert "no model answered a case from its options alone" in err
    assert 'controls = ["options_only"]' in err
