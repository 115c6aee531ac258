import csv
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.random_results import DATASETS, ENDS, MODELS, Known, random_results
from tests.helpers.small_store import GRID_8, a_run, some_trials
from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.result import Outcome, Score
from viewer.domain.study_words import StudyWords
from viewer.metrics.estimate import Estimate
from viewer.metrics.proportions import patient_interval
from viewer.services.exporting.export_table import export_table
from viewer.services.inspecting.predictions.cases import cases_of
from viewer.services.inspecting.predictions.groups import Chosen, grouped, offered
from viewer.services.inspecting.predictions.view import (
    COUNTS,
    By,
    Ints,
    ResultsView,
    Wanted,
)
from viewer.services.inspecting.runs import trial_rows_at
from viewer.store import runs, trials
from viewer.store.database import open_store
from viewer.store.flat import FlatVerdict
from viewer.store.trials import Verdict
from viewer.studies.grid_localization.absent import DENIED, absent

_OF: dict[By, Callable[[Known], str]] = {
    By.FINDING: lambda one: one.trial.finding,
    By.VIEW: lambda one: one.trial.view,
    By.CONDITION: lambda one: one.trial.condition.name,
    By.MODEL: lambda one: one.trial.model,
    By.RUN: lambda one: str(one.run),
    By.PATIENT: lambda one: f"{one.trial.patient} ({one.dataset})",
}
EVERY_GROUPING = [
    by for n in range(len(By) + 1) for by in itertools.combinations(By, n)
]
SOME_WANTED = (
    Wanted(),
    Wanted(runs=(2,), models=(MODELS[1],)),
    Wanted(findings=("Edema",), views=("lateral",), conditions=("grid=16",)),
    Wanted(statuses=(Status.SCORED_WRONG, Status.REFUSED)),
    Wanted(outcomes=(Outcome.PARTIAL,)),
    Wanted(patient="ENT1"),
    Wanted(patient_is="patient2 (other)"),
    Wanted(coverage=(0.25, 0.5)),
    Wanted(patient="(small)", coverage=(0.0, 0.3), models=(MODELS[0],)),
    Wanted(findings=("Pneumothorax",)),
)


def _some_groupings(wanted: Wanted) -> list[tuple[By, ...]]:
    """Return every grouping of all, and of each selection another fifth of them."""
    place = SOME_WANTED.index(wanted)
    return EVERY_GROUPING[place % 5 :: 5] if place else EVERY_GROUPING


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "s.sqlite"


@pytest.fixture(scope="module")
def known(path: Path) -> tuple[Known, ...]:
    return random_results(path, 5)


def _is_wanted(one: Known, wanted: Wanted) -> bool:
    own = {by: of(one) for by, of in _OF.items()}
    in_bounds = wanted.coverage is None or (
        one.score.coverage is not None
        and wanted.coverage[0] <= one.score.coverage <= wanted.coverage[1]
    )
    return (
        in_bounds
        and (not wanted.runs or one.run in wanted.runs)
        and (not wanted.findings or own[By.FINDING] in wanted.findings)
        and (not wanted.views or own[By.VIEW] in wanted.views)
        and (not wanted.conditions or own[By.CONDITION] in wanted.conditions)
        and (not wanted.models or own[By.MODEL] in wanted.models)
        and (not wanted.statuses or one.score.status in wanted.statuses)
        and (not wanted.outcomes or one.score.outcome in wanted.outcomes)
        and wanted.patient.lower() in own[By.PATIENT]
        and wanted.patient_is in {"", own[By.PATIENT]}
    )


def _by_hand(
    known: tuple[Known, ...], by: tuple[By, ...], wanted: Wanted
) -> dict[tuple[str, ...], tuple[int, ...]]:
    groups: dict[tuple[str, ...], list[Known]] = defaultdict(list)
    for one in known:
        if _is_wanted(one, wanted):
            groups[tuple(_OF[b](one) for b in by)].append(one)
    return {key: _tally(group) for key, group in groups.items()}


