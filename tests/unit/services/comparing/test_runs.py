"""Two sides compared: counts against brute force, families, what was asked, files."""

import csv
import json
import math
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from statsmodels.stats.multitest import multipletests

from tests.helpers.paired import paired_comparison
from tests.helpers.tiny_study import (
    D4,
    UNIFORM,
    a_spec,
    finish,
    hitting_run,
    masked_at_d4,
    plan_and_finish,
    planned,
    two_models,
)
from viewer.cli import overread
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.metrics.pairing import PairedTable
from viewer.services.comparing.asked import REJECTED, settings_of, word_diff
from viewer.services.comparing.export import forest_of, write_comparison
from viewer.services.comparing.family import adjusted, declare_family
from viewer.services.comparing.runs import (
    Comparison,
    compare,
    statistics_of,
    summary_sentence,
)
from viewer.services.comparing.sides import Side, side_of
from viewer.services.comparing.tables import (
    as_json,
    compared_items,
    groups_table,
    numbers_of_group,
)
from viewer.services.importing.import_dataset import import_dataset
from viewer.store import consents, trials
from viewer.store.database import Store, open_store
from viewer.store.runs import run_spec
from viewer.writers.forest import forest_svg


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Side, Side]]:
    folder = tmp_path_factory.mktemp("asked")
    with open_store(folder / "s.sqlite") as store:
        return store.path, two_models(store, folder / "d")


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return a store of the test's own: empty, or with the two sides in it."""
    if "sides" in request.fixturenames:
        shutil.copy(request.getfixturevalue("asked")[0], tmp_path / "s.sqlite")
    with open_store(tmp_path / "s.sqlite") as opened:
        yield opened


@pytest.fixture
def sides(asked: tuple[Path, tuple[Side, Side]]) -> tuple[Side, Side]:
    return asked[1]


@pytest.fixture
def comparison(store: Store, sides: tuple[Side, Side]) -> Comparison:
    return compare(store, *sides)


def test_that_every_item_is_counted_in_the_two_by_two_as_by_hand(
    store: Store, sides: tuple[Side, Side], comparison: Comparison
) -> None:
    hit: dict[tuple[str, int], dict[str, bool]] = {}
    for one in trials.scored_trials(store, sides[0].run):
        key = one.trial.item, one.trial.repeat
        is_hit = one.score.status is Status.SCORED_CORRECT
        hit.setdefault(key, {})[one.trial.model] = is_hit
    n = Counter((h["says-d4"], h["uniform"]) for h in hit.values())
    table = comparison.groups[0].table
    assert (table.both, table.neither) == (n[True, True], n[False, False])
    assert table.only_first == n[True, False]
    assert table.only_second == n[False, True]
    assert table.items == 40
    assert [g.finding for g in comparison.groups] == ["Edema", "(micro)"]
    assert len(comparison.flips) == n[True, False] + n[False, True]


@pytest.mark.statement("X-07")
def test_that_repeats_are_no_items_of_mcnemar_s_test(
    store: Store, comparison: Comparison
) -> None:
    """Ten repeats of each patient's item decide no more than the patients do."""
    group = comparison.groups[0]
    assert group.patients < group.table.items
    assert math.isnan(group.mcnemar.p_value)
    assert group.mcnemar.method == "no McNemar test: a patient has several pairs"
    assert "McNemar" not in summary_sentence(comparison)
    told = numbers_of_group(comparison, statistics_of(store, comparison), group.key)
    assert "No McNemar test: a patient has several pairs." in told


@pytest.mark.statement("E000-20", "E000-21")
def test_that_the_tests_are_those_of_the_metrics_on_the_same_pairs(
    store: Store, comparison: Comparison
) -> None:
    ours = statistics_of(store, comparison)
    pairs = comparison.pairing.scored
    first, second = zip(*(pair.hits for pair in pairs), strict=True)
    patients = [pair.first.patient for pair in pairs]
    theirs = paired_comparison(first, second, patients)
    for finding in ("Edema", "(micro)"):
        tests = ours.of("grid=8", finding)
        assert tests.difference == theirs.difference
        assert tests.permutation == theirs.permutation
        assert tests.power is None
    macro = ours.of("grid=8", "(macro)")
    assert macro.difference.value == pytest.approx(theirs.difference.value)
    assert macro.power is None


@pytest.mark.statement("X-01")
def test_that_no_trial_of_either_side_is_dropped(store: Store, tmp_path: Path) -> None:
    run = planned(store, tmp_path / "d", a_spec([D4]))
    (tmp_path / "d" / "patient00001_frontal.png").write_bytes(b"gone")
    finish(store, run)
    other = plan_and_finish(store, a_spec([UNIFORM], repeats=2))
    found = compare(store, Side(run, "says-d4"), Side(other, "uniform"))
    rows = compared_items(found).rows
    assert len(rows) == 8
    kinds = Counter(row[7] for row in rows)
    assert kinds == {"yes": 3, "excluded": 1, "only in the second": 4}
    told = "Not compared: 4 only in the second, 1 excluded on a side."
    assert told in summary_sentence(found)


