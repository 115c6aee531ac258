"""Names of findings as data sets write them, and as displayed."""

from viewer.domain.finding_names import FINDINGS, concept, spelled


def display_name(written: str) -> str:
    """Return a finding's display name: the data set's word, normalised.

    Underscores count as spaces, and case is ignored for the ten tasks of CheXlocalize
    and ``Lung Opacity``. Any other name stays as written.
    """
    return spelled(" ".join(written.replace("_", " ").split()))


def is_known(written: str) -> bool:
    """Tell whether ``written`` names one of the ten tasks or a synonym."""
    return concept(written) in FINDINGS
