"""What names somebody in an item's words is found before a question leaves."""

from pathlib import Path

import pytest

from tests.helpers.evidence_cases import CHINESE, ENGLISH, cases_dataset
from viewer.domain.errors import PrivacyError
from viewer.domain.item import Item
from viewer.domain.privacy import PixelReview, ReviewDecision
from viewer.services.privacy.word_scan import (
    check_words,
    found_in,
    named_in,
    words_of,
    words_sha256,
)


@pytest.mark.statement("E004-05")
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Mr. Smith has had a cough.", "a name"),
        ("She was seen by Dr O'Brien.", "a name"),
        ("Frau Müller klagt über Husten.", "a name"),
        ("Patient name: J. Doe", "a name"),
        ("Patient's name is Jane", "a name"),
        ("Name: Jane Doe, 41", "a name"),
        ("姓名：张三", "a name"),
        ("患者张伟，男，63岁", "a name"),
        ("李建国医生会诊", "a name"),
        ("Seen on 2019-03-09.", "a date"),
        ("Seen on 9.3.2019.", "a date"),
        ("CT of 03/09/19 shows nodes.", "a date"),
        ("Admitted on March 9, 2019.", "a date"),
        ("Admitted on the 9th of March.", "a date"),
        ("exam 20190309", "a date"),
        ("DOB: 4 July", "a date"),
        ("2019年3月9日入院", "a date"),
        ("3月9号复查", "a date"),
        ("出生日期：1950", "a date"),
        ("MRN 004977", "an identifier of a person or a visit"),
        ("accession: A-17-2290", "an identifier of a person or a visit"),
        ("Patient ID 77812", "an identifier of a person or a visit"),
        ("hospital no. 5512", "an identifier of a person or a visit"),
        ("住院号：003127", "an identifier of a person or a visit"),
        ("11010519491231002X", "an identifier of a person or a visit"),
        ("078-05-1120", "an identifier of a person or a visit"),
        ("jane.doe@example.org", "an address"),
        ("phone +49 6221 560", "an address"),
        ("(555) 123-4567", "an address"),
        ("手机 13912345678", "an address"),
        ("lives at 12 Baker Street", "an address"),
        ("家住北京", "an address"),
    ],
)
def test_that_what_names_a_person_is_found(said: str, kind: str) -> None:
    assert kind in named_in(f"A cough. {said}")
    item = Item("i", "p", "", (), {"history": {"notes": ["none", said]}})
    with pytest.raises(PrivacyError, match=kind) as caught:
        check_words(item, "", {})
    assert not [x for x in found_in(said) if len(x) > 3 and x in str(caught.value)]


@pytest.mark.parametrize(
    "said",
    [
        "A 41-year-old man has had a dry cough for three months.",
        "Blood pressure 120/80 mm Hg, pulse 88, temperature 38.2 °C.",
        "Ultrasound on day 3; CT on day 14; MRI in 2019.",
        "Calcium 2.9 mmol/l, creatinine 1.2, ratio 1/2/3.",
        "Mr. A was seen by the physician.",
        "She may 2 days later have improved; in march order.",
        "Case 3 of 4: the patient improved.",
        "Hodgkin and Wegener are no patients' names here.",
        "患者，男，63岁，骨痛半年。3个月前发热。",
        "患者王某，男，41岁。",
        "内科医生会诊，血红蛋白降低。",
        "HLA-B27, CD20+, TNM T2N1M0, 555-1234 cells",
        "T 12 000 and 150203 platelets",
    ],
)
def test_that_what_names_nobody_passes(said: str) -> None:
    assert named_in(said) == ()


@pytest.mark.statement("E004-05")
def test_that_invented_cases_name_nobody(tmp_path: Path) -> None:
    items = [*cases_dataset(tmp_path, 8).items, ENGLISH.item(), CHINESE.item()]
    assert [found_in("\n".join(words_of(item))) for item in items] == [()] * 10


def test_that_truth_counts_where_it_is_told_and_names_of_files_never() -> None:
    images = ("20190309/ct.png",)
    facts = {"images": list(images), "history": "A cough."}
    item = Item("i", "p", "", images, facts, {"diagnosis": "Dr. Crohn's disease"})
    check_words(item, "A cough.", {})
    with pytest.raises(PrivacyError, match="a name"):
        check_words(item, "The truth is Dr. Crohn's disease.", {})
    assert words_of(item) == ("A cough.", "Dr. Crohn's disease")
    dated = Item("i", "p", "", images, facts, {"date": "2020-03-01"})
    assert named_in("\n".join(words_of(dated))) == ()
    with pytest.raises(PrivacyError, match="a date"):
        check_words(dated, "The study of 2020-03-01.", {})


def test_that_a_persons_decision_holds_for_exactly_these_words() -> None:
    item = Item("i", "p", "", (), {"history": "Mr. Smith coughs."})
    other = Item("i", "p", "", (), {"history": "Mr. Smith coughs much."})
    sha256 = words_sha256(item)
    clean = {sha256: PixelReview(sha256, ReviewDecision.CLEAN)}
    check_words(item, "", clean)
    with pytest.raises(PrivacyError, match="seems to contain a name"):
        check_words(other, "", clean)
    blocked = {sha256: PixelReview(sha256, ReviewDecision.BLOCKED)}
    with pytest.raises(PrivacyError, match="a person decided"):
        check_words(item, "", blocked)
