"""Questions about two data sets in one run: kept apart, and printed side by side."""

from collections.abc import Iterator, Mapping

import pytest

from tests.helpers.heal_run import heal_spec, scripted
from tests.helpers.tiny_study import finish
from viewer.cli import run_command_line
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.geometry import SizePx
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.records import records
from viewer.services.reporting.report_run import report_data
from viewer.services.running.plan_run import plan_run
from viewer.services.synthetic.make_chests import make_chests
from viewer.store import cases
from viewer.store.database import Store, open_store
from viewer.studies.grounded_vqa.arms import change_of
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.relations import Pair, chart
from viewer.writers.verify.main import verify

NAMES = ("mimic", "vindr")
Row = Mapping[str, object]


def pairs_of(image: DatasetImage) -> tuple[Pair, ...]:
    """Return the findings of one image in its anatomies."""
    return chart([image], Params()).related(image.key)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("two")
    with open_store(folder / "s.sqlite") as opened:
        for seed, name in enumerate(NAMES):
            make_chests(folder / name, 4, seed, SizePx(100, 80), lambda *_: None)
            import_dataset(opened, "vindr", folder / name, name)
    asked = ["questions", *NAMES, "--name", "q", "--store", str(folder / "s.sqlite")]
    assert run_command_line(asked) == 0
    with open_store(folder / "s.sqlite") as opened:
        dataset = cases.dataset_named(opened, "q")
        finish(opened, plan_run(opened, heal_spec(scripted(dataset, folder))))
        yield opened


@pytest.fixture(scope="module")
def dataset(store: Store) -> Dataset:
    return cases.dataset_named(store, "q")


@pytest.fixture(scope="module")
def tables(store: Store) -> Mapping[str, list[Row]]:
    return {t.name: list(t.records()) for t in report_data(store, 1).data.tables}


@pytest.mark.statement("E002-08")
def test_that_two_data_sets_stand_side_by_side(
    tables: Mapping[str, list[Row]],
) -> None:
    alone = {(r["dataset"], r["model"]): r for r in tables["table_2_accuracy"]}
    assert {name for name, _ in alone} == {*NAMES}
    beside = tables["side_by_side"]
    assert len(beside) == 3
    for row in beside:
        assert (row["first"], row["second"]) == NAMES
        for place in ("first", "second"):
            own = alone[row[place], row["model"]]
            for kind in ("yes_no", "open"):
                for part in ("f1", "precision", "recall"):
                    name = f"{kind}_{part}"
                    assert row[f"{place}_{name}"] == own[name]
    both = {r["model"]: r for r in beside}
    assert both["no-to-edits"]["first_vpt"] == both["no-to-edits"]["second_vpt"] == 1


def test_that_swaps_and_donors_are_of_the_question_s_own_data_set(
    store: Store, dataset: Dataset
) -> None:
    there = {
        name: {
            pair
            for image in dataset.images
            if image.key.startswith(f"{name}/")
            for pair in pairs_of(image)
        }
        for name in NAMES
    }
    changes = []
    for name, condition, source in records(store, 1).each(
        "item", "condition", "source"
    ):
        change = change_of(str(name), str(condition))
        changes.append(change)
        assert str(name).startswith(f"{source}/")
        assert not change.donor or change.donor.startswith(f"{source}/")
        assert not change.pair or change.pair in there[str(source)]
    assert any(change.donor for change in changes)
    assert any(change.pair for change in changes)


def test_that_the_bundle_works_both_tables_out_again(
    store: Store, tables: Mapping[str, list[Row]]
) -> None:
    assert {"side_by_side", "by_anatomy_and_finding"} <= set(tables)
    assert verify(run_bundle(store, 1), lambda _: None).wrong == []
