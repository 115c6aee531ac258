import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.evidence_cases import ENGLISH, reply
from viewer.domain.answer import ChoiceAnswer, RankedAnswer, Status, Unparsed
from viewer.studies.evidence_diagnosis.parse import (
    DDX_LEVELS,
    FDX_LEVELS,
    Judged,
    last_judgement,
    majority,
    read_differential,
    read_final,
    read_judgement,
    read_option,
)

GOLDEN = [
    json.loads(line)
    for line in (Path(__file__).parent / "golden_differentials.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
"""Replies in the layouts in which models answer, and the names or the reason."""
LIST = ("Sarcoidosis", "Tuberculosis", "Lymphoma")


@pytest.mark.statement("E004-06")
@pytest.mark.parametrize(
    "text",
    [
        "1. Sarcoidosis\n2. Tuberculosis\n3. Lymphoma",
        "DDx:\n1) **Sarcoidosis** - x\n2) Tuberculosis: y\n3) Lymphoma",
        "Here is my list:\n\n- Sarcoidosis\n- Tuberculosis\n- Lymphoma\n",
        "Sarcoidosis, tuberculosis, lymphoma.",
        "Differential diagnoses: Sarcoidosis; Tuberculosis; Lymphoma",
        "Sarcoidosis\nTuberculosis\nLymphoma",
        '["Sarcoidosis", "Tuberculosis", "Lymphoma"]',
        '```json\n{"differential": ["Sarcoidosis", "Tuberculosis", "Lymphoma"]}\n```',
        "<think>maybe lupus</think>1. Sarcoidosis\n2. Tuberculosis\n3. Lymphoma",
        "1. Sarcoidosis\n2. Tuberculosis\n3. sarcoidosis\n4. Lymphoma",
    ],
)
def test_that_a_differential_is_read_in_its_order(text: str) -> None:
    found = read_differential(reply(text))
    assert isinstance(found, RankedAnswer)
    assert [e.casefold() for e in found.entries] == [e.casefold() for e in LIST]


@pytest.mark.statement("E004-06")
@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["reply"][:24])
def test_that_every_layout_of_a_list_is_read(golden: dict[str, object]) -> None:
    found = read_differential(reply(str(golden["reply"])))
    names = list(found.entries) if isinstance(found, RankedAnswer) else found.reason
    assert names == golden["read"]


@pytest.mark.statement("E004-06")
@pytest.mark.parametrize(
    "text",
    [
        "1. 多发性骨髓瘤\n2. 骨转移癌",
        "鉴别诊断：多发性骨髓瘤、骨转移癌",
        "一、多发性骨髓瘤：骨痛\n二、骨转移癌",
        "1、多发性骨髓瘤\n2、骨转移癌",
    ],
)
def test_that_a_chinese_differential_is_read(text: str) -> None:
    assert read_differential(reply(text)) == RankedAnswer(("多发性骨髓瘤", "骨转移癌"))


def test_that_commas_within_brackets_part_nothing() -> None:
    found = read_differential(reply("Vasculitis (IgA, ANCA), Sarcoidosis"))
    assert found == RankedAnswer(("Vasculitis (IgA, ANCA)", "Sarcoidosis"))


def test_that_json_of_other_things_is_no_list() -> None:
    found = read_differential(reply('{"n": [2]}\nSarcoidosis\nLymphoma'))
    assert isinstance(found, RankedAnswer)
    assert found.entries[-1] == "Lymphoma"


@pytest.mark.parametrize(
    ("text", "finish", "refusal", "status", "reason"),
    [
        ("", "stop", None, Status.UNPARSED, "empty"),
        ("...", "stop", None, Status.UNPARSED, "no_diagnosis"),
        ("1. Sarcoidosis\n2. Tub", "length", None, Status.TRUNCATED, "length"),
        ("x", "content_filter", None, Status.REFUSED, "content_filter"),
        ("x", "stop", "No.", Status.REFUSED, "refusal_field"),
        (
            "I'm sorry, but I can't help with a diagnosis.",
            *("stop", None, Status.REFUSED, "declined"),
        ),
        ("抱歉，我无法做出诊断。", "stop", None, Status.REFUSED, "declined"),
    ],
)
def test_that_what_is_no_answer_keeps_its_reason(
    text: str, finish: str, refusal: str | None, status: Status, reason: str
) -> None:
    given = reply(text, finish, refusal)
    assert read_differential(given) == Unparsed(status, reason)
    assert read_final(given) == Unparsed(status, reason)


@pytest.mark.statement("E004-08")
@pytest.mark.parametrize(
    "text",
    [
        "Sarcoidosis",
        "**Sarcoidosis**.",
        "Final diagnosis: Sarcoidosis",
        "The most likely final diagnosis is sarcoidosis - because of calcium.",
        "最终诊断：Sarcoidosis",
        "**Final Diagnosis:** Sarcoidosis\n\nPlease consult a physician.",
        "**Final diagnosis**:\n\n**Sarcoidosis**\n\nIt fits the calcium.",
        '{"diagnosis": "Sarcoidosis"}',
        "\\boxed{Sarcoidosis}",
        "1. Sarcoidosis",
    ],
)
def test_that_one_open_diagnosis_is_read(text: str) -> None:
    found = read_final(reply(text))
    assert isinstance(found, RankedAnswer)
    assert [e.casefold() for e in found.entries] == ["sarcoidosis"]


def test_that_two_final_diagnoses_are_ambiguous() -> None:
    found = read_final(reply("Sarcoidosis\nTuberculosis"))
    assert found == Unparsed(Status.AMBIGUOUS, "several")


FOUR = ("结节病", "结核病", "B细胞淋巴瘤", "支原体肺炎")


@pytest.mark.statement("E004-07")
@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("选B", 1),
        ("本题选B项。", 1),
        ("故选：B", 1),
        ("答案：B. 结核病\n\n理由：患者咳嗽。", 1),
        ("综合考虑，选项B最符合，因此选B。", 1),
        ("最可能的诊断是结核病。", 1),
        ("排除结节病后，最可能为结核病。", 1),
        ("B细胞淋巴瘤", 2),
        ("诊断考虑为B细胞淋巴瘤", 2),
        ("选B细胞淋巴瘤", "no_option"),
        ("最可能的诊断是结核病或结节病。", "several"),
        ("选A，或选B。", "several"),
        ("不选A，不能选C，选B。", 1),
        ("不考虑为结节病", "no_option"),
        ("本题选F项", "out_of_range"),
        ("抱歉，我无法回答。", "declined"),
        ("情况不明。", "no_option"),
    ],
)
def test_that_a_choice_in_a_chinese_sentence_is_read(
    text: str, read: int | str
) -> None:
    found = read_option(reply(text), FOUR, (0, 1, 2, 3))
    said = found.option if isinstance(found, ChoiceAnswer) else found.reason
    assert said == read


