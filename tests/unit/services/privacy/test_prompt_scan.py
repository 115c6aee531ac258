from datetime import date
from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset
from pydicom.uid import DigitalXRayImageStorageForPresentation

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from viewer.domain.errors import PrivacyError
from viewer.readers.identifiers import Identifier, burned_in_facts, identifiers
from viewer.services.privacy.prompt_scan import check_prompt

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


def _refused(finding: str, header: tuple[Identifier, ...]) -> str:
    """Return the sentence a question is refused with, "" where it may be asked."""
    try:
        ask(finding, header)
    except PrivacyError as error:
        return str(error)
    return ""


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
    with pytest.raises(PrivacyError, match="text contains the image's") as caught:
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


@pytest.mark.parametrize(
    "said",
    [
        *(
            "joerg mueller-luedenscheidt",
            "Müller Lüdenscheidt",
            "MUELLER",
            "jorg_muller",
        ),
        *(
            "MüllerJörg",
            "JörgMüller1950",
            "m u l l e r",
            "Mül\u200bler",
            "Mül\u00adler",
        ),
        *("Ｍüller", "Müllers nodule", "山田太郎", "山田 太郎", "OBrien", "o’brien"),
        *(
            "AB4800371",
            "ab 4800 371",
            "AB.48.00.371",
            "7654-321",
            "7 654 321",
            "7654321",
        ),
        *("1.2.840.99.7", "55443", "REMOTE-PACS"),
    ],
)
def test_that_a_name_or_number_is_found_in_every_spelling(
    said: str, odd_header: tuple[Identifier, ...]
) -> None:
    with pytest.raises(PrivacyError):
        ask(f"nodule {said}", odd_header)


@pytest.mark.parametrize(
    "said",
    [
        *("19500217", "17021950", "02171950", "500217", "170250", "19500217101500"),
        *(
            "1950-02-17",
            "17.02.1950",
            "17. 2. 1950",
            "17/2/50",
            "2-17-50",
            "1950 02 17",
        ),
        *(
            "17-Feb-1950",
            "17Feb1950",
            "Feb 17th, 1950",
            "Sat, 17 feb. 50",
            "1950 Feb 17",
        ),
        *("17th of February 1950", "17 février 1950", "17. Februar 1950"),
        *("17 de febrero de 1950", "17 lutego 1950", "1950年2月17日"),
    ],
)
def test_that_a_date_is_found_however_it_is_written(
    said: str, odd_header: tuple[Identifier, ...]
) -> None:
    with pytest.raises(PrivacyError, match="PatientBirthDate"):
        ask(f"nodule, born {said}", odd_header)


@pytest.mark.parametrize(
    "said",
    [
        *(
            "Mueller-Thurgau",
            "1950",
            "17 nodules of 1950 mm",
            "16.02.1950",
            "17 May 1950",
        ),
        *("row 1, columns 2 to 8", "D4 or E5", "L1 to L5", "0.25 mm", "17-02-1851"),
    ],
)
def test_that_what_only_resembles_a_value_passes(said: str) -> None:
    named = (
        Identifier("PatientName", "Thur"),
        Identifier("PatientID", "7654321"),
        Identifier("PatientBirthDate", "1950-02-17", date(1950, 2, 17)),
    )
    assert _refused(f"nodule {said}", named) == ""


@pytest.fixture
def odd_header(tmp_path: Path) -> tuple[Identifier, ...]:
    dataset = dicom_dataset(
        np.zeros((4, 4), np.uint8),
        PatientName="MÜLLER-LÜDENSCHEIDT^Jörg=山田^太郎",
        SpecificCharacterSet="ISO_IR 192",
        PatientID="AB-4800-371",
        AccessionNumber="007654321",
        PatientBirthDate="19500217",
        OperatorsName="O'BRIEN^Seán",
        StudyDescription="CHEST PA 55443",
        StudyInstanceUID="1.2.840.99.7",
    )
    path = save_dicom(dataset, tmp_path / "x.dcm")
    dataset.file_meta.SourceApplicationEntityTitle = "REMOTE_PACS"
    dataset.save_as(path, enforce_file_format=True)
    return identifiers(path)


def test_that_a_picture_has_no_header_to_look_for(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "x.png"
    Image.new("L", (4, 4)).save(path)
    folders = set(identifiers(path))  # those of a test may have a number
    assert {one.keyword for one in folders} <= {"file name"}
    numbered = tmp_path / "MRN_0049771.png"
    Image.new("L", (4, 4)).save(numbered)
    assert {*identifiers(numbered)} - folders == {Identifier("file name", "0049771")}
    assert burned_in_facts(path).modality == ""


def test_that_what_a_header_says_of_burned_in_text_is_read(tmp_path: Path) -> None:
    dataset = dicom_dataset(np.zeros((4, 4), np.uint8), Modality="US")
    facts = burned_in_facts(save_dicom(dataset, tmp_path / "x.dcm"))
    assert (facts.modality, facts.annotation) == ("US", "")
    assert facts.is_capture
    dataset.SOPClassUID = DigitalXRayImageStorageForPresentation
    dataset.RecognizableVisualFeatures = "YES"
    dataset.BodyPartExamined = "skull "
    again = burned_in_facts(save_dicom(dataset, tmp_path / "y.dcm"))
    told = (again.is_capture, again.recognizable, again.body_part)
    assert told == (False, "YES", "SKULL")
