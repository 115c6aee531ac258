"""What readers reject of the edited images is left out of the visual test (E002-10)."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.helpers.by_patient import ci_of
from tests.helpers.heal_run import heal_dataset, heal_spec, scripted
from tests.helpers.tiny_study import plan_and_finish
from tests.unit.services.exporting.test_export_item_bundle import (
    members_of,
    quiet,
    resealed,
)
from viewer.domain.case import Dataset
from viewer.domain.item import Item
from viewer.domain.result import TrialResult
from viewer.imaging.blending import Blend
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.grounded_vqa.composites import (
    EDITED_IMAGES,
    made_with,
    rejected_edits,
)
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.study import STUDY
from viewer.writers.verify.main import verify

READERS = ("Dr CANARY Ada", "Dr CANARY Ben")
VISUAL = ("vpt", "vpt-sham-same")
Entry = list[object]


def entry(edit: str, failed: Sequence[str] = (), params: Params | None = None) -> Entry:
    """Return a verdict as readers' sessions leave it in an item's reference."""
    return ["Ada", edit, dict(made_with(params or Params())), list(failed)]


def question(*entries: Entry) -> Item:
    return Item("q1", "p1", reference={EDITED_IMAGES: list(entries)})


@pytest.mark.parametrize(
    ("item", "rejected"),
    [
        (Item("q1", "p1"), set()),
        (question(entry("q1|i2")), set()),
        (question(entry("q1|i2", ["plausible"])), {"q1|i2"}),
        (question(entry("q1|i2"), entry("q1|i2", ["replaced"])), {"q1|i2"}),
        (question(entry("q1|i2", ["plausible"]), entry("q1|i3")), {"q1|i2"}),
        (question(entry("q1|i2", ["plausible"], Params(feather=0.5))), set()),
        (question(entry("q1|i2", ["plausible"], Params(blend=Blend.HARD))), set()),
        (question(entry("q1|i2", ["replaced"], Params(match_histogram=True))), set()),
    ],
)
def test_that_one_reader_s_no_rejects_an_image_made_in_the_same_way(
    item: Item, rejected: set[str]
) -> None:
    assert rejected_edits([item, Item("other", "p2")], Params()) == rejected


@dataclass(frozen=True)
class Reviewed:
    """A run on questions whose edited images were reviewed, and its bundle."""

    report: RunReport
    rejected: frozenset[str]
    bundle: bytes


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reviewed]:
    folder = tmp_path_factory.mktemp("reviewed")
    with open_store(folder / "s.sqlite") as store:
        dataset, rejected = with_verdicts(heal_dataset(store, folder, 7), folder)
        cases.add_dataset(store, dataset)
        spec = replace(heal_spec(scripted(dataset, folder)), dataset=dataset.name)
        run = plan_and_finish(store, spec)
        yield Reviewed(report_data(store, run), rejected, run_bundle(store, run))


def with_verdicts(dataset: Dataset, folder: Path) -> tuple[Dataset, frozenset[str]]:
    """Return questions with two readers' verdicts on their edits, and those rejected.

    Each rejects a quarter, drawn by a seed.
    """
    rng = random.Random(3)
    edits = sorted(
        {
            trial.item
            for trial in STUDY.plan(dataset, heal_spec(scripted(dataset, folder)))
            if trial.condition.name in VISUAL and not trial.exclusion
        }
    )
    told: dict[str, list[Entry]] = {}
    rejected = set()
    for edit in edits:
        for reader in READERS:
            failed = rng.choice([["plausible"], [], [], []])
            verdict: Entry = [reader, edit, dict(made_with(Params())), failed]
            told.setdefault(edit.rpartition("|")[0], []).append(verdict)
            rejected |= {edit} if failed else set()
    items = tuple(
        replace(item, reference={**item.reference, EDITED_IMAGES: told[item.key]})
        if item.key in told
        else item
        for item in dataset.items
    )
    return replace(dataset, name="reviewed", items=items), frozenset(rejected)


def of_model(report: RunReport, model: str, condition: str) -> list[TrialResult]:
    """Return a model's visual trials that were asked, by condition."""
    return [
        one
        for one in report.results
        if (one.model, one.condition) == (model, condition)
        and one.score.status != "excluded"
    ]


