"""A folder of hostile files among good images, as the window lists it."""

import sys
from pathlib import Path
from threading import Event

import pytest

from tests.helpers.hostile_folder import HOSTILE, make_hostile_folder
from viewer.services.viewing.decoding import ProcessDecoder
from viewer.services.viewing.open_case import open_cases

LATER = {"cut.dcm", "cut.png", "packed.nii.gz"}
"""Those whose headers are sound; they are refused when they are opened."""


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and links")
def test_that_the_good_images_are_listed_and_every_other_file_is_named(
    tmp_path: Path,
) -> None:
    good = make_hostile_folder(tmp_path / "in")
    decoder = ProcessDecoder()
    *_, last = open_cases([tmp_path / "in"], Event(), read=decoder.headers)
    decoder.close()
    listed = {
        image.ref.path.name
        for case in last.cases
        for study in case.studies
        for series in study.series
        for image in series.images
    }
    assert {Path(name).stem for name in listed - LATER} == set(good)
    reasons = {other.path.name: other.reason for other in last.others}
    odd = next(name for name in reasons if name.endswith("\n.dcm"))
    skipped = {"folder.dcm"} | LATER  # an empty folder holds nothing to name
    assert set(reasons) - {odd} == set(HOSTILE) - {"not-utf-8"} - skipped
    assert all(reasons.values())
