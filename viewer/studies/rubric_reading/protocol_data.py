"""What the paper prints of its protocol, quoted (E001-21, -22, -24).

Source: Banerjee, Bijnens, Adithan, Rajpurkar, The Intention-Execution Disconnect in
Medical AI, 2025, CC BY-NC 4.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from viewer.domain.rubric import Dimension
from viewer.domain.task_selection import Category
from viewer.studies.rubric_reading.asking import BOX_SENTENCE

SOURCE: Final = "Banerjee 2025 (ReXecution)"
STUDIES: Final = 100
"""Studies of the paper's sample: 89 alone, 11 with a prior (section 3.1)."""
TEMPORAL: Final = 11

MODELS: Final[Mapping[str, str]] = {
    "proposer, scorer and tagger": "GPT-o4-mini",
    "all views, boxes asked for": "ChatGPT-o3",
    "one PA else AP, no boxes": "MedGemma-4b-it",
}
"""Who did what in the paper."""

EXAMPLES: Final[Mapping[Category, tuple[str, ...]]] = {
    Category.BROAD: (
        "Describe all pleural abnormalities",
        "List all visible tubes and lines and assess for complications",
    ),
    Category.REASONING: (
        "Gather evidence of congestive heart failure",
        "Perform differential diagnosis for a lobar opacity",
    ),
    Category.MEASUREMENT: (
        "Measure the cardiothoracic ratio",
        "Assess effusion size compared to prior",
    ),
}
"""Examples of each category (section 3.1)."""

_DIFFERENTIAL: Final = (
    "Evaluate the right lower paramediastinal area. Pose a differential diagnosis, "
    "list all evidence supporting each diagnosis, and draw a conclusion on which "
    f"diagnosis is most likely. {BOX_SENTENCE} If there is no abnormality present, "
    "state so."
)
_EDEMA: Final = (
    "Describe all imaging findings that support pulmonary edema. Box and label all "
    "such findings on the image(s). If there is no evidence of pulmonary edema, say so."
)
_OPACITY: Final = (
    "Evaluate the left lower lobe opacity. Pose a differential diagnosis, list all "
    "evidence supporting each diagnosis, and draw a conclusion on which diagnosis is "
    "most probable. If there's significant uncertainty on the final diagnosis, state "
    "so in the conclusion."
)
FIGURE_4: Final = (_DIFFERENTIAL, _EDEMA, _OPACITY)
"""The three tasks of Figure 4."""


@dataclass(frozen=True, slots=True)
class HelpCard:
    """One column of the help that explains kinds of error (Fig. 2)."""

    dimension: Dimension
    question: str
    example: str


FIGURE_2: Final = (
    HelpCard(
        Dimension.PROCESS,
        "Would this plan answer the task?",
        "while gathering evidence of cancer, but only looking for lung lesions without "
        "considering bone lesions",
    ),
    HelpCard(
        Dimension.EXECUTION,
        "Is what it saw on the image?",
        "attempting to look for lung lesions, but hallucinating a granulomatous lesion",
    ),
    HelpCard(
        Dimension.SYNTHESIS,
        "Does the conclusion follow from what it saw?",
        "claiming that a granuloma is suggestive of cancer while ignoring more "
        "plausible explanations such as infection",
    ),
)
"""Kinds of error in Content; examples as printed in section 3.3, questions ours."""
TARGETS: Final[Mapping[str, int]] = {
    "lung parenchyma": 37,
    "pleura": 15,
    "cardiac silhouette and mediastinum": 14,
    "hilar regions": 11,
    "devices": 9,
    "osseous structures": 4,
    "diaphragm and soft tissues": 6,
    "airways": 3,
}
"""Shares of regions in per cent as the paper prints them; they add up to 99."""
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "lung parenchyma": (
        *("lung", "lungs", "lung field", "lung fields", "parenchyma"),
        *("right lung", "left lung", "lower lobe", "lower lobes", "upper lobe"),
        *("upper lobes", "middle lobe", "lung bases", "lung base", "lung apices"),
    ),
    "pleura": (
        *("pleural space", "pleural spaces", "pleural cavity", "costophrenic angle"),
        *("costophrenic angles", "costophrenic sulcus"),
    ),
    "cardiac silhouette and mediastinum": (
        *("heart", "cardiac silhouette", "mediastinum", "cardiomediastinum", "aorta"),
        *("cardiomediastinal silhouette", "pericardium"),
    ),
    "hilar regions": ("hilum", "hila", "hilar region", "pulmonary vasculature"),
    "devices": ("device", "support devices", "lines and tubes", "tubes and lines"),
    "osseous structures": (
        *("bone", "bones", "ribs", "rib", "spine", "thoracic spine", "clavicle"),
        *("skeleton", "osseous structure"),
    ),
    "diaphragm and soft tissues": (
        *("diaphragm", "soft tissues", "soft tissue", "chest wall", "upper abdomen"),
    ),
    "airways": ("airway", "trachea", "bronchi", "bronchus", "carina"),
}
REGION_WORDS: Final[Mapping[str, str]] = {
    word: region for region, words in _WORDS.items() for word in words
}
"""The paper's region for a word that taggers use for it, in lower case (ours)."""
