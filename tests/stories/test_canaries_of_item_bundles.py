"""Nothing that names a patient or a reader is in a bundle of a study about items."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.study_samples import SAMPLES, STUDIES
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.readers.datasets.files import content_sha256
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import report_data
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.store import cases
from viewer.store.database import open_store
from viewer.writers.verify.main import verify

CANARY = "Zebrafink-"
READER = "Heckenbraunelle"
WRITTEN = {"experts": [["I", READER, 0]], "reviews": [[READER, ["atypical"]]]}
ANSWERED = [[READER, ["gout"], 0]]
DATE = "1987-06-05"


def named(dataset: Dataset) -> Dataset:
    """Return a data set all of whose keys, patients and readers are canaries."""
    names = Pseudonyms(dataset, (), CANARY)
    renamed = names.dataset(dataset)
    images = tuple(
        replace(new, ref=old.ref)
        for new, old in zip(renamed.images, dataset.images, strict=True)
    )
    items = []
    for item in renamed.items:
        known = {**item.reference, "date": DATE}
        if "option" in known:
            known |= WRITTEN
        if "history" in item.facts:
            known["physicians"] = ANSWERED
        items.append(replace(item, reference=known))
    sha256 = content_sha256(images, items)
    return replace(
        renamed,
        name="sample",
        root=dataset.root,
        images=images,
        items=tuple(items),
        root_sha256=sha256,
    )


@pytest.mark.parametrize("study", STUDIES)
def test_that_no_canary_of_a_data_set_is_in_any_member(
    study: str, tmp_path: Path
) -> None:
    sample = SAMPLES[study]
    dataset = named(sample.make(tmp_path / f"{CANARY}files"))
    model = ModelProfile("studied", "scripted", {"answer": sample.answer})
    helper = ModelProfile("helper", "scripted", {"answer": sample.helps})
    if study == "rubric_reading":
        grade = f"{READER},studied,{dataset.items[0].key}|t1,,5,5,5,5,,,{READER} wrote"
        dimensions = "process,execution,synthesis,language,image_content,image_style"
        header = f"reader,model,item,image,{dimensions},concerns"
        (dataset.root / "grades.csv").write_text(f"{header}\n{grade}\n")
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        spec = a_spec(
            [model],
            study=study,
            dataset="sample",
            seed=1,
            params=sample.overrides,
            known={"studied": model, "helper": helper},
        )
        run = plan_and_finish(store, spec)
        assert CANARY in str(report_data(store, run).data.tables)
        data = run_bundle(store, run)
    found = verify(data, lambda _: None)
    assert found.wrong == []
    words = (CANARY, READER, DATE, str(tmp_path), "grades.csv")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, text in members.items():
        seen = (text + name).casefold()
        assert [w for w in words if w.casefold() in seen] == [], name
    trials = [json.loads(line) for line in members["trials.jsonl"].splitlines()]
    assert all(one["item"].startswith("N0") for one in trials)
