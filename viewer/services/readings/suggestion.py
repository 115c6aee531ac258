"""What the anatomy suggests about a miss: a plausible location, or none.

Gosai 2025 calls a miss a position error where the cell lies in an anatomically
plausible region, an anatomy error elsewhere; for findings of the lung, a cell over
heart or mediastinum is an anatomy error (Figure 5). The masks only suggest it, and only
after the reader's own verdict.

Lung masks often include the lung before and behind heart, mediastinum and spine (in a
phantom, 71 % of the heart), so these are subtracted if they have masks. If they have
none, lung beside them cannot be distinguished from lung behind them within a band about
the midline (see CENTRAL): an answer that depends on the band gets no hint.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.case import View
from viewer.domain.form_catalog import ANATOMY, POSITION
from viewer.domain.reading import Suggestion
from viewer.domain.reference import Mask
from viewer.imaging.central_band import central_band, thorax_of

_Bools = npt.NDArray[np.bool_]

PLAUSIBLE_FROM: Final = 0.5
"""The share of the answered area that has to lie in plausible anatomy."""
_LIVES_FROM: Final = 0.1
"""The share of a reference in a structure from which on the finding lives there."""

_LUNG, _HEART, _MEDIASTINUM = "lung", "heart", "mediastin"
PLAUSIBLE: Final[Mapping[str, tuple[str, ...]]] = {
    "airspace opacity": (_LUNG,),
    "atelectasis": (_LUNG,),
    "cardiomegaly": (_HEART,),
    "consolidation": (_LUNG,),
    "edema": (_LUNG,),
    "enlarged cardiomediastinum": (_MEDIASTINUM, _HEART),
    "lung lesion": (_LUNG,),
    "lung opacity": (_LUNG,),
    "pleural effusion": (_LUNG,),
    "pneumonia": (_LUNG,),
    "pneumothorax": (_LUNG,),
}
"""Finding → words in the names of the structures in which it may be."""


@dataclass(frozen=True, slots=True)
class _Central:
    """A structure that the lungs overlap: words of its masks, its band without one.

    The band reaches ``half_width`` × the thorax's width to both sides of the midline,
    from ``from_height`` of the lungs' height down.
    """

    name: str
    words: tuple[str, ...]
    half_width: float
    from_height: float


CENTRAL: Final = (
    _Central("heart", ("heart", "cardiac"), 0.35, 0.35),
    _Central("mediastinum", ("mediastin",), 0.15, 0.0),
    _Central("spine", ("spine", "vertebra"), 0.08, 0.0),
    _Central("aorta", ("aorta", "trachea"), 0.0, 0.0),
)
"""What lies before or behind the lungs, and where it may be if it has no mask.

