"""Projections of radiographs, as headers and tables write them."""

from viewer.domain.case import View

_PROJECTIONS = frozenset({"CR", "DR", "DX", "PX", "RF", "RG"})
_UNSPOKEN = frozenset({"", "OT"})
"""Modalities that do not tell a radiograph from anything else."""
_FRONTAL_WORDS = frozenset({"AP", "PA", "FRONTAL"})
_LATERAL_WORDS = frozenset({"LL", "RL", "LAT", "LATERAL", "LLAT", "RLAT"})


def view_of(modality: str, view_position: str) -> View:
    """Return the projection that View Position names (PS3.3 C.8.7.1, C.8.11.5).

    Obliques and decubitus positions are neither frontal nor lateral and stay unknown,
    as do ambiguous values; CT and the like have no projection.
    """
    if modality not in _PROJECTIONS:
        return View.UNKNOWN if modality in _UNSPOKEN else View.OTHER
    return projection(view_position)


def projection(written: str) -> View:
    """Return the projection that a text names, whoever wrote it; else unknown."""
    words = set(written.upper().replace("_", " ").replace("-", " ").split())
    frontal, lateral = words & _FRONTAL_WORDS, words & _LATERAL_WORDS
    if frontal and not lateral:
        return View.FRONTAL
    return View.LATERAL if lateral and not frontal else View.UNKNOWN
