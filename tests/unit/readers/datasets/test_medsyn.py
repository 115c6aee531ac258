import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from PIL import Image

from viewer.domain.errors import UnreadableInputError
from viewer.domain.evidence import EvidenceCase, EvidenceType, Language
from viewer.readers.datasets.medsyn import looks, read

ENGLISH: Mapping[str, object] = {
    "language": "en",
    "specialty": "rheumatology",
    "history": "A man has had a cough for three months.",
    "examination": "Nodules over both shins.",
    "evidence": [
        {"type": "Lab", "images": ["lab.png"], "finding": "Calcium is raised."},
        {
            "type": "CT",
            "images": ["ct/1.png", "ct/2.png"],
            "finding": "Large nodes.",
            "when": "day 2",
        },
    ],
    "options": ["Sarcoidosis", "Tuberculosis", "Lymphoma", "Histoplasmosis"],
    "diagnosis": "Sarcoidosis",
}
CHINESE: Mapping[str, object] = {
    "id": "zh-1",
    "patient": "p7",
    "language": "zh",
    "specialty": "Haematology",
    "history": "男性，63岁，骨痛半年。",
    "evidence": [
        {"type": "Laboratory", "images": ["a.png"], "finding": "WBC 14.2, CRP 80 mg/L"},
        {"type": "Pathology", "images": ["b.png"], "finding": "浆细胞增多。"},
    ],
    "options": ["多发性骨髓瘤", "骨转移癌", "甲状旁腺功能亢进", "POEMS综合征"],
    "diagnosis": "骨转移癌",
}


def write(root: Path, folder: str, case: Mapping[str, object] | str) -> Path:
    """Write a case with every image that it names."""
    place = root / folder
    place.mkdir(parents=True)
    text = case if isinstance(case, str) else json.dumps(case, ensure_ascii=False)
    (place / "case.json").write_text(text, encoding="utf-8")
    evidence = case.get("evidence") if isinstance(case, Mapping) else None
    for one in evidence if isinstance(evidence, list) else []:
        for name in one.get("images", ()) if isinstance(one, dict) else ():
            path = place / (name if isinstance(name, str) else "x.png")
            if place in path.resolve().parents:
                path.parent.mkdir(exist_ok=True)
                Image.new("L", (6, 4), 90).save(path)
    return root


def but(case: Mapping[str, object], **changed: object) -> dict[str, object]:
    return {**case, **changed}


@pytest.mark.statement("E004-01", "E004-26")
def test_that_cases_are_read_with_their_images(tmp_path: Path) -> None:
    write(write(tmp_path, "one", ENGLISH), "two", CHINESE)
    assert looks(tmp_path)
    dataset = read(tmp_path, "mine")
    first, second = (EvidenceCase.of_item(item) for item in dataset.items)
    assert (first.key, second.key) == ("one", "zh-1")
    assert (first.language, second.language) == (Language.ENGLISH, Language.CHINESE)
    assert first.types == (EvidenceType.LABORATORY, EvidenceType.CT)
    assert second.types[1] is EvidenceType.MICROSCOPY
    assert first.specialty == "Rheumatology"
    assert first.images == ("one/lab.png", "one/ct/1.png", "one/ct/2.png")
    assert first.evidence[1].when == "day 2"
    assert (second.answer, second.examination) == (1, "")
    assert dataset.items[1].patient == "p7"
    images = {image.key: image for image in dataset.images}
    assert set(images) == {*first.images, *second.images}
    assert images["zh-1/a.png"].patient == "p7"
    assert all(not image.defects for image in images.values())
    assert dataset.notices == ()


@pytest.mark.statement("E004-26")
def test_that_the_content_is_named_by_cases_and_images(tmp_path: Path) -> None:
    one = read(write(tmp_path / "a", "one", ENGLISH), "x")
    same = read(write(tmp_path / "b", "one", ENGLISH), "y")
    other = but(ENGLISH, history="A man has had a fever.")
    third = read(write(tmp_path / "c", "one", other), "x")
    assert one.root_sha256 == same.root_sha256 != third.root_sha256


