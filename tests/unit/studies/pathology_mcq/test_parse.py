import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.studies.pathology_mcq.golden_replies import ALL, OPTIONS, SEVERAL
from viewer.domain.answer import UNREADABLE, ChoiceAnswer, Status, Unparsed
from viewer.domain.choice import letter_of
from viewer.domain.exchange import ModelReply
from viewer.studies.choices import Reading, parse, read_choice


def shown(reading: Reading) -> str:
    """Return a reading as the golden replies write it."""
    if isinstance(reading, ChoiceAnswer):
        return letter_of(reading.option)
    return f"{reading.status}:{reading.reason}"


@pytest.mark.statement("E003-05")
def test_that_replies_are_read_as_a_person_reads_them() -> None:
    read = [(text, shown(read_choice(text, OPTIONS))) for text, _ in ALL]
    assert read == [*ALL]


@pytest.mark.statement("E003-05")
@given(st.text(max_size=200), st.lists(st.text(max_size=20), min_size=2, max_size=10))
def test_that_any_text_has_one_reading_and_the_same_one_again(
    text: str, options: list[str]
) -> None:
    reading = read_choice(text, options)
    assert reading == read_choice(text, options)
    if isinstance(reading, Unparsed):
        assert reading.reason
        assert reading.status in UNREADABLE | {Status.REFUSED}
    else:
        assert 0 <= reading.option < len(options)
        assert reading.tier


@pytest.mark.statement("E003-05")
@given(
    st.permutations("ABCD"),
    st.sampled_from(("{}", "Either {}", "The answer is {}.", "I think of {}, perhaps")),
    st.sampled_from((" or ", " and ", " & ", ", or maybe ", " as well as ", " oder ")),
    st.sampled_from(("{}", "({})", "option {}")),
)
def test_that_no_letter_is_chosen_of_those_a_reply_lists(
    letters: list[str], sentence: str, joined: str, form: str
) -> None:
    for n in (2, 3):
        listed = joined.join(form.format(letter) for letter in letters[:n])
        assert shown(read_choice(sentence.format(listed), OPTIONS)) == SEVERAL


@pytest.mark.statement("E003-05")
def test_that_an_option_that_lists_letters_is_read_by_its_words() -> None:
    options = ("Necrosis", "Fibrosis", "Both A and B", "A or B")
    for text in ("Both A and B", "C) Both A and B", "The answer is both A and B."):
        assert shown(read_choice(text, options)) == "C"
    assert read_choice("A or B", options) == ChoiceAnswer(3, "text")


@pytest.mark.statement("E003-05")
def test_that_a_stain_is_no_list_of_options() -> None:
    options = (*OPTIONS, "Amyloid")
    assert shown(read_choice("H and E stain, so (B)", options)) == "B"
    assert shown(read_choice("B and E", options)) == SEVERAL


@pytest.mark.statement("E003-05")
def test_that_options_with_brackets_are_told_apart_by_all_their_words() -> None:
    options = ("CD3(+) CD20(-)", "CD3(+) CD20(+)", "Grade 1) low", "Grade 1) high")
    for place, option in enumerate(options):
        letter = letter_of(place)
        assert read_choice(option, options) == ChoiceAnswer(place, "text")
        assert shown(read_choice(f"{letter}) {option}", options)) == letter
        assert shown(read_choice(f"The answer is {option}", options)) == letter


@pytest.mark.statement("E003-05")
def test_that_the_words_of_two_options_alike_name_neither() -> None:
    options = ("Necrosis", "Fibrosis", "necrosis ")
    alike = Unparsed(Status.AMBIGUOUS, "options_alike")
    assert read_choice("Necrosis", options) == alike
    assert read_choice("The answer is necrosis", options) == alike
    assert read_choice("(C) necrosis", options) == ChoiceAnswer(2, "letter_and_text")
    assert read_choice("C", options) == ChoiceAnswer(2, "letter")


@pytest.mark.statement("E003-05")
def test_that_a_letter_that_is_an_option_too_is_not_guessed_at() -> None:
    options = ("C", "A", "arrow", "I")
    mixed = Unparsed(Status.AMBIGUOUS, "letter_or_text")
    assert read_choice("C", options) == mixed
    assert read_choice("D", options) == ChoiceAnswer(3, "letter")
    assert read_choice("I", options) == ChoiceAnswer(3, "text")
    assert read_choice("B", ("A", "B")) == ChoiceAnswer(1, "letter")


@pytest.mark.statement("E003-05")
def test_that_greek_and_lower_case_options_are_read_by_their_words() -> None:
    options = ("α-SMA", "β-catenin", "κ light chain", "λ light chain")
    read = [shown(read_choice(option.upper(), options)) for option in options]
    assert read == ["A", "B", "C", "D"]
    assert shown(read_choice("It stains for λ light chain.", options)) == "D"
    assert shown(read_choice("κ", options)) == "out_of_range:out_of_range"


@pytest.mark.statement("E003-05")
def test_that_a_reply_cut_short_counts_only_where_it_is_whole() -> None:
    cut = Unparsed(Status.TRUNCATED, "length")
    for text, read in (("B", "B"), ("(B) Fibr", "B"), ("B. Fibrosis", "B")):
        reply = ModelReply(text, finish_reason="length")
        assert shown(parse(reply, OPTIONS)) == read
    reply = ModelReply("The answer is B, since", finish_reason="max_tokens")
    assert parse(reply, OPTIONS) == cut
    assert parse(ModelReply("", finish_reason="length"), OPTIONS) == cut


@pytest.mark.statement("E003-05")
def test_that_a_providers_refusal_is_no_answer_whatever_the_text() -> None:
    refused = parse(ModelReply("B", refusal="I will not."), OPTIONS)
    assert refused == Unparsed(Status.REFUSED, "refusal_field")
    filtered = parse(ModelReply("B", finish_reason="Content_Filter"), OPTIONS)
    assert filtered == Unparsed(Status.REFUSED, "content_filter")
    assert shown(parse(ModelReply("B", refusal=" "), OPTIONS)) == "B"


def test_that_many_brackets_and_deep_nesting_take_no_time() -> None:
    for text in (
        "{" * 5000,
        "[x" * 30,
        "[" * 25_000,
        "(A" * 5000,
        "answer is " * 3000,
        "A or " * 5_000 + "B",
        "A or B. " * 5_000,
    ):
        assert isinstance(read_choice(text, OPTIONS), Unparsed)
