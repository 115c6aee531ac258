import pytest

from viewer.domain.errors import WrongUseError
from viewer.services.configuring.prompt_drafts import PromptDrafts, drafts_of
from viewer.studies.prompts import Prompt, Prompts

ASK, JUDGE = "Where is {finding}?", "Is it right?"
PROMPTS = Prompts.of(
    Prompt("ask", lambda: ASK, "the question", required=(("finding",),)),
    Prompt("judge", lambda: JUDGE, "the judge"),
)
EMPTY = PromptDrafts(PROMPTS)


def test_that_a_text_is_kept_until_it_is_the_built_in_one_again() -> None:
    mine = EMPTY.with_text("ask", "", "Point at {finding}.")
    assert mine.text("ask") == "Point at {finding}."
    assert mine.is_changed("ask")
    assert not mine.is_changed("judge")
    assert mine.params() == {"prompts": {"ask": "Point at {finding}."}}
    assert mine.with_text("ask", "", ASK) == EMPTY
    assert EMPTY.params() == {}


def test_that_a_variant_departs_from_the_runs_own_prompts() -> None:
    mine = EMPTY.with_text("judge", "", "Right?").with_variant("short")
    assert mine.text("judge", "short") == "Right?"
    short = mine.with_text("ask", "short", "{finding}?")
    assert short.text("ask") == ASK
    assert short.texts("short") == {"judge": "Right?", "ask": "{finding}?"}
    assert short.with_text("judge", "short", "Right?") == short
    back = short.with_text("judge", "short", JUDGE)
    assert back.variants["short"] == {"ask": "{finding}?", "judge": JUDGE}
    assert short.without_variant("short").params() == {"prompts": {"judge": "Right?"}}


def test_that_drafts_are_read_from_the_parameters_they_make() -> None:
    mine = EMPTY.with_text("judge", "", "Right?").with_variant("short")
    mine = mine.with_text("ask", "short", "{finding}?")
    assert drafts_of(PROMPTS, mine.params()) == mine
    assert drafts_of(PROMPTS, {}) == EMPTY


@pytest.mark.parametrize(
    ("variant", "why"),
    [("base", "cannot be named 'base'"), ("", "cannot be named"), ("a", "already")],
)
def test_that_a_bad_name_of_a_variant_is_refused(variant: str, why: str) -> None:
    with pytest.raises(WrongUseError, match=why):
        EMPTY.with_variant("a").with_variant(variant)


def test_that_what_cannot_be_asked_is_said() -> None:
    bad = EMPTY.with_variant("short").with_text("ask", "short", "Where?")
    assert "lacks the placeholder {finding}" in bad.problem_of("ask", "short")
    assert bad.problem() == bad.problem_of("ask", "short")
    assert bad.problem_of("ask") == ""
    unchanged = EMPTY.with_variant("short").problem()
    assert unchanged == "The variant 'short' changes no prompt yet."
    assert EMPTY.problem() == ""


def test_that_the_button_says_how_much_is_custom() -> None:
    assert EMPTY.words == "built-in"
    mine = EMPTY.with_text("ask", "", "{finding}?")
    assert mine.words == "1 custom"
    assert mine.with_variant("a").words == "1 custom, 1 variant"
    assert EMPTY.with_variant("a").with_variant("b").words == "2 variants"


def test_that_drafts_begin_with_the_words_that_a_data_set_brings() -> None:
    brought = {"ask": "A radiograph. Where is {finding}?"}
    mine = EMPTY.with_brought(brought)
    assert mine.text("ask") == brought["ask"]
    assert mine.prompts.known["ask"].source == "the data set's own"
    assert mine.params() == {}
    assert mine.with_text("ask", "", ASK).params() == {"prompts": {"ask": ASK}}
