"""The findings of CheXlocalize and their spellings (E000-02, E000-03)."""

from viewer.domain.finding_names import SYNONYMS, plain_name

SUPPORT_DEVICES = "Support Devices"
NINE = (
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Lung Lesion",
    "Airspace Opacity",
    "Edema",
    "Consolidation",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
)
"""The nine pathologies of Gosai 2025; Support Devices are left out of its preset."""

KNOWN = (*NINE, SUPPORT_DEVICES)
SPELLINGS = {plain_name(name): name for name in (*KNOWN, *SYNONYMS)}
"""Each plain spelling and the display name that it is a spelling of."""
