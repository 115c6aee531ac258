from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from viewer.domain.errors import PrivacyError
from viewer.readers.identifiers import Identifier, burned_in_facts, identifiers
from viewer.services.prompt_scan import check_prompt

TEMPLATE = "Where is ‘{condition}’ on this frontal chest X-ray? Name one grid cell."


@pytest.fixture
def header(tmp_path: Path) -> tuple[Identifier, ...]:
    dataset = dicom_dataset(
        np.zeros((4, 4), np.uint8),
        PatientName="Müller-Lüdenscheidt^Änne^^Dr.",
        SpecificCharacterSet="ISO_IR 192",
        PatientID="MRN 0049-77",
        AccessionNumber="A17",
        StudyDate="20240309",
        PatientBirthDate="19610704",
        InstitutionName="St. Elsewhere",
        ReferringPhysicianName="Li^Bo",
        OperatorsName="Wu^X",
        StudyInstanceUID="1.2.840.99.7",
        Modality="DX",
        BurnedInAnnotation="NO",
    )
    block = dataset.private_block(0x0011, "ACME", create=True)
    block.add_new(1, "LO", "secret words")
    block.add_new(2, "UN", b"hidden value\x00")
    block.add_new(3, "LO", "abc")
    item = Dataset()
    item.AccessionNumber = "NESTED-9"
    dataset.ReferencedStudySequence = [item]
    return identifiers(save_dicom(dataset, tmp_path / "x.dcm"))


def ask(finding: str, header: tuple[Identifier, ...]) -> None:
    check_prompt(TEMPLATE.replace("{condition}", finding), header, [TEMPLATE])


@pytest.mark.parametrize(
    ("finding", "keyword"),
    [
        ("nodule of MÜLLER-LÜDENSCHEIDT", "PatientName"),
        ("nodule of Muller-Ludenscheidt", "PatientName"),
        ("Änne's nodule", "PatientName"),
        ("nodule (mrn  0049-77)", "PatientID"),
        ("nodule, A17", "AccessionNumber"),
        ("nodule NESTED-9", "AccessionNumber"),
        ("nodule seen 2024-03-09", "StudyDate"),
        ("nodule seen 9.3.2024", "StudyDate"),
        ("nodule seen on March 9, 2024", "StudyDate"),
        ("nodule, born 04/07/1961", "PatientBirthDate"),
        ("nodule, born 07/04/61", "PatientBirthDate"),
        ("nodule, born 19610704", "PatientBirthDate"),
        ("nodule at St.  Elsewhere", "InstitutionName"),
        ("nodule, asks Li", "ReferringPhysicianName"),
        ("nodule of 1.2.840.99.7", "StudyInstanceUID"),
        ("nodule with secret words", "(0011,1001)"),
        ("nodule with a hidden value", "(0011,1002)"),
    ],
)
def test_that_a_value_of_the_header_keeps_the_question_here(
    finding: str, keyword: str, header: tuple[Identifier, ...]
) -> None:
    with pytest.raises(PrivacyError, match="text holds the image's") as caught:
        ask(finding, header)
    said = str(caught.value)
    assert keyword in said
    values = [i.value for i in header if i.keyword == keyword]
    assert not [value for value in values if value in said]


@pytest.mark.parametrize(
    "finding",
    ["Lung Lesion", "Pleural Effusion", "annexes", "A170", "abc", "nodule of 2024"],
)
def test_that_other_words_pass(finding: str, header: tuple[Identifier, ...]) -> None:
    ask(finding, header)
    held = Identifier("PatientID", finding)
    with pytest.raises(PrivacyError, match="PatientID"):
        ask(finding, (*header, held))


def test_that_what_every_question_says_names_nobody() -> None:
    named = (Identifier("PatientName", "Grid"), Identifier("PatientName", "ray"))
    ask("Edema", named)
    with pytest.raises(PrivacyError, match="PatientName"):
        check_prompt("Edema of Grid", named, [])


def test_that_a_picture_has_no_header_to_look_for(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "x.png"
    Image.new("L", (4, 4)).save(path)
    assert identifiers(path) == ()
    assert burned_in_facts(path).modality == ""


def test_that_what_a_header_says_of_burned_in_text_is_read(tmp_path: Path) -> None:
    dataset = dicom_dataset(np.zeros((4, 4), np.uint8), Modality="US")
    facts = burned_in_facts(save_dicom(dataset, tmp_path / "x.dcm"))
    assert (facts.modality, facts.annotation) == ("US", "")
