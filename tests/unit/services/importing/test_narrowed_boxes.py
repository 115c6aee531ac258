"""Whose boxes count, and what the report affirms, before questions are drawn."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.heal_trials import ANATOMIES, box_in, image
from viewer.cli import run_command_line
from viewer.domain.case import Dataset, ReferenceBox
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.report_study import ReportStudy, StudyImage
from viewer.services.importing.draw_questions import drawing
from viewer.services.importing.narrowed_boxes import Narrowing, narrowed
from viewer.store import cases
from viewer.store.database import open_store

EDEMA, MASS = "Edema", "Nodule/Mass"
REPORTS = {
    "a": "Enlarged heart. There is pulmonary oedema. No nodule.",
    "b": "A mass is seen in the right lung; edema cannot be excluded.",
    "c": "",
}


def _dataset() -> Dataset:
    """Return three images with boxes by three readers, and their reports."""
    images = []
    for key, readers in (("a", "RST"), ("b", "RS"), ("c", "R")):
        plain = image(key)
        drawn = {
            EDEMA: tuple(ReferenceBox(box_in("Left lung"), by) for by in readers[:2]),
            MASS: (ReferenceBox(BoxPx(4, 8, 12, 20), readers[0]),),
        }
        images.append(replace(plain, boxes=drawn, readers=tuple(readers)))
    items = tuple(
        ReportStudy(
            f"s{key}", f"p{key}", (StudyImage(key, "PA"),), findings=text
        ).item()
        for key, text in REPORTS.items()
    )
    return Dataset("d", "mimic-cxr", Path(), tuple(images), (), "hash", items=items)


def _kept(found: Dataset) -> dict[str, list[str]]:
    return {image.key: sorted(image.boxes) for image in found.images}


def test_that_nothing_is_left_out_unless_it_is_asked_for() -> None:
    source = _dataset()
    found = narrowed(source, Narrowing())
    assert found.dataset == source
    assert found.drawn == found.by_readers == found.in_reports == {EDEMA: 3, MASS: 3}


@pytest.mark.statement("E002-01")
def test_that_only_findings_that_the_report_affirms_keep_their_boxes() -> None:
    found = narrowed(_dataset(), Narrowing(report_filter=True))
    assert _kept(found.dataset) == {"a": [EDEMA], "b": [EDEMA, MASS]}
    assert (found.drawn, found.in_reports) == ({EDEMA: 3, MASS: 3}, {EDEMA: 2, MASS: 1})
    ((kind, subject, text),) = [
        (n.kind, n.subject, n.text) for n in found.dataset.notices
    ]
    assert (kind, subject) == ("report_without_findings", "c")
    expected = "Its report has no findings section, so nothing is asked about it."
    assert text == expected


def test_that_a_rule_of_readers_decides_whose_boxes_count() -> None:
    half = narrowed(_dataset(), Narrowing("majority"))
    assert _kept(half.dataset) == {"a": [EDEMA], "b": [EDEMA, MASS], "c": [EDEMA, MASS]}
    assert half.by_readers == {EDEMA: 3, MASS: 2}
    one = narrowed(_dataset(), Narrowing("S"))
    assert _kept(one.dataset) == {"a": [EDEMA], "b": [EDEMA]}
    (notice,) = one.dataset.notices
    assert notice.text == "1 image not read by S: not asked about."
    with pytest.raises(WrongUseError, match="no boxes by reader 'Nobody'"):
        narrowed(_dataset(), Narrowing("Nobody"))


def test_that_a_data_set_without_reports_says_so() -> None:
    with pytest.raises(WrongUseError, match="'d' has no reports to compare"):
        narrowed(replace(_dataset(), items=()), Narrowing(report_filter=True))


def test_that_questions_are_drawn_from_the_boxes_that_count() -> None:
    own = {"anatomies": list(ANATOMIES), "reader_rule": "R", "report_filter": True}
    found = drawing(_dataset(), overrides=own)
    assert {item.images[0] for item in found.dataset.items} == {"a", "b"}
    assert [(b.finding, b.drawn, b.in_reports) for b in found.boxes] == [
        (EDEMA, 3, 2),
        (MASS, 3, 1),
    ]
    assert "report_without_findings" in {n.kind for n in found.notices}
    with pytest.raises(WrongUseError, match="a value that it cannot have"):
        drawing(_dataset(), overrides={"report_filter": "yes"})


def test_that_the_command_line_shows_what_is_left_before_anything_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        cases.add_dataset(opened, _dataset())
    settings = [f"anatomies={json.dumps(ANATOMIES)}", "report_filter=true"]
    words = [word for one in settings for word in ("--set", one)]
    asked = ["questions", "d", *words, "--store", str(store)]
    assert run_command_line([*asked, "--check"]) == 0
    said = capsys.readouterr()
    assert "finding" in said.out
    assert "'d': would be drawn: " in said.out
    lines = [line.split() for line in said.out.splitlines()]
    assert [EDEMA, "3", "3", "2", "2"] in lines
    assert "no findings section" in said.err
    with open_store(store) as opened:
        assert [d.name for d in cases.dataset_summaries(opened)] == ["d"]
    assert run_command_line(asked) == 2
    assert "The questions need a name." in capsys.readouterr().err
