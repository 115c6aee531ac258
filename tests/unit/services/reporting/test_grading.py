"""Readers' grades become verdicts; a run that cannot be scored hides no other."""

import json
from pathlib import Path

from tests.helpers.study_samples import item_run
from tests.helpers.tiny_study import finished_run
from viewer.services.inspecting.runs import run_list
from viewer.store.database import open_store


def test_that_a_graded_run_with_unknown_parameters_hides_no_other_run(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    plain = finished_run(path, tmp_path / "images")
    with open_store(path) as store:
        graded = item_run(store, tmp_path / "studies", "rubric_reading")
        ((text,),) = store.rows("SELECT spec FROM run WHERE id = ?", [graded])
        spec = json.loads(text)
        spec["params"]["of_another_version"] = 1
        with store.transaction():
            store.execute(
                "UPDATE run SET spec = ? WHERE id = ?", [json.dumps(spec), graded]
            )
    assert [summary.id for summary in run_list(path)] == [graded, plain]
