"""Synthetic cases with several pieces of evidence and a known diagnosis."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from viewer.domain.evidence import Evidence, EvidenceCase, Language
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom import evidence_pictures as pictures
from viewer.services.synthetic.phantom.evidence_pictures import (
    LabRow,
    LabTable,
    Picture,
)
from viewer.services.synthetic.phantom.evidence_profiles import (
    PROFILES,
    Drawing,
    Profile,
    Shown,
)

SIZE: Final = SizePx(192, 160)
"""Rows and columns of the pictures; a small chest film."""
EVERY_CHINESE: Final = 4
"""Every fourth case is in Chinese."""


@dataclass(frozen=True, eq=False)
class PhantomCase:
    """A case, and the content of its images: pixels, or a table to be drawn."""

    case: EvidenceCase
    images: Mapping[str, Picture | LabTable]


def make_case(seed: int, index: int, size: SizePx = SIZE) -> PhantomCase:
    """Return the ``index``-th case (0-based) of a seed; it depends on nothing else.

    Eight cases in a row have eight diagnoses; every fourth case is in Chinese.
    """
    rng = np.random.default_rng([seed, index, 4])
    profile = PROFILES[(index + index // len(PROFILES)) % len(PROFILES)]
    chinese = index % EVERY_CHINESE == EVERY_CHINESE - 1
    language = Language.CHINESE if chinese else Language.ENGLISH
    key = f"case-{index + 1:04d}"
    images: dict[str, Picture | LabTable] = {}
    evidence = []
    for number, shown in enumerate(profile.shown, 1):
        names = _names(key, number, shown)
        drawn = [_draw(shown, (seed, index, i), rng, size) for i in range(len(names))]
        images.update(zip(names, drawn, strict=True))
        says = _expert_text(shown, drawn[0], language)
        entry = Evidence(f"e{number}", shown.type, names, says, shown.when)
        evidence.append(entry)
    case = _case(key, profile, language, tuple(evidence), rng)
    return PhantomCase(case, images)


def _case(
    key: str,
    profile: Profile,
    language: Language,
    evidence: tuple[Evidence, ...],
    rng: np.random.Generator,
) -> EvidenceCase:
    diagnoses = (profile.diagnosis, *profile.others)
    order = [int(i) for i in rng.permutation(len(diagnoses))]
    age = str(int(rng.integers(28, 84)))
    return EvidenceCase(
        key=key,
        language=language,
        specialty=profile.specialty,
        history=profile.history.in_(language).replace("{age}", age),
        examination=profile.examination.in_(language),
        evidence=evidence,
        options=tuple(diagnoses[i].in_(language) for i in order),
        answer=order.index(0),
        diagnosis=profile.diagnosis.in_(language),
    )


def _names(key: str, number: int, shown: Shown) -> tuple[str, ...]:
    stem = f"{key}/e{number}_{shown.drawing}"
    if shown.images == 1:
        return (f"{stem}.png",)
    return tuple(f"{stem}_{i + 1}.png" for i in range(shown.images))


def _expert_text(shown: Shown, drawn: Picture | LabTable, language: Language) -> str:
    """Return the expert's text, with a table's values at the end."""
    words = shown.says.in_(language)
    return f"{words} {drawn.text}" if isinstance(drawn, LabTable) else words


def _draw(
    shown: Shown, where: tuple[int, int, int], rng: np.random.Generator, size: SizePx
) -> Picture | LabTable:
    seed, index, _ = where
    if shown.drawing is Drawing.LAB:
        return LabTable(
            tuple(
                LabRow(name, int(rng.integers(least, most + 1)), flag)
                for name, least, most, flag in shown.labs
            )
        )
    if shown.drawing is Drawing.RADIOGRAPH:
        return pictures.radiograph(seed, index, shown.findings, size)
    if shown.drawing is Drawing.TISSUE:
        return pictures.tissue(seed, index, shown.tissue, size)
    return _DRAWN[shown.drawing](rng, size)


_DRAWN: Final[Mapping[Drawing, Callable[[np.random.Generator, SizePx], Picture]]] = {
    Drawing.CHEST: lambda rng, size: pictures.chest(rng, size, 5),
    Drawing.MASS: lambda rng, size: pictures.trunk(rng, size, 0.75),
    Drawing.NODULE: lambda rng, size: pictures.trunk(rng, size, 0.30),
    Drawing.BONES: pictures.bones,
    Drawing.HEAD: pictures.head,
    Drawing.SKIN: pictures.skin,
}
