"""Odd data and odd work, taken through every step: a sentence or an honest table.

Masks of another size, a finding without a positive, one patient, all hits, all misses,
a question answered twice, ids that do not exist, readers who stop half-way, stores of
every older version, and two windows on one store.
"""

import csv
import io
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.forked import start_program
from tests.stories.conftest import Said
from viewer.cli import run_command_line
from viewer.domain.answer import CellAnswer
from viewer.domain.form_catalog import CONFIDENCE, PLACE, READER_TASK
from viewer.domain.grid import Cell
from viewer.domain.reading import LockedError
from viewer.services.comparing.export import forest_of
from viewer.services.comparing.runs import compare, statistics_of
from viewer.services.comparing.sides import Side
from viewer.services.comparing.tables import numbers_of_group
from viewer.services.inspecting.predictions.groups import grouped
from viewer.services.inspecting.predictions.view import By
from viewer.services.readings.opening import open_reader_study
from viewer.services.readings.recording import lock
from viewer.settings import read_settings
from viewer.store.database import open_store
from viewer.ui.panels.measure.results_groups_panel import row_words

NO_NUMBER = re.compile(r"(?<![A-Za-z_])(nan|NaN|None|inf|Infinity)(?![A-Za-z_])")


def refused(said: tuple[int, str, str]) -> str:
    """Check for exit code 2 and one line on standard error; return the line."""
    code, out, err = said
    assert (code, out, len(err.splitlines())) == (2, "", 1), said
    return err


def studied(home: Path, answers: Sequence[str], replicates: int = 200) -> Path:
    """Write the study of models m0, m1 … that always say one thing."""
    names = [f"m{i}" for i in range(len(answers))]
    models = "".join(
        f'[[model]]\nname = "{name}"\nadapter = "scripted"\nanswer = "{answer}"\n'
        for name, answer in zip(names, answers, strict=True)
    )
    path = home / "studied.toml"
    path.write_text(
        f'study = "grid_localization"\ndataset = "tiny"\nmodels = {names}\n[params]\n'
        f"grids = [8]\nreplicates = {replicates}\npaper_replicates = 50\n{models}"
    )
    return path


def masked(home: Path, patients: Sequence[int], finding: str, inside: int) -> None:
    """Write images with a mask of ``inside`` in the middle: D4 and its neighbours."""
    (home / "tiny").mkdir()
    for i, patient in enumerate(patients):
        name = home / "tiny" / f"patient{patient:05d}_{i}_frontal"
        Image.fromarray(np.full((120, 100), 60 + i, np.uint8)).save(f"{name}.png")
        mask = np.zeros((120, 100), np.uint8)
        mask[40:75, 35:70] = inside
        Image.fromarray(mask).save(f"{name}.{finding}.png")


def every_output(say: Said, home: Path) -> dict[str, str]:
    """Make all that can be made of the last run; hold its words and its bundle."""
    said = {}
    for name, words in {
        "report": ("report", "last", "--out", "HOME/report"),
        "compare": ("compare", "last:m0", "last:m1", "--out", "HOME/compared"),
        "compare_json": ("compare", "last:m0", "last:m1", "--json"),
        "bundle": ("export", "bundle", "last", "--out", "HOME/bundle.zip"),
        "verify": ("verify", "HOME/bundle.zip"),
        "readings": ("readings", "--run", "last"),
    }.items():
        code, said[name], err = say(*words)
        assert (code, err) == (0, ""), (name, err)
    assert "VERIFIED" in said["verify"]
    written = (*(home / "compared").rglob("*"), *(home / "report").rglob("*"))
    for path in written:
        if path.suffix in {".csv", ".json"}:
            said[path.name] = path.read_text()
    for name, text in said.items():
        assert not NO_NUMBER.search(text), (name, NO_NUMBER.search(text))
    with open_store(read_settings(None).store) as store:
        path = store.path
    view = grouped(path, tuple(By))
    items = rows_of(said["items.csv"])
    assert view.total.n_planned == len(items)
    return said


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_that_a_finding_without_a_positive_is_said_and_the_others_are_asked(
    say: Said, home: Path
) -> None:
    masked(home, (0, 1), "Edema", 255)
    image = next((home / "tiny").glob("patient00000_0_frontal.png"))
    Image.new("L", (100, 120)).save(image.with_suffix(".Cardiomegaly.png"))
    sentence = "No image has Cardiomegaly: every mask of it is empty."
    assert sentence in say("import", "folder", "HOME/tiny")[2]
    assert say("run", studied(home, ("D4", "A1")))[0] == 0
    said = every_output(say, home)
    assert sentence in said["defects.csv"]
    assert {row["finding"] for row in rows_of(said["items.csv"])} == {"Edema"}


