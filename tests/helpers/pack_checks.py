"""The grid2025 pack of scripted models on a phantom, against its closed forms."""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from tests.helpers.by_patient import ci_of, macro_ci_of
from tests.helpers.closed_form import (
    Asked,
    Expected,
    Pair,
    asked,
    mean_of_findings,
    of_finding,
    pairs_of,
    pooled,
    scripts,
)
from viewer.cli import run_command_line
from viewer.settings import HOME_VARIABLE, read_settings

GRIDS = (8, 16)
VIEWS = ("frontal", "lateral", "all")
MACRO, MICRO = "(macro)", "(micro)"
MONTE_CARLO = 0.15
"""Of the SD of 1,000 resamples against endlessly many: over five of its own SDs."""
Row = Mapping[str, str]


@dataclass(frozen=True)
class MadePack:
    """A pack's tables by name, and the pairs and scripts it was made of."""

    folder: Path
    tables: Mapping[str, Sequence[Row]]
    pairs: Sequence[Pair]
    scripts: Mapping[str, Mapping[str, str]]

    def asked(self, model: str, n: int, view: str, finding: str) -> list[Asked]:
        """Return the trials behind a row of the tables."""
        return [
            trial
            for trial in asked(self.pairs, self.scripts[model], n)
            if view in {"all", trial.pair.view}
            and finding in {MACRO, MICRO, trial.pair.finding}
        ]


def make_pack(collection: Path, folder: Path) -> MadePack:
    """Import a phantom, run the pack on scripted models, read what it wrote.

    The folder becomes this person's home for as long as that takes.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(HOME_VARIABLE, str(folder / "home"))
        return _make_pack(collection, folder)


def command(*words: object) -> None:
    """Run a command line, which must end well."""
    assert run_command_line([str(word) for word in words]) == 0


def _make_pack(collection: Path, folder: Path) -> MadePack:
    pairs = pairs_of(collection)
    said = scripts(pairs)
    home = read_settings().home
    home.mkdir(parents=True, exist_ok=True)
    (home / "models.toml").write_text("".join(_profile(home, m, said) for m in said))
    store = ["--store", folder / "s.sqlite"]
    command("import", "chexlocalize", collection, "--name", "phantom", *store)
    words = ("--dataset", "phantom", "--models", ",".join(said))
    out = folder / "pack"
    command("pack", "grid2025", *words, "--out", out, *store)
    tables = {path.stem: _rows(path) for path in (out / "tables").glob("*.csv")}
    return MadePack(out, tables, pairs, said)


def _profile(home: Path, model: str, said: Mapping[str, Mapping[str, str]]) -> str:
    (home / f"{model}.json").write_text(json.dumps(said[model]))
    return (
        f'[[model]]\nname = "{model}"\nadapter = "scripted"\n'
        f'answers_file = "{model}.json"\n'
    )


def _rows(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def check_every_cell(made: MadePack) -> int:
    """Compare every cell of the pack's tables; return how many there were."""
    return sum(
        check(made)
        for check in (
            check_paper_rates,
            check_recommended_rates,
            check_grid_sizes,
            check_fallback,
            check_error_classes,
            check_patient_rates,
            check_mask_modes,
            check_counts,
        )
    )


def check_paper_rates(made: MadePack) -> int:
    """Counts, rates and chance are exact; the SD is that of endless resampling."""
    rows = made.tables["hit_rates_paper"]
    assert _keys(rows) == _expected_keys(made)
    for row, expected in _with_expected(made, rows):
        _check_counts(row, expected)
        assert _same(row["hit_rate"], expected.rate)
        assert _same(row["random_baseline"], expected.chance)
        if expected.sd is None:
            assert row["bootstrap_sd"] == ""
        else:
            got = float(row["bootstrap_sd"])
            assert got == pytest.approx(expected.sd, rel=MONTE_CARLO, abs=1e-12)
    return sum(map(len, rows))


def check_recommended_rates(made: MadePack) -> int:
    """Intervals against scipy; prior and gain against every pair handed round."""
    rows = made.tables["hit_rates_recommended"]
    assert _keys(rows) == _expected_keys(made)
    for row, expected in _with_expected(made, rows):
        _check_counts(row, expected)
        assert _same(row["hit_rate"], expected.rate)
        assert _same(row["location_prior"], expected.prior)
        settled = _settled(made, {**row, "condition": row["grid"]})
        patients = {trial.pair.patient for trial in settled}
        _check_gain(row, expected, few=len(patients) == 2)
        _check_interval(row, settled)
        answered = None
        if expected.scored and row["finding"] != MACRO:
            answered = Fraction(expected.k, expected.scored)
        assert _same(row["answered_only"], answered)
    return sum(map(len, rows))


