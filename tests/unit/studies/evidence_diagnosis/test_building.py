import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.helpers.evidence_cases import CHINESE, ENGLISH
from viewer.domain.errors import WrongUseError
from viewer.domain.evidence import EvidenceType
from viewer.studies.evidence_diagnosis.building import (
    Asked,
    Picture,
    Replaced,
    Words,
    ask_choice,
    ask_differential,
    ask_judge_of_differential,
    ask_judge_of_final,
    ask_open,
    check_exclusive,
    option_order,
    shown_evidence,
)
from viewer.studies.evidence_diagnosis.params import (
    Arm,
    Context,
    OptionOrder,
    Params,
    read_params,
)
from viewer.studies.evidence_diagnosis.request import random_words
from viewer.studies.evidence_diagnosis.showing import (
    Modality,
    Showing,
    Textual,
    seed_of,
    sensitivity_showings,
    showing_of,
)
from viewer.studies.evidence_diagnosis.templates import (
    REFINEMENT,
    baseline_system,
    fill,
    template,
    without_examples,
)

PAPER = Params()
ORDER = (2, 0, 3, 1)
EVERY = tuple(
    Showing(visual, textual, refined, toggled, as_)
    for visual, textual, refined, toggled, as_ in product(
        (Modality.IMAGE, Modality.TEXT),
        Textual,
        (False, True),
        (None, EvidenceType.CT, EvidenceType.MRI),
        Modality,
    )
)


