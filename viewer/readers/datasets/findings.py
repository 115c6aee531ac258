"""Finding names as data sets write them, and as we show them."""

from viewer.domain.finding_names import FINDINGS, concept, spelled


def display_name(written: str) -> str:
    """Return a finding's display name: the data set's word, tidied.

    Underscores read as spaces and case does not matter for the ten tasks of
    CheXlocalize and ``Lung Opacity``. Any other name stays as written.
    """
    return spelled(" ".join(written.replace("_", " ").split()))


def is_known(written: str) -> bool:
    """Tell whether ``written`` names one of the ten tasks or a synonym."""
    return concept(written) in FINDINGS
