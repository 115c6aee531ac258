"""The paper's pack of a run that asked again, and of one that nobody graded."""

import csv
from pathlib import Path

import pytest

from tests.helpers.item_datasets import report_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.exchange import ModelProfile
from viewer.services.reporting.pack import write_pack
from viewer.store import cases
from viewer.store.database import open_store

SAID = 'An effusion. {"boxes": [{"image": 1, "label": "it", "box": [0, 0, 500, 500]}]}'
GRADES = """reader,model,item,image,process,execution,synthesis,language,\
image_content,image_style,repeat,concerns
A,o3,s1|t1,,5,5,5,5,,,1,Too large.
"""


def packed(folder: Path, grades: str) -> tuple[Path, list[str]]:
    """Return a pack of one model asked twice, and the sentences that were said."""
    dataset = report_dataset(folder / "studies")
    if grades:
        (dataset.root / "grades.csv").write_text(grades, encoding="utf-8")
    spec = a_spec(
        [ModelProfile("o3", "scripted", {"answer": SAID})],
        study="rubric_reading",
        dataset="studies",
        repeats=2,
        params={"replicates": 20},
    )
    said: list[str] = []
    with open_store(folder / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        run = plan_and_finish(store, spec)
        write_pack(store, "rexecution2025", run, folder / "pack", say=said.append)
    return folder / "pack", said


def tiles(pack: Path, name: str) -> list[dict[str, str]]:
    path = pack / "figures" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.statement("E001-17")
def test_that_a_card_is_of_the_repeat_that_was_graded(tmp_path: Path) -> None:
    pack, said = packed(tmp_path, GRADES)
    (card,) = tiles(pack, "figure_4")
    assert (card["item"], card["concerns"]) == ("s1|t1", "Too large.")
    assert (card["labels"], card["excerpt"]) == ("it", "An effusion.")
    examples = tiles(pack, "boxed_outputs")
    assert len(examples) == 4
    assert {tile["outcome"] for tile in examples} == {"excluded"}
    assert said == [
        "A graded alone, so agreement cannot be measured.",
        (
            "7 of 8 delivered outputs without a grade: excluded as ungraded; a grade "
            "of one repeat does not count for another."
        ),
        "Figure 5 needs the grades of two readers.",
    ]


def test_that_a_pack_without_grades_says_what_it_lacks(tmp_path: Path) -> None:
    pack, said = packed(tmp_path, "")
    assert not (pack / "figures" / "figure_3.svg").exists()
    assert said[0] == "No reader has graded an output of this run's models."
    assert said[1].startswith("Figures 3, 4 and 5 need readers' grades")


def test_that_what_was_not_delivered_is_in_no_picture(tmp_path: Path) -> None:
    other = GRADES.replace(",1,Too", ",5,Too") + "A,o3,s2|t1,,4,4,4,4,,,,\n"
    pack, said = packed(tmp_path, other)
    assert not (pack / "figures" / "figure_4.svg").exists()
    assert "No reader had a concern about an output." in said


@pytest.mark.statement("E001-17")
def test_that_a_card_has_every_remark_and_one_of_each_failure_comes_first(
    tmp_path: Path,
) -> None:
    header = GRADES.splitlines()[0] + ",codes,comment_process"
    lines = (
        ("A", "s1|t1", "", "", "Too large.", "box_too_large"),
        ("A", "s1|t1", "1", "image", "", "left_right_swap"),
        ("B", "s1|t1", "", "", "Swapped.", "left_right_swap"),
        ("A", "s2|t1", "", "", "Again too large.", "box_too_large"),
    )
    rows = (
        f"{reader},o3,{item},{image},"
        f"{',,,,5,5' if kind else '5,5,5,5,,'},0,{concern},{code},"
        for reader, item, image, kind, concern, code in lines
    )
    pack, _ = packed(tmp_path, "\n".join((header, *rows)) + "\n")
    first, second = tiles(pack, "figure_4")
    assert first["item"] == "s1|t1"
    assert first["concerns"] == (
        "Too large. | Box too large to be useful | Left and right mixed up | Swapped."
    )
    assert second["concerns"] == "Again too large. | Box too large to be useful"
    assert (pack / "figures" / "figure_4.pdf").read_bytes().startswith(b"%PDF")