@pytest.mark.statement("X-01")
def test_that_what_is_still_to_be_asked_marks_everything(
    store: Store, tmp_path: Path
) -> None:
    run = planned(store, tmp_path / "d", a_spec([D4, UNIFORM]))
    found = compare(store, Side(run, "says-d4"), Side(run, "uniform"))
    assert found.incomplete
    assert found.watermark.startswith("Incomplete: 4 pairs")
    statistics = statistics_of(store, found)
    assert statistics.groups == ()
    assert summary_sentence(found).startswith("Incomplete")
    assert b"</svg>" in forest_svg(forest_of(found, statistics))


def test_that_all_hits_against_all_misses_of_few_patients_are_told(
    store: Store, tmp_path: Path
) -> None:
    run = hitting_run(store, tmp_path / "d")
    far = ModelProfile("far", "scripted", {"answer": "A1"})
    other = plan_and_finish(store, a_spec([far]))
    found = compare(store, Side(run, "says-d4"), Side(other, "far"))
    table = found.groups[0].table
    assert (table.both, table.only_first, table.only_second) == (0, 4, 0)
    tests = statistics_of(store, found).of("grid=8", "Edema")
    assert tests.difference.value == 1.0
    interval = tests.difference.interval
    assert interval.low < 1.0 == interval.high
    named = "Clopper-Pearson by patient, of differences, 95 %"
    assert tests.difference.method == named
    assert found.groups[0].mcnemar.p_value == pytest.approx(2 / 2**4)
    assert tests.permutation.p_value == pytest.approx(2 / 2**4)
    assert tests.power is not None
    assert tests.power.smallest_difference is None


def test_that_two_runs_of_the_same_replies_are_not_tested(
    store: Store, tmp_path: Path
) -> None:
    run = hitting_run(store, tmp_path / "d")
    again = plan_and_finish(store, a_spec([D4]), new=True)
    found = compare(store, Side(run, "says-d4"), Side(again, "says-d4"))
    assert found.flips == ()
    assert found.causes == {}
    assert all(setting.same for setting in found.asked.settings)
    statistics = statistics_of(store, found)
    assert statistics.groups == ()
    assert statistics.adjustment.by_group == {}
    sentence = summary_sentence(found)
    n = len(found.pairing.scored)
    assert sentence == (
        f"Both sides show the same stored replies to {n} items, so nothing is tested."
    )
    assert all(math.isnan(group.mcnemar.p_value) for group in found.groups)
    told = numbers_of_group(found, statistics, found.groups[0].key)
    assert told == ("Not tested: both sides show the same stored replies.",)
    rows = [*compared_items(found).rows]
    at = compared_items(found).header.index("paired")
    assert {row[at] for row in rows} == {"one reply"}


def test_that_a_side_is_named_by_run_and_model(
    store: Store, sides: tuple[Side, Side]
) -> None:
    run = sides[0].run
    assert side_of(store, run, "uniform") == sides[1]
    with pytest.raises(WrongUseError, match="has 2 models"):
        side_of(store, run)
    with pytest.raises(WrongUseError, match="no model 'x'"):
        side_of(store, run, "x")
    with pytest.raises(WrongUseError, match="no run 9"):
        side_of(store, 9)
    with pytest.raises(WrongUseError, match="with itself"):
        compare(store, sides[0], sides[0])


def test_that_runs_without_a_common_item_cannot_be_compared(
    store: Store, sides: tuple[Side, Side], tmp_path: Path
) -> None:
    from tests.helpers.tiny_study import write_images
    from viewer.services.importing.import_dataset import import_dataset

    folder = write_images(tmp_path / "e", 2, "Consolidation")
    import_dataset(store, "folder", folder, "other")
    other = plan_and_finish(store, a_spec([D4], dataset="other"))
    with pytest.raises(WrongUseError, match="no item in common"):
        compare(store, sides[0], Side(other, "says-d4"))


def test_that_a_family_declared_before_the_first_look_is_confirmatory(
    store: Store, sides: tuple[Side, Side]
) -> None:
    declare_family(store, "tiny", ("uniform", "says-d4"))
    found = compare(store, *sides)
    statistics = statistics_of(store, found)
    assert found.looked.declared is not None
    assert found.looked.scored_before
    sentence = statistics.adjustment.sentence
    assert sentence.startswith("Confirmatory: 1 finding × 1 pair of models")
    assert "after answers were scored, but before they were first compared" in sentence
    assert statistics.adjustment.by_group["grid=8", "Edema"].primary


