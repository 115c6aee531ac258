"""Candidates that compare with a prior, where none is recent enough (E001-05)."""

import pytest

from viewer.domain.report_study import ReportStudy, StudyImage
from viewer.domain.task_selection import Category, Source
from viewer.studies.rubric_reading.candidates import Candidate
from viewer.studies.rubric_reading.curating import Proposal
from viewer.studies.rubric_reading.selecting import CANDIDATE, _material
from viewer.studies.rubric_reading.tags import Tags

_CANDIDATE = Candidate(Category.MEASUREMENT, Source.FINDINGS, "What has changed?")
_TAGS = {"tag_temporal_context": ("Comparison with prior",)}


@pytest.mark.parametrize(
    ("prior_days", "most", "compares", "told"),
    [
        (None, 365, True, "compares with a prior, and there is none"),
        (400, 365, True, "compares with a prior, which is too old"),
        (300, 365, True, ""),
        (400, 0, True, ""),
        (400, 365, False, ""),
    ],
)
def test_that_a_candidate_says_if_there_is_no_prior_to_compare_with(
    prior_days: int | None, most: int, compares: bool, told: str
) -> None:
    images = [StudyImage("now", "PA", prior=False)]
    if prior_days is not None:
        images.append(StudyImage("then", "PA", prior=True))
    study = ReportStudy("s", "p", tuple(images), prior_days=prior_days)
    tags = Tags(_TAGS if compares else {})
    material = _material(study, [Proposal(_CANDIDATE, tags=tags)], most)
    option = material.options[CANDIDATE][0]
    assert ("compares" in option.help) == bool(told)
    assert told in option.help
