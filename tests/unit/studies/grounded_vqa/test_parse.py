"""Replies to closed and open questions, read without guessing."""

import pytest

from viewer.domain.answer import LabelsAnswer, Status, Unparsed, YesNoAnswer
from viewer.domain.exchange import ModelReply
from viewer.studies.grounded_vqa.parse import (
    located,
    parse_labels,
    parse_yes_no,
    read_extracted_labels,
    read_extracted_yes_no,
    read_labels,
    read_yes_no,
)
from viewer.studies.grounded_vqa.vocabulary import FINDINGS, canonical, dictionary

LABELS = (
    *("Pneumonia", "Pleural effusion", "Nodule/Mass", "Pulmonary fibrosis"),
    *("Cardiomegaly", "Lung Opacity", "Pneumothorax", "Consolidation"),
)
YES = (
    *("Yes", "yes.", "YES!", "**Yes**", "Yes, there is pneumonia.", "Answer: Yes"),
    *("The answer is yes.", "Yeah, it does", "True", '{"answer": "Yes"}'),
    *('{"answer": true}', '```json\n{"answer": "yes"}\n```', "[Yes]"),
    *("<think>No pneumonia?</think>Yes", "There is pneumonia in the left lung."),
    *("The left lower lung has pneumonia.", "Pneumonia is present.", "Present"),
    *("Yes/No: yes", "Question: yes or no? Answer: yes", "Correct."),
    *("No doubt there is pneumonia.", "Pneumonic infiltrate is seen there."),
    "The location of the right lower lung is at <SEG>. The answer is yes",
    "The location of left lung is at [SEG]. The answer is Yes, pneumonia.",
    "No pneumothorax, but pneumonia is present.",
    "No effusion, pneumonia is seen",
    "No effusion; there is pneumonia",
)
NO = (
    *("No", "no.", "NO", "*No*", "No, there is no pneumonia.", "Nope", "False"),
    *("The answer is no", '{"answer": "no"}', '{"answer": false}', "Negative."),
    *("There is no pneumonia.", "No evidence of pneumonia.", "Absent", "Not seen"),
    *("Pneumonia is not seen.", "The lung is free of pneumonia.", "It does not."),
    *("No effusion, pneumothorax or pneumonia.", "The lungs are clear."),
    *("No abnormality is seen.", "pneumonia is absent", "Without pneumonia"),
    *("This region appears normal.", "Pneumonia has resolved."),
    *("No pneumonia", "No the right lung is clear", "It doesn't show pneumonia"),
    "The location of the right lower lung is at <SEG>. The answer is No.",
    "No, pneumonia is in the right lung.",
    "Cardiomegaly is present but pneumonia is not",
)
AMBIGUOUS = (
    *("Yes and no", "Yes, there is no pneumonia.", "Possible pneumonia."),
    *("Pneumonia cannot be excluded.", "Cannot rule out pneumonia"),
    *("There may be pneumonia", "Yes. The answer is no."),
    "Pneumonia is present. There is no pneumonia.",
)


@pytest.mark.statement("E002-06")
@pytest.mark.parametrize("text", YES)
def test_that_a_yes_is_read(text: str) -> None:
    answer = read_yes_no(text, "Pneumonia")
    assert isinstance(answer, YesNoAnswer), answer
    assert answer.yes


@pytest.mark.statement("E002-06")
@pytest.mark.parametrize("text", NO)
def test_that_a_no_is_read(text: str) -> None:
    answer = read_yes_no(text, "Pneumonia")
    assert isinstance(answer, YesNoAnswer), answer
    assert not answer.yes


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_that_yes_and_no_at_once_is_no_answer(text: str) -> None:
    answer = read_yes_no(text, "Pneumonia")
    assert isinstance(answer, Unparsed), answer
    assert answer.status is Status.AMBIGUOUS


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("", Status.UNPARSED, "no_yes_or_no"),
        ("The heart", Status.UNPARSED, "no_yes_or_no"),
        ("There is no effusion", Status.UNPARSED, "denies_something_else"),
        ("I cannot help with that.", Status.REFUSED, "declined"),
        ("I'm sorry, I am an AI", Status.REFUSED, "declined"),
        ("[" * 100_000, Status.UNPARSED, "no_yes_or_no"),
    ],
)
def test_that_what_says_nothing_has_a_reason(
    text: str, status: Status, reason: str
) -> None:
    assert read_yes_no(text, "Pneumonia") == Unparsed(status, reason)


