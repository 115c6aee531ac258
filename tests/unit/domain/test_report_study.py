from json import dumps, loads

import pytest

from viewer.domain.geometry import SizePx
from viewer.domain.item import Item
from viewer.domain.report_study import ReportStudy, StudyImage, is_study, study_of
from viewer.domain.task_selection import Category, SelectedTask

TASK = SelectedTask("s1", "t1", "Describe the pleura.", Category.BROAD, temporal=True)
STUDY = ReportStudy(
    "s1",
    "p1",
    (StudyImage("a", "PA", size=SizePx(8, 6)), StudyImage("b", "AP", prior=True)),
    "Cough.",
    "An effusion.",
    "2180-03-01",
    12,
    (TASK,),
)


@pytest.mark.statement("E001-01")
def test_that_a_study_comes_back_from_its_item() -> None:
    item = STUDY.item()
    assert study_of(item) == STUDY
    assert loads(dumps(dict(item.facts))) == dict(item.facts)
    assert item.images == ("a", "b")
    assert (item.kind, STUDY.has_prior) == ("temporal", True)


@pytest.mark.statement("E001-01")
def test_that_findings_are_truth_and_never_told() -> None:
    item = STUDY.item()
    assert "An effusion." not in repr(item.facts)
    assert item.reference["findings"] == "An effusion."
    alone = ReportStudy("s2", "p1", (StudyImage("a", "PA"),))
    assert (alone.item().kind, study_of(alone.item())) == ("single", alone)


def test_that_a_study_is_told_from_other_items() -> None:
    assert is_study(STUDY.item())
    assert is_study(ReportStudy("s2", "p1", ()).item())
    assert not is_study(Item("a", "p1", facts={"views": ["PA"]}))
