"""The files that speeds are measured with, synthetic and uncompressed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.writers.dicom_ct import CtSlice, ct_bytes
from viewer.writers.files import write_atomically

_SIZE: Final = SizePx(2500, 2000)
_PATIENTS: Final = 6
_SLICES: Final = 300
_SLICE_SIDE: Final = 512
_FIRST_FILM: Final = "CheXpert/test/patient00001/study1/view1_frontal.dcm"


@dataclass(frozen=True, slots=True)
class Samples:
    """The paths of the samples.

    ``phantom`` is a collection of radiographs with ground truth, ``radiograph`` one of
    them, ``series`` a folder of CT slices; ``home`` an empty folder for a test program.
    """

    phantom: Path
    radiograph: Path
    series: Path
    home: Path


def make_samples(folder: Path) -> Samples:
    """Write the samples into an empty folder."""
    phantom, series, home = (folder / name for name in ("phantom", "ct", "home"))
    make_phantom(phantom, _PATIENTS, 0, _SIZE, lambda *_: None, compress=False)
    _write_series(series)
    home.mkdir()
    return Samples(phantom, phantom / _FIRST_FILM, series, home)


def _write_series(folder: Path) -> None:
    folder.mkdir()
    y, x = np.mgrid[-1 : 1 : _SLICE_SIDE * 1j, -1 : 1 : _SLICE_SIDE * 1j]
    noise = np.random.default_rng(0).normal(0, 20, x.shape)
    for number in range(_SLICES):
        radius = 0.5 + 0.3 * np.sin(np.pi * number / _SLICES)
        inside = (x / 1.2) ** 2 + y**2 < radius**2
        values = np.where(inside, 40 + noise, -1000).astype(np.int16)
        data = ct_bytes(values, CtSlice(number, float(number)))
        write_atomically(folder / f"{number:03d}.dcm", data)
