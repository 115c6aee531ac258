"""Completions of a differential do not tell the options of its case."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.evidence_cases import cases_dataset
from viewer.domain.case import Dataset
from viewer.domain.form import RankedTextQuestion
from viewer.domain.rubric import NO_GRADES
from viewer.studies.evidence_diagnosis.readings import READING_TASKS

OPTIONS = 4
FEWEST = 100


def with_cases(dataset: Dataset, n: int, *, shared: int = 0) -> Dataset:
    """Return a data set of so many cases; its first options are in every case."""
    first, names = dataset.items[0], [f"diagnosis {i}" for i in range(n * OPTIONS)]
    options = (
        (*names[:shared], *names[i * OPTIONS + shared : (i + 1) * OPTIONS])
        for i in range(n)
    )
    items = tuple(
        replace(first, key=f"c{i}", facts={**first.facts, "options": list(of)})
        for i, of in enumerate(options)
    )
    return replace(dataset, items=items)


def completions(dataset: Dataset) -> tuple[str, ...]:
    form = READING_TASKS[0].form(dataset, NO_GRADES.rubric)
    (question,) = (q for q in form.questions if isinstance(q, RankedTextQuestion))
    return question.suggestions


def test_that_a_small_data_set_completes_no_diagnosis(tmp_path: Path) -> None:
    dataset = cases_dataset(tmp_path)
    assert completions(dataset) == ()
    assert completions(replace(dataset, items=())) == ()


@pytest.mark.parametrize(
    ("cases", "shared", "completed"),
    [(25, 0, False), (26, 0, True), (26, 1, False), (35, 1, True)],
)
def test_that_a_hundred_diagnoses_of_others_stand_beside_those_of_a_case(
    tmp_path: Path, cases: int, shared: int, completed: bool
) -> None:
    offered = completions(with_cases(cases_dataset(tmp_path), cases, shared=shared))
    every = shared + cases * (OPTIONS - shared)
    assert (every - OPTIONS >= FEWEST) is completed
    assert len(offered) == (every if completed else 0)
    assert list(offered) == sorted(set(offered))
