"""Write a collection of synthetic chest studies with their truth."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.folder import Collection, begin, write_each
from viewer.services.synthetic.phantom.patient import make_patient
from viewer.services.synthetic.write_patients import (
    WrittenImage,
    write_patient,
    write_truth,
)

SMALLEST: Final = SizePx(100, 80)
LARGEST: Final = SizePx(5000, 5000)
TEST, VALIDATION = "test", "val"
_FIRST: Final = {TEST: 0, VALIDATION: 100_000}
"""Each split's first patient; no split has so many that they meet."""
_KIND: Final = Collection(
    "synthetic chest studies; no such persons exist",
    "patients",
    "a radiograph",
    SMALLEST,
    LARGEST,
)


@dataclass(frozen=True)
class PhantomSummary:
    """What was written: the folder, patients, images and positives per finding."""

    folder: Path
    patients: int
    images: int
    positives: dict[str, int]


def make_phantom(
    out: Path,
    n: int,
    seed: int,
    size: SizePx,
    progress: Callable[[int, int], None],
    *,
    split: str = TEST,
    compress: bool = True,
) -> PhantomSummary:
    """Write ``n`` patients of a seed; the same arguments give the same bytes.

    Parameters
    ----------
    out : Path
        An empty or new folder, or one of the same collection, which is completed.
    n : int
        Number of patients, each with a frontal and a lateral radiograph.
    seed : int
        Seed of the collection; a patient does not depend on ``n``.
    size : SizePx
        Rows and columns of every radiograph.
    progress : callable
        Called with (patients done, n) from this thread.
    split : {"test", "val"}
        The split that the files are named after; each has patients of its own.
    compress : bool
        Whether some patients' images are JPEG 2000; False keeps all uncompressed.

    Raises
    ------
    WrongUseError
        If a number is out of range, or the folder has other contents or is not
        writable.
    """
    further = {} if split == TEST else {"split": split}
    begin(_KIND, out, n, seed, size, compressed=compress, **further)
    write = partial(_write_one, out, seed, size, split, compress=compress)
    patients = write_each(write, n, progress)
    images = [image for written in patients for image in written]
    write_truth(out, images, split)
    return PhantomSummary(out, n, len(images), _count(images))


def _write_one(
    out: Path, seed: int, size: SizePx, split: str, index: int, *, compress: bool
) -> tuple[WrittenImage, ...]:
    patient = make_patient(seed, _FIRST[split] + index)
    return write_patient(out, patient, size, split, compress=compress)


def _count(images: list[WrittenImage]) -> dict[str, int]:
    names = images[0].masks
    return {name: sum(name in i.positives for i in images) for name in names}