def test_that_without_any_positive_nothing_is_planned(say: Said, home: Path) -> None:
    masked(home, (0, 1), "Edema", 0)
    assert "every mask of it is empty" in say("import", "folder", "HOME/tiny")[2]
    assert "no reference at all" in refused(say("run", studied(home, ("D4",))))
    assert json.loads(say("runs", "--json")[1]) == []


def test_that_a_single_patient_has_rates_and_no_interval_over_patients(
    say: Said, home: Path
) -> None:
    masked(home, (7, 7, 7), "Edema", 255)
    assert "All images are of one patient" in say("import", "folder", "HOME/tiny")[2]
    assert say("run", studied(home, ("D4", "A1")))[0] == 0
    said = every_output(say, home)
    for row in rows_of(said["recommended.csv"]):
        assert row["patients"] == "1"
        assert row["hit_rate"] == ("1.0" if row["model"] == "m0" else "0.0")
        assert {row["patient_sd"], row["ci_low"], row["ci_high"]} == {""}
        assert "not estimable from one patient" in row["ci_method"]
    for row in rows_of(said["results.csv"]):
        assert (row["gain_low"], row["gain_high"]) == ("", "")
    for row in rows_of(said["differences.csv"]):
        assert (row["ci_low"], row["ci_high"]) == ("", "")
    assert "ci: not estimable from one patient, 95 %" in said["compare"]
    with open_store(read_settings(None).store) as store:
        compared = compare(store, Side(1, "m0"), Side(1, "m1"))
        statistics = statistics_of(store, compared)
        told = numbers_of_group(compared, statistics, ("grid=8", "Edema"))
        forest = forest_of(compared, statistics)
        assert told[1].startswith("not estimable from one patient, 95 %")
        groups = grouped(store.path, (By.CONDITION, By.MODEL))
    assert forest.interval == "none: one patient gives no interval"
    assert {row.interval for row in forest.rows} == {None}
    words = row_words(groups, 0)
    assert words.startswith("This row: 3 of 3 trials, 1 patient, 100.0 %")
    assert "not estimable from one patient" in words
    assert "nan" not in words
    assert "not estimable" in (home / "report" / "report.html").read_text()
    assert say("pack", "grid2025", "--run", "last", "--out", "HOME/pack")[0] == 0


@pytest.mark.parametrize(
    ("answers", "k", "bounds"),
    [
        (("D4", "D5"), 3, ("0.2924017", "1.0")),
        (("A1", "H8"), 0, ("0.0", "0.7075982")),
        (("no idea", "I cannot help with that."), 0, ("0.0", "0.7075982")),
    ],
    ids=["all hits", "all misses", "nothing readable"],
)
def test_that_all_or_nothing_has_an_exact_interval(
    say: Said, home: Path, answers: tuple[str, str], k: int, bounds: tuple[str, str]
) -> None:
    masked(home, (0, 1, 2), "Edema", 255)
    say("import", "folder", "HOME/tiny")
    assert say("run", studied(home, answers))[0] == 0
    said = every_output(say, home)
    for row in rows_of(said["results.csv"]):
        assert (row["k"], row["n_planned"]) == (str(k), "3")
        assert row["ci_low"].startswith(bounds[0])
        assert row["ci_high"].startswith(bounds[1])
        assert row["ci_method"] == "Clopper-Pearson, 95 %"
    for row in rows_of(said["recommended.csv"]):
        assert row["ci_low"].startswith(bounds[0])
        assert row["ci_high"].startswith(bounds[1])


def test_that_a_run_of_which_all_is_excluded_has_tables_without_rates(
    say: Said, home: Path
) -> None:
    masked(home, (0, 1), "Edema", 255)
    for path in (home / "tiny").glob("*.Edema.png"):
        Image.new("L", (10, 10), 255).save(path)
    assert "10 × 10" in say("import", "folder", "HOME/tiny")[2]
    assert say("run", studied(home, ("D4", "A1")))[0] == 0
    said = every_output(say, home)
    assert "2 excluded on a side" in said["compare"]
    for row in rows_of(said["results.csv"]):
        assert (row["n_planned"], row["n_excluded"], row["hit_rate"]) == ("2", "2", "")


