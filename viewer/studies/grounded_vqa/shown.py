"""What pages show of the study's tables: columns with words for headers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from viewer.domain.study_words import capital
from viewer.results.spec import Shown
from viewer.studies.grounded_vqa.attending import IN_TOWER, INSIDE, ON_IMAGE
from viewer.studies.grounded_vqa.words import condition_words
from viewer.studies.tables import CI_CAPTION

COUNTS: Final = ("n_planned", "n_scored", "n_failed", "n_refused", "n_unparsed")
F1_FORM: Final = ".3f"


def number(column: str, header: str, group: str = "", also: str = "") -> Shown:
    """Return a page's column of numbers with the decimals that the paper prints."""
    return Shown(column, header, F1_FORM, group=group, also=also)


def bounded(column: str, header: str, group: str = "") -> Shown:
    """Return a page's column of numbers with their intervals in brackets."""
    limits = f"{column}_low", f"{column}_high"
    return Shown(column, header, F1_FORM, group=group, limits=limits)


def interval(name: str, header: str) -> Shown:
    """Return a page's column of intervals; why one is missing stands in the file."""
    ends = number(f"{name}_low", header, also=f"{name}_high")
    return replace(ends, none="not estimable")


def three_shown(prefix: str, group: str, suffix: str = "") -> Iterator[Shown]:
    """Yield the columns of an F1, with its interval, and of what it is of."""
    yield bounded(f"{prefix}_f1{suffix}", "F1", group)
    for name, header in (("precision", "Precision"), ("recall", "Recall")):
        yield number(f"{prefix}_{name}{suffix}", header, group)


def counts_shown(prefix: str, group: str) -> Iterator[Shown]:
    """Yield the columns that count trials by how they ended (X-01)."""
    for name in COUNTS:
        word = name.removeprefix("n_").capitalize()
        yield Shown(f"{prefix}_{name}", word, group=group)


def beside(place: int, dataset: str) -> Iterator[Shown]:
    """Yield the columns of one of two data sets, counted from 0."""
    name = ("first", "second")[place]
    yield from three_shown(f"{name}_yes_no", f"{dataset}, yes or no")
    yield from three_shown(f"{name}_open", f"{dataset}, open")
    for score, header in (
        ("tpt_anatomy", "TPT anatomy"),
        ("tpt_disease", "TPT disease"),
        ("vpt", "VPT"),
    ):
        yield bounded(f"{name}_{score}", header, dataset)


IN_BRACKETS: Final = f"In brackets {CI_CAPTION}."
OF_F1: Final = f"{IN_BRACKETS} The file has it for precision and recall too."
ASKED: Final = ("model", Shown("condition", "Condition"), "note")
TESTED: Final = ("model", Shown("way", "Condition"), "note", "test")
SCORE_SHOWN: Final = (
    Shown("n_true_positives", "True positives"),
    Shown("n_without_edit", "Without an edit"),
    Shown("n_edits", "Edits"),
    Shown("n_flipped", "Became No"),
    Shown("n_unread", "Unreadable"),
    number("score", "Score"),
    interval("ci", "95 % (Clopper-Pearson)"),
)
WORDS_SHOWN: Final = (
    Shown("n_compared", "Compared"),
    number("denied", "Denied"),
    number("word_prior", "Word prior"),
    *(number("net", "Net"), interval("net", "Net 95 % (jackknife)")),
)


ATTENTION_SHOWN: Final = (
    *("model", Shown("condition", "Condition"), Shown("n", "Items")),
    bounded(IN_TOWER, "Vision tower, region"),
    bounded(ON_IMAGE, "Last token, image"),
    bounded(INSIDE, "Last token, region"),
)


def of_pass(column: str) -> Shown:
    """Return a page's column of answers in one condition, or of what they are about."""
    if column == "dice":
        return Shown(column, "Dice")
    condition = column.removeprefix("answer_")
    asked = condition != column
    header = f"Answer, {condition_words(condition)}" if asked else capital(column)
    return Shown(column, header)
