"""LobA asked of a model without access to its attention: nothing is asked (E002-15)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.heal_run import heal_dataset, heal_spec
from tests.helpers.tiny_study import plan_and_finish
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.services.reporting.report_run import report_data
from viewer.services.running.batch_estimate import estimate
from viewer.services.running.batch_form import BatchForm
from viewer.settings import Settings
from viewer.store import runs
from viewer.store.database import Store, open_store

BOX = "The region is [100, 200, 500, 800]. Yes."
SHUT = ModelProfile("shut", "scripted", {"answer": BOX})
OPEN = ModelProfile("open", "scripted", {"answer": BOX, "interpretable": True})
SAYS = (
    "gives no access to its attention, so {n} trial(s) of loba-3 are excluded; a "
    "contour or an enlarged region approximates that"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "s.sqlite") as opened:
        heal_dataset(opened, tmp_path, n=2)
        yield opened


@pytest.mark.statement("E002-15")
def test_that_loba_buys_no_first_pass_of_a_closed_model(store: Store) -> None:
    overrides = {"arms": ["plain", "contour", "crop", "loba"]}
    run = plan_and_finish(store, heal_spec([SHUT, OPEN], overrides))
    (note,) = runs.run_notes(store, run)
    report = report_data(store, run)
    by_way = {
        (model, way): [
            r for r in report.results if (r.model, r.condition) == (model, way)
        ]
        for model in ("shut", "open")
        for way in ("plain", "contour", "crop", "loba-3")
    }
    lost = by_way["shut", "loba-3"]
    assert {r.score.status for r in lost} == {Status.EXCLUDED}
    assert {r.score.reason for r in lost} == {"no_attention"}
    assert (note.model, note.kind) == ("shut", "no_attention")
    assert note.text == SAYS.format(n=len(lost))
    rest = [r for key, of in by_way.items() for r in of if of is not lost]
    assert len(rest) == 7 * len(lost)
    assert not any(r.score.status is Status.EXCLUDED for r in rest)
    bought = store.rows(
        "SELECT t.condition AS name, count(*) AS n FROM attempt a"
        " JOIN trial t ON t.id = a.trial_id WHERE t.model = 'shut' GROUP BY 1"
    )
    assert {row["name"] for row in bought} == {"plain", "contour", "crop"}
    tables = {table.name: table for table in report.data.tables}
    (at,) = [i for i, h in enumerate(tables["table_5_ablation"].header) if h == "note"]
    told = {(row[0], row[1]): row[at] for row in tables["table_5_ablation"].rows}
    assert told["shut", "contour"] == told["shut", "crop"] == "LobA-approximation"


@pytest.mark.statement("E002-15")
def test_that_the_estimate_says_what_is_excluded_and_what_approximates_it(
    store: Store, tmp_path: Path
) -> None:
    settings = Settings(tmp_path, store.path)
    settings.models_file.write_text(
        '[[model]]\nname = "shut"\nadapter = "scripted"\nanswer = "Yes"\n'
    )
    form = BatchForm(
        study="grounded_vqa",
        dataset="q",
        preset="heal2025",
        models=("shut",),
        seed=0,
        repeats=1,
        params={"arms": ["loba"]},
    )
    found = estimate(store.path, form, settings)
    assert found.requests == 0
    assert "There is nothing to ask" in found.sentence
    assert "Its model gives no access to its attention" in found.sentence
    assert "shut gives no access to its attention" in found.sentence
    assert "a contour or an enlarged region approximates" in found.sentence
