"""The anatomies and findings of HEAL-MedVQA, and the words that replies use for them.

The paper names five of its eight anatomies as examples; the other three are not
published, so the list is a setting and this one is marked unverified (E002-01).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from viewer.domain.finding_names import plain_name

NO_FINDING: Final = "No finding"
"""The label of an item on which no finding is, where such items count (E002-07)."""

TRACHEA: Final = "Trachea"
EIGHT: Final = (
    *("Right upper lung", "Right middle lung", "Right lower lung"),
    *("Left upper lung", "Left middle lung", "Left lower lung"),
    *("Heart", "Aorta"),
)
"""Eight anatomies, unverified: which eight the paper means is not published."""
NAMED_IN_THE_PAPER: Final = frozenset(
    {"Right lower lung", "Left middle lung", "Aorta", "Heart", TRACHEA}
)
"""The five that Nguyen 2025, 3.2 names."""

_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "Aortic enlargement": (
        *("enlarged aorta", "dilated aorta", "aortic dilatation", "widened aorta"),
        *("enlarged aortic knob", "dilated aortic knob"),
    ),
    "Atelectasis": (
        *("atelectatic change", "atelectatic changes", "lung collapse"),
        *("collapsed lung", "collapsed lobe"),
    ),
    "Calcification": (
        *("calcifications", "calcified granuloma", "calcified lesion"),
        *("calcified aorta", "calcified aortic knob", "calcified pleura"),
    ),
    "Cardiomegaly": (
        *("enlarged heart", "heart enlargement", "cardiac enlargement"),
        *("enlarged cardiac silhouette", "increased cardiac silhouette"),
        *("enlarged cardiac shadow", "increased heart size"),
    ),
    "Clavicle fracture": (
        *("fractured clavicle", "clavicular fracture", "broken clavicle"),
    ),
    "Consolidation": (
        *("consolidations", "consolidative opacity"),
        *("consolidated lung", "consolidated lobe"),
    ),
    "Edema": ("oedema", "pulmonary edema", "pulmonary oedema"),
    "Emphysema": ("emphysematous change", "emphysematous changes"),
    "Enlarged PA": (
        *("enlarged pulmonary artery", "pulmonary artery enlargement"),
        *("dilated pulmonary artery", "enlarged pulmonary arteries"),
    ),
    "ILD": ("interstitial lung disease", "interstitial disease"),
    "Infiltration": ("infiltrate", "infiltrates", "infiltrations"),
    "Lung Opacity": (
        *("airspace opacity", "opacity", "opacities", "opacification"),
        *("lung opacities", "airspace opacities", "opacified lung"),
    ),
    "Lung cavity": ("cavity", "cavitation", "cavitary lesion"),
    "Lung cyst": ("cyst", "cysts", "pulmonary cyst"),
    "Mediastinal shift": (
        *("shift of the mediastinum", "mediastinal displacement"),
        *("shifted mediastinum", "displaced mediastinum"),
    ),
    "Nodule/Mass": (
        *("nodule", "nodules", "mass", "masses", "nodule or mass"),
        *("lung lesion", "lung lesions", "pulmonary lesion", "pulmonary nodule"),
    ),
    "Pleural effusion": ("effusion", "effusions", "pleural effusions"),
    "Pleural thickening": ("thickened pleura", "thickening of the pleura"),
    "Pneumonia": ("pneumonic infiltrate", "bronchopneumonia"),
    "Pneumothorax": ("pneumothoraces", "pneumothoraxes"),
    "Pulmonary fibrosis": (
        *("fibrosis", "lung fibrosis", "fibrotic changes", "fibrotic lung"),
    ),
    "Rib fracture": (
        *("rib fractures", "fractured rib", "fractured ribs"),
        *("broken rib", "broken ribs"),
    ),
    "Tuberculosis": ("tb", "pulmonary tuberculosis"),
    "COPD": ("chronic obstructive pulmonary disease",),
    "Lung tumor": ("lung tumour", "lung cancer"),
    "Other lesion": ("other lesions",),
    "Enlarged Cardiomediastinum": (
        *("enlarged cardiomediastinal silhouette", "widened mediastinum"),
        *("widened cardiomediastinal silhouette", "enlarged mediastinum"),
    ),
    "Support Devices": ("support device", "pacemaker", "device", "devices"),
}
"""Words for VinDr-CXR's findings and CheXpert's, in lower case, longest not first."""


FINDINGS: Final = tuple(_SYNONYMS)
"""Every finding that replies can be read for unless a run names others."""


def canonical(label: str, known: Iterable[str] = FINDINGS) -> str:
    """Return the known finding that a label is a synonym of, else the label."""
    return dictionary(known).get(plain_name(label), label)


def dictionary(labels: Iterable[str]) -> Mapping[str, str]:
    """Return every word for the labels given, each with its label.

    A word that two of them share stays with the first; a label's own name is always
    its own.
    """
    return _dictionary(tuple(labels))


@lru_cache(maxsize=256)
def _dictionary(wanted: tuple[str, ...]) -> Mapping[str, str]:
    words: dict[str, str] = {}
    known = {plain_name(label): words_of for label, words_of in _SYNONYMS.items()}
    for label in wanted:
        for word in known.get(plain_name(label), ()):
            words.setdefault(plain_name(word), label)
    return {**words, **{plain_name(label): label for label in wanted}}


def unverified(anatomies: Iterable[str]) -> tuple[str, ...]:
    """Return those anatomies that the paper does not name."""
    named = {plain_name(name) for name in NAMED_IN_THE_PAPER}
    return tuple(name for name in anatomies if plain_name(name) not in named)