@pytest.mark.statement("E004-26")
def test_that_a_missing_image_is_told_and_stays_with_its_case(tmp_path: Path) -> None:
    write(tmp_path, "one", ENGLISH)
    (tmp_path / "one" / "lab.png").unlink()
    dataset = read(tmp_path, "mine")
    assert dataset.images[2].key == "one/lab.png"
    assert dataset.images[2].defects == {"*": "missing_file"}
    assert len(dataset.items) == 1
    notice = next(n for n in dataset.notices if n.subject == "one/lab.png")
    assert notice.text == "Its file lab.png is not in the folder."


ONE_EVIDENCE = [{"type": "CT", "images": ["a.png"], "finding": "Nodes."}]
BAD: dict[str, tuple[Mapping[str, object] | str, str]] = {
    "one_evidence": (
        but(ENGLISH, evidence=ONE_EVIDENCE),
        "has 1 piece of visual evidence. Give at least two",
    ),
    "no_evidence": (but(ENGLISH, evidence="CT"), "has 0 pieces of visual evidence"),
    "three_options": (but(ENGLISH, options=["a", "b", "c"]), "has 3 options"),
    "twenty_seven": (
        but(ENGLISH, options=[f"Disease {i}" for i in range(27)]),
        "has 27 options. Give four",
    ),
    "same_option": (
        but(ENGLISH, options=["Sarcoidosis", "sarcoidosis", "x", "y"]),
        "has the same option twice",
    ),
    "outside": (
        but(ENGLISH, diagnosis="Gout"),
        "has a diagnosis that is not one of its options",
    ),
    "mixed": (but(ENGLISH, history="男性，63岁，骨痛半年。"), "mixes languages"),
    "mixed_zh": (
        but(CHINESE, history="A man has had pain in his bones for months."),
        "mixes languages: its language is zh, but one of its texts begins with 'A man",
    ),
    "french": (but(ENGLISH, language="fr"), "is in the language 'fr'. Write en or zh"),
    "dentist": (but(ENGLISH, specialty="Dentistry"), "which is not one of the 17"),
    "no_history": (but(ENGLISH, history=" "), "has no text 'history'"),
    "unknown_key": (but(ENGLISH, diagnose="x"), "has an unknown entry 'diagnose'"),
    "no_images": (
        but(ENGLISH, evidence=[{"type": "CT", "finding": "x"}, ONE_EVIDENCE[0]]),
        "has no images in its evidence 1",
    ),
    "numbers": (
        but(ENGLISH, evidence=[{"type": "CT", "images": [1]}, ONE_EVIDENCE[0]]),
        "has no images in its evidence 1",
    ),
    "tarot": (
        but(ENGLISH, evidence=[*ONE_EVIDENCE, {**ONE_EVIDENCE[0], "type": "Tarot"}]),
        "is of the unknown type 'Tarot'",
    ),
    "no_finding": (
        but(ENGLISH, evidence=[*ONE_EVIDENCE, {"type": "CT", "images": ["b.png"]}]),
        "has no text 'finding'",
    ),
    "odd_evidence": (
        but(ENGLISH, evidence=["CT", "MRI"]),
        "has something other than evidence as its evidence 1",
    ),
    "same_image": (
        but(ENGLISH, evidence=[*ONE_EVIDENCE, *ONE_EVIDENCE]),
        "more than once. Name each image",
    ),
    "outside_folder": (
        but(ENGLISH, evidence=[*ONE_EVIDENCE, {**ONE_EVIDENCE[0],
                                               "images": ["../x.png"]}]),
        "names an image that is not in its folder",
    ),
    "no_json": ("{", "is not JSON"),
    "no_object": ("[]", "does not contain an object"),
}  # fmt: skip


@pytest.mark.statement("E004-26")
@pytest.mark.parametrize("name", BAD)
def test_that_a_case_that_cannot_be_used_is_told_in_a_sentence(
    tmp_path: Path, name: str
) -> None:
    case, sentence = BAD[name]
    with pytest.raises(UnreadableInputError) as raised:
        read(write(tmp_path / "alone", name, case), "mine")
    assert sentence in str(raised.value)
    assert f"'{name}" in str(raised.value)
    dataset = read(write(write(tmp_path / "b", name, case), "good", ENGLISH), "mine")
    assert [item.key for item in dataset.items] == ["good"]
    notice = next(n for n in dataset.notices if n.kind == "case_refused")
    assert (notice.subject, notice.text) == (name, str(raised.value))


