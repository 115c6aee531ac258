import pytest

from viewer.domain.finding_names import ByFinding, concept, own_word, spelled


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("lung_opacity", "Lung Opacity"),
        ("airspace  opacity", "Airspace Opacity"),
        ("PLEURAL-EFFUSION", "Pleural Effusion"),
        ("nodule", "nodule"),
    ],
)
def test_that_spelling_changes_case_and_blanks_but_no_word(
    written: str, shown: str
) -> None:
    assert spelled(written) == shown


def test_that_synonyms_are_one_finding_and_others_are_not() -> None:
    assert concept("lung opacity") == concept("Airspace Opacity")
    assert concept("Edema") != concept("Consolidation")
    assert concept("nodule") == "nodule"


def test_that_the_word_itself_goes_before_a_synonym() -> None:
    words = ("Airspace Opacity", "Lung Opacity")
    assert own_word("lung opacity", words) == "Lung Opacity"
    assert own_word("Lung Opacity", words[:1]) == "Airspace Opacity"
    assert own_word("Edema", words) is None


def test_that_values_are_found_by_a_synonym_and_listed_by_their_own_name() -> None:
    values = ByFinding({"Airspace Opacity": 1, "Edema": 2})
    assert (values["Lung Opacity"], values.get("Lung Opacity")) == (1, 1)
    assert "Lung Opacity" in values
    assert "Nodule" not in values
    assert list(values) == ["Airspace Opacity", "Edema"]
    assert len(values) == 2
    assert values == {"Airspace Opacity": 1, "Edema": 2}
    assert repr(values) == "{'Airspace Opacity': 1, 'Edema': 2}"
    with pytest.raises(KeyError):
        values["Nodule"]