The bands are wide on purpose: a heart of a cardiothoracic ratio of 0.5 reaches 0.33 of
the thorax's width to its left, and masks do not always say which side that is. They
err towards no hint.
"""


def suggest(
    answered: _Bools,
    finding: str,
    anatomy: Mapping[str, Mask],
    reference: Mask | None,
    view: str = View.FRONTAL,
) -> Suggestion | None:
    """Return the class of error that the anatomy suggests, None without one.

    ``answered`` is the answer's area on the image, (rows, columns) as the masks are. A
    structure is plausible if the table above lists it for the finding or, for other
    findings, if it contains the reference; of a pair, both sides are. The paper reviews
    frontal views only, and so do the hints.
    """
    fitting = {n: m.array() for n, m in anatomy.items() if _fits(m, answered)}
    homes = _homes(finding, fitting, reference)
    area = int(np.count_nonzero(answered))
    if view != View.FRONTAL or not homes or not area:
        return None
    place = _Place(homes, fitting)
    inside = float(np.count_nonzero(answered & place.sure) / area)
    perhaps = float(np.count_nonzero(answered & (place.sure | place.doubtful)) / area)
    if inside < PLAUSIBLE_FROM <= perhaps:
        return _no_hint(perhaps - inside, _missing(fitting))
    return _suggested(inside, finding, place)


class _Place:
    """Where a finding is certainly, and where possibly, anatomically plausible.

    ``less`` names the structures that were subtracted from the lungs.
    """

    def __init__(self, homes: tuple[str, ...], anatomy: Mapping[str, _Bools]) -> None:
        self.homes = homes
        lungs = [name for name in homes if _LUNG in name.casefold()]
        others = _union([name for name in homes if name not in lungs], anatomy)
        lung = _union(lungs, anatomy)
        self.less = sorted(set(_central_masks(anatomy)) - set(homes)) if lungs else []
        beside = lung & ~_union(self.less, anatomy)
        doubtful = _doubtful(lung, anatomy) if lungs else np.zeros_like(lung)
        self.sure = (beside & ~doubtful) | others
        self.doubtful = doubtful & ~self.sure & (beside | ~lung)

    def __str__(self) -> str:
        less = f" outside {_listed(self.less)}" if self.less else ""
        return f"{_listed(self.homes)}{less}"


def _central_masks(anatomy: Mapping[str, _Bools]) -> list[str]:
    return [name for central in CENTRAL for name in _named(central, anatomy)]


def _named(central: _Central, anatomy: Mapping[str, _Bools]) -> list[str]:
    return [n for n in anatomy if any(w in n.casefold() for w in central.words)]


def _missing(anatomy: Mapping[str, _Bools]) -> list[_Central]:
    """Return the central structures that have a band and no mask."""
    return [c for c in CENTRAL if c.half_width and not _named(c, anatomy)]


def _doubtful(lung: _Bools, anatomy: Mapping[str, _Bools]) -> _Bools:
    """Return where a central structure without a mask may be.

    Within the lungs; everywhere where the masks do not show two lungs.
    """
    missing = _missing(anatomy)
    thorax = thorax_of(lung)
    if thorax is None:
        return np.full_like(lung, bool(missing))
    bands = np.zeros_like(lung)
    for c in missing:
        bands |= central_band(lung.shape, thorax, c.half_width, c.from_height)
    return bands & lung


def _union(names: Iterable[str], anatomy: Mapping[str, _Bools]) -> _Bools:
    place = np.zeros_like(next(iter(anatomy.values())))
    for name in names:
        place |= anatomy[name]
    return place


def _no_hint(doubtful: float, missing: Sequence[_Central]) -> Suggestion:
    names = _listed([central.name for central in missing])
    return Suggestion(
        "",
        f"No hint: {100 * doubtful:.0f} % of the answer lies where {names} may be, "
        f"which {'have' if missing[1:] else 'has'} no mask here.",
        None,
    )


def _suggested(inside: float, finding: str, place: _Place) -> Suggestion:
    key = POSITION if inside >= PLAUSIBLE_FROM else ANATOMY
    kind = "a position" if key == POSITION else "an anatomy"
    share = f"{100 * inside:.0f} % of the answer lies in {place}"
    return Suggestion(
        key,
        f"The anatomy suggests {kind} error: {share}, where {finding} may be.",
        inside,
    )


def _fits(mask: Mask, answered: _Bools) -> bool:
    return (mask.size.rows, mask.size.columns) == answered.shape


def _homes(
    finding: str, anatomy: Mapping[str, _Bools], reference: Mask | None
) -> tuple[str, ...]:
    words = PLAUSIBLE.get(finding.casefold())
    if words is None:
        names = _lived_in(anatomy, reference)
    else:
        names = {n for n in anatomy if any(word in n.casefold() for word in words)}
    sides = {_without_side(name) for name in names}
    return tuple(name for name in sorted(anatomy) if _without_side(name) in sides)


def _lived_in(anatomy: Mapping[str, _Bools], reference: Mask | None) -> set[str]:
    """Return the structures that contain a good part of the reference."""
    if reference is None:
        return set()
    where = reference.array()
    area = np.count_nonzero(where)
    return {
        name
        for name, mask in anatomy.items()
        if mask.shape == where.shape
        and np.count_nonzero(mask & where) > _LIVES_FROM * area
    }


def _without_side(name: str) -> str:
    words = name.casefold().replace("_", " ").split()
    return " ".join(word for word in words if word not in {"left", "right"})


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if names[1:] else names[0]
