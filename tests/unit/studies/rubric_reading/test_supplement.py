"""Supplementary figure 1a draws what the curation selected, not what was proposed."""

import pytest

from viewer.domain.figure import StackFigure
from viewer.domain.report import Table
from viewer.studies.rubric_reading.supplement import supplementary

SELECTION = (
    ("s1", "Describe the pleura.", None),  # as proposed by the first model
    ("s2", "Compare with the prior.", 18),  # scored again
    ("s3", "Describe the lungs, please.", None),  # edited, not scored again
    ("s4", "Something new.", 9),  # written and scored
    ("s5", "No score.", None),  # the proposal's score could not be read
)
PROPOSED = (
    ("s1", "Describe the pleura.", 17),
    ("s1", "Describe the pleura.", 5),  # of the second model
    ("s2", "Compare with the prior.", 12),
    ("s3", "Describe the lungs.", 20),
    ("s5", "No score.", None),
)


def drawn(
    selection: tuple[tuple[object, ...], ...], proposed: tuple[tuple[object, ...], ...]
) -> dict[str, StackFigure]:
    tables = {
        "selection": Table("selection", ("item", "words", "rescored"), selection),
        "candidates": Table("candidates", ("item", "task", "total"), proposed),
        "tags": Table("tags", ("tag", "value", "tasks"), ()),
        "quality_histogram": Table(
            "quality_histogram", ("total", "candidates"), ((12, 3), (20, 1))
        ),
    }
    if not proposed:
        del tables["candidates"], tables["quality_histogram"]
    return {one.head.name: one for one in supplementary(tables)}


def counts(figure: StackFigure) -> dict[str, int]:
    return {stack.group: stack.n for stack in figure.stacks if stack.n}


@pytest.mark.statement("E001-06")
def test_that_figure_s1a_has_the_scores_of_the_selected_tasks() -> None:
    found = drawn(SELECTION, PROPOSED)
    figure = found["supplementary_1a"]
    assert counts(figure) == {"9": 1, "17": 1, "18": 1}
    assert [stack.group for stack in figure.stacks] == [str(n) for n in range(4, 21)]
    assert "2 as a radiologist scored them again, 1 as the model did" in str(figure)
    assert "not scored: 2." in str(figure)
    assert counts(found["proposed_quality"]) == {"12": 3, "20": 1}


def test_that_tasks_of_a_file_count_with_what_radiologists_scored() -> None:
    assert counts(drawn(SELECTION, ())["supplementary_1a"]) == {"9": 1, "18": 1}
    assert "supplementary_1a" not in drawn(SELECTION[:1], ())
