"""Anybody's predictions, scored like a run; a run's own give the same results."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import highdicom
import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.sr.codedict import codes

from tests.helpers.five_answers import KINDS, five_models
from tests.helpers.phantom_folders import write_phantom
from tests.helpers.tiny_study import a_spec, finish, planned, tables_of, write_images
from viewer.cli import run_command_line
from viewer.domain.answer import HeatMapAnswer
from viewer.domain.errors import UnreadableInputError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.reference import Mask
from viewer.readers.predictions.seg import read_segmentations
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.store.database import open_store

Overread = Callable[..., tuple[int, str, str]]


@pytest.fixture
def overread(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Overread:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))

    def run(store: Path, *words: object) -> tuple[int, str, str]:
        code = run_command_line([*map(str, words), "--store", str(store)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def _tables(store: Path, run: int) -> Mapping[str, str]:
    """Return what is written of a report's tables of results."""
    with open_store(store) as opened:
        tables = tables_of(opened, run)
    names = ("results.csv", "rules.csv", "geometry.csv", "detection.csv")
    return {name: tables[name] for name in names if name in tables}


def _latest(overread: Overread, store: Path) -> int:
    rows = json.loads(overread(store, "runs", "--json")[1])
    return max(int(row["id"]) for row in rows)


@pytest.mark.parametrize("kind", KINDS)
def test_that_exported_answers_of_every_kind_come_back_with_the_same_results(
    kind: str, overread: Overread, tmp_path: Path
) -> None:
    store, out = tmp_path / "s.sqlite", tmp_path / "answers.csv"
    field, half = BoxPx(0, 10, 100, 110), SizePx(12, 9)
    models = five_models(tmp_path, field, PointPx(40.5, 50.5), half)
    model = models[KINDS.index(kind)]
    with open_store(store) as opened:
        run = planned(opened, tmp_path / "images", a_spec((model,)), 2)
        finish(opened, run)
    assert overread(store, "export", "answers", run, "--out", out)[0] == 0
    code, _, said = overread(
        store, "import-predictions", out, "--like", run, "--name", model.name
    )
    assert code == 0, said
    places = 4 if kind == "boxes" else 2
    assert said == f"{places} predictions for 2 of 2 items.\n"
    again = _latest(overread, store)
    assert again > run
    before = _tables(store, run)
    assert _tables(store, again) == before
    assert ("rules.csv" in before) == (kind != "cell")


@pytest.fixture
def odd_run(tmp_path: Path) -> tuple[Path, int]:
    """A finished run of one model with replies of every status at two grids."""
    store, answers = tmp_path / "odd.sqlite", tmp_path / "answers.json"
    key = "patient{:05d}_frontal|Edema"
    texts = {
        key.format(0): "D4",
        key.format(0) + "|grid=16|1": "P16",
        key.format(1): "I cannot say",
        key.format(2): "There is no edema.",
        key.format(3): "Z9",
        key.format(4): "A1 or B7 or C3",
    }
    answers.write_text(json.dumps(texts))  # the sixth has none: it fails
    model = ModelProfile("odd", "scripted", {"answers_file": str(answers)})
    with open_store(store) as opened:
        spec = a_spec((model,), repeats=2, params={"grids": [8, 16]})
        run = planned(opened, tmp_path / "images", spec, 6)
        finish(opened, run)
    return store, run