def test_that_a_family_declared_after_a_look_stays_exploratory(
    store: Store, sides: tuple[Side, Side], comparison: Comparison
) -> None:
    assert comparison.looked.declared is None
    declare_family(store, "tiny", ("says-d4", "uniform"))
    again = compare(store, *sides)
    assert again.looked.at == comparison.looked.at
    assert again.looked.too_late
    statistics = statistics_of(store, again)
    assert "declared, but after" in statistics.adjustment.sentence
    assert not statistics.adjustment.by_group["grid=8", "Edema"].primary


def test_that_holm_counts_the_whole_declared_family(
    store: Store, tmp_path: Path
) -> None:
    far = ModelProfile("far", "scripted", {"answer": "A1"})
    spec = a_spec([D4, UNIFORM, far], repeats=10)
    run = planned(store, tmp_path / "d", spec)
    declare_family(store, "tiny", ("says-d4", "uniform", "far", "never-run"))
    finish(store, run)
    first, second = Side(run, "says-d4"), Side(run, "uniform")
    found = compare(store, first, second)
    assert not found.looked.scored_before
    statistics = statistics_of(store, found)
    raw = [
        flipped(store, compare(store, Side(run, a), Side(run, b)))
        for a, b in (("says-d4", "uniform"), ("says-d4", "far"), ("uniform", "far"))
    ]
    expected = multipletests([*raw, 1, 1, 1], method="holm")[1][0]
    ours = statistics.adjustment.by_group["grid=8", "Edema"]
    assert ours.permutation == pytest.approx(expected, abs=1e-12)
    assert math.isnan(ours.mcnemar)
    assert statistics.adjustment.methods[0] == "Holm, a declared family of 6"


def test_that_a_family_is_found_whatever_the_order_its_models_were_named_in(
    store: Store, tmp_path: Path
) -> None:
    far = ModelProfile("far", "scripted", {"answer": "A1"})
    import_dataset(store, "folder", masked_at_d4(tmp_path / "d"), "tiny")
    declare_family(store, "tiny", ("far", "uniform", "says-d4"))
    one = plan_and_finish(store, a_spec([D4, UNIFORM], repeats=30))
    two = plan_and_finish(store, a_spec([far], repeats=30, params={"grids": [16]}))
    found = compare(store, Side(one, "uniform"), Side(two, "far"))
    other = compare(store, Side(one, "says-d4"), Side(two, "far"))
    ours = statistics_of(store, found).adjustment.by_group
    raw = [flipped(store, found), flipped(store, other), 1]
    expected = multipletests(raw, method="holm")[1][0]
    mine = ours["grid=8 / grid=16", "Edema"]
    assert mine.permutation == pytest.approx(expected, abs=1e-12)


def flipped(store: Store, comparison: Comparison) -> float:
    """The p value of sign flips by patient, of the first finding."""
    return statistics_of(store, comparison).groups[0].permutation.p_value


def test_that_what_was_not_declared_is_adjusted_for_exploration(
    comparison: Comparison,
) -> None:
    raw = {("grid=8", name): (p, p) for name, p in (("a", 0.01), ("b", 0.2))}
    ours = adjusted(comparison.looked, raw)
    expected = multipletests([0.01, 0.2], method="fdr_bh")[1]
    for key, p in zip(raw, expected, strict=True):
        assert ours.by_group[key].permutation == pytest.approx(p)
        assert not ours.by_group[key].primary


def test_that_the_absent_arm_is_no_part_of_a_declared_family(
    store: Store, sides: tuple[Side, Side]
) -> None:
    declare_family(store, "tiny", ("says-d4", "uniform"))
    look = compare(store, *sides).looked
    raw = {(grid, "Edema"): (0.03, 0.03) for grid in ("grid=8", "grid=8 absent")}
    ours = adjusted(look, raw).by_group
    assert [one.primary for one in ours.values()] == [True, False]
    assert ours["grid=8", "Edema"].mcnemar == pytest.approx(0.03)


@pytest.mark.statement("E000-32")
def test_that_absent_findings_are_denied_and_not_hit(
    comparison: Comparison,
) -> None:
    hits = next(one for one in comparison.groups if one.finding == "(micro)")
    absent = replace(hits, condition="grid=8 absent")
    told = replace(comparison, groups=(absent,))
    assert "denies" in summary_sentence(told)
    assert "hit" not in summary_sentence(told).replace("both", "")
    n = absent.table.items
    none = replace(absent, table=PairedTable(0, 0, 0, n))
    sentence = summary_sentence(replace(comparison, groups=(none,)))
    assert sentence.startswith(f"Neither denies any of {n} absent findings")