def test_that_the_provider_s_refusal_and_a_cut_reply_come_first() -> None:
    refused = parse_yes_no(ModelReply("Yes", refusal="No can do"), "Pneumonia")
    withheld = parse_labels(ModelReply("x", finish_reason="content_filter"), LABELS)
    cut = parse_yes_no(ModelReply("The lung", finish_reason="length"), "Pneumonia")
    early = parse_yes_no(ModelReply("Yes, the", finish_reason="length"), "Pneumonia")
    labels = parse_labels(ModelReply("Pneumonia, ", finish_reason="length"), LABELS)
    assert refused == Unparsed(Status.REFUSED, "refusal_field")
    assert withheld == Unparsed(Status.REFUSED, "content_filter")
    assert cut == Unparsed(Status.TRUNCATED, "length")
    assert early == YesNoAnswer(yes=True, tier="leading")
    assert labels == Unparsed(Status.TRUNCATED, "length")


@pytest.mark.statement("E002-06")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (
            "The heart suffers from pneumonia, pulmonary fibrosis and nodule/mass",
            ("Pneumonia", "Pulmonary fibrosis", "Nodule/Mass"),
        ),
        ("Enlarged heart. No effusion.", ("Cardiomegaly",)),
        ("A mass and an opacity", ("Nodule/Mass", "Lung Opacity")),
        ("Pneumonia. Again pneumonia.", ("Pneumonia",)),
        ("There are no abnormalities in the heart.", ()),
        ("No", None),
        ("None", ()),
        ("The aorta is normal.", ()),
        ("The aorta is not normal.", None),
        ("No effusion or pneumothorax", ()),
        ('{"labels": ["pneumonia", "effusion"]}', ("Pneumonia", "Pleural effusion")),
        ('["No finding"]', ()),
        ('{"answer": "cardiomegaly"}', ("Cardiomegaly",)),
        (
            "The location of the heart is at <SEG>. The answer is cardiomegaly",
            ("Cardiomegaly",),
        ),
    ],
)
def test_that_findings_are_read_out_of_prose(
    text: str, labels: tuple[str, ...] | None
) -> None:
    answer = read_labels(text, LABELS)
    if labels is None:
        assert answer == Unparsed(Status.UNPARSED, "no_finding_named")
    else:
        assert answer == LabelsAnswer(labels)


@pytest.mark.statement("E002-06")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("The heart is enlarged.", ("Cardiomegaly",)),
        ("The cardiac silhouette appears mildly enlarged.", ("Cardiomegaly",)),
        ("The heart is enlarged and there is no effusion", ("Cardiomegaly",)),
        ("The heart is not enlarged.", ()),
        ("The heart isn't enlarged.", ()),
        ("The heart is no longer enlarged.", ()),
        (
            "Heart size is increased, with an effusion",
            ("Cardiomegaly", "Pleural effusion"),
        ),
        ("The left lung is consolidated.", ("Consolidation",)),
        ("The right lower lung is opacified.", ("Lung Opacity",)),
        ("Clear lungs.", ()),
    ],
)
def test_that_a_finding_is_read_out_of_a_plain_statement(
    text: str, labels: tuple[str, ...]
) -> None:
    assert read_labels(text, LABELS) == LabelsAnswer(labels)


