"""The bundle of a run with boxes of several readers."""

from pathlib import Path

import pytest

from tests.helpers.boxed_run import READERS, boxed_run
from tests.unit.services.exporting.test_export_item_bundle import members_of
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import report_data
from viewer.store.database import open_store
from viewer.writers.tables import csv_bytes


@pytest.fixture(scope="module", params=["any", "majority", READERS[1]])
def bundled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int, bytes]:
    path, run = boxed_run(tmp_path_factory.mktemp("boxed"), request.param)
    with open_store(path) as store:
        return path, run, run_bundle(store, run)


def test_that_readers_go_by_pseudonyms_and_numbers_stay(
    bundled: tuple[Path, int, bytes],
) -> None:
    path, run, data = bundled
    members = members_of(data)
    assert not [name for name, of in members.items() if b"Specht" in of]
    with open_store(path) as store:
        tables = {table.name: table for table in report_data(store, run).data.tables}
    for name in ("rules", "detection", "froc"):
        mine = csv_bytes(tables[name].header, tables[name].rows).decode()
        for i, reader in enumerate(READERS, 1):
            mine = mine.replace(reader, f"R{i:05d}")
        assert members[f"tables/{name}.csv"].decode() == mine