def test_that_every_status_comes_back_and_results_are_the_same_bytes(
    odd_run: tuple[Path, int], overread: Overread, tmp_path: Path
) -> None:
    store, run = odd_run
    out = tmp_path / "answers.csv"
    code, said, _ = overread(store, "export", "answers", run, "--out", out)
    assert (code, said.split(" in ")[0]) == (0, "24 answers")
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len({row["status"] for row in rows}) >= 4
    words = ("import-predictions", out, "--like", run, "--name", "odd")
    code, _, said = overread(store, *words)
    assert code == 1  # what failed at the provider failed again
    assert said.startswith("24 predictions for 6 of 6 items")
    again = _latest(overread, store)
    before = _tables(store, run)["results.csv"]
    after = _tables(store, again)["results.csv"]
    assert before == after
    assert overread(store, *words)[0] == 1
    assert _latest(overread, store) == again, "the same file is the same run"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A store with four images of 100 × 120 and nothing asked."""
    store = tmp_path / "tiny.sqlite"
    with open_store(store) as opened:
        import_dataset(opened, "folder", write_images(tmp_path / "images", 4), "tiny")
    return store


def _write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("meant", "row"),
    [
        ("native", "25,45,75,95"),
        ("normalised", "0.25,0.375,0.75,0.7916666666666666"),
        ("sent", "64,89.6,192,217.6"),
    ],
)
def test_that_a_person_says_what_numbers_count(
    meant: str, row: str, tiny: Path, overread: Overread, tmp_path: Path
) -> None:
    file = _write(
        tmp_path / "p.csv",
        "picture,label,left,top,right,bottom,sure",
        f"patient00001_frontal.png,edema,{row},0.75",
    )
    pairs = ("picture=image", "label=finding", "left=x1", "top=y1", "right=x2")
    named = [
        word for pair in (*pairs, "bottom=y2", "sure=score") for word in ("--map", pair)
    ]
    words = ("import-predictions", file, "--dataset", "tiny", "--name", "mine", *named)
    code, _, said = overread(tiny, *words)
    assert code == 2
    assert "--coordinates" in said
    code, out, said = overread(tiny, *words, "--coordinates", meant, "--json")
    assert code == 0, said
    assert said.startswith("1 prediction for 1 of 4 items; 3 items have none")
    assert json.loads(out)["counts"]["unparsed"] == 3
    answers = tmp_path / "again.csv"
    overread(tiny, "export", "answers", 1, "--out", answers)
    rows = list(csv.DictReader(answers.read_text().splitlines()))
    box = next(r for r in rows if r["x1"])
    got = [float(box[name]) for name in ("x1", "y1", "x2", "y2", "score")]
    assert got == pytest.approx([25, 45, 75, 95, 0.75], abs=1e-9)
    assert {r["reason"] for r in rows if r is not box} == {"no_prediction"}


def test_that_what_is_about_nothing_asked_is_counted_by_name(
    tiny: Path, overread: Overread, tmp_path: Path
) -> None:
    file = _write(
        tmp_path / "p.csv",
        "image,finding,cell",
        "patient00001_frontal,Edema,D4",
        "patient00002_frontal,Edema,D4",
        "patient00002_frontal,Edema,E4",
        "elsewhere,Edema,D4",
        "elsewhere,Edema,D5",
        "patient00001_frontal,Fracture,A1",
        "patient00003_frontal,Edema,",
    )
    words = ("import-predictions", file, "--dataset", "tiny", "--name", "mine")
    code, _, said = overread(tiny, *words, "--check")
    lines = said.splitlines()
    assert code == 0
    assert lines == [
        "3 predictions for 2 of 4 items; 2 items have none.",
        "2 predictions not used: elsewhere is not one image of the data set.",
        "1 prediction not used: Fracture is not asked.",
        "1 prediction not used: they contain no location.",
    ]
    assert json.loads(overread(tiny, "runs", "--json")[1]) == []
    code, out, _ = overread(tiny, *words, "--json")
    counts = json.loads(out)["counts"]
    assert (counts["ambiguous"], counts["unparsed"]) == (1, 2)


@pytest.mark.parametrize(
    ("lines", "words", "said"),
    [
        (("image,cell", "a,D4"), (), "No column of 'p.csv' is mapped to a finding"),
        (("finding,cell", "Edema,D4"), (), "an image or patient"),
        (("image,cell", "a,D4"), ("--map", "cel=cell"), "has no column 'cel'"),
        (("image,cell", "a,D4"), ("--map", "cell=cel"), "No column can be mapped"),
        (("image,cell", "a,D4"), ("--map", "cell"), "Write --map column=field"),
        (("image,finding,x", "a,Edema,3"), (), "Line 2 of 'p.csv'"),
        (("image,finding,x,y", "a,Edema,3,inf"), (), "not a finite number"),
        (("image,finding,cell,x,y", "a,Edema,D4,3,3"), (), "a cell and a point"),
        (("image,finding,x1,y1,x2,y2", "a,Edema,3,3,2,2"), (), "no area"),
        (("image,finding,map", "a,Edema,{}"), (), "its map is not a heat map"),
        (("image,finding,cell", "a,Edema,D4"), (), "No prediction in 'p.csv'"),
        (("image,finding,cell,model", "a,Edema,D4,m", "a,Edema,D4,n"), (), "several"),
        (("image,finding,cell", "a,Edema,D4"), ("--model", "m"), "no model 'm'"),
        (
            ("image,finding,cell,model", "a,Edema,D4,m", "b,Edema,D4,"),
            ("--model", "m"),
            "a model for some predictions and none for 1",
        ),
        (("image,finding,status", "a,Edema,lost"), (), "Line 2 of 'p.csv'"),
        (("image,finding,x,y", "a,Edema,left,3"), (), "its x is not a finite number"),
        (("image,finding,cell",), (), "The table 'p.csv' has no rows."),
        (("image,finding,cell", "a,Edema,D4"), ("--like", "99"), "There is no run 99"),
    ],
)
def test_that_a_table_that_cannot_be_used_is_refused_with_a_sentence(
    lines: tuple[str, ...],
    words: tuple[str, ...],
    said: str,
    tiny: Path,
    overread: Overread,
    tmp_path: Path,
) -> None:
    file = _write(tmp_path / "p.csv", *lines)
    named = ("--dataset", "tiny", "--name", "mine")
    code, out, err = overread(tiny, "import-predictions", file, *named, *words)
    assert (code, out) == (2, "")
    assert said in err


def _instances(path: Path, n: int = 4) -> Path:
    images = [
        {
            "id": i,
            "file_name": f"patient{i:05d}_frontal.png",
            "width": 100,
            "height": 120,
        }
        for i in range(n)
    ]
    content = {
        "images": images,
        "categories": [{"id": 7, "name": "edema"}],
        "annotations": [],
    }
    path.write_text(json.dumps(content))
    return path


def _exported(overread: Overread, store: Path, run: int, out: Path) -> dict[str, Any]:
    """Return what a run answered, the first row of each image."""
    overread(store, "export", "answers", run, "--out", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    return {row["image"]: row for row in reversed(rows)}


def test_that_coco_results_are_boxes_with_scores_or_masks_as_a_person_says(
    tiny: Path, overread: Overread, tmp_path: Path
) -> None:
    outline = [[20, 30, 60, 30, 60, 70, 20, 70]]
    mask = np.zeros((120, 100), dtype=np.bool_)
    mask[30:70, 20:60] = True
    rle = {"size": [120, 100], "counts": Mask.of_array(mask).counts}
    rows = [
        {"image_id": 1, "category_id": 7, "bbox": [20, 30, 40, 40], "score": 0.5},
        {"image_id": 1, "category_id": 7, "bbox": [1, 2, 3, 4], "score": 0.25},
        {"image_id": 2, "category_id": 7, "bbox": [20, 30, 40, 40], "score": 0.5},
    ]
    rows[2]["segmentation"] = outline
    rows.append({"image_id": 3, "category_id": 7, "segmentation": rle, "score": 1})
    rows.append({"image_id": 9, "category_id": 7, "segmentation": rle, "score": 1})
    file = tmp_path / "results.json"
    file.write_text(json.dumps(rows))
    words = ["import-predictions", file, "--dataset", "tiny", "--name", "m"]
    code, _, said = overread(tiny, *words)
    assert (code, "--annotations" in said) == (2, True)
    words += ["--annotations", _instances(tmp_path / "instances.json")]
    code, _, said = overread(tiny, *words)
    assert (code, "--shape" in said) == (2, True)
    code, _, said = overread(tiny, *words, "--shape", "mask")
    assert (code, "--coordinates" in said) == (2, True)
    code, _, said = overread(tiny, *words, "--shape", "mask", "--coordinates", "native")
    assert code == 0, said
    assert said.splitlines() == [
        "4 predictions for 3 of 4 items; 1 item has none.",
        "1 prediction not used: 9 is not one image of the data set.",
    ]
    got = _exported(overread, tiny, 1, tmp_path / "a.csv")
    boxes = got["patient00001_frontal"]
    assert [boxes[k] for k in ("x1", "y1", "x2", "y2", "score")] == [
        "20.0",
        "30.0",
        "60.0",
        "70.0",
        "0.5",
    ]
    for key in ("patient00002_frontal", "patient00003_frontal"):
        assert got[key]["mask_rle"] == rle["counts"]
    words += ["--shape", "box", "--coordinates", "native"]
    assert overread(tiny, *words)[0] == 0
    got = _exported(overread, tiny, 2, tmp_path / "b.csv")
    assert got["patient00002_frontal"]["x2"] == "60.0"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "cannot be read as JSON"),
        ("{}", "contains no list of COCO results"),
        ("[3]", "Prediction 1 of 'r.json': It is not an object"),
        ('[{"category_id": 1}]', "It has no image_id"),
        ('[{"image_id": 1, "score": "x"}]', "Its score is not a number"),
        ('[{"image_id": 1, "category_id": "Edema"}]', "neither box nor segmentation"),
    ],
)
def test_that_coco_results_that_are_none_are_refused_with_a_sentence(
    content: str, said: str, tiny: Path, overread: Overread, tmp_path: Path
) -> None:
    file = _write(tmp_path / "r.json", content)
    named = ("--dataset", "tiny", "--name", "mine", "--coordinates", "native")
    code, out, err = overread(tiny, "import-predictions", file, *named)
    assert (code, out) == (2, "")
    assert said in err


def _segmentation(source: Path, values: np.ndarray, label: str, out: Path) -> Path:
    """Write a DICOM SEG of one segment; whole numbers are binary."""
    binary = values.dtype == np.uint8
    code = codes.SCT.MorphologicallyAbnormalStructure
    segment = highdicom.seg.SegmentDescription(
        segment_number=1,
        segment_label=label,
        segmented_property_category=code,
        segmented_property_type=code,
        algorithm_type=highdicom.seg.SegmentAlgorithmTypeValues.MANUAL,
    )
    kinds = highdicom.seg.SegmentationTypeValues
    highdicom.seg.Segmentation(
        source_images=[pydicom.dcmread(source)],
        pixel_array=values[np.newaxis],
        segmentation_type=kinds.BINARY if binary else kinds.FRACTIONAL,
        segment_descriptions=[segment],
        series_instance_uid=highdicom.UID(),
        series_number=2,
        sop_instance_uid=highdicom.UID(),
        instance_number=1,
        manufacturer="Somebody",
        manufacturer_model_name="Something",
        software_versions="1",
        device_serial_number="1",
    ).save_as(out)
    return out


def test_that_segmentations_find_their_images_and_keep_masks_and_maps(
    overread: Overread, tmp_path: Path
) -> None:
    store, size = tmp_path / "s.sqlite", SizePx(120, 100)
    write_phantom(make_phantom, tmp_path / "p", 2, 1, size, compress=False)
    with open_store(store) as opened:
        dataset = import_dataset(opened, "chexlocalize", tmp_path / "p", "phantom")
    asked = [i for i in dataset.images if i.view == "frontal" and i.masks][:2]
    files = [image.ref.path for image in asked]
    label = next(iter(asked[0].masks))
    mask = np.zeros((120, 100), dtype=np.uint8)
    mask[30:70, 20:60] = 1
    folder = tmp_path / "segs"
    folder.mkdir()
    (folder / "readme.txt").write_text("not a DICOM")
    _segmentation(files[0], mask, label, folder / "a.dcm")
    _segmentation(files[1], mask * np.float32(0.5), label, folder / "b.dcm")
    params = ("--dataset", "phantom", "--name", "seg")
    code, _, said = overread(store, "import-predictions", folder, *params)
    assert code == 0, said
    got = _exported(overread, store, 1, tmp_path / "a.csv")
    assert got[asked[0].key]["mask_rle"] == Mask.of_array(mask > 0).counts
    predictions = read_segmentations(folder, {i.key: i.ref.path for i in asked})
    assert [(p.image, p.finding) for p in predictions] == [
        (asked[0].key, label),
        (asked[1].key, label),
    ]
    first, second = (p.place for p in predictions)
    assert first == Mask.of_array(mask > 0)
    assert isinstance(second, HeatMapAnswer)
    assert second.field == BoxPx(0, 0, 100, 120)
    assert np.abs(second.heat_map.values - mask * 0.5).max() < 1 / 255
    lost = read_segmentations(folder / "a.dcm", {})
    assert lost[0].image == str(pydicom.dcmread(files[0]).SOPInstanceUID)
    smaller = pydicom.dcmread(files[0])
    smaller.Rows = 60
    smaller.save_as(tmp_path / "smaller.dcm")
    with pytest.raises(UnreadableInputError, match="not the size"):
        read_segmentations(folder / "a.dcm", {"a": tmp_path / "smaller.dcm"})


def test_that_what_is_no_segmentation_is_refused(
    tiny: Path, overread: Overread, tmp_path: Path
) -> None:
    file = _write(tmp_path / "r.dcm", "nothing")
    words = ("import-predictions", file, "--dataset", "tiny", "--name", "mine")
    code, _, said = overread(tiny, *words)
    assert code == 2
    assert "not a DICOM Segmentation" in said


def test_that_a_folder_of_masks_is_read_by_the_names_of_its_pictures(
    tiny: Path, overread: Overread, tmp_path: Path
) -> None:
    mask = np.zeros((120, 100), dtype=np.uint8)
    folder = tmp_path / "masks"
    folder.mkdir()
    Image.fromarray(mask).save(folder / "patient00000_frontal.Edema.png")
    mask[30:70, 20:60] = 255
    Image.fromarray(mask).save(folder / "patient00001_frontal.edema.png")
    Image.fromarray(mask[:60]).save(folder / "patient00002_frontal.edema.png")
    words = ("import-predictions", folder, "--dataset", "tiny", "--name", "masks")
    code, _, said = overread(tiny, *words)
    assert code == 0, said
    assert said.splitlines()[:2] == [
        "2 predictions for 2 of 4 items; 2 items have none.",
        "1 prediction not used: they contain no location.",
    ]
    got = _exported(overread, tiny, 1, tmp_path / "a.csv")
    counts = Mask.of_array(mask > 0).counts
    assert got["patient00001_frontal"]["mask_rle"] == counts
    assert got["patient00002_frontal"]["reason"] == "mask_size"
    assert got["patient00000_frontal"]["reason"] == "no_prediction"
    Image.fromarray(mask).save(folder / "nameless.png")
    code, _, said = overread(tiny, *words)
    assert code == 2
    assert "does not give an image and a finding" in said
