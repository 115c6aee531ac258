from fractions import Fraction

import pytest

from viewer.studies.consistency import flagged
from viewer.studies.grounded_vqa.consistency import CHECKS, F1_CHECKS
from viewer.studies.grounded_vqa.published import BELOW_HALF

IMPOSSIBLE = {
    ("GPT-4o", "VinDr Open"),
    ("GPT-4V", "VinDr Open"),
    ("CheXagent", "VinDr Open"),
    ("LLaVA-Med", "MIMIC Yes/No"),
    ("CRG+LLaVA-Med", "MIMIC Yes/No"),
    ("CRG+LLaVA-Med", "MIMIC Open"),
}
"""F1 above both of its parts."""


@pytest.mark.statement("X-05")
def test_that_43_of_52_f1_are_not_harmonic_and_six_of_them_impossible() -> None:
    found = list(flagged(F1_CHECKS))
    assert (len(F1_CHECKS), len(found)) == (52, 43)
    impossible = {(c.row.who, c.row.subject) for c in F1_CHECKS if c.impossible}
    assert impossible == IMPOSSIBLE
    assert sum("beyond P and R" in check.problem for check in found) == 6
    assert all("half of the last" in check.tolerance for check in found)


def test_that_what_is_not_flagged_is_harmonic_within_rounding() -> None:
    half = Fraction(1, 2000)
    for check in F1_CHECKS:
        f1, p, r = (
            Fraction(round(1000 * row.value), 1000)
            for row in (check.row, check.precision, check.recall)
        )
        ends = [2 * (p + h) * (r + h) / (p + r + 2 * h) for h in (-half, half)]
        fits = ends[0] <= f1 + half and f1 - half <= ends[1]
        assert fits == (check.problem == "")


@pytest.mark.statement("X-05")
def test_that_the_sentence_on_proprietary_models_does_not_fit_its_table() -> None:
    (last,) = [check for check in CHECKS if BELOW_HALF in check.about]
    assert last.problem == "0 of 6 are below 50, the least is 52.1 %"
    assert len(list(flagged(CHECKS))) == 44
