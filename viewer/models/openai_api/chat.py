"""Request bodies for Chat Completions."""

from collections.abc import Mapping
from typing import Any, Final

from viewer.domain.exchange import ImagePart, Message, ModelRequest, ReplyKind, TextPart
from viewer.models.openai_api.question import (
    SAMPLING,
    TOKEN_CAPS,
    Form,
    Parameter,
    Settings,
    image_url,
    joined_text,
    same_named,
    seed_of,
)


def parameters(
    settings: Settings, repeat: int, schema: Mapping[str, object]
) -> list[Parameter]:
    """Return every setting of a profile as Chat Completions names it."""
    return [
        *same_named(settings, SAMPLING),
        *_token_cap(settings),
        *same_named(settings, ("reasoning_effort",)),
        *seed_of(settings, repeat),
        *_logprobs(settings),
        *_structured(settings, schema),
    ]


def _token_cap(settings: Settings) -> list[Parameter]:
    """Return the maximum reply length under the name that the server accepts."""
    named = settings.values.get("max_completion_tokens")
    preferred = "max_completion_tokens" if named else settings.server.token_cap
    names = sorted(TOKEN_CAPS, key=lambda name: name != preferred)
    value = named or settings.values.get("max_tokens")
    taken = [name for name in names if name not in settings.rejected]
    return [Parameter("max_tokens", {taken[0]: value})] if value and taken else []


def _logprobs(settings: Settings) -> list[Parameter]:
    top = settings.get("logprobs")
    if top is None:
        return []
    beside = {"top_logprobs": top} if top else {}
    return [Parameter("logprobs", {"logprobs": True, **beside})]


def _structured(settings: Settings, schema: Mapping[str, object]) -> list[Parameter]:
    if not settings.get("structured"):
        return []
    form = {"name": "answer", "strict": True, "schema": dict(schema)}
    response_format = {"type": "json_schema", "json_schema": form}
    return [Parameter("structured", {"response_format": response_format})]


def content(settings: Settings, request: ModelRequest) -> dict[str, object]:
    """Return the messages, with exact image bytes."""
    return {"messages": [_message(settings, m) for m in request.messages]}


def _message(settings: Settings, message: Message) -> dict[str, Any]:
    system = message.role == "system"
    role = settings.server.system_role if system else message.role
    # some servers take a system turn as one string only
    text = joined_text(message.parts)
    if text is not None:
        return {"role": role, "content": text}
    return {"role": role, "content": [_part(settings, p) for p in message.parts]}


def _part(settings: Settings, part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    image = {"url": image_url(part), **settings.detail(part)}
    return {"type": "image_url", "image_url": image}


FORM: Final = Form("/chat/completions", ReplyKind.CHAT_COMPLETION, parameters, content)
