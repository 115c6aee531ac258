"""Formats by name, and several data sets as one."""

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset, View
from viewer.domain.errors import WrongUseError
from viewer.readers.datasets import catalog
from viewer.readers.datasets.catalog import FORMATS, DatasetFormat, read_dataset
from viewer.readers.datasets.merge import merge


def _folder(tmp_path: Path, name: str, *files: str) -> Dataset:
    for file in files:
        write_picture(tmp_path / name / file)
    return read_dataset("folder", tmp_path / name, name)


def test_that_every_format_is_listed_under_its_name() -> None:
    assert set(FORMATS) == {
        *("chexlocalize", "folder", "coco", "vindr", "rsna"),
        *("csv-boxes", "nih-chestxray14", "pathmmu", "vlmevalkit"),
        *("labelled-tiles", "captioned-tiles", "question-set"),
        *("siim", "siim-relative", "siim-absolute"),
        *("heal", "heal-columns", "heal-rows"),
        *("medsyn", "mimic-cxr", "report-studies", "yolo"),
    }
    assert all(name == fmt.name for name, fmt in FORMATS.items())


def test_that_an_unknown_format_is_refused_with_the_known_ones(
    tmp_path: Path,
) -> None:
    with pytest.raises(WrongUseError, match="chexlocalize, coco, csv-boxes, folder"):
        read_dataset("parquet", tmp_path, "x")


def test_that_a_format_of_another_distribution_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"theirs": "OUTSIDER", "odd": "NOTHING", "other": "OUTSIDER"}
    offered = EntryPoints(
        EntryPoint(name, f"{__name__}:{of}", catalog.ENTRY_POINTS)
        for name, of in names.items()
    )
    monkeypatch.setattr(
        catalog, "entry_points", lambda group: offered.select(group=group)
    )
    catalog._others.cache_clear()
    try:
        assert read_dataset("theirs", tmp_path, "x").format == "theirs"
        assert "theirs" in catalog.formats_of(tmp_path)
        odd, other = catalog.broken_formats()
    finally:
        catalog._others.cache_clear()
    assert (odd.name, other.name) == ("odd", "other")
    assert "is not a DatasetFormat" in odd.why
    assert "calls itself 'theirs'" in other.why


def _read_theirs(
    root: Path, name: str, _view: View | None, _progress: object
) -> Dataset:
    return Dataset(name, "theirs", root, (), (), "0")


OUTSIDER = DatasetFormat("theirs", "A format from elsewhere", _read_theirs, Path.is_dir)
NOTHING = 1


def test_that_parts_without_a_common_id_keep_their_ids(tmp_path: Path) -> None:
    parts = [_folder(tmp_path, "one", "a_pa.png"), _folder(tmp_path, "two", "b_pa.png")]
    merged = merge("both", parts)
    assert [image.key for image in merged.images] == ["a_pa", "b_pa"]
    assert (merged.name, merged.format, merged.root) == ("both", "folder", tmp_path)
    assert len(merged.notices) == 2


def test_that_a_common_id_makes_both_parts_carry_their_name(tmp_path: Path) -> None:
    parts = [
        _folder(tmp_path, "one", "a_pa.png", "c_pa.png"),
        _folder(tmp_path, "two", "a_pa.png"),
    ]
    merged = merge("both", parts)
    keys = [image.key for image in merged.images]
    assert keys == ["one/a_pa", "one/c_pa", "two/a_pa"]
    assert len({image.patient for image in merged.images}) == 3
    assert {notice.subject for notice in merged.notices} <= {*keys, ""}


def test_that_merging_nothing_is_refused() -> None:
    with pytest.raises(WrongUseError, match="nothing to merge"):
        merge("none", [])
