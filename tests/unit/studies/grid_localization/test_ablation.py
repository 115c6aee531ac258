"""The ablation of the grid: its conditions, and its effects against a plain loop."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.unit.studies.grid_localization.cases import block, dataset, image, spec
from tests.unit.studies.grid_localization.runs import result
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Cell, grids_in_words
from viewer.domain.image import Raster
from viewer.domain.reference import Mask
from viewer.domain.report import ReportData
from viewer.domain.result import Score
from viewer.domain.run import Condition
from viewer.studies.grid_localization.parse import parse
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.places import GridPlaces
from viewer.studies.grid_localization.plan import condition_named, conditions, plan
from viewer.studies.grid_localization.study import STUDY

FACTORS = ("letters", "labels", "render_scale")
LEVELS = {
    "grid": ("8", "16"),
    "letters": ("row", "column"),
    "labels": ("cell", "margin", "both"),
    "render_scale": ("1", "2", "4"),
}
SPEC = replace(
    spec(("m", "n"), findings=["Edema"], replicates=20, paper_replicates=20),
    preset="grid_ablation",
    params=dict(
        spec(
            findings=["Edema"],
            replicates=20,
            paper_replicates=20,
            grids=[8, 16],
            ablation=list(FACTORS),
        ).params
    ),
)
PARAMS = STUDY.read_params(SPEC.preset, dict(SPEC.params))


def name_of(levels: dict[str, str]) -> str:
    """Return the name of a condition: what is not the baseline's is said."""
    said = [f"{f}={levels[f]}" for f in FACTORS if levels[f] != LEVELS[f][0]]
    return " ".join((f"grid={levels['grid']}", *said))


def every() -> Iterator[dict[str, str]]:
    """Yield each combination but those whose names do not fit 16 pixels."""
    for combination in product(*LEVELS.values()):
        levels = dict(zip(LEVELS, combination, strict=True))
        unfit = {"grid": "16", "labels": "both", "render_scale": "1"}
        if not unfit.items() <= levels.items():
            yield levels


def test_that_the_preset_asks_every_combination_and_the_baseline_first() -> None:
    made = [one.name for one in conditions(PARAMS)]
    assert len(made) == 34
    assert set(made) == {name_of(levels) for levels in every()}
    assert made[0] == "grid=8"
    data = dataset(image("p1_a", {"Edema": Mask.of_array(block(0, 8, 0, 8))}))
    trials = plan(data, SPEC)
    assert len(trials) == 34 * 2
    (told,) = STUDY.notices(PARAMS)
    assert told.startswith("Every item is asked in 34 ways")
    assert told.endswith(
        ". 2 combinations are left out, because names would not fit their cells."
    )
    without = STUDY.read_params("gosai2025", {})
    assert [one.name for one in conditions(without)] == ["grid=8"]
    assert not any("ways" in notice for notice in STUDY.notices(without))


def test_that_a_baseline_of_other_settings_is_varied_too() -> None:
    own = STUDY.read_params("gosai2025", {"letters": "column", "ablation": ["letters"]})
    names = [one.name for one in conditions(own)]
    assert names == ["grid=8", "grid=8 letters=row"]


@pytest.mark.parametrize("name", [one.name for one in conditions(PARAMS)])
def test_that_a_condition_is_found_by_its_name(name: str) -> None:
    (planned,) = (one for one in conditions(PARAMS) if one.name == name)
    assert condition_named(name, PARAMS) == planned
    for more in (" absent", " window=40/400", " control=noise"):
        assert condition_named(name + more, PARAMS) == planned


def test_that_the_grid_is_drawn_read_and_named_as_the_condition_says() -> None:
    condition = condition_named("grid=8 letters=column render_scale=2", PARAMS)
    places = GridPlaces(PARAMS)
    plain = Raster(np.full((300, 256), 90, np.uint8))
    assert places.gridded(plain, condition).size == SizePx(512, 512)
    assert places.without_grid(plain, condition).size == SizePx(512, 512)
    assert places.sent_size(condition) == SizePx(512, 512)
    base = condition_named("grid=8", PARAMS)
    assert places.gridded(plain, base).size == places.sent_size(base)
    in_margin = condition_named("grid=8 labels=margin", PARAMS)
    pixels = places.gridded(plain, base).pixels
    assert (places.gridded(plain, in_margin).pixels != pixels).any()
    # B1: second column, first row where the letters are columns
    data = dataset(image("p1_a", {"Edema": Mask.of_array(block(0, 8, 0, 8))}))
    trial = replace(plan(data, SPEC)[0], condition=condition)
    found = parse(ModelReply("B1"), trial, PARAMS)
    assert getattr(found, "cell", None) == Cell(0, 1)
    found = parse(ModelReply("B1"), replace(trial, condition=base), PARAMS)
    assert getattr(found, "cell", None) == Cell(1, 0)


def test_that_people_read_what_is_varied() -> None:
    words = "8 × 8 grid, letters are columns, names along the margin"
    assert grids_in_words("grid=8 letters=column labels=margin") == words
    assert grids_in_words("grid=16 render_scale=4") == (
        "16 × 16 grid, sent 4 times as large"
    )


