from datetime import datetime, timedelta, timezone

import pytest

from viewer.domain.run import (
    STORE_IS_BUSY,
    ModelLoading,
    Outstanding,
    RunNote,
    RunWaiting,
    submitted_words,
)

NOW = datetime(2026, 11, 27, 16, 30, tzinfo=timezone(timedelta(hours=2)))


def test_that_a_loading_says_how_far_it_is_until_it_ends() -> None:
    assert ModelLoading(3, "m", 0.0, "contacting the hub").words == (
        "Loading m · contacting the hub"
    )
    assert ModelLoading(3, "m", 0.489, "loading weights").words == (
        "Loading m · 48 % · loading weights"
    )
    assert ModelLoading(3, "m", 1.0, "").words == ""


def test_that_a_server_s_loading_says_for_how_long_until_it_ends() -> None:
    assert ModelLoading(3, "m", 0.0, "on its server", 25.4).words == (
        "The server is loading m… (25 s)"
    )
    assert ModelLoading(3, "m", 1.0, "", 26.0).words == ""


def test_that_a_waiting_says_for_whom_until_it_ends() -> None:
    assert RunWaiting(3, "overread (process 7)").words == (
        "Waiting for overread (process 7)"
    )
    assert RunWaiting(3, "").words == ""
    assert RunWaiting(3, "", store_is_busy=True).words == STORE_IS_BUSY


def test_that_a_note_is_a_sentence_about_its_model() -> None:
    note = RunNote("m", "model_changed", "another model answered")
    assert str(note) == "m: another model answered."


@pytest.mark.parametrize(
    ("due", "words"),
    [
        ("2026-11-28T12:05:00+00:00", "; answers due by 14:05 tomorrow"),
        ("2026-11-27T20:00:00+00:00", "; answers due by 22:00 today"),
        ("2026-11-27T22:30:00+00:00", "; answers due by 00:30 tomorrow"),
        ("2026-11-26T12:00:00+00:00", "; answers were due by 14:00 yesterday"),
        ("2026-11-29T12:00:00+00:00", "; answers due by 14:00 on 2026-11-29"),
        ("2026-11-27T14:00:00+00:00", "; answers were due by 16:00 today"),
        ("", ""),
    ],
)
def test_that_a_batch_says_when_its_answers_are_due_here(due: str, words: str) -> None:
    assert submitted_words(1_000, due, NOW) == f"Batch of 1,000 submitted{words}"
    assert RunWaiting(1, "", questions=12).words == "Batch of 12 submitted"
    assert Outstanding(12, "").words == "Batch of 12 submitted"
