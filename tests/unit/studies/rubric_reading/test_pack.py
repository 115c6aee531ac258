"""The paper's pack of a run that asked again, and of one that nobody graded."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.item_datasets import report_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.exchange import ModelProfile
from viewer.domain.figure import Figure
from viewer.services.reporting.figures import pack_data, pack_input
from viewer.services.reporting.pack import write_pack
from viewer.services.reporting.report_run import checked_report
from viewer.store import cases
from viewer.store.database import Store, open_store
from viewer.studies.catalog import pack_named
from viewer.writers.figures_files import figure_csv, figure_picture

SAID = 'An effusion. {"boxes": [{"image": 1, "label": "it", "box": [0, 0, 500, 500]}]}'
GRADES = """reader,model,item,image,process,execution,synthesis,language,\
image_content,image_style,repeat,concerns
A,o3,s1|t1,,5,5,5,5,,,1,Too large.
"""


@dataclass(frozen=True)
class Packed:
    """What is missing in a pack, and each figure's rows, without drawing any."""

    missing: tuple[str, ...]
    figures: Mapping[str, Figure]

    def tiles(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a figure's CSV file."""
        text = figure_csv(self.figures[name]).decode()
        return list(csv.DictReader(text.splitlines()))


def packed(folder: Path, grades: str) -> Packed:
    """Return the pack of one model asked twice, whose outputs have these grades."""
    with a_run(folder, grades) as (store, run):
        report = checked_report(store, run)
        data = pack_data(
            pack_named("rexecution2025"), pack_input(store, report), report
        )
    return Packed(
        (*report.warnings, *data.missing), {one.head.name: one for one in data.figures}
    )


@contextmanager
def a_run(folder: Path, grades: str) -> Iterator[tuple[Store, int]]:
    dataset = report_dataset(folder / "studies")
    if grades:
        (dataset.root / "grades.csv").write_text(grades, encoding="utf-8")
    spec = a_spec(
        [ModelProfile("o3", "scripted", {"answer": SAID})],
        study="rubric_reading",
        dataset="studies",
        repeats=2,
        params={},
    )
    with open_store(folder / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        yield store, plan_and_finish(store, spec)


@pytest.mark.statement("E001-17")
def test_that_a_card_is_of_the_repeat_that_was_graded(tmp_path: Path) -> None:
    pack = packed(tmp_path, GRADES)
    (card,) = pack.tiles("figure_4")
    assert (card["item"], card["concerns"]) == ("s1|t1", "Too large.")
    assert (card["labels"], card["excerpt"]) == ("it", "An effusion.")
    examples = pack.tiles("boxed_outputs")
    assert len(examples) == 4
    assert {tile["outcome"] for tile in examples} == {"excluded"}
    assert list(dict.fromkeys(pack.missing)) == [
        "A graded alone, so agreement cannot be measured.",
        (
            "7 of 8 delivered outputs without a grade: excluded as ungraded; a grade "
            "of one repeat does not count for another."
        ),
        "Figure 5 needs the grades of two readers.",
    ]


def test_that_a_pack_without_grades_says_what_it_lacks(tmp_path: Path) -> None:
    said: list[str] = []
    with a_run(tmp_path, "") as (store, run):
        write_pack(store, "rexecution2025", run, tmp_path / "pack", say=said.append)
    figures = tmp_path / "pack" / "figures"
    assert (figures / "boxed_outputs.pdf").read_bytes().startswith(b"%PDF")
    assert not (figures / "figure_3.svg").exists()
    assert said[0] == "No reader has graded an output of this run's models."
    assert said[1].startswith("Figures 3, 4 and 5 need readers' grades")


def test_that_what_was_not_delivered_is_in_no_picture(tmp_path: Path) -> None:
    other = GRADES.replace(",1,Too", ",5,Too") + "A,o3,s2|t1,,4,4,4,4,,,,\n"
    pack = packed(tmp_path, other)
    assert "figure_4" not in pack.figures
    assert "No reader had a concern about an output." in pack.missing


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
    pack = packed(tmp_path, "\n".join((header, *rows)) + "\n")
    first, second = pack.tiles("figure_4")
    assert first["item"] == "s1|t1"
    assert first["concerns"] == (
        "Too large. | Box too large to be useful | Left and right mixed up | Swapped."
    )
    assert second["concerns"] == "Again too large. | Box too large to be useful"
    pdf = figure_picture(pack.figures["figure_4"], "pdf")
    assert pdf.startswith(b"%PDF")
