"""CheXlocalize's outlines, filled."""

import json
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.path import Path as Outline

from tests.helpers.small_datasets import (
    COLUMNS,
    ROWS,
    SmallChexlocalize,
    coded,
    square,
)
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.catalog import formats_of
from viewer.readers.datasets.chexlocalize import filled, read, read_outline_file

A = "patient00001_study1_view1_frontal"
BOX = [[1, 2], [5, 2], [5, 4], [1, 4]]
SIZE = SizePx(40, 50)
_Points = npt.NDArray[np.float64]


def _outlined(tmp_path: Path, entry: object, split: str = "test") -> SmallChexlocalize:
    data = SmallChexlocalize(tmp_path, split)
    data.picture(A)
    data.label({A: ("1.0", "0.0", "1.0", "")})
    _outline_file(data).parent.mkdir(parents=True, exist_ok=True)
    _outline_file(data).write_text(json.dumps({A: entry}))
    return data


def _outline_file(data: SmallChexlocalize) -> Path:
    return data.masks.with_name(f"gt_annotations_{data.split}.json")


def _masks(dataset: Dataset) -> dict[str, npt.NDArray[np.bool_]]:
    return {name: m.array() for name, m in dataset.images[0].masks.items()}


@pytest.mark.statement("E000-01")
@pytest.mark.parametrize("split", ["val", "valid", "test"])
def test_that_outlines_are_read_where_there_are_no_segmentations(
    tmp_path: Path, split: str
) -> None:
    entry = {
        "img_size": [ROWS, COLUMNS],
        "Cardiomegaly": [BOX],
        "Edema": [[[0, 0], [1, 0], [0, 1]], [[6, 4], [7, 4], [7, 5], [6, 5]]],
        "Pneumonia": [],
    }
    data = _outlined(tmp_path, entry, split)
    assert formats_of(data.root)[0] == "chexlocalize"
    dataset = read(data.root, "x")
    masks = _masks(dataset)
    expected = np.zeros((ROWS, COLUMNS), dtype=bool)
    expected[2:5, 1:6] = True
    assert np.array_equal(masks["Cardiomegaly"], expected)
    assert sorted(map(tuple, np.argwhere(masks["Edema"]))) == [
        *((0, 0), (0, 1), (1, 0)),
        *((4, 6), (4, 7), (5, 6), (5, 7)),
    ]
    assert dataset.images[0].zero_masks == {"Pneumonia"}
    assert [n.kind for n in dataset.notices] == ["outlines_filled"]


@pytest.mark.statement("E000-01")
def test_that_segmentations_are_read_before_outlines(tmp_path: Path) -> None:
    data = _outlined(tmp_path, {"img_size": [ROWS, COLUMNS], "Edema": [BOX]})
    data.segment({A: {"Cardiomegaly": coded(square()), "Edema": coded(square())}})
    dataset = read(data.root, "x")
    assert np.array_equal(_masks(dataset)["Edema"], square())
    assert dataset.notices == ()
    named = read(_outline_file(data), "x")
    assert list(_masks(named)) == ["Edema"]
    assert _masks(named)["Edema"].sum() == 15


def _star(rng: np.random.Generator) -> _Points:
    """Return an outline that does not cross itself, within and beyond the image."""
    n = int(rng.integers(3, 12))
    angles = np.sort(rng.uniform(0, 2 * math.pi, n))
    reach = rng.uniform(3, 24, n)
    centre = rng.uniform((5, 5), (SIZE.columns - 5, SIZE.rows - 5))
    points = np.stack((np.cos(angles), np.sin(angles)), axis=1) * reach[:, None]
    return np.asarray(np.round(centre + points), dtype=np.float64)


def _distance(points: _Points, outline: _Points) -> _Points:
    """Return how far points lie from the nearest edge of an outline."""
    a, b = outline, np.roll(outline, -1, axis=0)
    along = (b - a)[None]
    length = np.maximum((along**2).sum(axis=-1), 1e-12)
    t = ((points[:, None] - a[None]) * along).sum(axis=-1) / length
    foot = a[None] + np.clip(t, 0, 1)[..., None] * along
    return np.asarray(np.linalg.norm(points[:, None] - foot, axis=-1).min(axis=1))


@pytest.mark.statement("E000-01")
def test_that_filled_outlines_are_those_of_another_fill() -> None:
    for seed in range(60):
        check_fill(_star(np.random.default_rng(seed)))


def check_fill(outline: npt.NDArray[np.float64]) -> None:
    rows, columns = np.indices((SIZE.rows, SIZE.columns))
    pixels = np.stack((columns.ravel(), rows.ravel()), axis=1).astype(np.float64)
    closed = np.vstack((outline, outline[:1]))
    inside = Outline(closed).contains_points(pixels).reshape(rows.shape)
    away = _distance(pixels, outline).reshape(rows.shape)
    found = filled([[(x, y) for x, y in outline.tolist()]], SIZE)
    assert np.array_equal(found[away >= 0.75], inside[away >= 0.75])
    assert found[away < 1e-9].all()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"Edema": [BOX]}, "img_size"),
        ({"img_size": [0, 8], "Edema": [BOX]}, "img_size"),
        ({"img_size": [10**9, 10**9], "Edema": [BOX]}, "img_size"),
        ("oops", "no outlines by finding"),
        ({"img_size": [ROWS, COLUMNS], "Edema": "oops"}, "not a list of outlines"),
        ({"img_size": [ROWS, COLUMNS], "Edema": [BOX[:2]]}, "fewer than three points"),
        ({"img_size": [ROWS, COLUMNS], "Edema": [[1, 2, 3]]}, "not [x, y]"),
        ({"img_size": [ROWS, COLUMNS], "Edema": [[*BOX, [1, None]]]}, "not [x, y]"),
        ({"img_size": [ROWS, COLUMNS], "Edema": [[*BOX, [1, 1e300]]]}, "far outside"),
    ],
)
def test_that_a_broken_outline_is_a_defect_and_named(
    tmp_path: Path, entry: object, words: str
) -> None:
    dataset = read(_outlined(tmp_path, entry).root, "x")
    texts = [n.text for n in dataset.notices if n.kind == "mask_unreadable"]
    assert len(texts) == 1
    assert words in texts[0]
    assert not dataset.images[0].masks


def test_that_outlines_of_an_image_of_another_size_are_not_used(tmp_path: Path) -> None:
    data = _outlined(tmp_path, {"img_size": [ROWS + 1, COLUMNS], "Edema": [BOX]})
    dataset = read(data.root, "x")
    assert dataset.images[0].defects == {"Edema": "mask_size"}


def test_that_a_file_without_an_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gt_annotations_test.json"
    path.write_text("[]")
    with pytest.raises(UnreadableInputError, match="gt_annotations_test"):
        read_outline_file(path)
