"""Published rows from a file to a table."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.heal_run import heal_spec
from tests.helpers.small_datasets import write_picture
from tests.helpers.tiny_study import plan_and_finish
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.reference import Mask
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.running.plan_run import plan_run
from viewer.store.database import Store, open_store
from viewer.studies.grounded_vqa.params import Params, read_params
from viewer.studies.grounded_vqa.study import STUDY

SIDE = (90, 70)


def _area(name: str, x: float) -> dict[str, object]:
    yy, xx = np.mgrid[: SIDE[0], : SIDE[1]]
    mask = (yy - 50) ** 2 + (xx - x * SIDE[1]) ** 2 < 200
    return {name: {"size": list(SIDE), "counts": Mask.of_array(mask).counts}}


def _write(folder: Path) -> None:
    left, right = _area("Left lower lung", 0.7), _area("Right lower lung", 0.3)
    ask = "Does {} have {}".format
    rows = [
        ("a", ask("Left lower lung", "edema"), "Yes", left),
        ("a", ask("Right lower lung", "edema"), "No", right),
        ("b", "Is there edema present in right lower lung?", "Yes", right),
        ("b", ask("Left lower lung", "edema"), "No", left),
        ("c", "List all abnormalities in the Left lower lung", "None", left),
        ("c", "Are there any abnormalities in the Right lower lung?", "Edema", right),
        ("c", "What is your name?", "Yes", ""),
        ("gone", ask("Left lower lung", "edema"), "Yes", ""),
    ]
    for i, name in enumerate("abc"):
        write_picture(folder / f"{name}.png", np.full(SIDE, 60 + i, dtype=np.uint8))
    listed = [
        dict(zip(("image", "question", "answer", "location"), row, strict=True))
        for row in rows
    ]
    (folder / "test.json").write_text(json.dumps(listed))


def _run(store: Store, folder: Path) -> tuple[Dataset, RunReport]:
    _write(folder)
    dataset = import_dataset(store, "heal", folder, "q")
    says = ModelProfile("yes", "scripted", {"answer": "Yes"})
    run = plan_and_finish(store, heal_spec([says]))
    return dataset, report_data(store, run)


@pytest.mark.statement("E002-04", "E002-09", "E002-10")
def test_that_published_rows_are_asked_perturbed_and_counted(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        dataset, report = _run(store, tmp_path)
    assert len(dataset.items) == 8
    tables = {table.name: table for table in report.data.tables}
    closed = tables["closed_scores"]
    counts = dict(zip(closed.header, closed.rows[0], strict=True))
    assert (counts["tp"], counts["fp"], counts["fn"]) == (2, 2, 0)
    textual = {row[3]: row for row in tables["table_3_textual"].rows}
    assert textual["TPT anatomy"][4:8] == (2, 0, 2, 0)
    assert textual["TPT disease"][4:8] == (2, 2, 0, 0)
    visual = tables["table_4_visual"].rows
    assert [row[4:8] for row in visual] == [(2, 0, 2, 0)]
    by_reason: dict[str, int] = {}
    for result in report.results:
        by_reason[result.score.reason] = by_reason.get(result.score.reason, 0) + 1
    assert by_reason["unknown_template"] == 1
    assert by_reason["missing_file"] >= 1
    assert "threshold_curve_iou" not in tables


def test_that_a_batch_is_priced_by_its_longest_questions(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        dataset, _ = _run(store, tmp_path)
    plain = STUDY.longest(dataset, Params(arms=("plain",), longest_side=64))
    assert len(plain) == 1
    assert plain[0].text == "Are there any abnormalities in the Right lower lung?"
    assert [(s.rows, s.columns) for s in plain[0].images] == [(64, 50)]
    every = read_params(
        "heal2025",
        {
            "arms": ["plain", "vpt", "crop"],
            "extraction": "model",
            "extractor": "reads",
        },
    )
    asked = STUDY.longest(dataset, every)
    assert [len(one.images) for one in asked] == [2, 1, 1, 0, 0]
    assert [one.role for one in asked] == ["", "", "", "extractor", "extractor"]
    empty = Dataset("e", "heal", Path(), (), (), "")
    assert STUDY.longest(empty, Params())[0].images == ()


def test_that_the_study_tells_what_it_resolved(tmp_path: Path) -> None:
    params = STUDY.read_params("heal2025", {})
    assert STUDY.preset_title("heal2025") == "As published (HEAL-MedVQA 2025)"
    assert any("threshold is not known" in text for text in STUDY.notices(params))
    looking = STUDY.read_params("heal2025", {"plain_attention": True})
    (needed,) = set(STUDY.notices(looking)) - set(STUDY.notices(params))
    assert 'attention = "eager"' in needed
    names = [name for name, _ in STUDY.prompts(params)]
    assert names == [
        *("closed_1", "closed_2", "closed_3", "open_1", "open_2", "open_3"),
        *("locate", "extract_labels", "extract_yes_no"),
    ]
    assert STUDY.roles(params) == {}
    with open_store(tmp_path / "s.sqlite") as store:
        import_dataset(store, "heal", _folder(tmp_path), "q")
        says = ModelProfile("yes", "scripted", {"answer": "Yes"})
        with pytest.raises(WrongUseError, match="no questions about anatomies"):
            plan_run(store, heal_spec([says]))


def _folder(folder: Path) -> Path:
    write_picture(folder / "a.png", np.full(SIDE, 60, dtype=np.uint8))
    row = {"image": "a", "question": "Why?", "answer": "Yes", "location": ""}
    (folder / "test.json").write_text(json.dumps([row]))
    return folder
