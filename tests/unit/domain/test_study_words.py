"""What a study calls its results, alone and beside other studies."""

from dataclasses import replace

from viewer.domain.answer import Status
from viewer.domain.item import Item
from viewer.domain.study_words import (
    ALL_VIEWS,
    HITS,
    MACRO,
    MICRO,
    PLACING,
    RIGHTS,
    StudyWords,
    made_sentence,
    words_of_all,
)

_QUIZ = StudyWords(
    finding="subject",
    findings="subjects",
    views="books",
    verdicts=RIGHTS,
    names={"bio": "Biology"},
    condition=lambda name: {"plain": "as asked"}.get(name, name),
)
_OTHER = StudyWords(verdicts=RIGHTS, condition=lambda name: name.upper())


def test_that_a_study_names_its_findings_views_and_conditions() -> None:
    assert _QUIZ.called("finding", "bio") == "Biology"
    assert _QUIZ.called("finding", "open_fdx") == "open fdx"
    assert _QUIZ.called("finding", MICRO) == "All trials together"
    assert _QUIZ.called("finding", MACRO) == "Mean of subjects"
    assert _QUIZ.called("view", ALL_VIEWS) == "all books"
    assert _QUIZ.called("condition", "plain") == "as asked"
    assert _QUIZ.called("model", "my_model") == "my_model"
    assert PLACING.called("condition", "grid=8x10") == "8 × 10 grid"


def test_that_verdicts_are_counted_in_the_words_of_the_study() -> None:
    assert HITS.count(1, right=False) == "1 miss"
    assert HITS.count(1200, right=True) == "1,200 hits"
    assert RIGHTS.count(1, right=False) == "1 wrong"
    assert PLACING.places
    assert not _QUIZ.places


def test_that_a_study_says_how_a_trial_ended() -> None:
    assert _QUIZ.ending(Status.SCORED_CORRECT) == "right"
    assert PLACING.ending(Status.SCORED_WRONG) == "misses"
    assert PLACING.ending(Status.PROVIDER_ERROR, "timeout") == "provider error"
    assert PLACING.ending(Status.EXCLUDED, "gt_outside_crop") == "excluded"
    assert _QUIZ.ending(Status.EXCLUDED, "ungraded") == "not graded"
    assert _QUIZ.ending(Status.EXCLUDED, "built") == "with questions"


def test_that_a_run_says_what_it_made_and_what_comes_next() -> None:
    assert made_sentence(4, 1200, {"built": 1100, "no_caption": 1}) == (
        "In run 4, 1,100 of 1,200 trials made questions from captions; write them with "
        "overread export questions 4 --out built.json, then import that file."
    )
    assert made_sentence(4, 12, {"no_caption": 12, "built": 0}) == ""


def test_that_several_studies_share_words_that_are_true_of_all() -> None:
    assert words_of_all(()) is PLACING
    assert words_of_all((_QUIZ, _QUIZ)) is _QUIZ
    both = words_of_all((PLACING, _QUIZ))
    assert both.finding == "finding or kind"
    assert both.verdicts is RIGHTS
    assert both.rate == "share right"
    assert both.called("finding", "bio") == "Biology"
    assert both.called("condition", "grid=8") == "8 × 8 grid"
    assert both.called("condition", "plain") == "as asked"
    assert words_of_all((_QUIZ, _OTHER)).condition("plain") == "plain"
    assert words_of_all((PLACING, StudyWords(finding="sign"))).verdicts is HITS


def test_that_a_study_tells_the_strata_and_the_question_of_a_trial() -> None:
    words = StudyWords(
        strata={"subject": lambda item: item.key.upper()},
        asked={"question": lambda item, trial, _: f"{item.kind}{trial}"},
    )
    item = Item("bio", "p", "a: ")
    told = [("subject", "BIO"), ("question", "a: bio|1")]
    assert list(words.about(item, "bio|1", "plain")) == told
    spelled = replace(words, spelled={"subject": lambda _: "Biology"})
    told[0] = ("subject", "Biology")
    assert list(spelled.about(item, "bio|1", "plain")) == told
    assert spelled.columns == words.columns


def test_that_a_control_is_named_alike_in_every_study() -> None:
    assert _QUIZ.called("condition", "no_image") == "without the image"
    assert _OTHER.called("condition", "guess") == "without the image, asked to guess"
