"""Bundles of studies about items hold, and whatever is changed in one is named."""

import csv
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.bundled_run import bundled_run
from tests.helpers.proof_params import always
from tests.helpers.study_samples import SAMPLES, STUDIES, item_run
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.case import Dataset
from viewer.domain.errors import PrivacyError
from viewer.domain.exchange import ModelProfile
from viewer.domain.item import Item
from viewer.readers.datasets.files import content_sha256
from viewer.results.spec_json import spec_documents, specs_of
from viewer.services.configuring.own_prompts import prompts_of
from viewer.services.exporting.bundling.contents import replies_with_names
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import report_data
from viewer.store import cases, consents
from viewer.store.database import Store, open_store
from viewer.writers.bundle import bundle_bytes
from viewer.writers.verify.main import verify

Record = dict[str, Any]


def odd_run(store: Store, folder: Path, study: str, **params: object) -> int:
    """Ask a study's sample of models that answer well, oddly, in words and with no."""
    says = "(B)\nbecause of it."
    return item_run(store, folder, study, params, odd="???", says=says, no="No")


def quiet(_sentence: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Made:
    """A bundle with the cells of its run's own tables."""

    data: bytes
    tables: dict[str, list[tuple[object, ...]]]


class Bundles(dict[str, Made]):
    """A bundle of each study, made when it is first asked for, twice the same."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, study: str) -> Made:
        with open_store(self._folder / f"{study}.sqlite") as store:
            run = odd_run(store, self._folder / study, study)
            data = run_bundle(store, run)
            assert run_bundle(store, run) == data
            tables = report_data(store, run).data.tables
        self[study] = Made(data, {t.name: list(t.rows) for t in tables})
        return self[study]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    return Bundles(tmp_path_factory.mktemp("bundles"))


def members_of(data: bytes) -> dict[str, bytes]:
    """Return a bundle's files by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def resealed(members: dict[str, bytes]) -> bytes:
    """Return a bundle of changed files with every hash made good again."""
    manifest = json.loads(members["manifest.json"])
    del manifest["manifest_sha256"]
    rest = {name: data for name, data in members.items() if name != "manifest.json"}
    return bundle_bytes(rest, manifest)


def with_trials(data: bytes, change: Callable[[list[Record]], object]) -> list[str]:
    """Return what is wrong with a bundle whose trials were changed."""
    return with_lines(data, "trials.jsonl", change)


def with_lines(
    data: bytes, name: str, change: Callable[[list[Record]], object]
) -> list[str]:
    """Return what is wrong with a bundle one of whose lists was changed."""
    members = members_of(data)
    lines = [json.loads(line) for line in members[name].splitlines()]
    change(lines)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return verify(resealed({**members, name: text.encode()}), quiet).wrong


HELD: dict[str, set[str]] = {
    "evidence_diagnosis": {"published"},
    "grounded_vqa": {
        *("benchmark", "mask_origins", "threshold_curve_ioa", "threshold_curve_iou"),
    },
    "pathology_mcq": {"sizes"},
    "question_set": set(),
    "rubric_reading": {
        *("coverage", "inputs", "prompt_difference", "published", "rubric"),
        *("selection", "tags"),
    },
}
"""What lists a data set or a paper, of which no bundle holds the records."""


@pytest.mark.parametrize("study", STUDIES)
def test_that_every_study_s_bundle_holds_and_says_what_was_worked_out(
    study: str, made: dict[str, Made]
) -> None:
    found = verify(made[study].data, quiet)
    assert (found.wrong, found.left) == ([], [])
    done = "\n".join(found.done)
    members = members_of(made[study].data)
    named = {n.removeprefix("tables/") for n in members if n.startswith("tables/")}
    worked = {name for name in named if f"tables/{name}: " in done}
    held = HELD[study]
    assert {name.removesuffix(".csv") for name in named - worked} == held
    only = f"Checked against their hashes only: {', '.join(sorted(held))}."
    assert (only in done) is bool(held)
    manifest = json.loads(members["manifest.json"])
    assert {f"{name}.csv" for name in manifest["recomputed_tables"]} == worked
    page = members["index.html"].decode()
    assert "What it does not" in page
    assert "What it does not" in members["README.txt"].decode()
    assert "(B)\\nbecause of it." in page


@pytest.mark.parametrize("study", STUDIES)
def test_that_the_specifications_of_the_tables_travel(
    study: str, made: dict[str, Made]
) -> None:
    documents = json.loads(members_of(made[study].data)["specs.json"])
    assert spec_documents(specs_of(documents)) == documents
    specified = {one["name"] for one in documents}
    assert specified | {"published"} >= {*made[study].tables}


@pytest.mark.parametrize("study", STUDIES)
def test_that_pseudonyms_change_no_number_of_any_table(
    study: str, made: dict[str, Made]
) -> None:
    members = members_of(made[study].data)
    for name, rows in made[study].tables.items():
        text = members[f"tables/{name}.csv"].decode()
        _, *printed = csv.reader(io.StringIO(text, newline=""))
        assert len(printed) == len(rows), name
        for row, cells in zip(rows, printed, strict=True):
            for value, cell in zip(row, cells, strict=True):
                if isinstance(value, float | int) and not isinstance(value, bool):
                    assert cell == repr(value), name


@pytest.mark.parametrize("study", STUDIES)
def test_that_verify_py_alone_verifies_it(
    study: str, made: dict[str, Made], tmp_path: Path
) -> None:
    bundle, script = tmp_path / "bundle.zip", tmp_path / "verify.py"
    bundle.write_bytes(made[study].data)
    script.write_bytes(members_of(made[study].data)["verify.py"])
    words = [sys.executable, "-I", "-S", str(script), str(bundle)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("VERIFIED: bundle.zip is consistent.\n")


@pytest.mark.parametrize(
    "study",
    always({"grid_localization", "rubric_reading"}, ["grid_localization", *STUDIES]),
)
def test_that_own_prompts_stand_in_a_bundle_that_verifies(
    study: str, tmp_path: Path
) -> None:
    built_in = prompts_of(study).known.values()
    own = {one.name: f"{one.text} As always." for one in built_in}
    with open_store(tmp_path / "s.sqlite") as store:
        if study in STUDIES:
            run = odd_run(store, tmp_path / "data", study, prompts=own)
        else:
            run = bundled_run(store, tmp_path, prompts=own)
        members = members_of(run_bundle(store, run))
        found = verify(resealed(members), quiet)
    assert (found.wrong, found.left) == ([], [])
    told = json.loads(members["manifest.json"])["study"]["own_prompts"]
    assert {one["name"]: one["text"] for one in told} == own
    for one in told:
        assert one["sha256"] == hashlib.sha256(one["text"].encode()).hexdigest()
    for asked in json.loads(members["plan.json"])["prompts"]:
        assert "As always." in asked["text"]
    assert b"Custom prompts" in members["report.html"]


@pytest.mark.parametrize("study", STUDIES)
def test_that_a_changed_reply_is_named(study: str, made: dict[str, Made]) -> None:
    def change(lines: list[Record]) -> None:
        lines[0]["text"] = lines[0]["text"].replace('"text": "', '"text": "Z')

    wrong = with_lines(made[study].data, "replies.jsonl", change)
    assert wrong
    assert "differs from its hash" in wrong[0]


def test_that_a_reply_changed_with_its_hash_is_named_where_it_is_plain(
    made: dict[str, Made],
) -> None:
    data = made["pathology_mcq"].data
    members = members_of(data)
    replies = [json.loads(line) for line in members["replies.jsonl"].splitlines()]
    trials = [json.loads(line) for line in members["trials.jsonl"].splitlines()]
    trial = next(one for one in trials if one["answer"] == "A")
    number = trial["steps"][0]["reply"]
    body = replies[number]["text"].replace("(A)", "(C)")
    replies[number]["text"] = body
    for one in trials:
        for step in one["steps"]:
            if step["reply"] == number:
                step["reply_sha256"] = hashlib.sha256(body.encode()).hexdigest()
    for name, lines in (("replies.jsonl", replies), ("trials.jsonl", trials)):
        members[name] = "".join(json.dumps(x) + "\n" for x in lines).encode()
    wrong = verify(resealed(members), quiet).wrong
    assert any("the reply says C, but A" in one for one in wrong)


SCORED = ("evidence_diagnosis", "grounded_vqa", "pathology_mcq")


@pytest.mark.parametrize("study", SCORED)
def test_that_a_changed_score_is_named(study: str, made: dict[str, Made]) -> None:
    changed: list[str] = []

    def change(lines: list[Record]) -> None:
        trial = next(one for one in lines if one["status"] == "scored_wrong")
        trial["status"] = "scored_correct"
        changed.append(trial["item"])

    wrong = with_trials(made[study].data, change)
    assert any(
        changed[0] in one and "it is scored_correct, but scored_wrong" in one
        for one in wrong
    )


@pytest.mark.parametrize("study", STUDIES)
def test_that_what_was_read_cannot_be_called_unread(
    study: str, made: dict[str, Made]
) -> None:
    def change(lines: list[Record]) -> None:
        trial = next(one for one in lines if "words" in one["parsed"])
        trial["status"], trial["reason"] = "unparsed", "nothing"

    wrong = with_trials(made[study].data, change)
    assert any("it is unparsed nothing, but" in one for one in wrong)


def test_that_a_plain_answer_cannot_be_stored_as_unread(
    made: dict[str, Made],
) -> None:
    def change(lines: list[Record]) -> None:
        trial = next(one for one in lines if one["answer"] == "A")
        trial["parsed"] = json.dumps({"status": "unparsed", "reason": "no_option"})
        trial["status"], trial["reason"], trial["answer"] = "unparsed", "no_option", ""

    wrong = with_trials(made["pathology_mcq"].data, change)
    assert any(
        "the reply says (A), but the stored answer is empty" in one for one in wrong
    )


@pytest.mark.parametrize(
    ("study", "name"),
    [
        ("evidence_diagnosis", "judge"),
        ("pathology_mcq", "official"),
        ("rubric_reading", "boxes"),
    ],
)
def test_that_a_changed_number_is_named(
    study: str, name: str, made: dict[str, Made]
) -> None:
    def change(lines: list[Record]) -> None:
        trial = next(one for one in lines if name in dict(one["numbers"]))
        trial["numbers"] = [[n, v + (n == name)] for n, v in trial["numbers"]]

    wrong = with_trials(made[study].data, change)
    assert any(f": {name} is " in one for one in wrong)


_FORGED = ("evidence_diagnosis", "rubric_reading")
_FORGED_IN_PROOFS = [
    pytest.param(study, marks=pytest.mark.proof)
    for study in STUDIES
    if study not in _FORGED
]


@pytest.mark.parametrize("study", [*_FORGED, *_FORGED_IN_PROOFS])
def test_that_a_trial_that_is_missing_doubled_or_new_is_named(
    study: str, made: dict[str, Made]
) -> None:
    def drop(lines: list[Record]) -> None:
        del lines[1]

    def double(lines: list[Record]) -> None:
        lines.append(lines[0])

    def invent(lines: list[Record]) -> None:
        lines.append({**lines[0], "item": "N99999"})

    data = made[study].data
    assert " is missing." in with_trials(data, drop)[0]
    assert " is there 2 times." in with_trials(data, double)[0]
    assert "the trial N99999, " in with_trials(data, invent)[0]


CHANGED = {
    "evidence_diagnosis": (
        *("table_02", "table_03", "table_08", "table_11_zh", "positions"),
    ),
    "grounded_vqa": (
        *("closed_scores", "table_2_accuracy", "table_3_textual", "table_4_visual"),
        *("sham_control", "relative_gain", "table_5_ablation", "figure_7_dice"),
    ),
    "pathology_mcq": (
        *("accuracy_paper", "official", "accuracy_recommended", "noise", "guesses"),
        *("guess_audit", "experts"),
    ),
    "question_set": (),
    "rubric_reading": ("outputs",),
}


@pytest.mark.parametrize("study", STUDIES)
def test_that_changed_cells_are_named_by_table_row_and_column(
    study: str, made: dict[str, Made]
) -> None:
    members = members_of(made[study].data)
    places = set()
    for table in ("items", "results", *CHANGED[study]):
        name = f"tables/{table}.csv"
        header, *rows = csv.reader(io.StringIO(members[name].decode(), newline=""))
        line, place = next(
            (i, j)
            for i, row in enumerate(rows)
            for j, cell in enumerate(row)
            if cell.replace(".", "", 1).isdigit() and header[j] != "repeat"
        )
        rows[line][place] = str(float(rows[line][place]) + 1)
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([header, *rows])
        members[name] = text.getvalue().encode()
        places.add((f"{name}, row {line + 2} ", header[place]))
    wrong = verify(resealed(members), quiet).wrong
    told = {re.sub(r"\(.*\): (\w+) is .*", r"| \1", one) for one in wrong}
    assert told == {f"{where}| {column}" for where, column in places}
    assert len(wrong) == len(places)


def test_that_a_table_is_held_whether_or_not_the_manifest_names_it(
    made: dict[str, Made],
) -> None:
    members = members_of(made["pathology_mcq"].data)
    manifest = json.loads(members["manifest.json"])
    manifest["recomputed_tables"] = []
    members["manifest.json"] = json.dumps(manifest).encode()
    found = verify(resealed(members), quiet)
    assert found.wrong == []
    assert any(one.startswith("tables/official.csv: 16 rows") for one in found.done)


def test_that_what_is_right_cannot_be_changed_alone(made: dict[str, Made]) -> None:
    def change(lines: list[Record]) -> None:
        trial = next(one for one in lines if one["status"] == "scored_correct")
        trial["gold"]["right"] = (trial["gold"]["right"] + 1) % 3

    wrong = with_trials(made["pathology_mcq"].data, change)
    assert any("it is scored_correct, but scored_wrong" in one for one in wrong)


def test_that_a_run_nobody_was_asked_in_holds(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path / "d", "pathology_mcq", asked=False)
        data = run_bundle(store, run)
    assert verify(data, quiet).wrong == []
    assert json.loads(members_of(data)["manifest.json"])["incomplete"]


def test_that_means_over_corruptions_are_worked_out_again(tmp_path: Path) -> None:
    arms = {"arms": ["image", "corruption"]}
    with open_store(tmp_path / "s.sqlite") as store:
        data = run_bundle(store, item_run(store, tmp_path / "d", "pathology_mcq", arms))
    found = verify(data, quiet)
    assert found.wrong == []
    assert "tables/corruption.csv: 9 rows computed again." in found.done


def test_that_readers_grades_are_counted_again_under_pseudonyms(tmp_path: Path) -> None:
    header = "reader,model,item,image,process,execution,synthesis,language"
    grades = [
        "Grauammer,studied,s1|t1,,5,5,5,4",
        "Heckenbraunelle,studied,s1|t1,,5,4,5,4",
        "Grauammer,studied,s1|t2,,5,5,5,5",
        "Grauammer,odd,s2|t1,,1,2,3,4",
    ]
    columns = f"{header},image_content,image_style"
    text = "\n".join([columns, *(f"{row},," for row in grades)]) + "\n"
    with open_store(tmp_path / "s.sqlite") as store:
        folder = tmp_path / "d"
        run = odd_run(store, folder, "rubric_reading", main_reader="Grauammer")
        (folder / "grades.csv").write_text(text, encoding="utf-8")
        data = run_bundle(store, run)
    found = verify(data, quiet)
    assert found.wrong == []
    assert "4 grades of readers were counted again." in found.done
    members = members_of(data)
    assert b"scored_correct" in members["tables/items.csv"]
    for name, content in members.items():
        assert b"grauammer" not in content.lower(), name
    members["grades.json"] = members["grades.json"].replace(b": 5", b": 4")
    wrong = verify(resealed(members), quiet).wrong
    for table in ("items", "results", "table_1", "table_2"):
        assert any(one.startswith(f"tables/{table}.csv, row") for one in wrong)


def test_that_the_words_of_a_restricted_data_set_stay_here(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path / "d", "pathology_mcq", asked=False)
        consents.set_restricted(store, "sample", restricted=True)
        with pytest.raises(PrivacyError, match="'sample' is restricted"):
            run_bundle(store, run)


def test_that_a_bundle_that_would_name_a_case_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        folder = tmp_path / "d"
        run = item_run(store, folder, "evidence_diagnosis", tells="1. Gout (case-0001)")
        with pytest.raises(
            PrivacyError, match="replies of the run contain the name of an item"
        ):
            run_bundle(store, run)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Of case-0001.", True),
        ("CASE-0001", True),
        ("case-00012 and case", False),
        ("Sodium 120, HLA-B27.", False),
    ],
)
def test_that_a_name_is_looked_for_as_a_word(text: str, *, named: bool) -> None:
    items = tuple(Item(key, "p") for key in ("case-0001", "120", "case", "B7"))
    dataset = Dataset("d", "medsyn", Path(), (), (), "", "", items)
    assert replies_with_names([text, ""], dataset) == named


def test_that_a_run_that_makes_questions_holds(tmp_path: Path) -> None:
    tiles = SAMPLES["pathology_mcq"].make(tmp_path / "d")
    facts = {"caption": "Glands.", "subset": "Atlas", "split": "train"}
    images = tiles.images[:2]
    items = tuple(Item(i.key, i.patient, "Atlas", (i.key,), facts) for i in images)
    sha256 = content_sha256(images, items)
    dataset = replace(tiles, name="c", images=images, items=items, root_sha256=sha256)
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        maker = ModelProfile("maker", "scripted", {"answer": "No question at all."})
        run = plan_and_finish(
            store,
            a_spec(
                [maker], study="pathology_mcq", dataset="c", params={"work": "building"}
            ),
        )
        found = verify(run_bundle(store, run), quiet)
    assert found.wrong == []
    assert "tables/items.csv: 2 rows computed again." in found.done
