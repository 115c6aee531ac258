"""Nothing that names a patient is in a bundle, whatever the files hold (M-19, M-23)."""

import io
import zipfile
from pathlib import Path

from tests.helpers.canaries import FINDING, write_canaries
from tests.helpers.tiny_study import D4, a_spec, plan_and_finish
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import open_store
from viewer.writers.verify.main import verify


def test_that_no_canary_of_a_file_is_in_any_member_of_a_bundle(tmp_path: Path) -> None:
    canaries = write_canaries(tmp_path / "files", 3)
    folder = canaries[0].path.parent
    params = {"findings": [FINDING], "grids": [8], "replicates": 20}
    with open_store(tmp_path / "s.sqlite") as store:
        import_dataset(store, "folder", folder, "tiny")
        run = plan_and_finish(store, a_spec([D4], params=params))
        data = run_bundle(store, run)
    assert verify(data, lambda _: None).wrong == []
    names = {path.stem for path in folder.rglob("*.*")}
    words = {word for canary in canaries for word in canary.words}
    assert len(words) > 10
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name).upper() for name in archive.namelist()}
    for name, content in members.items():
        seen = content + name.upper().encode()
        found = [w for w in {*words, *names, str(folder)} if w.upper().encode() in seen]
        assert found == [], name
