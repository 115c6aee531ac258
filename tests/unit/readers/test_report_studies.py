import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from viewer.domain.case import Dataset, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.report_study import StudyImage, study_of
from viewer.domain.task_selection import (
    Category,
    SelectedTask,
    selection_as_json,
    task_as_json,
)
from viewer.readers.datasets import mimic_cxr, report_studies
from viewer.readers.datasets.mimic_cxr import sections

TASK = SelectedTask("s1", "t1", "Describe the pleura.", Category.BROAD)


SIZE = SizePx(8, 6)


def image(key: str, view: str, *, prior: bool = False) -> StudyImage:
    return StudyImage(key, view, prior, SIZE)


def picture(path: Path, grey: int = 90) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((8, 6), grey, np.uint8)).save(path)


def case(root: Path, name: str, **members: object) -> Path:
    path = root / name / "case.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(members), encoding="utf-8")
    return path


def folder(root: Path) -> Path:
    """Write two studies; the second's prior is the first."""
    for name in ("s1/pa.png", "s1/lat.png", "s1/old.png", "s2/ap.png"):
        picture(root / name, len(name))
    inline = {k: v for k, v in task_as_json(TASK).items() if k != "item"}
    case(
        root,
        "s1",
        patient="p1",
        date="2020-02-01",
        indication=" Cough. ",
        findings="Effusion.",
        images=[{"file": "pa.png", "view": "pa"}, {"file": "lat.png", "view": "LL"}],
        prior={"date": "2020-01-02", "images": [{"file": "old.png", "view": "AP"}]},
        tasks=[inline],
    )
    case(
        root,
        "s2",
        date="2020-03-01",
        patient="p1",
        images=[{"file": "ap.png", "view": "AP"}],
        prior="s1",
    )
    return root


def kinds(dataset: Dataset) -> list[str]:
    return [notice.kind for notice in dataset.notices]


@pytest.mark.statement("E001-01")
def test_that_a_case_file_says_views_prior_and_report(tmp_path: Path) -> None:
    root = folder(tmp_path)
    assert report_studies.looks(root)
    dataset = report_studies.read(root, "mine")
    first, second = (study_of(item) for item in dataset.items)
    assert first.images == (
        image("s1/pa", "PA"),
        image("s1/lat", "LATERAL"),
        image("s1/old", "AP", prior=True),
    )
    assert (first.indication, first.findings) == ("Cough.", "Effusion.")
    assert (first.prior_days, first.tasks) == (30, (TASK,))
    assert [image.key for image in second.images if image.prior] == ["s1/pa", "s1/lat"]
    assert second.prior_days == 29
    images = {image.key: image for image in dataset.images}
    assert images["s1/lat"].view is View.LATERAL
    assert images["s2/ap"].view is View.FRONTAL
    assert {image.patient for image in dataset.images} == {"p1"}
    assert images["s1/pa"].study == "s1"
    assert kinds(dataset) == []


def test_that_the_content_has_a_name_that_changes_with_a_report(tmp_path: Path) -> None:
    before = report_studies.read(folder(tmp_path), "mine")
    again = report_studies.read(tmp_path, "other")
    assert before.root_sha256 == again.root_sha256
    case(tmp_path, "s2", images=[{"file": "ap.png"}], findings="Clear.")
    changed = report_studies.read(tmp_path, "mine")
    assert changed.root_sha256 != before.root_sha256
    assert kinds(changed) == ["unknown_view"]


@pytest.mark.statement("E001-01", "E001-05")
def test_that_one_table_says_the_same_and_tasks_stand_beside_it(tmp_path: Path) -> None:
    for name in ("pa.png", "old.png"):
        picture(tmp_path / name)
    (tmp_path / "studies.csv").write_text(
        "study,file,view,patient,date,prior,prior_date,indication,findings\n"
        "s1,old.png,AP,p1,2020-02-01,yes,2020-01-02,,\n"
        "s1,pa.png,PA,p1,2020-02-01,,,Cough.,Effusion.\n"
        ",pa.png,PA,,,,,,\n",
        encoding="utf-8",
    )
    lonely = SelectedTask("s9", "t1", "Describe.", Category.BROAD)
    (tmp_path / "tasks.json").write_bytes(selection_as_json([TASK, lonely]))
    assert report_studies.looks(tmp_path)
    dataset = report_studies.read(tmp_path, "mine")
    (study,) = (study_of(item) for item in dataset.items)
    assert study.images == (
        image("s1/pa", "PA"),
        image("s1/old", "AP", prior=True),
    )
    assert (study.prior_days, study.tasks) == (30, (TASK,))
    assert sorted(kinds(dataset)) == ["odd_row", "task_without_study"]


