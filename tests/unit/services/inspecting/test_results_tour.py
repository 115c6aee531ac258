from collections import defaultdict
from pathlib import Path

import pytest

from tests.helpers.random_results import MODELS, Known, random_results
from viewer.domain.answer import Status
from viewer.services.inspecting.predictions.groups import grouped
from viewer.services.inspecting.predictions.tour import Between, disagreements
from viewer.services.inspecting.predictions.view import By, Wanted
from viewer.store.database import open_store

_SILENT = {Status.PENDING, Status.EXCLUDED, Status.PROVIDER_ERROR}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "s.sqlite"


@pytest.fixture(scope="module")
def known(path: Path) -> tuple[Known, ...]:
    return random_results(path, 11, repeats=2)


def _is_hit(one: Known) -> bool:
    return one.score.status is Status.SCORED_CORRECT


def test_that_a_tour_of_the_reference_stops_at_every_miss(
    path: Path, known: tuple[Known, ...]
) -> None:
    view = grouped(path, [By.MODEL])
    for row, model in enumerate(MODELS):
        stops = disagreements(path, view, row, Between.REFERENCE)
        assert [stop.trial for stop in stops] == [
            one.id
            for one in known
            if one.trial.model == model
            and one.score.status not in _SILENT
            and not _is_hit(one)
        ]


def _mixed(known: tuple[Known, ...]) -> set[tuple[int, tuple[int, ...]]]:
    """Return the pairs of a miss and the other model's hit, told by hand."""
    asked: dict[object, list[Known]] = defaultdict(list)
    for one in known:
        if one.score.status not in _SILENT:
            t = one.trial
            key = one.dataset, t.item, t.condition.name, t.repeat
            asked[key].append(one)
    return {
        (miss.id, (hit.id,))
        for answers in asked.values()
        for miss in answers
        for hit in answers
        if _is_hit(hit) and not _is_hit(miss)
    }


def test_that_a_tour_of_models_stops_where_one_hits_and_one_misses(
    path: Path, known: tuple[Known, ...]
) -> None:
    view = grouped(path, [By.MODEL])
    pairs = _mixed(known)
    assert len(pairs) > 10
    for row in (None, 0, 1):
        stops = disagreements(path, view, row, Between.MODELS)
        assert {(stop.trial, stop.others) for stop in stops} == pairs
        assert [stop.trial for stop in stops] == sorted(stop.trial for stop in stops)


def test_that_a_tour_keeps_to_what_is_looked_at(
    path: Path, known: tuple[Known, ...]
) -> None:
    wanted = Wanted(findings=("Edema",), models=(MODELS[0],))
    view = grouped(path, [By.VIEW], wanted)
    stops = disagreements(path, view, 1, Between.MODELS)
    of = {one.id: one.trial for one in known}
    assert stops
    for stop in stops:
        both = [of[i] for i in (stop.trial, *stop.others)]
        assert {t.model for t in both} == set(MODELS)
        assert {(t.finding, t.view) for t in both} == {("Edema", view.keys[1][0])}


def test_that_a_tour_of_readers_stops_where_a_reader_and_a_model_differ(
    path: Path, known: tuple[Known, ...]
) -> None:
    view = grouped(path, [By.MODEL])
    assert disagreements(path, view, None, Between.READERS) == ()
    with open_store(path) as store, store.transaction():
        store.execute(
            "UPDATE run SET spec = json_set(spec, '$.models', json(?))",
            (f'[{{"name": "{MODELS[0]}", "adapter": "reader", "settings": {{}}}}]',),
        )
    stops = disagreements(path, view, None, Between.READERS)
    assert {(stop.trial, stop.others) for stop in stops} == _mixed(known)
    assert disagreements(path, view, None, Between.MODELS) == ()
