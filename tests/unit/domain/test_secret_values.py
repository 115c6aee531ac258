"""A key is told by its value however it is written, and nothing else is a key."""

import base64
import hashlib
import json
import pprint
from urllib.parse import quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from viewer.domain.secret_values import (
    holds_keys,
    is_secret,
    secret_place,
    without_secrets,
)

KEY = "Zx9/opaque+key=of~nobody"
"""A key of no known form."""
_FORMS = (
    "sk-proj-abcdefghij0123456789",
    "sk-ant-api03-abcdefghij0123456789",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "github_pat_0123456789abcdefghij_klmnop",
    "hf_abcdefghijABCDEFGHIJabcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "Bearer abcdefgh0123456789abcdefgh",
    'api_key = "0123456789abcdef0123456789abcdef"',
    "x-api-key: q1w2e3r4t5y6u7i8o9p0",
    '{"client_secret": "q1w2e3r4t5y6u7i8o9p0"}',
    "http://user:pass@proxy.example:3128",
)


@pytest.mark.parametrize("text", _FORMS)
def test_that_well_known_forms_of_keys_are_secret(text: str) -> None:
    assert is_secret(f"before {text} after")
    struck = without_secrets(f"before {text} after")
    assert struck.startswith("before ")
    assert struck.endswith(" after") or "proxy.example" in struck
    assert text not in struck


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens = 1024",
        '{"max_tokens": 4096, "total_tokens": 123456789012345678}',
        "max_completion_tokens=16384",
        "prompt_sha256: " + hashlib.sha256(b"prompt").hexdigest(),
        "key: " + hashlib.sha256(b"item").hexdigest(),
        "1.2.840.113619.2.55.3.604688119.971.1448552400.467",
        "study 0f8fad5b-d9cb-469f-a165-70867728950e",
        "CheXpert-v1.0/patient00001/study1/view1_frontal.jpg",
        "http://127.0.0.1:8131/v1/chat/completions2",
        "api_key_env = OPENAI_API_KEY",
        "password: none",
        "task-specific-models-for-radiographs",
        "grid_localization gosai2025 bootstrap_replicates=10000",
        "the secret of a good radiograph",
    ],
)
def test_that_counts_hashes_uids_and_words_are_no_secret(text: str) -> None:
    assert not is_secret(text)


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        quote_plus(KEY),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(b"user:" + KEY.encode() + b"\n").decode(),
        base64.urlsafe_b64encode(b"x" + KEY.encode()).decode(),
        KEY.encode().hex(),
        repr({"headers": KEY}),
        json.dumps({"headers": KEY}),
        pprint.pformat([f"{KEY} {KEY} and more words"], width=20),
        f"{KEY[:9]}\n  {KEY[9:]}",
        f"'{KEY[:9]}' '{KEY[9:]}'",
        f"{KEY[:9]}\\n{KEY[9:]}",
    ],
)
def test_that_a_known_key_is_found_however_it_is_written(written: str) -> None:
    assert not is_secret(written)
    struck = without_secrets(written, {KEY})
    assert struck != written
    assert KEY[4:12] not in struck


@given(st.binary(max_size=7), st.binary(max_size=7))
@example(b"", b"")
def test_that_base64_hides_no_key(before: bytes, after: bytes) -> None:
    text = base64.b64encode(before + KEY.encode() + after).decode()
    assert is_secret(text, {KEY})


def test_that_a_word_in_the_place_of_a_key_is_left_alone() -> None:
    assert without_secrets("the local server", {"local"}) == "the local server"


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("api_key", True),
        ("OPENAI_API_KEY", True),
        ("Authorization", True),
        ("bearer_token", True),
        ("key", True),
        ("max_tokens", False),
        ("max_new_tokens", False),
        ("api_key_env", False),
        ("tokenizer", False),
        ("keyboard", False),
    ],
)
def test_that_names_tell_what_is_there_to_hold_a_key(name: str, holds: bool) -> None:
    assert holds_keys(name) is holds


def test_that_the_place_of_a_key_in_a_document_is_named_and_not_its_value() -> None:
    document = {"max_tokens": 5, "model": [{"a": "x"}, {"note": (1, _FORMS[0])}]}
    assert secret_place(document) == "model.2.note.2"
    assert secret_place({"model": [{"note": "none"}]}, {KEY}) == ""
    assert secret_place(KEY, {KEY}, "here") == "here"