def _check_gain(row: Row, expected: Expected, *, few: bool) -> None:
    if expected.gain is None:
        assert [row[c] for c in ("gain", "gain_low", "gain_high")] == [""] * 3
        return
    assert _same(row["gain"], expected.gain)
    if (row["gain_low"], row["gain_high"]) == ("", ""):
        assert few
        return
    gain, low, high = (float(row[c]) for c in ("gain", "gain_low", "gain_high"))
    assert -1 <= low <= high <= 1
    if row["model"] == "constant":
        assert gain == 0 == low + high


def _check_interval(row: Row, settled: Sequence[Asked]) -> None:
    by_finding: dict[str, list[tuple[bool, str, str]]] = {}
    for one in settled:
        trial = one.hit, one.pair.patient, one.pair.item
        by_finding.setdefault(one.pair.finding, []).append(trial)
    wanted = macro_ci_of(by_finding)
    if row["finding"] != MACRO:
        wanted = ci_of(trial for own in by_finding.values() for trial in own)
    assert row["ci_method"] == wanted["ci_method"]
    for end in ("ci_low", "ci_high"):
        assert _same(row[end], wanted[end])


def check_grid_sizes(made: MadePack) -> int:
    """The paired rates are those of the two grids over all views."""
    rows = made.tables["grid_sizes"]
    findings = _present(made.pairs, "all")
    expected_keys = {(f, m) for f in (*findings, MACRO) for m in made.scripts}
    assert {(row["finding"], row["model"]) for row in rows} == expected_keys
    assert len(rows) == len(expected_keys)
    for row in rows:
        for n in GRIDS:
            trials = made.asked(row["model"], n, "all", row["finding"])
            assert _same(row[f"hit_rate_{n}"], _expect(row["finding"], trials).rate)
    return sum(map(len, rows))


def check_fallback(made: MadePack) -> int:
    """Pairs and images without a half-covered cell, counted from the masks."""
    rows = {int(row["grid"]): row for row in made.tables["fallback"]}
    assert set(rows) == set(GRIDS)
    usable = [pair for pair in made.pairs if not pair.excluded]
    for n, row in rows.items():
        chosen = [pair for pair in usable if pair.falls_back(n)]
        assert int(row["pairs"]) == len(usable)
        assert int(row["fallback_pairs"]) == len(chosen)
        assert int(row["images"]) == len(_images(usable))
        assert int(row["fallback_images"]) == len(_images(chosen))
    return sum(map(len, rows.values()))


def check_error_classes(made: MadePack) -> int:
    """Frontal answers by class; nothing is reviewed, so no miss has a kind."""
    rows = made.tables["error_classes"]
    usable = [p for p in made.pairs if p.view == "frontal" and not p.excluded]
    findings = {pair.finding for pair in usable}
    assert len(rows) == len(findings) * len(GRIDS) * len(made.scripts)
    for row in rows:
        n = int(row["grid"])
        trials = made.asked(row["model"], n, "frontal", row["finding"])
        kept = [trial for trial in trials if not trial.pair.excluded]
        partial = sum(trial.touches and not trial.hit for trial in kept)
        silent = sum(trial.cell is None for trial in kept)
        full = sum(trial.hit for trial in kept)
        wanted = {
            "n": len(kept),
            "full": full,
            "partial": partial,
            "position": 0,
            "anatomy": 0,
            "unsure": 0,
            "no_answer": silent,
            "not_reviewed": len(kept) - full - partial - silent,
        }
        assert {name: float(row[name]) for name in wanted} == wanted
    return sum(map(len, rows))


def check_patient_rates(made: MadePack) -> int:
    """Counts and rates are exact; resampling patients has the cluster-robust SE."""
    rows = made.tables["recommended"]
    assert len(rows) == len(_expected_keys(made))
    for row in rows:
        trials = _settled(made, row)
        patients = {trial.pair.patient for trial in trials}
        expected = _expect(row["finding"], trials)
        assert int(row["patients"]) == len(patients)
        assert (int(row["k"]), int(row["n"])) == (expected.k, expected.n)
        assert _same(row["hit_rate"], expected.rate)
        if len(patients) == 1:
            assert (row["patient_sd"], row["ci_low"], row["ci_high"]) == ("",) * 3
            continue
        low, high = float(row["ci_low"]), float(row["ci_high"])
        spread = float(row["patient_sd"])
        assert 0 <= low < high <= 1
        if expected.rate in {0, 1} and row["finding"] != MACRO:
            assert spread == 0
        elif row["finding"] != MACRO and len(patients) >= _MANY:
            assert spread == pytest.approx(_cluster_se(trials), rel=MONTE_CARLO)
    return sum(map(len, rows))


