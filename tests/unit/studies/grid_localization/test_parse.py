import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.studies.grid_localization import golden_replies
from viewer.domain.answer import (
    UNREADABLE,
    CellAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import PointPx
from viewer.domain.grid import Grid, LetterAxis
from viewer.domain.run import Condition, Trial
from viewer.studies.cell_replies import ParserMode
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.parse import parse, read_cell

EIGHT = Grid(8, 8)
FINDING = "Pneumothorax"
PARAMS = read_params("gosai2025", {})
TRIAL = Trial(
    f"image|{FINDING}",
    "patient",
    "image",
    "frontal",
    FINDING,
    Condition("grid=8", (("rows", 8), ("columns", 8))),
    0,
    "model",
)


def reading(
    text: str,
    mode: ParserMode = ParserMode.STRICT,
    grid: Grid = EIGHT,
    *,
    truncated: bool = False,
) -> str:
    """Return ``D4``, or ``status:reason``."""
    answer = read_cell(text, grid, FINDING, mode, truncated=truncated)
    if isinstance(answer, CellAnswer):
        return grid.label(answer.cell)
    return f"{answer.status}:{answer.reason}"


def test_that_the_golden_replies_are_many_and_all_different() -> None:
    texts = [text for text, _ in golden_replies.GOLDEN]
    assert len(texts) >= 250
    assert len(texts) == len(set(texts))


@pytest.mark.statement("E000-22")
def test_that_golden_replies_are_read_as_they_must() -> None:
    read = {text: reading(text) for text, _ in golden_replies.GOLDEN}
    assert read == dict(golden_replies.GOLDEN)


@pytest.mark.parametrize(("text", "expected"), golden_replies.TRUNCATED)
def test_that_only_an_exact_answer_survives_truncation(
    text: str, expected: str
) -> None:
    assert reading(text, truncated=True) == expected


@pytest.mark.parametrize(("text", "expected"), golden_replies.LENIENT)
def test_that_lenient_mode_reads_transposed_names_only(
    text: str, expected: str
) -> None:
    assert reading(text, ParserMode.LENIENT) == expected


@pytest.mark.parametrize(("text", "expected"), golden_replies.PAPER)
def test_that_paper_mode_takes_the_first_of_a_list_only(
    text: str, expected: str
) -> None:
    assert reading(text, ParserMode.PAPER) == expected


@pytest.mark.parametrize("mode", [ParserMode.LENIENT, ParserMode.PAPER])
def test_that_the_modes_differ_only_on_transposed_names_and_lists(
    mode: ParserMode,
) -> None:
    reasons = {
        ParserMode.LENIENT: {"unparsed:transposed"},
        ParserMode.PAPER: {"ambiguous:list", "ambiguous:range"},
    }
    for text, expected in golden_replies.GOLDEN:
        if expected not in reasons[mode]:
            assert reading(text, mode) == expected, text


def test_that_letters_along_columns_turn_the_cell_but_not_its_name() -> None:
    grid = Grid(8, 10, LetterAxis.COLUMN)
    answer = read_cell("J3", grid, FINDING)
    assert isinstance(answer, CellAnswer)
    assert (answer.cell.row, answer.cell.column) == (2, 9)
    assert reading("column D, row 4", grid=grid) == "D4"
    assert reading("row D, column 4", grid=grid) == "unparsed:transposed"
    assert reading("J9", grid=grid) == "out_of_range:out_of_range"


def test_that_vertebrae_are_no_cells_on_the_largest_grid_either() -> None:
    grid = Grid(26, 26)
    assert reading("Answer: T4", grid=grid) == "T4"
    assert reading("At the T4 vertebra; answer: L12", grid=grid) == "L12"
    assert reading("T4 and T5 vertebral bodies, see M9", grid=grid) == "M9"
    assert reading("lead V1 lies over Q20", grid=grid) == "Q20"
    assert reading("the level of T12", grid=grid) == "unparsed:no_cell"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (ModelReply("E5", refusal="I cannot do that."), ("refused", "refusal_field")),
        (
            ModelReply("E5", finish_reason="content_filter"),
            ("refused", "content_filter"),
        ),
        (ModelReply("E5", finish_reason="SAFETY"), ("refused", "safety")),
        (ModelReply("E5 and", finish_reason="length"), ("truncated", "length")),
        (ModelReply("E5 and", finish_reason="max_tokens"), ("truncated", "length")),
    ],
)
def test_that_the_providers_own_fields_come_first(
    reply: ModelReply, expected: tuple[str, str]
) -> None:
    answer = parse(reply, TRIAL, PARAMS)
    assert isinstance(answer, Unparsed)
    assert (answer.status, answer.reason) == expected


def test_that_an_empty_refusal_field_is_no_refusal() -> None:
    assert isinstance(parse(ModelReply("E5", refusal=""), TRIAL, PARAMS), CellAnswer)