def test_that_no_two_tasks_of_a_study_have_one_id(tmp_path: Path) -> None:
    folder(tmp_path)
    other = SelectedTask("s1", "t1", "Describe the heart.", Category.BROAD)
    more = SelectedTask("s1", "t2", "Describe the bones.", Category.BROAD)
    (tmp_path / "tasks.json").write_bytes(selection_as_json([other, more]))
    inline = {k: v for k, v in task_as_json(TASK).items() if k != "item"}
    images = [{"file": "ap.png", "view": "AP"}]
    case(tmp_path, "s3", images=images, tasks=[inline, inline])
    case(tmp_path, "s4", images=images, tasks={"t1": inline})
    dataset = report_studies.read(tmp_path, "mine")
    studies = {item.key: study_of(item) for item in dataset.items}
    assert studies["s1"].tasks == (TASK, more)
    assert set(studies) == {"s1", "s2"}
    texts = {(n.subject, n.kind): n.text for n in dataset.notices}
    assert "not used" in texts["s1", "task_twice"]
    assert "has the task 't1' twice" in texts["s3", "case_unreadable"]
    assert "tasks that are not a list" in texts["s4", "case_unreadable"]


def test_that_a_broken_study_is_left_out_and_named(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "s3").mkdir()
    (tmp_path / "s3" / "case.json").write_text("{", encoding="utf-8")
    case(tmp_path, "s4", images=[])
    case(tmp_path, "s5", images=[{"view": "PA"}])
    case(tmp_path, "s6", images=[{"file": "a.png"}, {"file": "a.png"}])
    case(tmp_path, "s7", id="s1", images=[{"file": "a.png"}])
    case(tmp_path, "s8", images=[{"file": "gone.png", "view": "PA"}], prior="s99")
    case(tmp_path, "s9", images=[{"file": "a.png"}], tasks=[{"id": "t"}])
    (tmp_path / "s10").mkdir()
    (tmp_path / "s10" / "case.json").write_text("[]", encoding="utf-8")
    (tmp_path / "s11").mkdir()
    (tmp_path / "s11" / "case.json").write_bytes(b"\xff\xfe\xff")
    dataset = report_studies.read(tmp_path, "mine")
    assert [item.key for item in dataset.items] == ["s1", "s2", "s8"]
    found = kinds(dataset)
    assert found.count("case_unreadable") == 7
    assert found.count("study_twice") == 1
    assert found.count("prior_missing") == 1
    assert found.count("missing_file") == 1
    texts = " ".join(n.text for n in dataset.notices)
    for words in (
        "is not JSON",
        "lists no images",
        "whose file",
        "the same image twice",
        "'task' is missing in a task of 'case.json'",
        "is not an object",
        "cannot be read as text",
    ):
        assert words in texts


@pytest.mark.parametrize("as_table", [False, True])
def test_that_a_prior_s_file_of_the_same_name_is_another_image(
    tmp_path: Path, as_table: bool
) -> None:
    picture(tmp_path / "s1" / "now" / "pa.png", 40)
    picture(tmp_path / "s1" / "then" / "pa.png", 200)
    if as_table:
        rows = ("s1,s1/now/pa.png,PA,no", "s1,s1/then/pa.png,PA,yes")
        twice = "s1,s1/now/pa.png,PA,no"
        table = "\n".join(("study,file,view,prior", *rows, twice))
        (tmp_path / "studies.csv").write_text(table)
    else:
        now, then = (
            {"file": f"{when}/pa.png", "view": "PA"} for when in ("now", "then")
        )
        case(tmp_path, "s1", images=[now], prior={"images": [then]})
    dataset = report_studies.read(tmp_path, "r")
    (item,) = dataset.items
    own, before = study_of(item).images
    assert (own.prior, before.prior) == (False, True)
    files = {i.key: i.ref.path.parent.name for i in dataset.images}
    assert (files[own.key], files[before.key]) == ("now", "then")
    assert ("odd_row" in kinds(dataset)) == as_table


def test_that_a_folder_without_studies_is_refused(tmp_path: Path) -> None:
    assert not report_studies.looks(tmp_path)
    assert not report_studies.looks(tmp_path / "none.csv")
    with pytest.raises(UnreadableInputError, match="There is no study below"):
        report_studies.read(tmp_path, "mine")


REPORT = """                                 FINAL REPORT
 EXAMINATION:  CHEST (PA AND LAT)

 INDICATION:  ___F with new onset
  cough.

 COMPARISON:  None.

 FINDINGS: 

 There is a small left pleural effusion.  No: pneumothorax.

 IMPRESSION:

 Effusion.
"""  # noqa: W291 - reports have such lines


@pytest.mark.statement("E001-20")
def test_that_sections_run_from_heading_to_heading() -> None:
    assert sections(REPORT) == {
        "indication": "___F with new onset cough.",
        "findings": "There is a small left pleural effusion. No: pneumothorax.",
    }
    assert sections("REASON FOR EXAM: fever\nHISTORY: none") == {"indication": "fever"}
    assert sections("INDICATION:\nHISTORY: old\n") == {"indication": "old"}
    assert sections("No headings at all.") == {}


