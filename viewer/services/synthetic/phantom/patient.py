"""The synthetic patients: build, findings and all their random numbers."""

from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

import numpy as np


class Finding(StrEnum):
    """The ten tasks of CheXlocalize under their display names."""

    ENLARGED_CARDIOMEDIASTINUM = "Enlarged Cardiomediastinum"
    CARDIOMEGALY = "Cardiomegaly"
    AIRSPACE_OPACITY = "Airspace Opacity"
    LUNG_LESION = "Lung Lesion"
    EDEMA = "Edema"
    CONSOLIDATION = "Consolidation"
    ATELECTASIS = "Atelectasis"
    PNEUMOTHORAX = "Pneumothorax"
    PLEURAL_EFFUSION = "Pleural Effusion"
    SUPPORT_DEVICES = "Support Devices"


PREVALENCE: dict[Finding, tuple[float, float]] = {
    Finding.ENLARGED_CARDIOMEDIASTINUM: (0.14, np.sqrt(2)),
    Finding.CARDIOMEGALY: (0.26, np.sqrt(3)),
    Finding.AIRSPACE_OPACITY: (0.14, np.sqrt(5)),
    Finding.LUNG_LESION: (0.16, np.sqrt(6)),
    Finding.EDEMA: (0.14, np.sqrt(7)),
    Finding.CONSOLIDATION: (0.16, np.sqrt(10)),
    Finding.ATELECTASIS: (0.16, np.sqrt(11)),
    Finding.PNEUMOTHORAX: (0.14, np.sqrt(13)),
    Finding.PLEURAL_EFFUSION: (0.28, np.sqrt(14)),
    Finding.SUPPORT_DEVICES: (0.22, np.sqrt(17)),
}
"""Share of the patients with a finding of its own, and the step of its sequence.

Steps are irrational, so that every stretch of patients holds close to its share.
"""


@dataclass(frozen=True)
class Build:
    """A patient's body; lengths in millimetres, factors around 1.

    ``lung_top`` is the apices' z, ``right_dome`` and ``left_dome`` the tops of the
    diaphragm, ``fat`` the thickness added to the body wall, ``kyphosis`` the bend of
    the spine, ``shift`` how far the patient stands off the detector's middle
    (frontal x, lateral y, z).
    """

    female: bool
    width: float
    depth: float
    lung_top: float
    right_dome: float
    left_dome: float
    heart: float
    knob: float
    fat: float
    breast: float
    rib_slope: float
    kyphosis: float
    bubble: float
    lung_density: float
    shift: tuple[float, float, float]


@dataclass(frozen=True)
class PhantomPatient:
    """A synthetic patient: the ``index``-th (0-based) of a seed, and the findings.

    Every random number of a part of the patient comes from its own stream, so that
    removing a finding changes nothing else.
    """

    seed: int
    index: int
    build: Build
    findings: frozenset[Finding]

    def stream(self, part: str) -> np.random.Generator:
        """Return the random numbers of one part of this patient."""
        return _stream(self.seed, self.index, part)


def make_patient(seed: int, index: int) -> PhantomPatient:
    """Return the ``index``-th patient (0-based) of a seed."""
    build = _draw_build(_stream(seed, index, "build"))
    return PhantomPatient(seed, index, build, _draw_findings(seed, index))


def _draw_build(rng: np.random.Generator) -> Build:
    female = bool(rng.random() < 0.5)
    right_dome = float(rng.uniform(-92, -66))
    width = float(rng.uniform(0.88, 0.98) if female else rng.uniform(0.96, 1.08))
    return Build(
        female=female,
        width=width,
        depth=float(rng.uniform(0.92, 1.06)),
        lung_top=float(rng.uniform(150, 166)),
        right_dome=right_dome,
        left_dome=right_dome - float(rng.uniform(4, 16)),
        heart=width * float(rng.uniform(0.88, 1.0)),
        knob=float(rng.uniform(0.85, 1.15)),
        fat=float(rng.gamma(2.0, 5.0)),
        breast=float(rng.uniform(0.6, 0.95)) if female else 0.0,
        rib_slope=float(rng.uniform(0.85, 1.2)),
        kyphosis=float(rng.uniform(0, 14)),
        bubble=float(rng.uniform(0.5, 1.2)),
        lung_density=float(rng.uniform(0.24, 0.31)),
        shift=(
            float(rng.uniform(-6, 6)),
            float(rng.uniform(-8, 8)),
            float(rng.uniform(-8, 8)),
        ),
    )


def _draw_findings(seed: int, index: int) -> frozenset[Finding]:
    starts = _stream(seed, 0, "findings").random(len(PREVALENCE))
    return frozenset(
        finding
        for start, (finding, (share, step)) in zip(
            starts, PREVALENCE.items(), strict=True
        )
        if (start + index * step) % 1 < share
    )


def _stream(seed: int, index: int, part: str) -> np.random.Generator:
    entropy = [seed, index, crc32(part.encode())]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