def test_that_a_reply_names_the_tier_that_read_it() -> None:
    tiers = {
        "D4": "whole",
        '{"cell": "The cell is D4"}': "marked",
        "Answer: D4": "marked",
        "row D, column 4": "row_column",
        "D4\nThe edge runs from C3 to E5 there.": "own_line",
        "seen in D4": "only",
    }
    for text, tier in tiers.items():
        answer = read_cell(text, EIGHT, FINDING)
        assert isinstance(answer, CellAnswer)
        assert answer.tier == tier


_PIECES = st.sampled_from(
    [text for text, _ in golden_replies.GOLDEN]
    + ["D4", " or ", "not ", "{", "[", '"cell":', "answer is ", "row ", "\n", "<think>"]
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=6).map("".join)))
def test_that_no_reply_makes_the_parser_fail_or_guess(text: str) -> None:
    for mode in ParserMode:
        answer = read_cell(text, EIGHT, FINDING, mode)
        if isinstance(answer, Unparsed):
            assert answer.status in UNREADABLE | {Status.REFUSED}
            assert answer.reason
        else:
            assert _names(text, EIGHT.label(answer.cell))


def _names(text: str, label: str) -> bool:
    """Tell whether letter and number both stand in the text."""
    folded = unicodedata.normalize("NFKC", text).upper()
    digits = "".join(
        str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded
    )
    numbers = {int(n) for n in re.findall(r"\d+", digits)}
    words = {"FOUR": 4}
    numbers |= {n for word, n in words.items() if word in digits}
    return label[0] in digits and int(label[1:]) in numbers


def test_that_json_nested_past_all_sense_names_no_cell() -> None:
    deep_list = '{"cell": ' + "[" * 30 + '"D4"' + "]" * 30 + "}"
    deep_object = '{"a": ' * 30 + '{"cell": "D4"}' + "}" * 30
    assert reading(deep_list) == "D4"
    assert reading(deep_object) == "D4"
    assert reading(deep_list.replace("D4", "D4 or E5")) == "ambiguous:list"


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 100_000, '{"cell":' * 5000])
def test_that_deeply_nested_json_is_only_unparsed(text: str) -> None:
    assert reading(text).startswith("unparsed")


def test_that_a_reply_is_read_for_its_own_finding_and_in_the_chosen_mode() -> None:
    def read(text: str, **chosen: str) -> object:
        return parse(ModelReply(text), TRIAL, read_params("gosai2025", chosen))

    denied = Unparsed(Status.DENIED_FINDING, "denied_finding")
    assert read("There is no evidence of pneumothorax, but look at D4.") == denied
    assert read("There is no evidence of cardiomegaly, but look at D4.") != denied
    assert isinstance(read("4D", parser_mode="lenient"), CellAnswer)
    assert isinstance(read("4D"), Unparsed)


@pytest.mark.parametrize(
    ("text", "mode", "tier"),
    [
        ("D4", ParserMode.STRICT, "whole"),
        ("4D", ParserMode.LENIENT, "transposed"),
        ("The answer is 4D.", ParserMode.LENIENT, "transposed"),
        ("I would look at 4D there.", ParserMode.LENIENT, "transposed"),
        ("D4, D5, E4", ParserMode.PAPER, "first_named"),
        ('{"cell": ["D4", "D5"]}', ParserMode.PAPER, "first_named"),
        ("Row D, column 4", ParserMode.STRICT, "row_column"),
        ("Answer: D4", ParserMode.STRICT, "marked"),
    ],
)
def test_that_the_rule_that_read_a_cell_is_kept(
    text: str, mode: ParserMode, tier: str
) -> None:
    answer = read_cell(text, EIGHT, FINDING, mode)
    assert isinstance(answer, CellAnswer)
    assert (EIGHT.label(answer.cell), answer.tier) == ("D4", tier)


def test_that_a_list_without_any_cell_of_the_grid_stays_ambiguous() -> None:
    assert reading('{"cell": ["4D", "I9"]}', ParserMode.PAPER) == "ambiguous:list"


def test_that_a_place_counts_instead_of_the_text_unless_the_reply_was_kept_back() -> (
    None
):
    placed = PointAnswer(PointPx(3, 4))
    assert parse(ModelReply("D4"), TRIAL, PARAMS, placed) == placed
    beside = Unparsed(Status.OUT_OF_RANGE, "not_on_what_was_sent")
    assert parse(ModelReply("D4"), TRIAL, PARAMS, beside) == beside
    cut = ModelReply("D4", finish_reason="length")
    truncated = Unparsed(Status.TRUNCATED, "length")
    assert parse(cut, TRIAL, PARAMS, placed) == truncated
    refused = ModelReply("D4", refusal="No.")
    assert parse(refused, TRIAL, PARAMS, placed) == Unparsed(
        Status.REFUSED, "refusal_field"
    )
