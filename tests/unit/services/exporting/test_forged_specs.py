"""A bundle whose specifications or tables were forged, every hash made good again."""

import json
from collections.abc import Callable

import pytest

from tests.helpers.study_samples import item_run
from tests.unit.services.exporting.test_export_item_bundle import (
    Record,
    members_of,
    quiet,
    resealed,
)
from viewer.services.exporting.export_bundle import run_bundle
from viewer.store.database import open_store
from viewer.writers.verify.main import verify


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a bundle that holds."""
    folder = tmp_path_factory.mktemp("sound")
    with open_store(folder / "s.sqlite") as store:
        data = run_bundle(store, item_run(store, folder / "data", "pathology_mcq"))
    assert verify(data, quiet).wrong == []
    return data


Forged = Callable[[dict[str, bytes], list[Record]], object]


def without(*names: str, spec: bool = True) -> Forged:
    """Return what takes tables out of a bundle, and their specifications."""

    def change(members: dict[str, bytes], specs: list[Record]) -> None:
        for name in names:
            del members[f"tables/{name}.csv"]
        if spec:
            specs[:] = [one for one in specs if one["name"] not in names]

    return change


def counting_less(members: dict[str, bytes], specs: list[Record]) -> None:
    del members["tables/official.csv"]
    spec = next(one for one in specs if one["name"] == "official")
    spec["where"] = {"typed_correct": [1]}


def unspecified(_members: dict[str, bytes], specs: list[Record]) -> None:
    specs[:] = [one for one in specs if one["name"] != "official"]


def doubled(_members: dict[str, bytes], specs: list[Record]) -> None:
    specs.append(specs[0])


def invented(members: dict[str, bytes], specs: list[Record]) -> None:
    members["tables/winners.csv"] = b"item\n"
    specs.append({**specs[0], "name": "winners"})


def added(members: dict[str, bytes], _specs: list[Record]) -> None:
    members["tables/winners.csv"] = b"model\nstudied\n"


def widened(members: dict[str, bytes], _specs: list[Record]) -> None:
    lines = members["tables/noise.csv"].decode().splitlines()
    wide = "".join(f"{line},x\n" for line in lines)
    members["tables/noise.csv"] = wide.encode()


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (without("noise", spec=False), "tables/noise.csv is missing."),
        (without("items", spec=False), "tables/items.csv is missing."),
        (without("results"), "specs.json: results is missing."),
        (without("noise"), "specs.json: noise is missing."),
        (unspecified, "tables/official.csv has no specification."),
        (counting_less, "official is not specified as this program does it."),
        (doubled, "specs.json: items is specified 2 times."),
        (invented, "specs.json: winners is not specified as this program does it."),
        (added, "tables/winners.csv is not a table of the study."),
        (widened, "tables/noise.csv does not have the columns it should have."),
    ],
)
def test_that_a_forged_specification_is_named(
    forge: Forged, sentence: str, sound: bytes
) -> None:
    members = members_of(sound)
    specs = json.loads(members["specs.json"])
    forge(members, specs)
    members["specs.json"] = json.dumps(specs).encode()
    assert any(sentence in one for one in verify(resealed(members), quiet).wrong)