def mimic(root: Path, split: str = "test") -> Path:
    """Write three studies of one subject, the latest of the wanted split."""
    rows = (
        ("d1", "10", "50", "PA", "21800301", "1200.5"),
        ("d2", "10", "50", "LATERAL", "21800301", "1200.5"),
        ("d3", "10", "51", "AP", "21800331", "900"),
        ("d4", "10", "52", "AP", "21800331", "800"),
        ("d5", "11", "53", "", "", ""),
    )
    header = "dicom_id,subject_id,study_id,ViewPosition,StudyDate,StudyTime"
    root.mkdir(parents=True, exist_ok=True)
    (root / "mimic-cxr-2.0.0-metadata.csv").write_text(
        "\n".join((header, *(",".join(row) for row in rows))), encoding="utf-8"
    )
    splits = {"50": "train", "51": split, "52": "train", "53": split}
    lines = [f"{d},{study},{s},{splits[study]}" for d, s, study, *_ in rows]
    (root / "mimic-cxr-2.0.0-split.csv").write_text(
        "\n".join(("dicom_id,study_id,subject_id,split", *lines)), encoding="utf-8"
    )
    for image, subject, study, *_ in rows:
        picture(root / f"files/p{subject}/s{study}/{image}.jpg")
    (root / "files/p10/s51.txt").write_text(REPORT, encoding="utf-8")
    return root


@pytest.mark.statement("E001-20")
def test_that_mimic_has_reports_by_section_and_priors_by_date(tmp_path: Path) -> None:
    root = mimic(tmp_path / "mimic")
    assert mimic_cxr.looks(root)
    dataset = mimic_cxr.read(root, "mimic")
    first, last = (study_of(item) for item in dataset.items)
    assert first.key == "s51"
    assert first.images == (image("d3", "AP"), image("d4", "AP", prior=True))
    assert (first.prior_days, first.date) == (0, "2180-03-31")
    assert first.indication == "___F with new onset cough."
    assert last.images == (image("d5", ""),)
    assert (last.prior_days, last.date, last.findings) == (None, "", "")
    assert dataset.split == "test"
    assert first.patient.startswith("p")
    assert first.patient not in {"10", "p10"}
    assert {i.patient for i in dataset.images} == {first.patient, last.patient}
    assert "report_missing" in kinds(dataset)
    assert "unknown_view" in kinds(dataset)


@pytest.mark.parametrize(
    "report",
    [
        "INDICATION: Cough.\nFindings: Edema.\nImpression: Edema.",
        "INDICATION: Cough.\n \nThe lungs show edema. No effusion.",
        "INDICATION: Cough.  FINDINGS:  Edema.",
        "INDICATION: Cough.\nPA AND LATERAL VIEWS, 3:15 PM: Edema is seen.",
        "INDICATION:\nCough.\nFINDINGS\nEdema.",
        "INDICATION: Cough.\n\nCOMPARISON: None.\n\nEdema is seen.",
    ],
)
def test_that_findings_never_stand_in_the_indication(report: str) -> None:
    assert sections(report)["indication"] == "Cough."


def test_that_an_empty_indication_does_not_take_the_paragraph_below() -> None:
    assert sections("INDICATION:\n\nThe lungs show edema.") == {}


@pytest.mark.statement("E001-20")
def test_that_mimic_s_tables_are_read_as_they_are_downloaded(tmp_path: Path) -> None:
    root = mimic(tmp_path / "mimic")
    plain = mimic_cxr.read(root, "mimic")
    for table in list(root.glob("*.csv")):
        table.with_name(f"{table.name}.gz").write_bytes(
            gzip.compress(table.read_bytes())
        )
        table.unlink()
    assert mimic_cxr.looks(root)
    packed = mimic_cxr.read(root, "mimic")
    assert (packed.items, packed.split) == (plain.items, plain.split)


def test_that_half_a_download_is_refused_by_name(tmp_path: Path) -> None:
    root = mimic(tmp_path / "mimic")
    table = root / "mimic-cxr-2.0.0-metadata.csv"
    header, *rows = table.read_text().splitlines()
    many = "\n".join((header, *(f"{i}{row}" for i in range(5000) for row in rows)))
    packed = gzip.compress(many.encode())
    table.with_name(f"{table.name}.gz").write_bytes(packed[: len(packed) // 2])
    table.unlink()
    with pytest.raises(
        UnreadableInputError, match=r"metadata\.csv\.gz.* cannot be read"
    ):
        mimic_cxr.read(root, "mimic")


@pytest.mark.statement("E001-20")
def test_that_without_a_split_file_every_study_is_imported(tmp_path: Path) -> None:
    root = mimic(tmp_path / "mimic")
    (root / "mimic-cxr-2.0.0-split.csv").unlink()
    dataset = mimic_cxr.read(root, "mimic")
    assert [item.key for item in dataset.items] == ["s50", "s51", "s52", "s53"]
    assert study_of(dataset.items[2]).prior_days == 30
    assert not study_of(dataset.items[0]).has_prior
    with pytest.raises(UnreadableInputError, match="No study of the split 'test'"):
        mimic_cxr.read(mimic(tmp_path / "other", split="train"), "mimic")