def became_no(one: TrialResult) -> bool:
    return one.score.answer == "No"


def rows(report: RunReport, name: str) -> list[dict[str, object]]:
    (table,) = (one for one in report.data.tables if one.name == name)
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


@pytest.mark.statement("E002-10")
def test_that_the_visual_test_counts_what_nobody_rejected(reviewed: Reviewed) -> None:
    table = rows(reviewed.report, "table_4_visual")
    assert len(table) == 3
    assert sum(int(str(row["n_rejected"])) for row in table) > 3
    for row in table:
        edits = of_model(reviewed.report, str(row["model"]), "vpt")
        left = [one for one in edits if one.item not in reviewed.rejected]
        k = sum(map(became_no, left))
        ci = ci_of((became_no(o), o.patient, o.item.rpartition("|")[0]) for o in left)
        wanted = {
            "n_edits": len(left),
            "n_flipped": k,
            "n_rejected": len(edits) - len(left),
            "score": k / len(left) if left else None,
            **ci,
        }
        assert {name: row[name] for name in wanted} == pytest.approx(wanted)
        outside = [o for o in left if o.score.number("outside_paste") is not None]
        others = rows(reviewed.report, "vpt_outside_paste")
        assert [r["n_edits"] for r in others if r["model"] == row["model"]] == [
            len(outside)
        ]


@pytest.mark.statement("E002-11")
def test_that_shams_are_compared_where_edit_and_sham_passed(
    reviewed: Reviewed,
) -> None:
    compared = 0
    for row in rows(reviewed.report, "sham_control"):
        if row["test"] != "VPT":
            continue
        left = [
            {
                one.item.rpartition("|")[0]: became_no(one)
                for one in of_model(reviewed.report, str(row["model"]), condition)
                if one.item not in reviewed.rejected
            }
            for condition in VISUAL
        ]
        both = sorted(left[0].keys() & left[1].keys())
        net = [left[0][key] - left[1][key] for key in both]
        assert row["n_items"] == len(both)
        assert row["net"] == pytest.approx(sum(net) / len(net))
        compared += len(both)
    assert compared


def test_that_other_tests_and_the_trials_themselves_keep_what_was_rejected(
    reviewed: Reviewed,
) -> None:
    textual = rows(reviewed.report, "table_3_textual")
    assert all("n_rejected" not in row for row in textual)
    items = rows(reviewed.report, "items")
    kept = [row for row in items if row["item"] in reviewed.rejected]
    assert {row["condition"] for row in kept} >= {*VISUAL}


def test_that_a_bundle_s_verdicts_are_counted_again_without_names(
    reviewed: Reviewed,
) -> None:
    assert verify(reviewed.bundle, quiet).wrong == []
    members = members_of(reviewed.bundle)
    people = json.loads(members["people.json"])[EDITED_IMAGES]
    assert sum(bool(failed) for *_, failed in people) >= len(reviewed.rejected)
    assert not any(b"CANARY" in data for data in members.values())
    images = {image.key for image in reviewed.report.context.dataset.images}
    assert not any(key in str(people) for key in images)


@pytest.mark.parametrize("change", ["clear", "other", "no list"])
def test_that_a_changed_verdict_is_named(reviewed: Reviewed, change: str) -> None:
    members = members_of(reviewed.bundle)
    people = json.loads(members["people.json"])
    for verdict in people[EDITED_IMAGES]:
        if change == "clear":
            verdict[-1] = []
        else:
            verdict[-2]["feather"] = 0.5
    if change == "no list":
        del people[EDITED_IMAGES]
    data = {**members, "people.json": json.dumps(people).encode()}
    wrong = verify(resealed(data), quiet).wrong
    assert any("table_4_visual" in sentence for sentence in wrong)
