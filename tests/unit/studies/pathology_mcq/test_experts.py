from collections.abc import Sequence

import pytest

from tests.unit.studies.pathology_mcq.small import item
from viewer.domain.choice import ExpertChoice
from viewer.results.evaluate import evaluate
from viewer.studies.pathology_mcq.frames import (
    CHOICES,
    VOTES,
    choice_frame,
    vote_frame,
)
from viewer.studies.pathology_mcq.params import Pooling
from viewer.studies.pathology_mcq.questions import Mcq, mcq_of
from viewer.studies.pathology_mcq.scopes import scopes_of
from viewer.studies.pathology_mcq.tables import experts

AVERAGE, CONSENSUS = Pooling.AVERAGE, Pooling.CONSENSUS
ITEMS = [mcq_of(item(f"PubMed-test_tiny-{i}", 1)) for i in range(4)]
Row = tuple[object, ...]


def scored(
    choices: Sequence[ExpertChoice], mcqs: Sequence[Mcq], pooling: Pooling
) -> dict[Row, Row]:
    """Return the score, members, answered and items by part, subset and group."""
    scopes = scopes_of(mcqs)
    frames = {
        CHOICES: choice_frame(choices, mcqs, scopes),
        VOTES: vote_frame(choices, mcqs, scopes),
    }
    return {row[:3]: row[3:] for row in evaluate(experts(pooling), frames).rows}


def reads(group: str, reader: str, options: list[int | None]) -> list[ExpertChoice]:
    """Return a reader's choices of the four items, None where none was made."""
    return [
        ExpertChoice(group, reader, ITEMS[i].key, option)
        for i, option in enumerate(options)
        if option is not None
    ]


READ = [
    *reads("I", "ann", [1, 1, 1, 0]),
    *reads("I", "ben", [1, 0, None, None]),
    *reads("II", "cat", [0, 0, 1, 1]),
    *reads("II", "dan", [1, 0, 1, 2]),
    *reads("II", "eve", [1, 0, 0, 1]),
]


@pytest.mark.statement("E003-11")
def test_that_the_expert_score_is_the_mean_of_the_groups() -> None:
    rows = scored(READ, ITEMS, AVERAGE)
    first, second = rows["tiny", "Overall", "I"], rows["tiny", "Overall", "II"]
    assert (first[1:], second[1:]) == ((2, 4, 4), (3, 4, 4))
    assert first[0] == pytest.approx((3 / 4 + 1 / 2) / 2, abs=1e-15)
    assert second[0] == pytest.approx((2 / 4 + 2 / 4 + 2 / 4) / 3, abs=1e-15)
    mean = rows["tiny", "Overall", "mean"]
    assert mean[0] == pytest.approx((0.625 + 0.5) / 2, abs=1e-15)
    assert mean[1:] == (None, None, None)
    assert scored((), ITEMS, AVERAGE) == {}


@pytest.mark.statement("E003-11")
def test_that_a_groups_majority_counts_and_a_tie_is_wrong() -> None:
    rows = scored(READ, ITEMS, CONSENSUS)
    assert rows["tiny", "Overall", "I"][0] == 2 / 4
    assert rows["tiny", "Overall", "II"][0] == 3 / 4
    alone = scored(reads("I", "ann", [1, 0, None, None]), ITEMS, CONSENSUS)
    assert alone["tiny", "Overall", "I"][:3] == (0.5, 1, 2)


@pytest.mark.statement("E003-11")
def test_that_the_table_has_each_group_and_their_mean_in_each_part() -> None:
    other = mcq_of(item("Atlas-test_tiny-9", 0))
    strange = ExpertChoice("I", "ann", "nowhere", 0)
    rows = scored([*READ, strange], [*ITEMS, other], AVERAGE)
    assert rows["tiny", "Overall", "mean"][0] == pytest.approx(0.5625)
    assert rows["all", "PubMed", "II"][0] == pytest.approx(0.5)
    assert ("tiny", "Atlas", "mean") not in rows
