import json
from pathlib import Path

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.catalog import formats_of, read_dataset
from viewer.services.synthetic.make_tiles import make_tiles
from viewer.services.synthetic.phantoms import PHANTOMS, phantom_for

SIZE = SizePx(128, 160)


def quiet(done: int, n: int) -> None:
    assert 0 < done <= n


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.statement("E003-01")
def test_that_tiles_are_a_data_set_of_every_split_without_a_notice(
    tmp_path: Path,
) -> None:
    out = tmp_path / "tiles"
    summary = make_tiles(out, 25, 1, SIZE, quiet)
    assert (summary.patients, summary.images) == (25, 25)
    assert summary.positives == {"val": 7, "test_tiny": 8, "test": 22}
    assert formats_of(out)[0] == "pathmmu"
    dataset = read_dataset("pathmmu", out, "tiles")
    assert not dataset.notices
    assert len(dataset.items) == 37
    assert {image.size for image in dataset.images} == {SIZE}
    shown = [item.images[0] for item in dataset.items]
    assert len(set(shown)) == 25


def test_that_truth_says_what_every_tile_holds(tmp_path: Path) -> None:
    make_tiles(tmp_path / "t", 3, 0, SIZE, quiet)
    truth = json.loads((tmp_path / "t" / "truth.json").read_text(encoding="utf-8"))
    assert list(truth) == [f"tile_0000{n}.png" for n in (1, 2, 3)]
    for one in truth.values():
        assert set(one) == {"tissue", "glands", "vacuoles", "nuclei"}
        assert sum(one["nuclei"].values()) > 0


def test_that_the_same_arguments_give_the_same_bytes_and_others_are_refused(
    tmp_path: Path,
) -> None:
    make_tiles(tmp_path / "a", 4, 2, SIZE, quiet)
    make_tiles(tmp_path / "b", 4, 2, SIZE, quiet)
    before = content(tmp_path / "a")
    assert before == content(tmp_path / "b")
    make_tiles(tmp_path / "a", 4, 2, SIZE, quiet)
    assert before == content(tmp_path / "a")
    with pytest.raises(WrongUseError, match="already contains something else"):
        make_tiles(tmp_path / "a", 5, 2, SIZE, quiet)


@pytest.mark.parametrize(
    ("n", "seed", "size", "sentence"),
    [
        (0, 0, SIZE, "0 tiles of seed 0"),
        (1, -1, SIZE, "1 tiles of seed -1"),
        (1, 0, SizePx(10, 200), "200 × 10 pixels is not a valid size for a tile"),
        (1, 0, SizePx(4000, 200), "not a valid size for a tile"),
    ],
)
def test_that_numbers_out_of_range_get_a_sentence(
    n: int, seed: int, size: SizePx, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongUseError, match=sentence):
        make_tiles(tmp_path / "t", n, seed, size, quiet)
    assert not (tmp_path / "t").exists()


def test_that_writing_stops_where_nobody_wants_more(tmp_path: Path) -> None:
    def stop(done: int, n: int) -> None:
        raise KeyboardInterrupt((done, n))

    with pytest.raises(KeyboardInterrupt):
        make_tiles(tmp_path / "t", 3, 0, SIZE, stop)
    assert not (tmp_path / "t" / "data.json").exists()


def test_that_each_study_has_its_collection_and_others_are_named() -> None:
    assert phantom_for("pathology_mcq") is PHANTOMS["pathology_mcq"]
    assert phantom_for("grid_localization").unit == "patient"
    with pytest.raises(WrongUseError, match="no generated collection") as raised:
        phantom_for("else")
    assert "pathology_mcq" in raised.value.how
