"""Finding names as data sets write them, and as we show them."""

FINDINGS = (
    "Enlarged Cardiomediastinum",
    "Cardiomegaly",
    "Airspace Opacity",
    "Lung Lesion",
    "Edema",
    "Consolidation",
    "Atelectasis",
    "Pneumothorax",
    "Pleural Effusion",
    "Support Devices",
)
"""The ten tasks that CheXlocalize segments (Saporta et al. 2022)."""

_KNOWN = {name.lower(): name for name in FINDINGS} | {
    "lung opacity": "Airspace Opacity"
}


def display_name(written: str) -> str:
    """Return a finding's display name.

    Underscores read as spaces and case does not matter for the ten tasks;
    CheXpert's ``Lung Opacity`` is CheXlocalize's ``Airspace Opacity`` (studies.md
    E000-02). Any other name stays as written.
    """
    spaced = " ".join(written.replace("_", " ").split())
    return _KNOWN.get(spaced.lower(), spaced)


def is_known(written: str) -> bool:
    """Tell whether ``written`` names one of the ten tasks or their alias."""
    return display_name(written) in FINDINGS
