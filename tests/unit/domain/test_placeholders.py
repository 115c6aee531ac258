import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.placeholders import check_placeholders

REQUIRED = (("question",), ("options", "choices"))


@pytest.mark.parametrize(
    "text",
    [
        "{question} {options}",
        "{choices} {question} {case}",
        '{question} {options} as {"A": 1} and {answer}',
    ],
)
def test_that_a_prompt_is_taken_only_with_what_it_needs(text: str) -> None:
    check_placeholders("ask", text, REQUIRED, ("case",), {"answer"})
    lacking = text.replace("{question}", "")
    with pytest.raises(WrongUseError, match=r"lacks the placeholder \{question\}"):
        check_placeholders("ask", lacking, REQUIRED, ("case",), {"answer"})


def test_that_a_missing_placeholder_is_named_with_those_that_would_do() -> None:
    with pytest.raises(WrongUseError) as raised:
        check_placeholders("ask", "{question}", REQUIRED)
    assert str(raised.value) == (
        "The prompt 'ask' lacks the placeholder {options} or {choices}. "
        "Allowed placeholders: {question}, {options} and {choices}."
    )


def test_that_an_unknown_placeholder_is_named() -> None:
    with pytest.raises(WrongUseError) as raised:
        check_placeholders("say", "{who}", ())
    assert str(raised.value) == (
        "The prompt 'say' has the unknown placeholder {who}. "
        "Allowed placeholders: none."
    )