def _tally(group: list[Known]) -> tuple[int, ...]:
    n = Counter(one.score.status for one in group)
    hit, wrong = n[Status.SCORED_CORRECT], n[Status.SCORED_WRONG]
    partial = sum(one.score.outcome is Outcome.PARTIAL for one in group)
    return (
        *(len(group), hit + wrong, n[Status.PROVIDER_ERROR], n[Status.REFUSED]),
        *(sum(n[s] for s in UNREADABLE), n[Status.EXCLUDED], n[Status.PENDING]),
        *(hit, partial),
    )


def _as_dict(view: ResultsView) -> dict[tuple[str, ...], tuple[int, ...]]:
    return {
        key: tuple(counts)
        for key, counts in zip(view.keys, view.counts.tolist(), strict=True)
    }


@pytest.mark.statement("E000-32")
@pytest.mark.parametrize("patients", [(), (By.PATIENT,)], ids=["all", "by patient"])
def test_that_denials_of_absent_findings_enter_no_hit_rate(
    patients: tuple[By, ...], tmp_path: Path
) -> None:
    path, hit = tmp_path / "s.sqlite", Status.SCORED_CORRECT
    scores = [Score(hit, "", "D4", 0.75, Outcome.FULL), Score(hit, DENIED)]
    with open_store(path) as store:
        plan = [
            replace(one, patient="p", condition=condition)
            for condition in (GRID_8, absent(GRID_8))
            for one in some_trials(1)
        ]
        a_run(store, plan)
        with store.transaction():
            trials.settle(
                store, [(i, Verdict(s, "1")) for i, s in enumerate(scores, 1)]
            )
    view = grouped(path, (By.CONDITION, *patients))
    assert [key[0] for key in view.keys] == ["grid=8", "grid=8 absent"]
    assert view.absent == {1}
    assert not view.has_rate()
    assert view.column("hit_rate").tolist() == pytest.approx([1, math.nan], nan_ok=True)
    together = grouped(path, (By.MODEL, *patients))
    assert together.table().rows[0][together.header.index("hit_rate")] is None
    assert together.tally(0).k == 2
    of_present = grouped(path, (By.MODEL, *patients), Wanted(conditions=("grid=8",)))
    assert of_present.column("hit_rate").tolist() == [1.0]


@pytest.mark.statement("X-01")
@pytest.mark.parametrize("wanted", SOME_WANTED)
def test_that_every_grouping_counts_as_a_person_would(
    path: Path, known: tuple[Known, ...], wanted: Wanted
) -> None:
    for by in _some_groupings(wanted):
        view = grouped(path, by, wanted)
        assert _as_dict(view) == _by_hand(known, by, wanted), by
        for row in range(len(view.keys)):
            tally = view.tally(row)
            ends = [getattr(tally, name) for name in COUNTS[1:7]]
            assert tally.n_planned == sum(ends)


def _pooled_by_hand(group: list[Known], words: StudyWords) -> tuple[int, ...]:
    return (
        len({one.run for one in group}),
        len({one.trial.model for one in group}),
        len({one.trial.condition.name for one in group}),
        len({words.task(one.trial.finding) for one in group}),
    )


def test_that_rows_of_several_runs_models_or_conditions_are_told(
    path: Path, known: tuple[Known, ...]
) -> None:
    for by in EVERY_GROUPING:
        view = grouped(path, by)
        groups: dict[tuple[str, ...], list[Known]] = defaultdict(list)
        for one in known:
            groups[tuple(_OF[b](one) for b in by)].append(one)
        rows: list[tuple[int | None, list[Known]]] = [(None, list(known))]
        rows += [(row, groups[key]) for row, key in enumerate(view.keys)]
        found = [(row, _pooled_by_hand(group, view.words)) for row, group in rows]
        pooled = {row: astuple(several) for row, several in view.pooled.items()}
        assert pooled == {row: n for row, n in found if max(n) > 1}, by