_MANY = 40
"""Patients from which on the bootstrap of a ratio is as its linear part."""


def _cluster_se(trials: Sequence[Asked]) -> float:
    """Return the root of the summed squares of patients' residuals, over n."""
    rate = sum(trial.hit for trial in trials) / len(trials)
    residuals: dict[str, float] = {}
    for trial in trials:
        patient = trial.pair.patient
        residuals[patient] = residuals.get(patient, 0.0) + trial.hit - rate
    return math.sqrt(sum(value**2 for value in residuals.values())) / len(trials)


def check_mask_modes(made: MadePack) -> int:
    """Hits by pixels as sent and by native area, and verdicts that differ."""
    rows = made.tables["mask_modes"]
    assert len(rows) == len(_expected_keys(made))
    for row in rows:
        trials = _settled(made, row)
        differing = sum(trial.hit != trial.exact_hit for trial in trials)
        assert int(row["k_paper"]) == sum(trial.hit for trial in trials)
        assert int(row["k_exact"]) == sum(trial.exact_hit for trial in trials)
        assert int(row["n_verdict_differs"]) == differing
    return sum(map(len, rows))


def _settled(made: MadePack, row: Row) -> list[Asked]:
    n = int(row["condition"].removeprefix("grid="))
    trials = made.asked(row["model"], n, row["view"], row["finding"])
    return [trial for trial in trials if not trial.pair.excluded]


def check_counts(made: MadePack) -> int:
    """Positive images and patients of each finding and view, from the masks."""
    findings = {pair.finding for pair in made.pairs}
    rows = [row for row in made.tables["counts"] if row["finding"] in findings]
    assert len(rows) >= 2 * len(findings)
    for row in rows:
        mine = [
            pair
            for pair in made.pairs
            if pair.finding == row["finding"] and row["view"] in {"all", pair.view}
        ]
        assert int(row["images"]) == int(row["masks"]) == len(_images(mine))
        assert int(row["patients"]) == len({pair.patient for pair in mine})
        assert int(row["label_without_mask"]) == int(row["mask_without_label"]) == 0
    return sum(map(len, rows))


def _keys(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    return sorted(
        tuple(row[c] for c in ("finding", "view", "grid", "model")) for row in rows
    )


def _expected_keys(made: MadePack) -> list[tuple[str, ...]]:
    return sorted(
        (finding, view, str(n), model)
        for view in VIEWS
        for finding in (*_present(made.pairs, view), MACRO, MICRO)
        for n in GRIDS
        for model in made.scripts
    )


def _present(pairs: Sequence[Pair], view: str) -> set[str]:
    return {pair.finding for pair in pairs if view in {"all", pair.view}}


def _with_expected(
    made: MadePack, rows: Sequence[Row]
) -> Iterator[tuple[Row, Expected]]:
    for row in rows:
        place = row["model"], int(row["grid"]), row["view"], row["finding"]
        yield row, _expect(row["finding"], made.asked(*place))


def _expect(finding: str, trials: Sequence[Asked]) -> Expected:
    if finding == MACRO:
        return mean_of_findings(trials)
    return pooled(trials) if finding == MICRO else of_finding(trials)


def _check_counts(row: Row, expected: Expected) -> None:
    wanted = {
        "n_planned": expected.planned,
        "n_scored": expected.scored,
        "n_failed": 0,
        "n_refused": expected.refused,
        "n_unparsed": expected.unparsed,
        "n_excluded": expected.excluded,
        "n_pending": 0,
        "k": expected.k,
        "n": expected.n,
    }
    assert {name: int(row[name]) for name in wanted} == wanted


def _same(printed: str, exact: Fraction | float | None) -> bool:
    """Tell whether a cell is the exact number, to twelve decimals."""
    if exact is None:
        return printed == ""
    return printed != "" and abs(float(printed) - float(exact)) <= 1e-12


def _images(pairs: Sequence[Pair]) -> set[str]:
    return {pair.item.split("|")[0] for pair in pairs}
