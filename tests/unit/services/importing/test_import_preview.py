import json
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PIL import Image

from tests.helpers.item_datasets import report_folder
from tests.helpers.tiny_study import write_images
from viewer.cli import run_command_line
from viewer.domain.case import Notice
from viewer.domain.errors import CancelledError, WrongUseError
from viewer.readers.grades import COLUMNS
from viewer.services.importing.import_preview import (
    FindingCount,
    formats_found,
    formats_shown,
    notice_lines,
    preview,
    register,
)
from viewer.services.inspecting.listing import dataset_rows, image_rows
from viewer.services.privacy.decisions import restricted_datasets
from viewer.store.database import open_store

TABLE = """\
image_id,rad_id,class_name,x_min,y_min,x_max,y_max
one,R1,Mass,10,10,30,30
one,R2,Mass,10,10,30,50
one,R2,Edema,10,10,9,50
two,R1,No finding,,,,
two,R2,No finding,,,,
gone,R2,Mass,1,1,5,5
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vindr"
    root.mkdir()
    for name in ("one", "two"):
        pixels = np.full((60, 60), 90, dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{name}.png")
    (root / "train.csv").write_text(TABLE)
    return root


def test_that_notices_of_one_kind_are_not_listed_by_the_thousand() -> None:
    alike = [
        Notice("missing", f"{n}.png", "There is no such file.") for n in range(1318)
    ]
    other = Notice("unknown", "x.csv", "Not read.")
    *first, more, last = notice_lines("mine", [*alike, other])
    assert first == [f"{n}.png: There is no such file." for n in range(8)]
    assert more == "... and 1,310 more like these; overread cases mine lists all."
    assert last == "x.csv: Not read."
    assert len(list(notice_lines("mine", alike[:8]))) == 8


def test_that_a_preview_counts_what_would_be_registered(root: Path) -> None:
    seen = preview("vindr", root, "boxes")
    assert seen.sentence.startswith("3 images, 3 patients, 1 reference, 2 readers, ")
    assert seen.findings == (
        FindingCount("Edema", 1, 2, 0),
        FindingCount("Mass", 2, 1, 1),
    )
    kinds = {notice.kind: notice for notice in seen.notices}
    assert kinds["missing_file"].count == 1
    assert kinds["missing_file"].first.startswith("gone: ")
    assert sum(n.count for n in seen.notices) == len(seen.dataset.notices)


def test_that_what_was_looked_at_is_registered_under_the_name_chosen_last(
    root: Path, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    seen = preview("vindr", root, "boxes")
    register(store, seen, "mine", restricted=True)
    with open_store(store) as opened:
        assert [(r["name"], r["items"]) for r in dataset_rows(opened)] == [("mine", 1)]
        assert image_rows(opened, "mine")[0][1]["findings"] == ["Mass"]
    assert restricted_datasets(store) == {"mine"}
    other = preview("folder", root, "mine")
    with pytest.raises(WrongUseError, match="other content"):
        register(store, other, "mine")


def test_that_progress_is_told_and_stopping_registers_nothing(root: Path) -> None:
    told: list[tuple[int, int]] = []
    preview("vindr", root, "boxes", None, lambda *n: told.append(n))
    assert told == [(1, 2), (2, 2)]
    stop = Event()
    stop.set()
    with pytest.raises(CancelledError, match="stopped"):
        preview("vindr", root, "boxes", None, None, stop)


def test_that_the_format_is_found_by_looking(root: Path, tmp_path: Path) -> None:
    assert formats_found(root) == ("vindr", "folder")
    assert formats_found(root / "train.csv") == ("vindr",)
    assert formats_found(tmp_path / "nowhere") == ()
    assert {"coco", "vindr", "rsna", "siim", "chexlocalize"} <= set(formats_shown())
    titles = {shown.title for shown in formats_shown().values()}
    assert {"COCO JSON", "VinDr-CXR CSV", "CheXlocalize"} <= titles
    assert len(titles) == len(formats_shown())


def test_that_a_folder_without_an_image_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(WrongUseError, match="contains no image"):
        preview("folder", tmp_path / "empty", "x")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OVERREAD_STORE", raising=False)
    return tmp_path


def test_that_the_command_imports_what_a_folder_looks_like(
    root: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert home.is_dir()
    assert run_command_line(["import", "auto", str(root), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["name"], said["format"]) == ("vindr", "vindr")
    assert (said["images"], said["items"], said["readers"]) == (3, 1, ["R1", "R2"])
    assert [n[0] for n in said["notices"]].count("missing_file") == 1


def test_that_the_command_asks_where_a_folder_looks_like_two_formats_or_none(
    root: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "labels.csv").write_text("patientId,x,y,width,height,Target\none,,,,,0\n")
    assert run_command_line(["import", "auto", str(root)]) == 2
    assert "looks like vindr and rsna" in capsys.readouterr().err
    assert run_command_line(["import", "auto", str(home / "nowhere")]) == 2
    assert "is not in a known format" in capsys.readouterr().err
    write_images(home / "plain", 2)
    assert run_command_line(["import", "auto", str(home / "plain")]) == 0
    assert "2 images, 2 patients, 2 references" in capsys.readouterr().out


def test_that_grades_that_cannot_be_read_are_told_while_importing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = report_folder(tmp_path / "cases")
    rows = (",".join(COLUMNS), "A,o3,s1|t1,,7,2,4,3,,")
    (root / "grades.csv").write_text("\n".join(rows) + "\n")
    said = (
        "In line 2 of 'grades.csv', '7' as process is not a score from 1 to 5 by 'A'. "
        "No grade counts until that is corrected."
    )
    assert preview("report-studies", root, "cases").notices[-1].first == said
    words = ["import", "report-studies", str(root), "--store", str(tmp_path / "s")]
    assert run_command_line(words) == 0
    assert said in capsys.readouterr().err
