import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

import torch
from PIL import Image

from tests.helpers.tiny_transformers import SIDE, write_tiny_sam
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.models.loaded import Loadable, LoadState, silent
from viewer.models.segmenter import Segmenter
from viewer.models.transformers_local.foreign import transformers

BOXES = (BoxPx(5, 6, 30, 40), BoxPx(10.5, 20, 39, 49))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_sam(tmp_path_factory.mktemp("sam"))


@pytest.fixture(scope="module")
def segmenter(folder: Path) -> Segmenter:
    return Segmenter(folder, "cpu")


def picture(rows: int = 50, columns: int = 40, seed: int = 0) -> Raster:
    rng = np.random.default_rng(seed)
    return Raster(rng.integers(0, 256, (rows, columns), dtype=np.uint8))


def test_that_masks_are_those_of_transformers_itself(
    segmenter: Segmenter, folder: Path
) -> None:
    found = segmenter.segment(picture(), BOXES)
    hf = transformers()
    model = hf.SamModel.from_pretrained(folder).eval()
    pixels = picture().pixels.astype(np.float32)
    # 50 × 40 becomes 64 × 51 by bilinear interpolation, and is padded to 64 × 64
    processor = hf.SamProcessor.from_pretrained(folder)
    seen = processor(
        images=np.stack([pixels.astype(np.uint8)] * 3, -1), return_tensors="pt"
    )
    for part, box in zip(found, BOXES, strict=True):
        scaled = np.array(
            [box.x0 * 51 / 40, box.y0 * 64 / 50, box.x1 * 51 / 40, box.y1 * 64 / 50]
        )
        with torch.no_grad():
            told = model(
                pixel_values=seen["pixel_values"],
                input_boxes=torch.tensor(scaled, dtype=torch.float32)[None, None],
                multimask_output=False,
            )
        wide = torch.nn.functional.interpolate(
            told.pred_masks[0], (SIDE, SIDE), mode="bilinear", align_corners=False
        )[..., :64, :51]
        native = torch.nn.functional.interpolate(
            wide, (50, 40), mode="bilinear", align_corners=False
        )
        np.testing.assert_array_equal(part.mask, (native[0, 0] > 0).numpy())
        assert part.quality == pytest.approx(float(told.iou_scores), abs=1e-5)
        assert part.box == box


def test_that_pixels_of_any_shape_are_shown_square_and_answered_in_native_ones(
    segmenter: Segmenter,
) -> None:
    tall = Raster(picture(20, 40).pixels, 3.0)
    square = Image.fromarray(tall.pixels).resize((40, 60), Image.Resampling.BILINEAR)
    (found,) = segmenter.segment(tall, [BoxPx(5, 6, 30, 15)])
    (shown,) = segmenter.segment(Raster(np.asarray(square)), [BoxPx(5, 18, 30, 45)])
    assert found.box == BoxPx(5, 6, 30, 15)
    assert shown.mask.any()
    np.testing.assert_array_equal(found.mask, shown.mask[1::3])
    assert found.quality == shown.quality


@pytest.mark.parametrize(("rows", "columns"), [(50, 40), (30, 90), (64, 64), (200, 20)])
def test_that_masks_have_the_images_own_size(
    segmenter: Segmenter, rows: int, columns: int
) -> None:
    box = BoxPx(2, 3, columns - 4, rows - 5)
    (found,) = segmenter.segment(picture(rows, columns), [box])
    assert found.mask.shape == (rows, columns)
    assert found.mask.dtype == np.bool_


def test_that_colour_and_grey_of_one_image_give_one_mask(segmenter: Segmenter) -> None:
    grey = picture()
    colour = Raster(np.repeat(grey.pixels[..., None], 3, axis=2))
    one, other = (segmenter.segment(r, BOXES[:1])[0].mask for r in (grey, colour))
    np.testing.assert_array_equal(one, other)


def test_that_a_box_over_the_edge_is_cut_at_the_edge(segmenter: Segmenter) -> None:
    over = segmenter.segment(picture(), [BoxPx(-9, 10, 55, 99)])[0]
    cut = segmenter.segment(picture(), [BoxPx(0, 10, 40, 50)])[0]
    np.testing.assert_array_equal(over.mask, cut.mask)
    assert over.box == BoxPx(-9, 10, 55, 99)


@pytest.mark.parametrize(
    "box",
    [
        BoxPx(5, 5, 5, 9),
        BoxPx(9, 9, 5, 5),
        BoxPx(40, 0, 60, 9),
        BoxPx(float("nan"), 0, 9, 9),
    ],
)
def test_that_a_box_without_pixels_is_refused(segmenter: Segmenter, box: BoxPx) -> None:
    with pytest.raises(
        WrongUseError, match="empty or lies outside the image of 40 × 50"
    ):
        segmenter.segment(picture(), [BOXES[0], box])


def test_that_threads_change_nothing(segmenter: Segmenter) -> None:
    pictures = [picture(seed=i) for i in range(6)]
    alone = [segmenter.segment(p, BOXES[:1])[0].mask for p in pictures]
    with ThreadPoolExecutor(4) as pool:
        asked = pool.map(lambda p: segmenter.segment(p, BOXES[:1])[0].mask, pictures)
        for one, other in zip(alone, asked, strict=True):
            np.testing.assert_array_equal(one, other)


def test_that_it_is_loaded_and_unloaded_as_told(folder: Path) -> None:
    own = Segmenter(folder, "cpu")
    assert isinstance(own, Loadable)
    before, states = own.memory_bytes(), [own.state]
    own.load(silent, threading.Event())
    states.append(own.state)
    assert own.memory_bytes() == pytest.approx(before, rel=0.1)
    own.unload()
    states.append(own.state)
    assert states == [LoadState.UNLOADED, LoadState.LOADED, LoadState.UNLOADED]


def test_that_its_provenance_follows_the_files(folder: Path, tmp_path: Path) -> None:
    one = Segmenter(folder, "cpu").provenance()
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert Segmenter(copy, "cpu").provenance()["revision"] == one["revision"]
    other = write_tiny_sam(tmp_path / "other", seed=1)
    assert Segmenter(other, "cpu").provenance()["revision"] != one["revision"]


def _refusal(folder: Path, device: str = "cpu") -> str:
    with pytest.raises(OverreadError) as caught:
        Segmenter(folder, device).load(silent, threading.Event())
    return str(caught.value)


def test_that_a_folder_that_is_no_segmenter_says_so(
    folder: Path, tmp_path: Path
) -> None:
    assert "There is no model folder 'none'" in _refusal(tmp_path / "none")
    assert "no readable config.json" in _refusal(tmp_path)
    other = shutil.copytree(folder, tmp_path / "clip")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "model_type": "clip"}))
    assert "is a 'clip', not a segmenter" in _refusal(other)
    weights = shutil.copytree(folder, tmp_path / "cut") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])
    assert "cannot be loaded" in _refusal(weights.parent)
    weights.unlink()
    assert "so the model has no weights" in _refusal(weights.parent)
    if not torch.cuda.is_available():
        assert "which torch does not find" in _refusal(folder, "cuda")
