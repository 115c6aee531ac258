"""HEAL-MedVQA's rows, and anatomy masks beside VinDr-CXR's boxes."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.domain.errors import MissingDependencyError, UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask
from viewer.readers.datasets import question_rows as rows_module
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.heal import looks
from viewer.readers.datasets.run_order import Order, Runs, Votes, votes

ROWS, COLUMNS = 60, 40
Bools = npt.NDArray[np.bool_]


def disc(y: float, x: float, rows: int = ROWS, columns: int = COLUMNS) -> Bools:
    yy, xx = np.mgrid[:rows, :columns]
    return np.asarray((yy - y * rows) ** 2 + (xx - x * columns) ** 2 < 36)


def runs(mask: Bools, order: Order) -> list[int]:
    """Return a mask's runs, walked pixel by pixel."""
    pixels = [
        bool(mask[y, x])
        for y, x in (
            ((i % mask.shape[0], i // mask.shape[0]) for i in range(mask.size))
            if order is Order.COLUMNS
            else ((i // mask.shape[1], i % mask.shape[1]) for i in range(mask.size))
        )
    ]
    found, now = [0], False
    for pixel in pixels:
        if pixel != now:
            found.append(0)
            now = pixel
        found[-1] += 1
    return found


def located(
    mask: Bools, order: Order, name: str = "Left lower lung"
) -> dict[str, object]:
    return {name: {"size": list(mask.shape), "counts": runs(mask, order)}}


def row(
    image: str, location: object, answer: str = "No", **more: object
) -> dict[str, Any]:
    question = "Does Left lower lung have Pneumonia"
    cells = {"image": image, "question": question, "answer": answer}
    return {**cells, "location": location, **more}


def write(
    root: Path, listed: Sequence[Mapping[str, object]], size: tuple[int, int] = (60, 40)
) -> Path:
    for name in ("a", "b"):
        write_picture(root / f"{name}.png", np.full(size, 90, dtype=np.uint8))
    (root / "test.json").write_text(json.dumps(listed))
    return root


def read(root: Path, fmt: str = "heal") -> Dataset:
    return read_dataset(fmt, root, "h")


@pytest.mark.statement("E002-04")
@pytest.mark.parametrize("order", Order)
def test_that_the_order_of_runs_is_found_by_a_check_and_said(
    order: Order, tmp_path: Path
) -> None:
    masks = {"a": disc(0.7, 0.7), "b": disc(0.3, 0.3)}
    listed = [row(f"{k}.png", located(m, order)) for k, m in masks.items()]
    dataset = read(write(tmp_path, listed))
    for image in dataset.images:
        assert (image.anatomy["Left lower lung"].array() == masks[image.key]).all()
    notice = next(n for n in dataset.notices if n.kind == f"runs_along_{order}")
    assert notice.text.startswith(f"The runs of its masks go along the {order}: of 2")


@pytest.mark.statement("E002-04")
@pytest.mark.parametrize("order", Order)
def test_that_in_square_images_the_patient_s_sides_tell_the_order(
    order: Order, tmp_path: Path
) -> None:
    left, right = disc(0.3, 0.7, 40, 40), disc(0.7, 0.25, 40, 40)
    areas = {
        **located(left, order, "Left upper lung"),
        **located(right, order, "Right lower lung"),
    }
    dataset = read(write(tmp_path, [row("a.png", areas)], (40, 40)))
    assert (dataset.images[0].anatomy["Left upper lung"].array() == left).all()
    assert (dataset.images[0].anatomy["Right lower lung"].array() == right).all()


@pytest.mark.statement("E002-04")
def test_that_an_order_that_does_not_show_must_be_said(tmp_path: Path) -> None:
    heart = located(disc(0.6, 0.6, 40, 40), Order.ROWS, "Heart")
    root = write(tmp_path, [row("a.png", heart)], (40, 40))
    with pytest.raises(UnreadableInputError) as error:
        read(root)
    along = read(root, "heal-rows").images[0].anatomy["Heart"].array()
    down = read(root, "heal-columns").images[0].anatomy["Heart"].array()
    assert "does not show whether the runs of its masks go down the columns" in str(
        error.value
    )
    assert "heal-columns (COCO's own order) or heal-rows" in error.value.how
    assert (along == disc(0.6, 0.6, 40, 40)).all()
    assert (down == along.T).all()


def test_that_masks_that_contradict_one_another_show_nothing() -> None:
    size = SizePx(ROWS, COLUMNS)
    mask = disc(0.5, 0.5)
    codes = [Runs("Heart", size, tuple(runs(mask, order))) for order in Order]
    empty = Runs("Heart", size, (ROWS * COLUMNS,))
    square = SizePx(40, 40)
    sided = [
        Runs(name, square, tuple(runs(disc(0.5, x, 40, 40), Order.COLUMNS)))
        for name, x in (("Both Left and Right", 0.7), ("Left lung", 0.5))
    ]
    assert votes([*codes, empty]) == Votes(1, 1, 3)
    assert votes([*codes, empty]).order is None
    assert votes(sided) == Votes(0, 0, 2)
    assert Votes(9, 1, 12).order is Order.COLUMNS
    assert Votes(8, 2, 12).order is None


@pytest.mark.statement("E002-04")
def test_that_rows_become_questions_with_their_answers(tmp_path: Path) -> None:
    listed = [
        row("images\\a.png", "Heart", "Yes, it does."),
        row("a.png", "", "The heart suffers from pneumonia"),
        row("b.png", located(disc(0.5, 0.5), Order.COLUMNS)),
        row("b.png", json.dumps(located(disc(0.5, 0.5), Order.COLUMNS))),
    ]
    write(tmp_path, listed)
    write_picture(tmp_path / "images" / "a.png", np.full((60, 40), 9, dtype=np.uint8))
    dataset = read(tmp_path)
    items = dataset.items
    assert [(i.key, i.kind, i.images) for i in items] == [
        ("test.json#1", "closed", ("a",)),
        ("test.json#2", "open", ("a",)),
        ("test.json#3", "closed", ("b",)),
        ("test.json#4", "closed", ("b",)),
    ]
    assert items[0].facts == {"question": "Does Left lower lung have Pneumonia"}
    assert items[0].reference == {"answer": "Yes, it does.", "areas": ["Heart"]}
    assert items[2].reference["areas"] == ["Left lower lung"]
    assert all(i.patient == dataset.images[0].patient for i in items[:2])
    assert any(n.kind == "same_name" for n in dataset.notices)


def _as_parquet(listed: Sequence[Mapping[str, object]], path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(list(listed)), path)


@pytest.mark.statement("E002-04")
def test_that_parquet_json_lines_and_csv_say_the_same(tmp_path: Path) -> None:
    listed = [
        row("a.png", json.dumps(located(disc(0.5, 0.5), Order.COLUMNS))),
        row("b.png", "Left lower lung", "Yes"),
    ]
    found = []
    for name in ("json", "jsonl", "csv", "parquet"):
        root = write(tmp_path / name, listed)
        (root / "test.json").unlink()
        path = root / f"test.{name}"
        if name == "parquet":
            _as_parquet([{**r, "image": {"path": r["image"]}} for r in listed], path)
        elif name == "csv":
            cells = [[str(v).replace('"', '""') for v in r.values()] for r in listed]
            lines = [",".join(f'"{c}"' for c in line) for line in cells]
            path.write_text("\n".join(["image,question,answer,location", *lines]))
        else:
            lines = [json.dumps(r) for r in listed]
            text = "\n\n".join(lines) + "\n7\n"
            path.write_text(text if name == "jsonl" else json.dumps({"data": listed}))
        dataset = read(root)
        whole = [(i.kind, i.images, i.facts, i.reference) for i in dataset.items]
        found.append((whole, [i.anatomy for i in dataset.images]))
    assert all(one == found[0] for one in found)
    assert found[0][0][1][0] == "closed"


def test_that_a_truncated_parquet_is_one_sentence(tmp_path: Path) -> None:
    root = write(tmp_path, [])
    path = root / "test.parquet"
    _as_parquet([row("a.png", "Heart")] * 50, path)
    whole = path.read_bytes()
    assert looks(root)
    for size in (len(whole) // 2, 3, 0):
        path.write_bytes(whole[:size])
        with pytest.raises(UnreadableInputError) as error:
            read(path)
        assert str(error.value) == (
            "'test.parquet' is not a complete Parquet file. It may be cut short; "
            "copy or download it again."
        )
        assert not looks(root)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("test.json", '[{"image": ', "'test.json' is not complete JSON"),
        ("test.json", "[" * 100_000, "cannot be read as JSON"),
        ("test.jsonl", '{"image": "a"}\n{', "Line 2 of 'test.jsonl' is not JSON"),
        ("test.jsonl", b"\xff\xfe\x00", "cannot be read as JSON lines"),
        ("test.json", "[]", "has the fields image, question, answer, location"),
        ("test.txt", "x", "has the fields image, question, answer, location"),
        ("test.json", '{"a": 1}', "has the fields image, question"),
    ],
)
def test_that_a_table_that_cannot_be_read_is_one_sentence(
    name: str, text: str | bytes, words: str, tmp_path: Path
) -> None:
    data = text.encode() if isinstance(text, str) else text
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnreadableInputError, match=words) as error:
        read(tmp_path)
    assert error.value.how
    assert not looks(tmp_path)


def masked(
    image: str, mask: Bools, order: Order, *, starts: bool, **more: object
) -> dict[str, Any]:
    """Return a row of the edition whose masks lie in fields of their own."""
    alternating = runs(mask, order)
    ends = np.cumsum(alternating).tolist()
    pairs = zip(ends[::2], alternating[1::2], strict=False)
    listed = [n for pair in pairs for n in pair] if starts else alternating
    return {
        "image_id": image,
        "question": "Does Left lower lung have Pneumonia",
        "answer": "The location of Left lower lung is at [SEG]. The answer is yes.",
        "anatomy": "Left lower lung",
        "mask_rle": listed,
        "mask_h": mask.shape[0],
        "mask_w": mask.shape[1],
        **more,
    }


@pytest.mark.statement("E002-04", "E002-18")
@pytest.mark.parametrize("starts", [True, False])
@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("kind", ["json", "parquet", "csv"])
def test_that_masks_in_fields_of_their_own_are_read_in_either_order_and_coding(
    kind: str, order: Order, starts: bool, tmp_path: Path
) -> None:
    masks = {"a": disc(0.7, 0.7), "b": disc(0.3, 0.3)}
    listed = [masked(k, m, order, starts=starts) for k, m in masks.items()]
    root = write(tmp_path, listed)
    if kind != "json":
        (root / "test.json").unlink()
    if kind == "parquet":
        _as_parquet(listed, root / "test.parquet")
    if kind == "csv":
        cells = [[str(v).replace('"', '""') for v in r.values()] for r in listed]
        lines = [",".join(f'"{c}"' for c in line) for line in cells]
        (root / "test.csv").write_text("\n".join([",".join(listed[0]), *lines]))
    dataset = read(root)
    for image in dataset.images:
        assert (image.anatomy["Left lower lung"].array() == masks[image.key]).all()
    told = {n.kind: n.text for n in dataset.notices}
    how = "starts and lengths counted from 0" if starts else "alternating runs"
    assert told["mask_coding"].startswith(f"Its masks are 2 {how}")
    assert f"runs_along_{order}" in told
    assert {item.kind for item in dataset.items} == {"closed"}
    assert all(item.reference["areas"] == ["Left lower lung"] for item in dataset.items)
    assert all("area" in item.reference for item in dataset.items)


@pytest.mark.statement("E002-04")
def test_that_a_list_that_is_no_mask_costs_its_mask_alone(tmp_path: Path) -> None:
    good = masked("a", disc(0.7, 0.7), Order.COLUMNS, starts=True)
    broken: dict[str, object] = {
        "odd": [3, 4, 9],
        "falling": [90, 4, 50, 4],
        "meeting": [5, 9, 8, 2],
        "beyond": [2390, 20],
        "no length": [5, 0],
        "negative": [-5, 9],
        "words": ["a", 1],
        "cut off": "[1, 2",
        "one number": 7,
    }
    listed = [good]
    for name, numbers in broken.items():
        mask = {"anatomy": name, "mask_rle": numbers}
        listed.append({**good, "image_id": "b", **mask})
    none = {"mask_rle": None, "anatomy": "Heart", "image_id": "b"}
    empty = {"mask_rle": [], "anatomy": "Aorta", "image_id": "b"}
    unsized = {"anatomy": "Trachea", "image_id": "b", "mask_h": None}
    listed += [{**good, **one} for one in (none, empty, unsized)]
    dataset = read(write(tmp_path, listed))
    first, second = dataset.images
    assert list(first.anatomy) == ["Left lower lung"]
    assert second.anatomy == {}
    assert {*second.defects} == {*broken, "Trachea"}
    empties = [n.text for n in dataset.notices if n.kind == "empty_anatomy_mask"]
    assert empties == ["Its mask of Aorta is empty."]
    assert len(dataset.items) == len(listed)
    coded = next(n for n in dataset.notices if n.kind == "mask_coding")
    assert "1 starts and lengths" in coded.text


@pytest.mark.statement("E002-04")
def test_that_images_inside_a_table_are_unpacked_beside_it(tmp_path: Path) -> None:
    write_picture(tmp_path / "one.png", np.full((60, 40), 50, dtype=np.uint8))
    data = (tmp_path / "one.png").read_bytes()
    (tmp_path / "one.png").unlink()
    inside = {"bytes": data, "path": None}
    plain = masked("", disc(0.7, 0.7), Order.COLUMNS, starts=True)
    listed = [
        {**plain, "image_id": "first", "image": inside},
        {**plain, "image_id": "first", "image": inside},
        {**plain, "image_id": "", "image": {"bytes": data, "path": "x/named.png"}},
        {**plain, "image_id": "", "image": inside},
        {**plain, "image_id": "broken", "image": {"bytes": b"x", "path": None}},
    ]
    path = tmp_path / "rows" / "test.parquet"
    path.parent.mkdir()
    _as_parquet(listed, path)
    dataset = read(path)
    assert [i.key for i in dataset.images][1:] == ["broken", "first", "named"]
    unpacked = sorted(p.name for p in (path.parent / "test_images").iterdir())
    assert unpacked[1:] == ["first.png", "named.png"]
    assert len(unpacked) == 3
    good = [image for image in dataset.images if image.key != "broken"]
    mask = disc(0.7, 0.7)
    assert all((i.anatomy["Left lower lung"].array() == mask).all() for i in good)
    (broken,) = (image for image in dataset.images if image.key == "broken")
    assert broken.defects["*"] == "missing_file"
    assert read(path).root_sha256 == dataset.root_sha256


def test_that_images_without_bytes_and_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "test.parquet"
    _as_parquet([{**row("", "Heart"), "image": {"bytes": None, "path": None}}], path)
    with pytest.raises(UnreadableInputError, match="without a name"):
        read(path)


def test_that_parquet_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependencyError, match="Reading Parquet needs pyarrow"):
        rows_module.import_parquet()


def test_that_a_bad_location_costs_its_mask_and_not_its_question(
    tmp_path: Path,
) -> None:
    good = located(disc(0.7, 0.7), Order.COLUMNS)
    other = located(disc(0.2, 0.2), Order.COLUMNS)
    aorta: dict[str, object] = {"size": [60, 40]}
    listed = [
        row("a.png", good),
        row("a.png", other),
        row("b.png", {"Aorta": {**aorta, "counts": [1, 2]}}),
        row("b.png", {"Heart": {**aorta, "counts": "0"}}),
        row("b.png", {"Trachea": {**aorta, "counts": [1.5]}}),
        row("b.png", {"Left lung": "0 1"}),
        row("b.png", [1, 2]),
        row("a.png", "17 4 77 5"),
        row("b.png", "{broken"),
        row("b.png", {"size": [60, 40], "counts": runs(disc(0.5, 0.5), Order.COLUMNS)}),
        row("b.png", None),
        {"image": "b.png", "question": "?", "answer": " ", "location": ""},
    ]
    dataset = read(write(tmp_path, listed))
    a, b = dataset.images
    assert a.anatomy == {}
    assert set(a.defects) == {"Left lower lung", "Location"}
    assert set(b.defects) == {"Aorta", "Heart", "Trachea", "Left lung", "Location"}
    assert len(dataset.items) == 11
    assert all(item.reference["areas"] != ["17 4 77 5"] for item in dataset.items)
    assert sum(n.kind == "odd_row" for n in dataset.notices) == 1
    texts = " ".join(n.text for n in dataset.notices)
    assert "Left lower lung cannot be used: its rows have different masks" in texts
    assert "its location has numbers without the size they fill" in texts
    assert "A mask's runs cover 3 pixels, but its image has 2400" in texts


def test_that_an_empty_mask_is_named(tmp_path: Path) -> None:
    none = {"Heart": {"size": [60, 40], "counts": Mask.of_array(disc(9, 9)).counts}}
    both = [row("a.png", none), row("b.png", located(disc(0.5, 0.5), Order.COLUMNS))]
    dataset = read(write(tmp_path, both))
    notice = next(n for n in dataset.notices if n.kind == "empty_anatomy_mask")
    assert (notice.subject, notice.text) == ("a", "Its mask of Heart is empty.")
    assert dataset.images[0].anatomy == {}


def _vindr(root: Path, anatomy: Mapping[str, object] | str) -> Path:
    for name in ("a", "b"):
        write_picture(root / f"{name}.png", np.full((60, 40), 90, dtype=np.uint8))
    header = "image_id,class_name,rad_id,x_min,y_min,x_max,y_max"
    lines = [header, "a,Nodule/Mass,R1,4,4,9,9", "b,No finding,R1,,,,"]
    (root / "annotations_test.csv").write_text("\n".join(lines))
    text = anatomy if isinstance(anatomy, str) else json.dumps(anatomy)
    (root / "anatomy_test.json").write_text(text)
    return root


@pytest.mark.statement("E002-01")
def test_that_anatomy_masks_join_vindr_s_boxes(tmp_path: Path) -> None:
    heart, none = disc(0.6, 0.6), np.zeros((60, 40), dtype=np.bool_)

    def coded(mask: Bools) -> object:
        return {"size": list(mask.shape), "counts": Mask.of_array(mask).counts}

    anatomy = {
        "a": {"Heart": coded(heart), "Aorta": coded(none), "Trachea": coded(none[1:])},
        "b": {"Heart": {"size": [60, 40], "counts": "@"}},
        "gone": {"Heart": coded(heart)},
    }
    root = _vindr(tmp_path, anatomy)
    again = {"a": {"Heart": coded(disc(0.4, 0.4))}}
    (root / "anatomy_train.json").write_text(json.dumps(again))
    dataset = read(root, "vindr")
    a, b = dataset.images
    assert (a.anatomy["Heart"].array() == heart).all()
    assert a.anatomy["Aorta"].is_empty
    assert set(a.anatomy) == {"Heart", "Aorta"}
    assert [box.box.x0 for box in a.boxes["Nodule/Mass"]] == [4]
    assert b.anatomy == {}
    kinds = [n.kind for n in dataset.notices]
    assert {"anatomy_size", "anatomy_unreadable", "repeated_masks"} <= set(kinds)
    others = next(n for n in dataset.notices if n.kind == "anatomy_without_image")
    assert others.text == "There is anatomy of 1 image that no row of the tables names."


def test_that_a_broken_anatomy_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="is not complete JSON"):
        read(_vindr(tmp_path, '{"a": '), "vindr")


