"""Errors with their two sentences."""

import pickle
import sys

import pytest

from viewer.domain.errors import (
    LOADING,
    UNREACHABLE,
    OverreadError,
    ProviderError,
    RetryClass,
    UnreadableInputError,
    where_to_get,
)


def test_that_an_error_prints_its_two_sentences() -> None:
    error = OverreadError("It is broken.", "Correct it.")
    assert str(error) == "It is broken. Correct it."
    assert str(OverreadError("It is over.")) == "It is over."


def test_that_an_error_is_the_same_in_another_process() -> None:
    error = pickle.loads(pickle.dumps(UnreadableInputError("It is cut.", "Copy it.")))  # noqa: S301 - our own bytes
    assert isinstance(error, UnreadableInputError)
    assert (error.what, error.how) == ("It is cut.", "Copy it.")


def test_that_a_providers_error_keeps_all_it_knows_in_another_process() -> None:
    error = ProviderError(
        "Too many requests.",
        "Wait.",
        retry_class=RetryClass.RETRY,
        reason="http_429",
        http_status=429,
        retry_after_s=2.5,
    )
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert isinstance(copy, ProviderError)
    assert vars(copy) == vars(error)
    assert str(copy) == "Too many requests. Wait."


@pytest.mark.parametrize(
    ("reason", "unreachable", "loading"),
    [(UNREACHABLE, True, False), (LOADING, False, True), ("timeout", False, False)],
)
def test_that_an_endpoint_that_nobody_listens_at_is_not_one_that_is_not_ready(
    reason: str, *, unreachable: bool, loading: bool
) -> None:
    error = ProviderError("No.", retry_class=RetryClass.RETRY, reason=reason)
    assert (error.unreachable, error.loading) == (unreachable, loading)


def test_that_a_program_without_pip_does_not_advise_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert where_to_get("torch") == "pip install torch"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert where_to_get("torch") == "in the full edition of Overread"