def test_that_an_option_within_another_one_is_not_named() -> None:
    options = ("肺炎", "支原体肺炎", "结核病", "淋巴瘤")
    found = read_option(reply("最终的诊断应为支原体肺炎。"), options, (0, 1, 2, 3))
    assert isinstance(found, ChoiceAnswer)
    assert found.option == 1


@pytest.mark.statement("E004-07")
@pytest.mark.parametrize(
    ("text", "option"),
    [("B", 0), ("The answer is (A).", 3), ("sarcoidosis", 0), ("C. Tuberculosis", 1)],
)
def test_that_a_letter_means_the_option_that_stood_there(
    text: str, option: int
) -> None:
    found = read_option(reply(text), ENGLISH.options, (3, 0, 1, 2))
    assert isinstance(found, ChoiceAnswer)
    assert found.option == option


def test_that_a_letter_that_is_none_is_no_option() -> None:
    found = read_option(reply("E"), ENGLISH.options, (0, 1, 2, 3))
    assert found == Unparsed(Status.OUT_OF_RANGE, "out_of_range")


@pytest.mark.statement("E004-09")
@pytest.mark.parametrize(
    ("text", "levels", "expected"),
    [
        ("Score: 5\nRationale: It is named.", DDX_LEVELS, Judged(5, "It is named.")),
        ("**Score:** 0\n\n**Rationale:** No.", DDX_LEVELS, Judged(0, "No.")),
        ("Score: 1\nRationale: Far.", DDX_LEVELS, Judged(1, "Far.", off_rubric=True)),
        ("Score: 1\nRationale: Far.", FDX_LEVELS, Judged(1, "Far.")),
        ("Score: 0\nRationale: Far.", FDX_LEVELS, Judged(0, "Far.", off_rubric=True)),
        (
            "Score: 7\nRationale: Superb.",
            DDX_LEVELS,
            Unparsed(Status.OUT_OF_RANGE, "score_7"),
        ),
        *(
            (text, DDX_LEVELS, Unparsed(Status.UNPARSED, "no_score_and_rationale"))
            for text in (
                "5",
                "Score: 4.5\nRationale: Between.",
                "Score: 4/5\nRationale: Close.",
                "Score: 5",
                "Score: 5\nRationale:",
                "I think so. Score: 5\nRationale: Named.",
                "Score: five\nRationale: Named.",
            )
        ),
        ("", DDX_LEVELS, Unparsed(Status.UNPARSED, "empty")),
    ],
)
def test_that_a_judge_is_read_strictly(
    text: str, levels: tuple[int, ...], expected: Judged | Unparsed
) -> None:
    assert read_judgement(reply(text), levels) == expected


