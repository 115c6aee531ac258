from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from viewer.domain.errors import WrongUseError
from viewer.domain.evidence import EvidenceCase, EvidenceType, Language
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.medsyn import read
from viewer.services.synthetic.make_cases import make_cases
from viewer.services.synthetic.phantom.evidence_cases import (
    SIZE,
    PhantomCase,
    make_case,
)
from viewer.services.synthetic.phantom.evidence_pictures import LabRow, LabTable
from viewer.services.synthetic.phantom.evidence_profiles import PROFILES
from viewer.services.synthetic.write_cases import lab_picture

SMALL = SizePx(128, 128)


@cache
def made(index: int) -> PhantomCase:
    """Return a small case of seed 3, drawn once."""
    return make_case(3, index, SMALL)


def silent(_done: int, _all: int) -> None:
    """Tell nobody."""


def test_that_a_case_has_several_evidences_and_one_right_option() -> None:
    cases = [made(i) for i in range(8)]
    assert {c.case.diagnosis for c in cases} <= {
        told for p in PROFILES for told in (p.diagnosis.en, p.diagnosis.zh)
    }
    assert len({c.case.diagnosis for c in cases}) == 8
    for one in cases:
        case = one.case
        assert len(case.types) >= 2
        assert case.options[case.answer] == case.diagnosis
        assert set(one.images) == set(case.images)
    languages = [c.case.language for c in cases]
    assert languages == [*[Language.ENGLISH] * 3, Language.CHINESE] * 2
    types = {of for c in cases for of in c.case.types}
    assert types >= {
        *(EvidenceType.LABORATORY, EvidenceType.CT, EvidenceType.MRI),
        *(EvidenceType.X_RAY, EvidenceType.MICROSCOPY, EvidenceType.PHOTOGRAPHY),
    }


def test_that_a_case_depends_on_its_seed_and_place_alone() -> None:
    one, again, other = (make_case(s, 1, SMALL) for s in (5, 5, 6))
    assert one.case == again.case != other.case
    for key, image in one.images.items():
        same = again.images[key]
        if isinstance(image, LabTable):
            assert image == same
        else:
            assert np.array_equal(image, np.asarray(same))


def test_that_pictures_show_something_and_are_of_the_size_asked() -> None:
    for i in range(8):
        for image in made(i).images.values():
            if not isinstance(image, LabTable):
                assert image.shape[:2] == (SMALL.rows, SMALL.columns)
                assert image.std() > 10


def test_that_a_laboratory_table_is_printed_in_lines() -> None:
    table = LabTable((LabRow("CRP", 84, "H"), LabRow("NA", 141)))
    assert table.text == "CRP 84 (H), NA 141"
    page = lab_picture(table, SIZE)
    inked = np.asarray((page < 100).any(axis=1))
    starts = np.flatnonzero(inked[1:] & ~inked[:-1])
    assert len(starts) == 2
    assert (page[:, SIZE.columns * 16 // 20 :] < 100).sum() > 0


@pytest.mark.statement("E004-01", "E004-26")
def test_that_a_written_collection_is_read_as_it_was_made(tmp_path: Path) -> None:
    done: list[int] = []
    summary = make_cases(tmp_path / "c", 4, 3, SMALL, lambda i, _: done.append(i))
    assert (summary.patients, done) == (4, [1, 2, 3, 4])
    dataset = read(tmp_path / "c", "cases")
    assert dataset.notices == ()
    assert len(dataset.images) == summary.images
    found = {item.key: EvidenceCase.of_item(item) for item in dataset.items}
    for i in range(4):
        assert found[made(i).case.key] == made(i).case
    with Image.open(tmp_path / "c" / made(0).case.images[0]) as picture:
        assert picture.size == (128, 128)


@pytest.mark.statement("E004-26")
def test_that_two_collections_of_a_seed_are_the_same_to_the_byte(
    tmp_path: Path,
) -> None:
    for name in ("a", "b"):
        make_cases(tmp_path / name, 2, 9, SMALL, silent)
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*"))
    for path in files:
        if (tmp_path / "a" / path).is_file():
            one, other = ((tmp_path / n / path).read_bytes() for n in ("a", "b"))
            assert one == other, path


def test_that_wrong_numbers_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match="0 cases of seed 0"):
        make_cases(tmp_path / "c", 0, 0, SMALL, silent)
    with pytest.raises(WrongUseError, match="not a valid size for a case's images"):
        make_cases(tmp_path / "c", 1, 0, SizePx(20, 20), silent)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x").write_text("x")
    with pytest.raises(WrongUseError, match="already contains something else"):
        make_cases(tmp_path / "other", 1, 0, SMALL, silent)
