"""A flip of each kind, constructed, is explained as what it was constructed from."""

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.tiny_study import (
    D4,
    a_spec,
    hitting_run,
    masked_elsewhere,
    plan_and_finish,
    two_models,
)
from viewer.domain.answer import CellAnswer, Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.grid import Cell
from viewer.domain.result import Outcome, Score
from viewer.services.comparing.causes import Cause
from viewer.services.comparing.runs import Comparison, compare
from viewer.services.comparing.sides import Side
from viewer.services.comparing.why import Explainer
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import Store
from viewer.studies.grid_localization import parse as parser
from viewer.studies.grid_localization import score as scorer
from viewer.studies.grid_localization.study import GridLocalization


@pytest.fixture
def hits(store: Store, tmp_path: Path) -> int:
    return hitting_run(store, tmp_path / "d")


def compared(store: Store, first: int, second: int) -> Comparison:
    return compare(store, Side(first, "says-d4"), Side(second, "says-d4"))


def test_that_two_models_of_a_run_flip_by_their_answers(
    store: Store, tmp_path: Path
) -> None:
    first, second = two_models(store, tmp_path / "d")
    comparison = compare(store, first, second)
    assert comparison.flips
    assert {flip.why.because for flip in comparison.flips} == {(Cause.ANSWER,)}
    assert not any(flip.why.recomputed for flip in comparison.flips)
    assert comparison.flips[0].why.detail.startswith("D4 → ")


def test_that_what_hashes_tell_is_what_computing_again_finds(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = two_models(store, tmp_path / "d")
    quick = [flip.why for flip in compare(store, *sides).flips]
    monkeypatch.setattr(Explainer, "_only_the_answer", lambda *_: False)
    slow = [flip.why for flip in compare(store, *sides).flips]
    assert all(why.recomputed for why in slow)
    assert [(w.because, w.changed, w.detail) for w in slow] == [
        (w.because, w.changed, w.detail) for w in quick
    ]


def test_that_a_model_of_another_run_flips_by_its_answer(
    store: Store, hits: int
) -> None:
    far = ModelProfile("says-d4", "scripted", {"answer": "A1"})
    other = plan_and_finish(store, a_spec([far]))
    why = [flip.why for flip in compared(store, hits, other).flips]
    assert [(w.because, w.detail) for w in why] == [((Cause.ANSWER,), "D4 → A1")] * 4


def test_that_the_same_reply_read_otherwise_flips_by_the_parser(
    store: Store, hits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misread(*_: object) -> CellAnswer:
        return CellAnswer(Cell(0, 0), "misread")

    with monkeypatch.context() as changed:
        changed.setattr(parser, "parse", misread)
        changed.setattr(GridLocalization, "parser_version", "0")
        other = plan_and_finish(store, a_spec([D4]), new=True)
    comparison = compared(store, hits, other)
    why = {str(flip.why) for flip in comparison.flips}
    assert why == {"parser: read as D4 and as A1, by parser 1 and 0"}
    assert {flip.why.changed for flip in comparison.flips} == {(Cause.PARSER,)}
    assert len(comparison.flips) == 4
    assert comparison.causes == {Cause.PARSER: 4}


def test_that_another_mask_flips_by_the_reference(
    store: Store, hits: int, tmp_path: Path
) -> None:
    moved = masked_elsewhere(tmp_path / "moved", tmp_path / "d")
    import_dataset(store, "folder", moved, "moved")
    other = plan_and_finish(store, a_spec([D4], dataset="moved"))
    comparison = compared(store, hits, other)
    assert [flip.why.because for flip in comparison.flips] == [(Cause.REFERENCE,)] * 4
    assert "the mask differs" in comparison.flips[0].why.detail
    assert comparison.asked.images.different == ()


def test_that_another_rule_for_its_cells_flips_by_the_reference_too(
    store: Store, hits: int
) -> None:
    params = {"grids": [8], "hit_threshold": 1.0}
    other = plan_and_finish(store, a_spec([D4], params=params))
    comparison = compared(store, hits, other)
    assert len(comparison.flips) == 4
    for flip in comparison.flips:
        assert flip.why.because == (Cause.REFERENCE,)
        assert "the rule for its cells differs" in flip.why.detail


def test_that_another_grid_flips_by_the_transform(store: Store, hits: int) -> None:
    other = plan_and_finish(store, a_spec([D4], params={"grids": [16]}))
    comparison = compared(store, hits, other)
    assert [flip.why.because for flip in comparison.flips] == [(Cause.TRANSFORM,)] * 4
    detail = "a different image was sent and the grid is placed differently"
    assert {flip.why.detail for flip in comparison.flips} == {detail}
    assert len(comparison.asked.images.different) == 4
    assert comparison.groups[0].condition == "grid=8 / grid=16"


def test_that_an_answer_to_another_image_is_the_transforms(
    store: Store, hits: int
) -> None:
    far = ModelProfile("says-d4", "scripted", {"answer": "A1"})
    params = {"grids": [8], "line_px": 2}
    other = plan_and_finish(store, a_spec([far], params=params))
    comparison = compared(store, hits, other)
    assert len(comparison.flips) == 4
    assert {flip.why.because for flip in comparison.flips} == {(Cause.TRANSFORM,)}
    for flip in comparison.flips:
        assert Cause.ANSWER in flip.why.changed
        assert flip.why.detail == "a different image was sent"


def test_that_another_scorer_is_told_from_all_these(
    store: Store, hits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def harsh(answer: Any, reference: Any) -> Score:  # noqa: ANN401 - a stand-in
        del answer, reference
        return Score(Status.SCORED_WRONG, "", "D4", 0.0, Outcome.MISS)

    with monkeypatch.context() as changed:
        changed.setattr(scorer, "score", harsh)
        changed.setattr(GridLocalization, "scorer_version", "0")
        other = plan_and_finish(store, a_spec([D4]), new=True)
    whys = {str(flip.why) for flip in compared(store, hits, other).flips}
    assert whys == {"scorer: scored by version 1, then by 0"}
