"""What a probe concludes, case by case, without a server."""

import pytest

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import ModelReply, TokenLogprob, Usage
from viewer.domain.probe import Verdict
from viewer.services.probing.rows import (
    Heard,
    image_row,
    length_row,
    parameter_row,
    repeats,
    schema_row,
)

REFUSED = Heard(
    error=ProviderError("It broke.", retry_class=RetryClass.FAIL, reason="http_400")
)


def heard(
    text: str = "D4", tokens_in: int | None = 84, logprob: float | None = None
) -> Heard:
    logprobs = () if logprob is None else (TokenLogprob(text, logprob),)
    return Heard(ModelReply(text, usage=Usage(tokens_in, 2), logprobs=logprobs))


WITHOUT = heard(tokens_in=20)
"""The answer to the same question without an image."""


@pytest.mark.parametrize(
    ("text", "plain", "busy", "repeatable", "verdict", "said"),
    [
        (WITHOUT, heard(), heard("E5"), True, Verdict.YES, "costs 64 tokens"),
        (WITHOUT, heard(), heard(logprob=-1), True, Verdict.YES, "different answers"),
        (heard("X", None), heard("D4", None), heard("E5", None), True, Verdict.YES, ""),
        (WITHOUT, heard(), heard(), True, Verdict.UNKNOWN, "the same answer"),
        (WITHOUT, heard(), heard("E5"), False, Verdict.UNKNOWN, "vary too much"),
        (WITHOUT, heard(), heard("E5"), None, Verdict.UNKNOWN, "vary too much"),
        (WITHOUT, WITHOUT, WITHOUT, True, Verdict.NO, "change nothing"),
        (
            WITHOUT,
            heard("E5", 20),
            heard("F6", 20),
            False,
            Verdict.NO,
            "cost no tokens",
        ),
        (WITHOUT, heard(), heard(tokens_in=5000), True, Verdict.NO, "as text"),
        (WITHOUT, REFUSED, REFUSED, None, Verdict.NO, "It broke."),
        (WITHOUT, heard(), REFUSED, True, Verdict.NO, "not about a busy one"),
        (heard(tokens_in=None), heard("D4", None), heard("D4", None), True, "no", ""),
        (heard("X", None), heard("D4", None), heard("D4", None), True, "unknown", ""),
    ],
)
def test_that_images_are_judged_by_answers_and_tokens(
    text: Heard,
    plain: Heard,
    busy: Heard,
    verdict: str,
    said: str,
    *,
    repeatable: bool | None,
) -> None:
    row = image_row(text, plain, busy, repeatable=repeatable)
    assert row.verdict == verdict
    assert said in row.sentence


def test_that_answers_repeat_only_where_all_came_and_are_the_same() -> None:
    assert repeats([heard(), heard()]) is True
    assert repeats([heard(), heard(logprob=-1)]) is False
    assert repeats([heard(), REFUSED]) is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"cell": "D4"}', Verdict.YES),
        ('{"cell": "Z9"}', Verdict.NO),
        ('{"cell": ["D4"]}', Verdict.NO),
        ('{"cell": "D4", "why": ""}', Verdict.NO),
        ("[]", Verdict.NO),
        ("D4", Verdict.NO),
    ],
)
def test_that_a_form_is_kept_to_or_not(text: str, verdict: Verdict) -> None:
    assert schema_row(heard(text)).verdict is verdict


def test_that_a_question_that_failed_tells_little() -> None:
    assert schema_row(REFUSED).verdict is Verdict.NO
    assert length_row(REFUSED).verdict is Verdict.UNKNOWN
    assert parameter_row("top_p", REFUSED).verdict is Verdict.UNKNOWN
