"""Shared parts of the parsers of replies."""

import json
import math
import re
from typing import Any

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import RawReply, TokenLogprob, Usage

_THINK = re.compile(r"\A\s*<think>(.*?)(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})


def json_object(raw: RawReply) -> dict[str, Any]:
    """Return a raw reply's JSON object; anything else raises ``ProviderError``."""
    try:
        body = json.loads(raw.body)
    except (ValueError, RecursionError):
        raise unreadable("it is not JSON") from None
    if not isinstance(body, dict):
        raise unreadable("it is not a JSON object")
    return body


def refusal_of_error(body: dict[str, Any]) -> str | None:
    """Return the text of a provider's filter that replaces an answer, else None.

    Azure and OpenAI refuse some questions by an error instead of in an answer.
    """
    error = body.get("error")
    if not isinstance(error, dict) or text_of(error.get("code")) not in _FILTERED:
        return None
    return text_of(error.get("message")) or "refused by the provider's filter"


def unreadable(why: str) -> ProviderError:
    """Return the error for a body that arrived completely but cannot be read."""
    return ProviderError(
        f"The model's reply cannot be read: {why}.",
        "Check base_url, and that the endpoint supports the API set as api.",
        retry_class=RetryClass.FAIL,
        reason="unreadable_reply",
    )


def split_thought(text: str) -> tuple[str, str]:
    """Split off a leading ``<think>`` block; an unterminated one leaves no answer."""
    found = _THINK.match(text)
    if found is None:
        return text, ""
    return text[found.end() :].lstrip(), found.group(1).strip()


def text_of(value: object) -> str:
    """Return a string that can be stored; JSON may contain lone surrogates."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode()


def objects(value: object) -> list[dict[str, Any]]:
    """Return the JSON objects of a list, none for anything else."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def usage_of(usage: object, key_in: str, key_out: str) -> Usage:
    """Return the token counts under two names; an invalid count is unknown."""
    if not isinstance(usage, dict):
        return Usage()
    return Usage(_count(usage.get(key_in)), _count(usage.get(key_out)))


def _count(value: object) -> int | None:
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def openai_logprobs(tokens: object) -> tuple[TokenLogprob, ...]:
    """Return OpenAI's token log-probabilities; one invalid token voids them all.

    Chat Completions keeps the list under ``logprobs.content`` of a choice, Responses
    under ``logprobs`` of an output_text part; both have this form.
    """
    listed = objects(tokens)
    return whole(
        [
            (t.get("token"), t.get("logprob"), _pairs(t.get("top_logprobs")))
            for t in listed
        ]
    )


def _pairs(top: object) -> list[tuple[object, object]]:
    return [(t.get("token"), t.get("logprob")) for t in objects(top)]


def whole(
    tokens: list[tuple[object, object, list[tuple[object, object]]]],
) -> tuple[TokenLogprob, ...]:
    """Return the tokens, () if any is invalid: a list with gaps would mislead."""
    read: list[TokenLogprob] = []
    for token, logprob, top in tokens:
        number = _finite(logprob)
        pairs = [(text_of(t), _finite(n)) for t, n in top]
        if not isinstance(token, str) or number is None:
            return ()
        alternatives = tuple((t, n) for t, n in pairs if n is not None)
        read.append(TokenLogprob(text_of(token), number, alternatives))
    return tuple(read)


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    # A JSON integer has any number of digits, and Python reads them all.
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
