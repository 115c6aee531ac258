"""Every kind of DICOM file, shown as three other programs show it.

Held against a pipeline written from the standard in double precision, fed with the
samples that were written or, of the files that pydicom and others publish, by decoders
that the readers do not use; and against dcmtk. Where dcmtk differs by more than one
grey level, the reason why it is wrong has to stand in ``KNOWN``.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pydicom
import pytest
from pydicom.dataset import Dataset

from tests.helpers import reference_pipeline
from tests.helpers.gauntlet_codestreams import all_cases
from tests.helpers.gauntlet_words import Case
from tests.helpers.public_frames import (
    DCMTK,
    dcmtk_picture,
    public_files,
    public_samples,
)
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import PointPx
from viewer.domain.image import PixelImage
from viewer.imaging.luts import to_raster
from viewer.imaging.pyramid import Pyramid, Viewport
from viewer.readers.pixels import load_pixels

Pixels = npt.NDArray[Any]
MOST = 1.0
"""Grey levels by which rounding may differ."""


@dataclass(frozen=True)
class Known:
    """Why dcmtk shows files otherwise than is right, and the paragraph that says so."""

    names: tuple[str, ...]
    why: str


KNOWN = (
    Known(
        ("grey/big/32-*", "rtdose_expb*"),
        "swaps bytes within words of two; the public files of 32 bits, of a transfer "
        "syntax retired in 2006, have four bytes swapped (PS3.5 2006 7.3 has words)",
    ),
    Known(
        ("grey/*/8-*", "jpeg-sv1/grey-8-8"),
        "rounds rescaled values before the window (PS3.3 C.11.1.1.2 does not)",
    ),
    Known(("grey/big/16-8-7",), "has no VOI LUT Function LINEAR_EXACT (C.11.2.1.3.2)"),
    Known(
        ("color/*/YBR_*-planar-*", "*/color-YBR_*", "SC_ybr_full_*"),
        "converts luminance and chrominance in whole numbers (C.7.6.3.1.2)",
    ),
    Known(
        ("color/*-signed",),
        "takes the sign of the tag, which no colour has (C.7.6.3.1.2)",
    ),
    Known(
        ("palette/*/16-of-8-bits-*",),
        "takes the high byte of entries that hold 8 bits (C.7.6.3.1.5, note)",
    ),
    Known(
        ("lut/*/voi-10-bits-one-over", "lut/*/voi-8-bits-of-10"),
        "cuts bits off entries beyond the range, so that white is black (C.11.2.1.1)",
    ),
    Known(
        ("jpeg/color-*-RGB-*", "jpeg/rgb-marked-YBR_FULL_422"),
        "goes by the tag where the codestream names its colours (T.871, T.872 6.5.3)",
    ),
    Known(
        ("beyond/jpeg-*/16-of-8-allocated",),
        "cuts off the bits that a codestream has beyond Bits Allocated (PS3.5 8.2.1)",
    ),
    Known(
        ("beyond/jpeg-12/overshoot",),
        "cuts off what lossy coding exceeds Bits Stored by, so that white is black",
    ),
    Known(
        ("refused/*",),
        "shows what contradicts itself, as noise or as if one value were not there",
    ),
    Known(
        ("padding/*-0", "padding/*-2"),
        "stretches padding too, and shows it white if MONOCHROME1 (C.7.5.1.1.2)",
    ),
)


@dataclass(frozen=True, eq=False)
class Shown:
    """One frame by one other program; ``pixels`` None where it is refused there."""

    name: str
    program: str
    ours: Pixels | None
    theirs: Pixels | None
    tolerance: float = MOST

    @property
    def difference(self) -> float:
        """The greatest difference in grey levels, infinite where one shows nothing."""
        if self.ours is None or self.theirs is None or self._other_shape:
            return float("inf")
        return float(np.abs(self.ours.astype(float) - self.theirs).max())

    @property
    def _other_shape(self) -> bool:
        assert self.ours is not None
        assert self.theirs is not None
        return self.ours.shape != self.theirs.shape


def ours(path: Path, frame: int) -> Pixels | None:
    """Return what a model sees, after a look at whether the window shows the same."""
    try:
        image = load_pixels(ImageRef(path, frame))
    except UnreadableInputError:
        return None
    seen = to_raster(image).pixels
    assert np.array_equal(seen, in_window(image)), path.name
    return seen


def in_window(image: PixelImage) -> Pixels:
    """Return the window's canvas at one device pixel per pixel."""
    pyramid = Pyramid(image)
    patch = pyramid.sample(Viewport(image.size, PointPx(0, 0), 1.0, 1.0))
    return pyramid.shade(patch, None, inverted=False)


def by_the_standard(dataset: Dataset, samples: Pixels, color: str, bits: int) -> Pixels:
    """Return the picture that the pipeline in double precision makes of samples."""
    if color == "PALETTE":
        return reference_pipeline.paletted(dataset, samples)
    if color == "GREY":
        return reference_pipeline.shown(dataset, samples)
    return reference_pipeline.colored(samples, color, bits)