def test_that_a_statement_about_two_structures_is_one_about_each() -> None:
    both = read_labels("The heart and the aorta are enlarged.", FINDINGS)
    assert both == LabelsAnswer(("Cardiomegaly", "Aortic enlargement"))


@pytest.mark.statement("E002-06")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Possible pneumonia", ("Pneumonia",)),
        ("There may be a small pleural effusion.", ("Pleural effusion",)),
        ("The heart may be enlarged.", ("Cardiomegaly",)),
        ("Findings suspicious for pneumonia; no effusion", ("Pneumonia",)),
        ("Consolidation versus pneumonia", ("Consolidation", "Pneumonia")),
        ("No evidence of possible pneumonia", ()),
        ("No effusion, possible pneumonia", ("Pneumonia",)),
    ],
)
def test_that_a_hedged_finding_answers_an_open_question(
    text: str, labels: tuple[str, ...]
) -> None:
    assert read_labels(text, LABELS) == LabelsAnswer(labels)


def test_that_a_refusal_and_an_unknown_label_are_no_findings() -> None:
    refusal = read_labels("I cannot assist with this image.", LABELS)
    unknown = read_labels('["scoliosis"]', LABELS)
    number = read_labels("42", LABELS)
    nothing_known = read_labels("pneumonia", ())
    assert refusal == Unparsed(Status.REFUSED, "declined")
    assert unknown == Unparsed(Status.UNPARSED, "unknown_label")
    assert number == Unparsed(Status.UNPARSED, "no_finding_named")
    assert nothing_known == Unparsed(Status.UNPARSED, "no_finding_named")


def test_that_replies_are_parsed_from_their_message() -> None:
    closed = parse_yes_no(ModelReply("No."), "Pneumonia")
    opened = parse_labels(ModelReply("effusion"), LABELS)
    assert closed == YesNoAnswer(yes=False, tier="leading")
    assert opened == LabelsAnswer(("Pleural effusion",))


@pytest.mark.statement("E002-06")
def test_that_an_extracting_model_s_output_is_read_strictly() -> None:
    yes = read_extracted_yes_no("Yes.")
    both = read_extracted_yes_no("Yes. The answer is no.")
    prose = read_extracted_yes_no("It seems so")
    labels = read_extracted_labels("pneumonia, pulmonary fibrosis, nodule/mass", LABELS)
    as_json = read_extracted_labels('["effusion"]', LABELS)
    nothing = read_extracted_labels("No finding", LABELS)
    unknown = read_extracted_labels("pneumonia, scoliosis", LABELS)
    assert yes == YesNoAnswer(yes=True, tier="extractor")
    assert both == Unparsed(Status.AMBIGUOUS, "yes_and_no")
    assert prose == Unparsed(Status.UNPARSED, "extractor_without_yes_or_no")
    assert labels == LabelsAnswer(("Pneumonia", "Pulmonary fibrosis", "Nodule/Mass"))
    assert as_json == LabelsAnswer(("Pleural effusion",))
    assert nothing == LabelsAnswer(())
    assert unknown == Unparsed(Status.UNPARSED, "unknown_label")


@pytest.mark.statement("E002-18")
def test_that_both_spellings_of_the_segmentation_token_are_one() -> None:
    texts = [
        f"The location of the right lower lung is at {token}. The answer is no."
        for token in ("<SEG>", "[SEG]")
    ]
    found = [located(text) for text in texts]
    assert found[0] == found[1]
    assert found[0] is not None
    assert (found[0].areas, found[0].answer) == ("the right lower lung", "no.")
    assert located("No location") is None


def test_that_a_shared_word_goes_to_the_label_named_first() -> None:
    words = dictionary(("Lung Opacity", "Airspace Opacity"))
    assert words["opacity"] == "Lung Opacity"
    assert words["airspace opacity"] == "Airspace Opacity"
    assert canonical("Airspace Opacity") == "Lung Opacity"
    assert canonical("lung_lesion") == "Nodule/Mass"
    assert canonical("Scoliosis") == "Scoliosis"