def test_that_a_bad_declaration_is_refused(store: Store, sides: object) -> None:
    del sides
    with pytest.raises(WrongUseError, match="no reference for Nodule"):
        declare_family(store, "tiny", ("a", "b"), ("Nodule",))
    with pytest.raises(WrongUseError, match="two models"):
        declare_family(store, "tiny", ("a",))
    with pytest.raises(WrongUseError, match="No test"):
        declare_family(store, "tiny", ("a", "b"), test="t")
    with pytest.raises(WrongUseError, match="level"):
        declare_family(store, "tiny", ("a", "b"), alpha=1.0)


def test_that_prompts_differ_word_by_word() -> None:
    changes = word_diff("Where is the edema?", "Where is any edema now?")
    assert [(c.kind, c.text) for c in changes] == [
        ("equal", "Where is "),
        ("first", "the"),
        ("second", "any"),
        ("equal", " "),
        ("first", "edema?"),
        ("second", "edema now?"),
    ]
    mine = "".join(c.text for c in changes if c.kind != "second")
    assert mine == "Where is the edema?"


def test_that_settings_and_images_are_compared(store: Store, tmp_path: Path) -> None:
    run = hitting_run(store, tmp_path / "d")
    params = {"grids": [8], "line_px": 2}
    other = plan_and_finish(store, a_spec([D4], params=params))
    found = compare(store, Side(run, "says-d4"), Side(other, "says-d4"))
    changed = {(s.group, s.name): (s.first, s.second) for s in found.asked.settings
               if not s.same}  # fmt: skip
    assert changed == {("study setting", "line_px"): ("1", "2")}
    assert all(prompt.same for prompt in found.asked.prompts)
    assert len(found.asked.images.different) == 4
    assert found.asked.images.same == 0


def test_that_a_setting_that_came_later_is_its_default(
    store: Store, sides: tuple[Side, Side]
) -> None:
    spec = run_spec(store, sides[0].run)
    older = {name: v for name, v in spec.params.items() if name != "line_px"}
    assert settings_of(replace(spec, params=older)) == settings_of(spec)
    assert settings_of(spec) == spec.params


def test_that_what_an_endpoint_rejected_stands_beside_what_was_requested(
    store: Store, sides: tuple[Side, Side]
) -> None:
    note = ("says-d4", "parameter_dropped", "answer was rejected by the endpoint")
    consents.add_notes(store, sides[0].run, [note])
    found = compare(store, *sides)
    rejected = {s.name: s.note for s in found.asked.settings if s.note}
    assert rejected == {"answer": f"{REJECTED} (first)"}


def test_that_the_files_hold_what_the_comparison_says(
    store: Store, comparison: Comparison, tmp_path: Path
) -> None:
    statistics = statistics_of(store, comparison)
    files = write_comparison(comparison, statistics, tmp_path / "out")
    names = {path.name for path in files}
    assert names == {
        "differences.csv", "items.csv", "settings.csv", "comparison.json",
        "differences.svg",
    }  # fmt: skip
    with (tmp_path / "out" / "differences.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = groups_table(comparison, statistics)
    assert len(rows) == len(table.rows) == 3
    assert rows[0]["p_mcnemar"] == ""
    flips = statistics.groups[0].permutation.p_value
    assert rows[0]["p_sign_flip"] == repr(flips)
    assert json.loads((tmp_path / "out" / "comparison.json").read_text("utf-8")) == (
        json.loads(json.dumps(as_json(comparison, statistics)))
    )
    svg = (tmp_path / "out" / "differences.svg").read_bytes()
    assert svg == forest_svg(forest_of(comparison, statistics))


def test_that_the_command_line_compares_and_declares(
    tmp_path: Path, sides: tuple[Side, Side], store: Store
) -> None:
    where = ["--store", str(store.path)]
    run = CliRunner().invoke
    told = run(overread, ["declare", "--dataset", "tiny", "--models",
                          "says-d4,uniform", "--json", *where])  # fmt: skip
    assert json.loads(told.stdout)["pairs"] == [["says-d4", "uniform"]]
    names = [f"{side.run}:{side.model}" for side in sides]
    out = ["--out", str(tmp_path / "o")]
    done = run(overread, ["compare", *names, "--json", *out, *where])
    found = json.loads(done.stdout)
    assert found["family"].startswith("Confirmatory")
    assert len(found["files"]) == 5
    told = run(overread, ["compare", *names, *where])
    for words in ("Of 40 items", "Confirmatory", "differ: the answer in", "Clopper"):
        assert words in told.output


def test_that_each_condition_is_told_on_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, sides: tuple[Side, Side], store: Store
) -> None:
    told = "viewer.services.comparing.runs.summary_sentence"
    monkeypatch.setattr(told, lambda _: "8 × 8\n16 × 16")
    names = [f"{side.run}:{side.model}" for side in sides]
    done = CliRunner().invoke(overread, ["compare", *names, "--store", str(store.path)])
    assert done.output.splitlines()[:2] == ["8 × 8", "16 × 16"]