def written(case: Case, folder: Path) -> Path:
    path = folder / f"{case.name.replace('/', '_')}.dcm"
    case.dataset.save_as(path, enforce_file_format=True)
    return path


def generated(case: Case, folder: Path, *, with_dcmtk: bool) -> list[Shown]:
    """Return each frame of a case by the standard and by dcmtk."""
    path = written(case, folder)
    dataset = pydicom.dcmread(path)
    found = []
    for frame in case.frames:
        seen, true = ours(path, frame), None
        flat = reference_pipeline.of_frame(dataset, frame)
        if not case.refused:
            samples = case.samples[frame]
            true = by_the_standard(flat, samples, case.color, case.bits)
        found.append(Shown(case.name, "standard", seen, true, case.tolerance))
        if with_dcmtk:
            theirs = dcmtk_picture(path, flat, frame)
            found.append(Shown(case.name, "dcmtk", seen, theirs))
    return found


def wrong(shown: list[Shown]) -> list[str]:
    """Return the frames that the readers show otherwise than the standard wants.

    What neither shows is right: no rule decides between its contradictions.
    """
    return [
        f"{one.name}: {one.difference:.0f}"
        for one in shown
        if one.program == "standard"
        and not (one.ours is None and one.theirs is None)
        and one.difference > one.tolerance
    ]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return all_cases()


@pytest.fixture(autouse=True)
def allow_odd_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pydicom write what no writer should have written."""
    settings = pydicom.config.settings
    monkeypatch.setattr(settings, "writing_validation_mode", pydicom.config.IGNORE)


def test_that_generated_files_are_shown_as_the_standard_says(
    cases: list[Case], tmp_path: Path
) -> None:
    found = [s for c in cases[::2] for s in generated(c, tmp_path, with_dcmtk=False)]
    assert len(found) >= 350
    assert not wrong(found)


def test_that_refusals_say_what_contradicts(cases: list[Case], tmp_path: Path) -> None:
    refused = [case for case in cases if case.refused]
    for case in refused:
        path = written(case, tmp_path)
        with pytest.raises(UnreadableInputError) as caught:
            load_pixels(ImageRef(path))
        assert all(word in caught.value.what for word in case.refused), caught.value
    assert len(refused) >= 30


def public(*, with_dcmtk: bool) -> Iterator[Shown]:
    """Yield the first and the last frame of each public file by other programs."""
    for path in public_files():
        try:
            dataset = pydicom.dcmread(path, force=True)
            last = max(1, int(dataset.get("NumberOfFrames") or 1)) - 1
        except (ValueError, AttributeError, TypeError):
            continue
        for frame in sorted({0, last}):
            yield from _public(path, dataset, frame, with_dcmtk=with_dcmtk)


def _public(
    path: Path, dataset: Dataset, frame: int, *, with_dcmtk: bool
) -> Iterator[Shown]:
    seen = ours(path, frame)
    flat = reference_pipeline.of_frame(dataset, frame)
    found = None if seen is None else public_samples(path, dataset, frame)
    if found is not None:
        true = by_the_standard(flat, *found)
        yield Shown(path.name, "standard", seen, true)
    if with_dcmtk:
        yield Shown(path.name, "dcmtk", seen, dcmtk_picture(path, flat, frame))


def differences(shown: list[Shown]) -> list[Shown]:
    """Return the frames that dcmtk shows, and otherwise than the readers."""
    return [
        one
        for one in shown
        if one.program == "dcmtk"
        and one.theirs is not None
        and one.difference > one.tolerance
    ]


def print_table(shown: list[Shown]) -> None:
    """Print how many frames were compared, and what dcmtk shows otherwise and why."""
    counts = Counter(
        (one.program, "shown" if one.theirs is not None else "not shown")
        for one in shown
    )
    print(
        *(f"{who}: {n} {what}" for (who, what), n in sorted(counts.items())), sep="\n"
    )
    for known in KNOWN:
        for pattern in known.names:
            found = [s for s in differences(shown) if fnmatch(s.name, pattern)]
            most = max((one.difference for one in found), default=0.0)
            print(f"{len(found):4} up to {most:3.0f}  {pattern:32} dcmtk {known.why}")


@pytest.mark.proof
def test_that_public_files_are_shown_as_the_standard_says() -> None:
    shown = list(public(with_dcmtk=False))
    print(len(shown), "frames of public files")
    assert len(shown) >= 150
    assert not wrong(shown)


@pytest.mark.proof
@pytest.mark.skipif(not DCMTK, reason="needs dcmtk (apt install dcmtk)")
def test_that_dcmtk_shows_the_same(cases: list[Case], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda c: generated(c, tmp_path, with_dcmtk=True), cases)
        shown = [one for part in parts for one in part]
    shown += public(with_dcmtk=True)
    print_table(shown)
    patterns = [pattern for known in KNOWN for pattern in known.names]
    found = differences(shown)
    assert not wrong(shown)
    assert not [
        (one.name, one.difference)
        for one in found
        if not any(fnmatch(one.name, pattern) for pattern in patterns)
    ]
    for pattern in patterns:
        assert any(fnmatch(one.name, pattern) for one in found), pattern
