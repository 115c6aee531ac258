"""Parsing of OpenAI Responses bodies."""

from typing import Any, Final

from viewer.domain.exchange import ModelReply, TokenLogprob
from viewer.models.reply_parts import (
    objects,
    openai_logprobs,
    split_thought,
    text_of,
    unreadable,
    usage_of,
)
from viewer.models.returned_pictures import pictures_of_output

_CUT_SHORT: Final = "max_output_tokens"


def read_response(body: dict[str, Any]) -> ModelReply:
    """Parse the message of a body; ``ProviderError`` for a failed or unknown one.

    ``incomplete_details`` is converted to Chat Completions' finish reasons: ``length``
    and ``content_filter``.
    """
    output = body.get("output")
    if not isinstance(output, list):
        raise unreadable("it contains no output")
    if body.get("status") in ("failed", "cancelled"):
        raise unreadable(f"the response ended as {body['status']}")
    parts = _parts(output, "message")
    texts = [part for part in parts if part.get("type") == "output_text"]
    text, thought = split_thought("".join(text_of(p.get("text")) for p in texts))
    refusals = [text_of(p.get("refusal")) for p in parts if p.get("type") == "refusal"]
    return ModelReply(
        text=text,
        reasoning=_reasoning(output) or thought,
        finish_reason=_finish_reason(body),
        refusal="".join(refusals) or None,
        model_returned=text_of(body.get("model")),
        usage=usage_of(body.get("usage"), "input_tokens", "output_tokens"),
        logprobs=_logprobs(texts),
        pictures=pictures_of_output(output),
    )


def _parts(output: object, kind: str, key: str = "content") -> list[dict[str, Any]]:
    items = [item for item in objects(output) if item.get("type") == kind]
    return [part for item in items for part in objects(item.get(key))]


def _reasoning(output: object) -> str:
    """Return open reasoning, which local servers send, else OpenAI's summary."""
    thought = _parts(output, "reasoning") or _parts(output, "reasoning", "summary")
    return "".join(text_of(part.get("text")) for part in thought)


def _finish_reason(body: dict[str, Any]) -> str:
    if body.get("status") != "incomplete":
        return "stop"
    details = body.get("incomplete_details")
    reason = text_of(details.get("reason")) if isinstance(details, dict) else ""
    return "length" if reason in ("", _CUT_SHORT) else reason


def _logprobs(texts: list[dict[str, Any]]) -> tuple[TokenLogprob, ...]:
    listed = [openai_logprobs(part.get("logprobs")) for part in texts]
    return tuple(token for tokens in listed for token in tokens)