def a_run() -> list[PlacedTrial]:
    """Return a run in which letters along columns cost hits, and some ended badly."""
    rng = np.random.default_rng(3)
    made = []
    for patient, levels, model in product(range(9), every(), ("m", "n")):
        hit = rng.random() < (0.3 if levels["letters"] == "column" else 0.7)
        one = result(f"p{patient}_a", "Edema", 3 if hit else 9, (3,), model=model)
        settled = rng.random()
        if settled < 0.05:
            one = result(
                f"p{patient}_a", "Edema", None, (3,), model=model, status=Status.PENDING
            )
        made.append(replace(one, condition=name_of(levels)))
    return made


def table(data: ReportData, name: str) -> list[dict[str, object]]:
    return next(t for t in data.tables if t.name == name).records()


def test_that_nothing_is_compared_with_a_condition_whose_requests_all_failed() -> None:
    silent = "grid=8 letters=column"
    failed = Score(Status.PROVIDER_ERROR)
    run = [
        replace(r, score=failed) if (r.model, r.condition) == ("m", silent) else r
        for r in a_run()
    ]
    rows = table(STUDY.report(run, SPEC), "ablation_conditions")
    models = {row["model"] for row in rows if row["condition"] == silent}
    assert models == {"n"}


def test_that_main_effects_equal_a_loop_over_pairs() -> None:
    run = a_run()
    data = STUDY.report(run, SPEC)
    verdicts = {
        (r.item, r.model, r.condition): r.score.status is Status.SCORED_CORRECT
        for r in run
        if r.score.status is not Status.PENDING
    }
    rows = table(data, "ablation")
    assert len(rows) == 2 * (1 + 1 + 2 + 2)
    for row in rows:
        factor, level = str(row["factor"]), str(row["level"])
        pairs = []
        for levels, item in product(every(), {r.item for r in run}):
            if levels[factor] != level:
                continue
            own = (item, row["model"], name_of(levels))
            other = {**levels, factor: LEVELS[factor][0]}
            base = (item, row["model"], name_of(other))
            if own in verdicts and base in verdicts:
                pairs.append((verdicts[own], verdicts[base]))
        after, before = (np.mean([pair[i] for pair in pairs]) for i in (0, 1))
        assert row["n_pairs"] == len(pairs)
        assert row["hit_rate"] == pytest.approx(after)
        assert row["baseline_rate"] == pytest.approx(before)
        assert row["difference"] == pytest.approx(after - before)
        assert row["gained"] == sum(a and not b for a, b in pairs)
        assert row["lost"] == sum(b and not a for a, b in pairs)
        assert float(str(row["difference_low"])) < after - before
        assert float(str(row["difference_high"])) > after - before
    letters = next(r for r in rows if (r["factor"], r["model"]) == ("letters", "m"))
    assert float(str(letters["difference"])) < -0.2


def test_that_every_combination_stands_beside_the_baseline() -> None:
    run = a_run()
    rows = table(STUDY.report(run, SPEC), "ablation_conditions")
    assert {r["condition"] for r in rows} == {name_of(x) for x in every()} - {"grid=8"}
    row = next(r for r in rows if (r["condition"], r["model"]) == ("grid=16", "n"))
    of = {
        name: {
            r.item: r.score.status is Status.SCORED_CORRECT
            for r in run
            if (r.condition, r.model) == (name, "n")
            and r.score.status is not Status.PENDING
        }
        for name in ("grid=8", "grid=16")
    }
    both = of["grid=8"].keys() & of["grid=16"].keys()
    assert row["n_pairs"] == len(both)
    gained = [of["grid=16"][item] - of["grid=8"][item] for item in both]
    assert row["difference"] == pytest.approx(np.mean(gained))


def test_that_pages_and_figures_are_of_the_grids_that_are_not_varied() -> None:
    data = STUDY.report(a_run(), SPEC)
    assert {f.file_name for f in data.figures} == {
        "hit_rate_grid_8.svg",
        "hit_rate_grid_16.svg",
    }
    titles = [s.title for s in (*data.sections, *data.appendix)]
    assert [t for t in titles if t.startswith("Results, ")] == [
        "Results, 8 × 8 grid",
        "Results, 16 × 16 grid",
    ]
    assert "What the look of the grid changes" in titles
    assert "Every look of the grid beside the baseline" in titles
    results = {row["condition"] for row in table(data, "results")}
    assert len(results) == 34


def test_that_a_run_without_an_ablation_has_no_such_table() -> None:
    data = STUDY.report([result("p1_a", "Edema", 3, (3,))], spec(findings=["Edema"]))
    assert not {"ablation", "ablation_conditions"} & {t.name for t in data.tables}
    assert STUDY.chance("grid=8 letters=column", {"cells": ["A1"]}) == 1 / 64
    assert condition_named("grid=8", PARAMS) == Condition(
        "grid=8", (("rows", 8), ("columns", 8))
    )
