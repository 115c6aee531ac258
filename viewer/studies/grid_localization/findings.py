"""The findings of CheXlocalize and their spellings (E000-02, E000-03)."""

from viewer.studies.fields import plain_name

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
SPELLINGS = {plain_name(name): name for name in KNOWN} | {
    "lung opacity": "Airspace Opacity"
}
"""Each plain spelling and the display name it stands for (Lung Opacity in CheXpert)."""


def canonical(name: str) -> str:
    """Return the display name of a finding; one not of CheXlocalize stays as it is."""
    return SPELLINGS.get(plain_name(name), name)