@pytest.mark.statement("E004-09")
def test_that_a_judge_who_is_asked_again_is_believed_and_else_unparsed() -> None:
    odd, good = reply("Score: 7\nRationale: Ha."), reply("Score: 4\nRationale: Near.")
    assert last_judgement([odd, good], DDX_LEVELS) == Judged(4, "Near.")
    assert last_judgement([good, odd], DDX_LEVELS) == Judged(4, "Near.")
    unparsed = Unparsed(Status.UNPARSED, "judge_unparsed")
    assert last_judgement([odd, odd], DDX_LEVELS) == unparsed
    assert last_judgement([], DDX_LEVELS) == unparsed


@pytest.mark.parametrize(
    ("scores", "found"),
    [
        ([4, 2, 5], Judged(4, "")),
        ([4, 2, None], Judged(2, "")),
        ([3, 3], Judged(3, "", off_rubric=True)),
        ([4, None], None),
        ([None, None, 1], None),
    ],
)
def test_that_several_judges_give_the_lower_median_of_most_of_them(
    scores: list[int | None], found: Judged | None
) -> None:
    unread = Unparsed(Status.UNPARSED, "judge_unparsed")
    given = [unread if one is None else Judged(one, "So.") for one in scores]
    assert majority(given, (1, 2, 4, 5)) == (found or unread)


@given(st.text(max_size=200))
def test_that_no_text_breaks_a_parser(text: str) -> None:
    given = reply(text)
    assert isinstance(read_differential(given), RankedAnswer | Unparsed)
    assert isinstance(read_final(given), RankedAnswer | Unparsed)
    assert isinstance(read_judgement(given, DDX_LEVELS), Judged | Unparsed)
    found = read_option(given, ENGLISH.options, (0, 1, 2, 3))
    assert isinstance(found, ChoiceAnswer | Unparsed)


@given(
    st.lists(
        st.text("abcdefghijklmnopqrstuvwxyz ", min_size=3, max_size=20)
        .map(lambda s: " ".join(s.split()))
        .filter(lambda s: len(s) > 2),
        min_size=2,
        max_size=8,
        unique_by=str.casefold,
    )
)
def test_that_a_numbered_list_comes_back_as_it_was(names: list[str]) -> None:
    text = "\n".join(f"{i}. {name}" for i, name in enumerate(names, 1))
    assert read_differential(reply(text)) == RankedAnswer(tuple(names))
