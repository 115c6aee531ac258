import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

from tests.helpers.tiny_transformers import write_tiny_sam
from viewer.cli import run_command_line
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Mask
from viewer.readers.masks import load_mask
from viewer.services.asking.segment import (
    Segmentation,
    segment,
    segmenter_of,
    write_segmentation,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_sam(tmp_path_factory.mktemp("sam"))


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    path = tmp_path_factory.mktemp("images") / "cxr.png"
    Image.fromarray(rng.integers(0, 256, (60, 48), dtype=np.uint8)).save(path)
    return path


def test_that_several_boxes_make_one_answer(folder: Path, image: Path) -> None:
    boxes = (BoxPx(1, 2, 20, 30), BoxPx(10, 20, 40, 55))
    found = segment(ImageRef(image), boxes, folder, "cpu")
    assert [part.box for part in found.parts] == list(boxes)
    either = found.parts[0].mask | found.parts[1].mask
    np.testing.assert_array_equal(found.whole, either)
    assert found.answer.mask.size == SizePx(60, 48)
    np.testing.assert_array_equal(found.answer.mask.array(), either)


def test_that_a_folder_has_one_segmenter_in_a_process(folder: Path) -> None:
    assert segmenter_of(folder, "cpu") is segmenter_of(folder, "cpu")


def test_that_no_box_and_an_empty_mask_say_so(folder: Path, image: Path) -> None:
    with pytest.raises(WrongUseError, match="no box to segment"):
        segment(ImageRef(image), (), folder)
    empty = Segmentation((), np.zeros((3, 4), np.bool_), {})
    with pytest.raises(WrongUseError, match="found nothing"):
        _ = empty.answer
    with pytest.raises(WrongUseError, match=r"saved as '\.tif'"):
        write_segmentation(empty, Path("mask.tif"))


def test_that_the_command_writes_the_mask_in_native_pixels(
    folder: Path, image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["segment", str(image), "--box", "4,5,40,50", "--model", str(folder)]
    png, told = tmp_path / "mask.png", tmp_path / "mask.json"
    assert run_command_line([*words, "--device", "cpu", "--out", str(png)]) == 0
    assert "expected IoU" in capsys.readouterr().out
    assert run_command_line([*words, "--json", "--out", str(told)]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row == json.loads(told.read_text())
    assert row["parts"][0]["box"] == [4, 5, 40, 50]
    assert row["model"] == folder.name
    mask = Mask(SizePx(*row["size"]), row["counts"]).array()
    np.testing.assert_array_equal(mask, load_mask(png))
    assert row["pixels"] == mask.sum()


def test_that_the_command_names_a_box_it_cannot_read(
    folder: Path, image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["segment", str(image), "--model", str(folder), "--box"]
    assert run_command_line([*words, "1,2,3"]) == 2
    assert "Write x0,y0,x1,y1" in capsys.readouterr().err
    assert run_command_line([*words, "100,0,200,9"]) == 2
    assert "outside the image of 48 × 60" in capsys.readouterr().err