@pytest.mark.parametrize("by", [(By.MODEL,), (By.MODEL, By.PATIENT)])
def test_that_a_verdict_given_while_it_is_counted_is_not_half_counted(
    by: tuple[By, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, measures = tmp_path / "s.sqlite", Chosen.measures
    with open_store(path) as store:
        a_run(store, some_trials(3))

        def measured(chosen: Chosen, verdicts: Sequence[FlatVerdict]) -> Ints:
            with store.transaction():
                trials.settle(store, [(1, Verdict(Score(Status.REFUSED), "1"))])
            return measures(chosen, verdicts)

        with monkeypatch.context() as patched:
            patched.setattr(Chosen, "measures", measured)
            assert grouped(path, by).total.n_pending == 3
    assert (grouped(path, by).total.n_pending, grouped(path, by).total.n) == (2, 1)


def test_that_rows_come_in_the_order_people_count(
    path: Path, known: tuple[Known, ...]
) -> None:
    del known
    view = grouped(path, [By.MODEL, By.CONDITION])
    assert view.by == (By.CONDITION, By.MODEL)
    assert list(view.keys) == list(itertools.product(("grid=8", "grid=16"), MODELS))
    assert view.row_of(("grid=16", MODELS[0])) == 2
    assert view.row_of(("grid=32", MODELS[0])) is None


def _interval_by_hand(group: list[Known]) -> Estimate:
    settled = [one for one in group if _settled(one)]
    n = Counter(_OF[By.PATIENT](one) for one in settled)
    hit = Status.SCORED_CORRECT
    k = Counter(_OF[By.PATIENT](one) for one in settled if one.score.status is hit)
    items = {(one.dataset, one.trial.item) for one in settled}
    return patient_interval([k[one] for one in n], [*n.values()], len(items))


def _is_pool(group: list[Known]) -> bool:
    kinds = {(one.run, one.trial.condition.name, one.trial.model) for one in group}
    return len(kinds) > 1


ONE_KIND = (By.RUN, By.CONDITION, By.MODEL)


def test_that_no_rate_mixes_runs_conditions_or_models(
    path: Path, known: tuple[Known, ...]
) -> None:
    for by in EVERY_GROUPING:
        view, groups = grouped(path, by), defaultdict(list)
        for one in known:
            groups[tuple(_OF[b](one) for b in by)].append(one)
        assert not view.has_rate()
        for row, key in enumerate(view.keys):
            pool = _is_pool(groups[key])
            assert view.has_rate(row) is not pool
            told = dict(zip(view.header, view.record(row), strict=True))
            assert pool <= (told["hit_rate"] is told["ci_method"] is None)
            assert pool <= math.isnan(view.column("hit_rate")[row])


@pytest.mark.statement("X-07")
@pytest.mark.parametrize("wanted", [one for one in SOME_WANTED if not one.by_ending])
def test_that_every_interval_is_that_of_the_groups_patients(
    path: Path, known: tuple[Known, ...], wanted: Wanted
) -> None:
    chosen = [one for one in known if _is_wanted(one, wanted)]
    for by in _some_groupings(wanted):
        view, groups = grouped(path, by, wanted), defaultdict(list)
        for one in chosen:
            groups[tuple(_OF[b](one) for b in by)].append(one)
        pairs = [(view.estimate(view.row_of(key)), of) for key, of in groups.items()]
        for found, group in ((view.estimate(), chosen), *pairs):
            expected = _interval_by_hand(group)
            if math.isnan(expected.value) or _is_pool(group):
                assert found is None
                continue
            assert found is not None
            ends = found.interval.low, found.interval.high
            right = expected.interval.low, expected.interval.high
            assert ends == pytest.approx(right, abs=1e-12, nan_ok=True)
            assert (found.value, found.method) == (expected.value, expected.method)


@pytest.mark.statement("X-07")
def test_that_asking_five_times_makes_no_interval_narrower(tmp_path: Path) -> None:
    ends = []
    for repeats in (1, 5):
        path = tmp_path / f"{repeats}.sqlite"
        plan = [
            replace(one, item=f"{one.item}{of}", image=f"{of}", repeat=repeat)
            for one in some_trials(9)
            for of in range(2)
            for repeat in range(repeats)
        ]
        with open_store(path) as store:
            a_run(store, plan)
            asked = runs.trials_in(store, 1, [Status.PENDING])
            hits = [(int(one.trial.patient[-1]) + int(one.trial.image)) % 3 > 0
                    for one in asked]  # fmt: skip
            with store.transaction():
                trials.settle(store, [
                    (one.id, Verdict(ENDS[0] if hit else ENDS[3], "1"))
                    for one, hit in zip(asked, hits, strict=True)
                ])  # fmt: skip
        view = grouped(path, [By.MODEL])
        assert (view.total.k, view.total.n) == (12 * repeats, 18 * repeats)
        for found in (view.estimate(0), view.estimate()):
            assert found is not None
            ends.append((found.interval.low, found.interval.high))
    assert ends == [pytest.approx(ends[0], abs=1e-12)] * 4


@pytest.mark.statement("X-07")
def test_that_one_patients_rate_has_no_interval_and_says_why(
    path: Path, known: tuple[Known, ...]
) -> None:
    del known
    one = Wanted(
        findings=("Edema",), runs=(1,), conditions=("grid=8",), models=(MODELS[0],)
    )
    view = grouped(path, [By.PATIENT], one)
    for row in range(len(view.keys)):
        record = dict(zip(view.header, view.record(row), strict=True))
        assert (record["ci_low"], record["ci_high"]) == (None, None)
        if record["n"]:
            assert record["ci_method"] == "not estimable from one patient, 95 %"
    assert np.isnan(view.column("ci_low")).all()
    together = view.estimate()
    assert together is not None
    assert together.interval.low < together.value < together.interval.high


@pytest.mark.statement("X-07")
def test_that_rates_of_many_predictions_come_before_their_intervals(
    path: Path, known: tuple[Known, ...]
) -> None:
    del known
    first = grouped(path, [*ONE_KIND, By.FINDING], most=0)
    whole = grouped(path, [*ONE_KIND, By.FINDING])
    assert first.lacks_intervals
    assert not whole.lacks_intervals
    assert _as_dict(first) == _as_dict(whole)
    record = dict(zip(first.header, first.record(0), strict=True))
    assert record["hit_rate"] == whole.column("hit_rate")[0]
    assert record["ci_low"] is None
    assert record["ci_method"] == "not worked out yet"
    assert np.isnan(first.column("ci_high")).all()
    ending = Wanted(statuses=(Status.REFUSED,))
    assert not grouped(path, [By.MODEL], ending, most=0).lacks_intervals


@pytest.mark.statement("X-01")
def test_that_rates_and_intervals_stand_beside_their_counts(
    path: Path, known: tuple[Known, ...]
) -> None:
    del known
    view = grouped(path, [*ONE_KIND, By.FINDING])
    for row in range(len(view.keys)):
        record = dict(zip(view.header, view.record(row), strict=True))
        tally, estimate = view.tally(row), view.estimate(row)
        if not tally.n_scored:
            assert record["answered_rate"] is None
            continue
        assert estimate is not None
        assert record["n"] == tally.n_planned - tally.n_excluded - tally.n_pending
        assert record["hit_rate"] == tally.k / tally.n
        assert record["answered_rate"] == tally.k / tally.n_scored
        assert record["ci_low"] == estimate.interval.low
        assert record["ci_high"] == estimate.interval.high
        assert record.pop("ci_method") == estimate.method
        for name in [*record][4:]:
            value = math.nan if record[name] is None else record[name]
            assert view.column(name)[row] == pytest.approx(value, abs=0, nan_ok=True)


@pytest.mark.statement("X-01")
def test_that_trials_chosen_by_how_they_ended_have_no_rate(
    path: Path, known: tuple[Known, ...]
) -> None:
    del known
    view = grouped(path, [By.MODEL], Wanted(outcomes=(Outcome.FULL,)))
    record = dict(zip(view.header, view.record(0), strict=True))
    assert record["k"] == record["n"] != 0
    rates = ("hit_rate", "ci_low", "ci_high", "answered_rate")
    assert [record[name] for name in (*rates, "ci_method")] == [None] * 5
    assert all(math.isnan(view.column(name)[0]) for name in rates)


@pytest.mark.parametrize("wanted", [SOME_WANTED[0], SOME_WANTED[5], SOME_WANTED[3]])
def test_that_every_number_leads_to_its_trials(
    path: Path, known: tuple[Known, ...], wanted: Wanted
) -> None:
    scores = {one.id: one for one in known}
    for by in ((), (By.MODEL,), (By.FINDING, By.PATIENT), (By.RUN, By.VIEW)):
        view = grouped(path, by, wanted)
        for row in range(len(view.keys)):
            tally = view.tally(row)
            for column in (*COUNTS, "n"):
                ids = cases_of(path, view, row, column).tolist()
                assert len(ids) == len(set(ids)) == getattr(tally, column)
            every = cases_of(path, view, row, "hit_rate").tolist()
            of_row = [scores[i] for i in every]
            assert {tuple(_OF[b](one) for b in view.by) for one in of_row} == {
                view.keys[row]
            }
            hits = [one.score.status is Status.SCORED_CORRECT for one in of_row]
            done = [h for h, one in zip(hits, of_row, strict=True) if _settled(one)]
            assert done == sorted(done)


def test_that_a_number_of_none_leads_to_no_trial(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        a_run(store, some_trials(2))
    view = grouped(path, [])
    assert cases_of(path, view, 0, "n_refused").size == 0
    assert cases_of(path, view, 0, "n_pending").size == 2


def _settled(one: Known) -> bool:
    return one.score.status not in {Status.EXCLUDED, Status.PENDING}


def test_that_trials_are_listed_as_the_filmstrip_shows_them(
    path: Path, known: tuple[Known, ...]
) -> None:
    ids = [known[7].id, known[2].id]
    rows = trial_rows_at(path, ids)
    assert [row.trial for row in rows] == ids
    for row, one in zip(rows, (known[7], known[2]), strict=True):
        assert row.item == one.trial.item
        assert row.score == one.score
        assert row.ref is not None
        assert row.ref.path.name.startswith(one.trial.patient.removeprefix("patient"))


def test_that_what_can_be_chosen_is_what_is_there(
    path: Path, known: tuple[Known, ...]
) -> None:
    del known
    choice = offered(path)
    assert choice.runs == (2, 1)
    assert choice.models == MODELS
    assert choice.conditions == ("grid=8", "grid=16")
    assert len(DATASETS) == len(choice.runs)


def test_that_an_empty_store_has_no_row(tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.sqlite"):
        pass
    for by in EVERY_GROUPING:
        view = grouped(tmp_path / "empty.sqlite", by)
        assert len(view.keys) == len(view.counts) == 0
        assert view.total.n_planned == 0
        assert view.total.rate is None


def test_that_the_export_has_every_row_at_full_precision(
    path: Path, known: tuple[Known, ...], tmp_path: Path
) -> None:
    del known
    chosen = Wanted(runs=(1,), conditions=("grid=8",), models=(MODELS[0],))
    view = grouped(path, [By.FINDING], chosen)
    export_table(view.table(), tmp_path / "predictions.csv")
    with (tmp_path / "predictions.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["finding"] for line in lines] == [key[0] for key in view.keys]
    assert [float(line["hit_rate"]) for line in lines] == [
        view.tally(row).rate for row in range(len(view.keys))
    ]