@pytest.mark.statement("E004-02")
@pytest.mark.parametrize("case", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_that_each_evidence_is_images_or_its_text_and_never_both(
    case: type(ENGLISH),  # type: ignore[valid-type]
) -> None:
    for showing in EVERY:
        asked = ask_choice(case, showing, ORDER, Replaced("x", "y"))
        for one in case.evidence:
            pictured = [i for i in one.images if i in asked.images]
            worded = one.finding in asked.text
            modality = showing.modality(one)
            assert worded == (modality is Modality.TEXT)
            assert pictured == list(one.images if modality is Modality.IMAGE else ())


@pytest.mark.statement("E004-02")
def test_that_an_evidence_shown_as_both_is_refused() -> None:
    both = Asked("", (Words("Nodes.", "e2"), Picture("ct1", "e2")), "x")
    with pytest.raises(WrongUseError, match="e2 would be shown as images and as text"):
        check_exclusive(both)


@pytest.mark.statement("E004-07", "E004-22")
def test_that_the_question_of_a_final_diagnosis_reads_as_it_should() -> None:
    asked = ask_choice(ENGLISH, Showing(), ORDER)
    assert asked.system == baseline_system()
    assert asked.text == (
        "Medical history:\nA 41-year-old man has had a dry cough for three months.\n"
        "Physical examination:\nRaised nodules over both shins.\n"
        "Laboratory:\nCT (day 2):\nMicroscopy:\nCT (day 90):\n"
        "Which of the following is the most likely final diagnosis?\n"
        "A. Lymphoma\nB. Sarcoidosis\nC. Histoplasmosis\nD. Tuberculosis\n\n"
        "Answer with the letter of one option only."
    )
    assert asked.images == ("lab", "ct1", "ct2", "slide", "ct3")
    assert asked.text.count(asked.sections["stem"]) == 1
    assert asked.text.count(asked.sections["options"]) == 1


@pytest.mark.statement("E004-13")
def test_that_experts_text_stands_for_every_image() -> None:
    asked = ask_differential(ENGLISH, showing_of(Arm.EXPERT))
    assert asked.images == ()
    assert "CT (day 2). Expert findings: Large hilar nodes." in asked.text


@pytest.mark.statement("E004-14")
def test_that_text_is_removed_or_random_and_the_rest_stays() -> None:
    raw = ask_choice(ENGLISH, Showing(), ORDER)
    removed = ask_choice(ENGLISH, showing_of(Arm.REMOVE_TEXT), ORDER)
    assert "cough" not in removed.text
    assert "nodules" not in removed.text
    assert removed.images == raw.images
    assert removed.sections == raw.sections
    replaced = Replaced("abc def", "ghi")
    random = ask_choice(ENGLISH, showing_of(Arm.RANDOM_TEXT), ORDER, replaced)
    assert "Medical history:\nabc def\nPhysical examination:\nghi" in random.text
    assert "cough" not in random.text
    with pytest.raises(WrongUseError, match="no random text"):
        ask_choice(ENGLISH, showing_of(Arm.RANDOM_TEXT), ORDER)


@pytest.mark.statement("E004-14")
def test_that_random_words_keep_lengths_and_nothing_that_tells() -> None:
    rng = np.random.default_rng(0)
    text = "A 41-year-old Man, 骨痛：6 months; µg/l 2.9 (é)."
    found = random_words(text, rng)
    assert [len(word) for word in found.split(" ")] == [
        len(word) for word in text.split(" ")
    ]
    assert not re.search(r"[^a-z\u4e00-\u9fa5 ]", found)
    han = [bool(re.match(r"[\u4e00-\u9fff：]", c)) for c in text]
    assert [c > "z" for c in found] == han
    drawn = [random_words(text, np.random.default_rng(s)) for s in range(50)]
    assert len(set(drawn)) == 50


@pytest.mark.statement("E004-15", "E004-22")
def test_that_the_refined_prompt_adds_what_the_paper_prints() -> None:
    plain = ask_choice(ENGLISH, Showing(), ORDER)
    refined = ask_choice(ENGLISH, showing_of(Arm.REFINED), ORDER)
    lines = template(REFINEMENT).splitlines()
    printed = [line for line in lines if line[0] not in ".["]
    added = set(refined.system.splitlines()) - set(plain.system.splitlines())
    assert added == set(printed[2:5])
    assert refined.text == f"{plain.text}\n{printed[5]}"
    assert plain.system.splitlines() == printed[:2]


@pytest.mark.statement("E004-22")
def test_that_a_chinese_case_is_asked_in_chinese() -> None:
    asked = ask_differential(CHINESE, showing_of(Arm.EXPERT))
    assert asked.text.startswith("病史:\n男性")
    assert "鉴别诊断" in asked.text
    assert "体格检查" not in asked.text


def test_that_a_part_that_a_case_does_not_have_has_no_heading() -> None:
    asked = ask_differential(replace(ENGLISH, history=""), Showing())
    assert asked.text.startswith("Physical examination:")


@pytest.mark.statement("E004-08")
def test_that_an_open_diagnosis_is_asked_with_the_models_own_list() -> None:
    asked = ask_open(ENGLISH, Showing(), ("Lymphoma", "Sarcoidosis {case}"))
    assert "1. Lymphoma\n2. Sarcoidosis {case}" in asked.text


@pytest.mark.statement("E004-06", "E004-08", "E004-09")
def test_that_the_judge_is_asked_as_the_paper_prints() -> None:
    ddx = ask_judge_of_differential("Sarcoidosis", ("Lymphoma", "Gout"), PAPER)
    assert "1) Final confirmed diagnosis: Sarcoidosis" in ddx.text
    assert "2) Differential diagnoses: 1. Lymphoma\n2. Gout" in ddx.text
    assert ddx.text.endswith("Score: X\nRationale: <one sentence>")
    fdx = ask_judge_of_final("Sarcoidosis", "Gout", Params(announce_examples=True))
    assert "2) Generated diagnosis: Gout" in fdx.text
    assert fdx.text.endswith("Here are some examples:\n...")


def test_that_what_is_filled_in_is_never_read_as_a_place() -> None:
    assert fill("{a} {b c}", a="{b c}", b_c="x") == "{b c} x"
    with pytest.raises(KeyError):
        fill("{a}")
    assert without_examples("x\nHere are some examples:\n...") == "x"


@pytest.mark.statement("E004-07")
def test_that_the_order_of_options_is_the_seeds_and_the_cases() -> None:
    first = option_order(ENGLISH, PAPER, 1)
    assert sorted(first) == [0, 1, 2, 3]
    assert first == option_order(ENGLISH, PAPER, 1)
    orders = {option_order(ENGLISH, PAPER, seed) for seed in range(60)}
    assert len(orders) > 15
    turned = [option_order(ENGLISH, PAPER, 1, turn) for turn in range(4)]
    assert [order.index(ENGLISH.answer) for order in turned] != [0, 0, 0, 0]
    assert sorted(order.index(ENGLISH.answer) for order in turned) == [0, 1, 2, 3]
    given = Params(option_order=OptionOrder.GIVEN)
    assert option_order(ENGLISH, given, 1) == (0, 1, 2, 3)


@pytest.mark.statement("E004-13", "E004-14", "E004-15")
def test_that_every_showing_comes_back_from_its_condition() -> None:
    turned = [showing.turned(2) for showing in EVERY[:9]]
    for showing in (*EVERY, *turned):
        if showing.textual is Textual.KEPT or not showing.refined:
            assert Showing.of_condition(showing.condition(7)) == showing
            assert seed_of(showing.condition(7)) == 7
    arms = {showing_of(arm).condition().name: showing_of(arm).arm for arm in Arm}
    assert arms == {str(arm): arm for arm in Arm}
    assert Showing().but(EvidenceType.CT).name == "raw without CT"
    assert Showing().but(EvidenceType.CT).arm is None
    assert Showing().turned(1).arm is Arm.RAW
    text = Showing().but(EvidenceType.CT, Modality.TEXT).turned(3)
    assert text.name == "raw with CT as text turned 3"
    assert Showing(Modality.TEXT, refined=True).name == "refined expert"
    assert Showing(Modality.TEXT, refined=True).arm is None


@pytest.mark.statement("E004-18")
def test_that_the_contexts_differ_in_what_else_changes() -> None:
    ct = EvidenceType.CT
    every = sensitivity_showings(ct, Context.ALL)
    assert every.image.full == Showing()
    assert every.image.without == Showing().but(ct)
    assert every.text.full == Showing(Modality.TEXT)
    assert every.text.without == Showing(Modality.TEXT).but(ct)
    single = sensitivity_showings(ct, Context.SINGLE)
    assert single.image == every.image
    assert single.text.full == Showing().but(ct, Modality.TEXT)
    assert single.text.without == single.image.without
    for case, pair in product((ENGLISH,), (single.image, single.text)):
        full = ask_choice(case, pair.full, ORDER)
        without = ask_choice(case, pair.without, ORDER)
        others = [i for one in case.evidence if one.type is not ct for i in one.images]
        assert [i for i in full.images if i in others] == others
        assert list(without.images) == others
    assert sensitivity_showings(ct, Context.ALL, refined=True).text.full.refined


def test_that_the_recommended_preset_adds_one_image_at_a_time_and_every_order() -> None:
    recommended = read_params("recommended", {})
    assert (recommended.context, recommended.cyclic_orders) == (Context.SINGLE, True)


def test_that_wrong_parameters_are_told_in_a_sentence() -> None:
    with pytest.raises(WrongUseError, match="no preset named 'medsyn'"):
        read_params("medsyn", {})
    with pytest.raises(WrongUseError, match="Add fdx to the tasks"):
        read_params("medsyn2026", {"tasks": ["ddx"], "sensitivity": True})
    with pytest.raises(WrongUseError, match="tasks"):
        read_params("medsyn2026", {"tasks": ["cure"]})


@pytest.mark.statement("E004-24")
def test_that_what_is_shown_of_a_case_is_listed_in_the_order_of_its_images() -> None:
    raw = Showing(textual=Textual.REMOVED).but(EvidenceType.MICROSCOPY)
    found = [(one.kind, one.title, one.how) for one in shown_evidence(ENGLISH, raw)]
    assert found == [
        ("text", "Medical history", "left out"),
        ("text", "Physical examination", "left out"),
        ("Laboratory", "Laboratory", "1 image"),
        ("CT", "CT (day 2)", "2 images"),
        ("Microscopy", "Microscopy", "left out"),
        ("CT", "CT (day 90)", "1 image"),
    ]
    for showing in EVERY:
        if showing.textual is Textual.RANDOM:
            continue
        sent = [
            p.evidence
            for p in ask_choice(ENGLISH, showing, ORDER).parts
            if isinstance(p, Picture)
        ]
        pieces = [one for one in shown_evidence(ENGLISH, showing) if one.kind != "text"]
        named = zip(ENGLISH.evidence, pieces, strict=True)
        assert sent == [e.key for e, one in named for _ in range(one.images)]
    expert = [one.how for one in shown_evidence(CHINESE, Showing(Modality.TEXT))]
    assert expert == ["as it is", "expert's text", "expert's text"]