def test_that_two_cases_of_one_name_are_both_refused(tmp_path: Path) -> None:
    twice = but(ENGLISH, id="same")
    write(write(write(tmp_path, "a", twice), "b", twice), "c", ENGLISH)
    dataset = read(tmp_path, "mine")
    assert [item.key for item in dataset.items] == ["c"]
    kinds = [(n.kind, n.subject) for n in dataset.notices if n.kind == "case_refused"]
    assert kinds == [("case_refused", "a"), ("case_refused", "b")]


def test_that_a_folder_without_cases_is_no_data_set(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("no case")
    assert not looks(tmp_path)
    with pytest.raises(UnreadableInputError, match=r"There is no case\.json"):
        read(tmp_path, "mine")


@pytest.mark.statement("E004-20")
def test_that_physicians_answers_beside_the_cases_are_part_of_the_truth(
    tmp_path: Path,
) -> None:
    write(write(tmp_path, "one", ENGLISH), "two", CHINESE)
    before = read(tmp_path, "mine")
    table = "reader,case,differential,option\nboth,one,Sarcoidosis; Lymphoma,A\n"
    (tmp_path / "physicians.csv").write_text(table, encoding="utf-8")
    after = read(tmp_path, "mine")
    told = after.items[0].reference["physicians"]
    assert told == [["both", ["Sarcoidosis", "Lymphoma"], 0, False, ""]]
    assert "physicians" not in after.items[1].reference
    assert dict(after.items[0].facts) == dict(before.items[0].facts)
    assert after.root_sha256 != before.root_sha256


@pytest.mark.statement("E004-20")
def test_that_of_two_files_of_physicians_answers_none_is_left_unread(
    tmp_path: Path,
) -> None:
    write(tmp_path, "one", ENGLISH)
    for name in ("physicians.csv", "physicians.json"):
        (tmp_path / name).write_text("reader,case,differential,option\n")
    with pytest.raises(UnreadableInputError, match="are next to the cases") as caught:
        read(tmp_path, "mine")
    assert "into one of them" in str(caught.value)


REPORT = {"background": "A man has had a cough.", "caption": "CT shows nodes."}


@pytest.mark.statement("E004-03")
def test_that_reports_that_are_to_become_cases_are_read_beside_them(
    tmp_path: Path,
) -> None:
    write(tmp_path, "case", ENGLISH)
    (tmp_path / "new").mkdir()
    told = json.dumps({**REPORT, "diagnosis": "Sarcoidosis"})
    (tmp_path / "new" / "report.json").write_text(told)
    dataset = read(tmp_path, "mine")
    item = next(item for item in dataset.items if item.key == "new")
    assert dict(item.facts) == {**REPORT, "language": "en"}
    assert dict(item.reference) == {"diagnosis": "Sarcoidosis"}
    assert looks(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "has something other than background, caption"),
        ('{"text": "x"}', "has something other than background, caption"),
        ('{"background": 3}', "has a value that is not text"),
        ('{"background": " "}', "has no text 'background'"),
        ('{"background": "x", "language": "fr"}', "is in the language 'fr'"),
    ],
)
def test_that_a_report_that_cannot_be_used_is_told_in_a_sentence(
    tmp_path: Path, content: str, sentence: str
) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "report.json").write_text(content)
    with pytest.raises(UnreadableInputError) as raised:
        read(tmp_path, "mine")
    assert f"The report 'new' {sentence}" in str(raised.value)


SECTIONS = """\
Background: A man has had a cough.
The chest is clear.
Captions: Figure 1. CT: Large nodes.
Figure 2. Microscopy: Granulomas.
Final diagnosis: Sarcoidosis
"""


