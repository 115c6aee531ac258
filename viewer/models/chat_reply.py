"""OpenAI Chat Completions bodies read, with what other servers make of them."""

from typing import Any

from viewer.domain.exchange import ModelReply, TokenLogprob
from viewer.models.reply_parts import (
    openai_logprobs,
    split_thought,
    text_of,
    unreadable,
    usage_of,
)


def read_chat_completion(body: dict[str, Any]) -> ModelReply:
    """Return the first choice of a body; one without raises ``ProviderError``."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise unreadable("it holds no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise unreadable("its first choice holds no message")
    text, thought = split_thought(_content(message.get("content")))
    refusal = message.get("refusal")
    return ModelReply(
        text=text,
        reasoning=_reasoning(message) or thought,
        finish_reason=text_of(choices[0].get("finish_reason")) or "stop",
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        model_returned=text_of(body.get("model")),
        usage=usage_of(body.get("usage"), "prompt_tokens", "completion_tokens"),
        logprobs=_logprobs(choices[0].get("logprobs")),
    )


def _content(content: object) -> str:
    """Return the text of a message's content, a string, null or a list of parts."""
    if content is None or isinstance(content, str):
        return text_of(content)
    if not isinstance(content, list):
        raise unreadable("its message's content is neither text nor parts")
    parts = [part for part in content if isinstance(part, dict)]
    return "".join(text_of(part.get("text")) for part in parts)


def _reasoning(message: dict[str, Any]) -> str:
    """Return thought kept apart, under vLLM's and llama.cpp's or Ollama's name."""
    thought = text_of(message.get("reasoning_content"))
    return thought or text_of(message.get("reasoning"))


def _logprobs(logprobs: object) -> tuple[TokenLogprob, ...]:
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    return openai_logprobs(tokens)
