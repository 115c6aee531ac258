from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.run_pairs import Runs, evidence, mask_of_runs, pairs_of

ROWS, COLUMNS = 30, 40
HEADER = "ImageId, EncodedPixels"


def _blob(seed: int) -> npt.NDArray[np.bool_]:
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:ROWS, :COLUMNS]
    cy, cx, ry, rx = rng.uniform(8, 22), rng.uniform(10, 30), 5, 6
    return np.asarray(((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 <= 1)


def _spans(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Walk down the columns pixel by pixel: (first, count) from pixel 0."""
    spans: list[tuple[int, int]] = []
    position = 0
    for column in range(COLUMNS):
        for row in range(ROWS):
            if mask[row, column]:
                if spans and sum(spans[-1]) == position:
                    spans[-1] = (spans[-1][0], spans[-1][1] + 1)
                else:
                    spans.append((position, 1))
            position += 1
    return spans


def _absolute(mask: npt.NDArray[np.bool_]) -> str:
    return " ".join(f"{first + 1} {count}" for first, count in _spans(mask))


def _relative(mask: npt.NDArray[np.bool_]) -> str:
    words, end = [], 0
    for first, count in _spans(mask):
        words.append(f"{first - end} {count}")
        end = first + count
    return " ".join(words)


def _read(root: Path, *rows: str, fmt: str = "siim") -> Dataset:
    for name in "abc":
        grey = np.full((ROWS, COLUMNS), 90, dtype=np.uint8)
        write_picture(root / f"1.2.{name}.png", grey)
    lines = (HEADER, *(f"1.2.{row}" for row in rows), "1.2.c, -1")
    (root / "train-rle.csv").write_text("\n".join(lines) + "\n")
    return read_dataset(fmt, root, "d")


@pytest.mark.parametrize("code", [_relative, _absolute])
def test_that_each_convention_is_told_from_the_other_and_said(
    tmp_path: Path, code: object
) -> None:
    assert callable(code)
    masks = {"a": _blob(1), "b": _blob(2)}
    dataset = _read(tmp_path, *(f"{k}, {code(m)}" for k, m in masks.items()))
    for image, mask in zip(dataset.images, masks.values(), strict=False):
        assert np.array_equal(image.masks["Pneumothorax"].array(), mask)
    assert dataset.images[2].labels == {"Pneumothorax": False}
    kind = "runs_relative" if code is _relative else "runs_absolute"
    assert dataset.notices[0].kind == kind
    assert "2 of 2 masks would be" in dataset.notices[0].text


@pytest.mark.parametrize("seed", range(40))
def test_that_masks_come_back_from_both_conventions(seed: int) -> None:
    assert _come_back(seed)


@pytest.mark.proof
def test_that_masks_come_back_from_both_conventions_in_10000_cases() -> None:
    assert all(_come_back(seed) for seed in range(10_000, 20_000))


def _come_back(seed: int) -> bool:
    mask = np.random.default_rng(seed).random((ROWS, COLUMNS)) < 0.4
    mask[0, 0], size = seed % 2 == 0, SizePx(ROWS, COLUMNS)
    relative, absolute = pairs_of(_relative(mask)), pairs_of(_absolute(mask))
    ways = ((relative, Runs.RELATIVE), (absolute, Runs.ABSOLUTE))
    unlike = evidence([(relative, size)]).not_relative
    unlike += evidence([(absolute, size)]).not_absolute
    return unlike == 0 and all(
        np.array_equal(mask_of_runs([pairs], runs, size).array(), mask)
        for pairs, runs in ways
    )


def test_that_what_both_conventions_could_be_is_asked_never_guessed(
    tmp_path: Path,
) -> None:
    with pytest.raises(UnreadableInputError, match="both fit every mask") as error:
        _read(tmp_path, "a, 100 5", "b, 200 7")
    assert "siim-relative" in error.value.how
    relative = _read(tmp_path, "a, 100 5", "b, 200 7", fmt="siim-relative")
    absolute = _read(tmp_path, "a, 100 5", "b, 200 7", fmt="siim-absolute")
    for dataset, first in ((relative, 100), (absolute, 99)):
        flat = dataset.images[0].masks["Pneumothorax"].array().T.ravel()
        assert np.flatnonzero(flat).tolist() == list(range(first, first + 5))
        assert [n.kind for n in dataset.notices] == ["unknown_patient"]


def test_that_what_neither_convention_could_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="neither fits every mask"):
        _read(tmp_path, f"a, {_relative(_blob(1))}", f"b, {_absolute(_blob(2))}")


def test_that_no_mask_at_all_shows_no_convention(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="does not show"):
        _read(tmp_path, "a, -1", "b, -1")
    dataset = _read(tmp_path, "a, -1", "b, -1", fmt="siim-relative")
    assert dataset.notices[-1].kind == "no_positives"


def test_that_several_rows_of_an_image_are_one_mask(tmp_path: Path) -> None:
    one, other = np.zeros((2, ROWS, COLUMNS), dtype=bool)
    one[5:9, 5:9] = other[15:19, 15:19] = True
    rows = [f"a, {_relative(one)}", f"a, {_relative(other)}", f"a, {_relative(one)}"]
    dataset = _read(tmp_path, *rows, "a, -1", f"b, {_relative(_blob(3))}")
    assert np.array_equal(dataset.images[0].masks["Pneumothorax"].array(), one | other)
    kinds = [notice.kind for notice in dataset.notices]
    assert kinds[:3] == ["repeated_masks", "runs_relative", "contradiction"]


@pytest.mark.parametrize("code", ["1 2 3", "1 x", "-5 2", "1.5 2"])
def test_that_a_code_that_is_none_leaves_its_finding_out(
    tmp_path: Path, code: str
) -> None:
    dataset = _read(tmp_path, f"a, {code}", f"b, {_relative(_blob(3))}")
    assert dataset.images[0].defects == {"Pneumothorax": "reference_unreadable"}
    assert dataset.images[0].labels == {"Pneumothorax": True}
    assert "line 2 of train-rle.csv" in dataset.notices[1].text


def test_that_a_mask_of_a_larger_image_does_not_fit(tmp_path: Path) -> None:
    dataset = _read(tmp_path, f"a, {ROWS * COLUMNS} 4", "b, 7 3", fmt="siim-relative")
    assert dataset.images[0].defects == {"Pneumothorax": "mask_unreadable"}
    assert "beyond the 1200 pixels" in dataset.notices[0].text