@pytest.mark.statement("E004-03")
def test_that_a_report_in_plain_text_is_read_by_its_sections(tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    (tmp_path / "free" / "report.txt").write_text(SECTIONS)
    dataset = read(tmp_path, "mine")
    (item,) = dataset.items
    assert dict(item.facts) == {
        "background": "A man has had a cough.\nThe chest is clear.",
        "caption": "Figure 1. CT: Large nodes.\nFigure 2. Microscopy: Granulomas.",
        "language": "en",
    }
    assert dict(item.reference) == {"diagnosis": "Sarcoidosis"}
    assert dataset.notices == ()


@pytest.mark.parametrize(
    ("text", "language"), [("A cough: nothing else.", "en"), ("患者咳嗽三个月。", "zh")]
)
def test_that_a_report_without_sections_is_all_background_and_said_so(
    tmp_path: Path, text: str, language: str
) -> None:
    (tmp_path / "free").mkdir()
    (tmp_path / "free" / "report.txt").write_text(text, encoding="utf-8")
    dataset = read(tmp_path, "mine")
    (item,) = dataset.items
    assert item.facts == {"background": text, "caption": "", "language": language}
    (notice,) = dataset.notices
    assert (notice.kind, notice.subject) == ("report_without_sections", "free")
    assert notice.text == (
        "The report 'free' has no sections such as Background:, Captions: and "
        "Diagnosis:, so all of it is taken as background."
    )


def test_that_a_folder_of_images_without_a_case_is_named_and_the_rest_used(
    tmp_path: Path,
) -> None:
    write(tmp_path, "one", ENGLISH)
    (tmp_path / "half").mkdir()
    Image.new("L", (8, 8)).save(tmp_path / "half" / "ct.png")
    dataset = read(tmp_path, "mine")
    assert [item.key for item in dataset.items] == ["one"]
    (notice,) = [one for one in dataset.notices if one.kind == "case_unfinished"]
    assert notice.text.startswith("The folder 'half' has images, but neither")


LABELS = "case,task,model,score"


@pytest.mark.statement("E004-09")
def test_that_peoples_scores_beside_the_cases_are_part_of_the_truth(
    tmp_path: Path,
) -> None:
    write(tmp_path, "one", ENGLISH)
    lines = (LABELS, "one,ddx,m,4", "one,open_fdx,m,0")
    (tmp_path / "judge_labels.csv").write_text("\n".join(lines))
    (item,) = read(tmp_path, "mine").items
    assert item.reference["judge_labels"] == [["ddx", "m", 4], ["open_fdx", "m", 0]]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (("case,task,model", "one,ddx,m"), "has no column 'score'"),
        ((LABELS, "two,ddx,m,4"), "names the case 'two', which is not in the data set"),
        ((LABELS, "one,fdx,m,4"), "has the task 'fdx', neither ddx nor open_fdx"),
        ((LABELS, "one,ddx,,4"), "names no model"),
        ((LABELS, "one,ddx,m,7"), "has the score '7', which is not from 0 to 5"),
        ((LABELS, "one,ddx,m,4,5"), "has more cells than columns"),
        ((LABELS, "one,ddx,m,4", "one,ddx,m,3"), "Line 3 of 'judge_labels.csv' scores"),
    ],
)
def test_that_a_wrong_score_of_people_is_named_by_its_line(
    tmp_path: Path, lines: tuple[str, ...], sentence: str
) -> None:
    write(tmp_path, "one", ENGLISH)
    (tmp_path / "judge_labels.csv").write_text("\n".join(lines))
    with pytest.raises(UnreadableInputError) as raised:
        read(tmp_path, "mine")
    assert sentence in str(raised.value)


def test_that_images_of_reports_wait_and_those_no_case_names_are_told(
    tmp_path: Path,
) -> None:
    write(tmp_path, "one", ENGLISH)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.txt").write_text("Background: a cough\n")
    for place in ("one/spare.png", "report/ct.png"):
        Image.new("L", (8, 8)).save(tmp_path / place)
    assert [(n.subject, n.text) for n in read(tmp_path, "mine").notices] == [
        ("one", "1 image of its folder not named in case.json: not used.")
    ]