def test_that_a_question_answered_twice_is_refused_unless_both_agree(
    say: Said, home: Path
) -> None:
    masked(home, (0, 1, 2), "Edema", 255)
    say("import", "folder", "HOME/tiny")
    say("run", studied(home, ("D4",)))
    say("report", "last", "--out", "HOME/report")
    lines = (home / "report" / "items.csv").read_text().splitlines()
    twice = [*lines, lines[1]]
    assert say("run", replaying(home, "twice.csv", twice))[0] == 0
    differing = [*lines, lines[1].replace("D4", "A1")]
    said = refused(say("run", replaying(home, "differing.csv", differing)))
    assert "two answers to patient00000_0_frontal|Edema (grid=8, repeat 0)" in said
    ghosts = [lines[0], *(line.replace("patient", "ghost") for line in lines[1:])]
    code, out, _ = say("run", replaying(home, "ghosts.csv", ghosts), "--json")
    assert (code, json.loads(out)["counts"]) == (1, {"provider_error": 3})


def replaying(home: Path, name: str, lines: Sequence[str]) -> Path:
    """Write a report's items, and the study that answers them again."""
    (home / name).write_text("\n".join(lines))
    scripted, replay = 'adapter = "scripted"\nanswer = "D4"', 'adapter = "replay"'
    path = studied(home, ("D4",))
    text = path.read_text().replace(scripted, replay)
    path.write_text(f'{text}items_file = "{home / name}"\n')
    return path


def test_that_what_a_reader_did_half_is_incomplete_everywhere(
    say: Said, home: Path
) -> None:
    masked(home, (0, 1, 2), "Edema", 255)
    say("import", "folder", "HOME/tiny")
    say("run", studied(home, ("D4",)))
    with open_store(read_settings(None).store) as store:
        path = store.path
    session = open_reader_study(path, "tiny", READER_TASK, "Ann")
    for words in (("readings", "--session", session, "--enter"),
                  ("export", "readings", session, "--out", "HOME/none")):  # fmt: skip
        assert "is locked yet" in refused(say(*words))
    lock(path, session, 0, {PLACE: CellAnswer(Cell(3, 3)), CONFIDENCE: 4})
    with pytest.raises(LockedError, match="perhaps in another window"):
        lock(path, session, 0, {PLACE: CellAnswer(Cell(0, 0)), CONFIDENCE: 4})
    assert "1 answer added" in say("readings", "--session", session, "--enter")[1]
    assert "0 answers added" in say("readings", "--session", session, "--enter")[1]
    code, out, _ = say("compare", "last", "1:m0")
    assert code == 1
    assert "Incomplete: 2 pairs" in out
    assert say("report", "last", "--out", "HOME/report")[0] == 0
    (row, *_) = rows_of((home / "report" / "results.csv").read_text())
    assert (row["n_planned"], row["n_pending"], row["k"]) == ("3", "2", "1")
    assert say("export", "bundle", "last", "--out", "HOME/b.zip")[0] == 0
    assert say("verify", "HOME/b.zip")[0] == 0
    code, _, err = say("export", "readings", session, "--out", "HOME/readings")
    assert code == 0
    assert err.splitlines() == [
        "Ann has locked 1 of 3 cases so far.",
        "The area under the ROC curve is not defined: every patient has Edema.",
    ]
    assert "all intact" in say("readings", "--check")[1]


def test_that_two_windows_that_plan_the_same_at_once_have_one_run(home: Path) -> None:
    masked(home, range(8), "Edema", 255)
    run_command_line(["import", "folder", str(home / "tiny")])
    file, pipe = studied(home, ("D4",)), subprocess.PIPE
    both = [
        start_program("run", file, stdout=pipe, stderr=pipe, text=True)
        for _ in range(2)
    ]
    said = [(*process.communicate(), process.returncode) for process in both]
    assert min(code for *_, code in said) == 0
    for _, err, code in said:
        assert code == 0 or (code == 2 and "is being worked on by" in err)
    with open_store(read_settings(None).store) as store:
        assert store.rows("SELECT count(*) FROM run")[0][0] == 1
        assert store.rows("SELECT count(*) FROM attempt")[0][0] == 8
