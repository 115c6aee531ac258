"""No reply, however spoilt, breaks a parser or vanishes without a status."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.golden_replies import FRAME, assert_sound, golden_replies, mutated
from viewer.models.coordinates.conventions import CONVENTIONS, detect


def test_that_three_thousand_spoilt_replies_end_in_a_status() -> None:
    rng = random.Random(0)
    goldens = golden_replies()
    for _ in range(3_000):
        golden = rng.choice(goldens)
        reply = mutated(golden.reply, rng)
        reading = CONVENTIONS[golden.convention].read(reply, FRAME)
        assert_sound(reading, reply, FRAME)


@given(st.text(max_size=80), st.sampled_from(sorted(CONVENTIONS)))
def test_that_any_text_ends_in_a_status(reply: str, name: str) -> None:
    assert_sound(CONVENTIONS[name].read(reply, FRAME), reply, FRAME)


@given(
    st.lists(st.sampled_from([*"[]{}()<>\"',:; 1.-", "bbox", "box_2d", "<loc_1>"])),
    st.sampled_from(sorted(CONVENTIONS)),
)
def test_that_heaps_of_brackets_end_in_a_status(pieces: list[str], name: str) -> None:
    reply = "".join(pieces)
    assert_sound(CONVENTIONS[name].read(reply, FRAME), reply, FRAME)


def test_that_a_reply_of_brackets_without_end_is_read_in_bounded_time() -> None:
    brackets = ("[", "{", '{"a":[', "<box>", "<obj>", "(1,", "'", '"', "<think>")
    for piece in (*brackets, "It isn't, see [3] (of 4). "):
        reply = piece * 1_000
        for convention in CONVENTIONS.values():
            assert_sound(convention.read(reply, FRAME), reply, FRAME)


_STUCK = (
    *("[/*", "[//x\n", "[1,", "(1,", "['", '["', "['x ", '{"a":', " ", "\t", "\n", "1"),
    *("<think>", "<object>", "<box>", "<obj>", "<|det|>[[1,", "<|box_start|>(", "{{"),
    *("<loc0001>", "<loc_1>", "<patch_index_0001>", "<point x=", "<poly>", "```json"),
    *("[[1,2,3,4],", "x1=1 ", "no ", "can't ", "-", "1.", "<ref>", "<phrase>"),
)
"""What a model that got stuck writes until its token limit."""


@pytest.mark.parametrize("name", [name for name in CONVENTIONS if name != "grid"])
def test_that_a_model_that_got_stuck_is_read_to_its_end(name: str) -> None:
    for piece in _STUCK:
        for text in (piece * 1_500, f"[{piece * 1_500}!", f'["{piece * 1_500}x"]'):
            reading = CONVENTIONS[name].read(text, FRAME)
            assert_sound(reading, text, FRAME)


def test_that_detection_names_only_conventions_that_read_a_place() -> None:
    rng = random.Random(1)
    for golden in rng.sample(golden_replies(), 150):
        candidates = detect(mutated(golden.reply, rng), FRAME)
        assert all(candidate.reading.scored for candidate in candidates)
        assert sum(c.confidence for c in candidates) <= 1.0 + 1e-9