def test_that_rows_of_two_tables_of_one_name_have_names_of_their_own(
    tmp_path: Path,
) -> None:
    root = write(tmp_path, [])
    (root / "test.json").unlink()
    for folder in ("mimic", "vindr"):
        (root / folder).mkdir()
        rows = json.dumps([row("a.png", "Left lower lung")])
        (root / folder / "test.json").write_text(rows)
    keys = [item.key for item in read(root).items]
    assert keys == ["mimic/test.json#1", "vindr/test.json#1"]


@pytest.mark.parametrize("name", ["test.json", "test.jsonl"])
def test_that_an_entry_that_is_no_row_is_told(tmp_path: Path, name: str) -> None:
    root = write(tmp_path, [])
    (root / "test.json").unlink()
    entries = [json.dumps(row("a.png", "Left lower lung")), "7"]
    text = "\n".join(entries) if name.endswith("l") else f"[{','.join(entries)}]"
    (root / name).write_text(text)
    dataset = read(root)
    assert [item.key for item in dataset.items] == [f"{name}#1"]
    (odd,) = (n for n in dataset.notices if n.kind == "odd_row")
    assert odd.text.startswith("Row 2 lacks")


def test_that_runs_may_be_cocos_string_as_text_or_as_bytes(tmp_path: Path) -> None:
    mask = disc(0.7, 0.7)
    code = Mask.of_array(mask).counts
    as_bytes = {"size": [ROWS, COLUMNS], "counts": code.encode()}
    as_text = {"size": [ROWS, COLUMNS], "counts": code}
    root = write(tmp_path, [])
    (root / "test.json").unlink()
    rows = [row("a.png", {"Heart": as_bytes}), row("b.png", {"Aorta": as_bytes})]
    _as_parquet(rows, root / "test.parquet")
    by_bytes = read(root, "heal-columns")
    (root / "test.parquet").unlink()
    named = [row("a.png", {"Heart": as_text}), row("b.png", {"Aorta": as_text})]
    (root / "test.json").write_text(json.dumps(named))
    by_text = read(root, "heal-columns")
    assert [i.anatomy for i in by_bytes.images] == [i.anatomy for i in by_text.images]
    assert (by_bytes.images[0].anatomy["Heart"].array() == mask).all()
    assert [i.defects for i in by_bytes.images] == [{}, {}]
    assert [item.reference["areas"] for item in by_bytes.items] == [
        ["Heart"],
        ["Aorta"],
    ]
