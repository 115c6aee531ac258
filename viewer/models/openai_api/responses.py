"""Request bodies for Responses; nothing is stored at the provider."""

from collections.abc import Mapping
from typing import Any, Final

from viewer.domain.exchange import ImagePart, Message, ModelRequest, ReplyKind, TextPart
from viewer.models.openai_api.question import (
    SAMPLING,
    Form,
    Parameter,
    Settings,
    image_url,
    joined_text,
    same_named,
    seed_of,
)

_LOGPROBS: Final = "message.output_text.logprobs"


def parameters(
    settings: Settings, repeat: int, schema: Mapping[str, object]
) -> list[Parameter]:
    """Return every setting of a profile as Responses names it."""
    return [
        *same_named(settings, SAMPLING),
        *_token_cap(settings),
        *_reasoning(settings),
        *seed_of(settings, repeat),
        *_logprobs(settings),
        *_structured(settings, schema),
    ]


def _token_cap(settings: Settings) -> list[Parameter]:
    values = settings.values
    cap = values.get("max_completion_tokens") or values.get("max_tokens")
    return [Parameter("max_tokens", {"max_output_tokens": cap})] if cap else []


def _reasoning(settings: Settings) -> list[Parameter]:
    effort = settings.get("reasoning_effort")
    if effort is None:
        return []
    return [Parameter("reasoning_effort", {"reasoning": {"effort": effort}})]


def _logprobs(settings: Settings) -> list[Parameter]:
    top = settings.get("logprobs")
    if top is None:
        return []
    beside = {"top_logprobs": top} if top else {}
    return [Parameter("logprobs", {"include": [_LOGPROBS], **beside})]


def _structured(settings: Settings, schema: Mapping[str, object]) -> list[Parameter]:
    if not settings.get("structured"):
        return []
    form = {"name": "answer", "strict": True, "schema": dict(schema)}
    text = {"format": {"type": "json_schema", **form}}
    return [Parameter("structured", {"text": text})]


def content(settings: Settings, request: ModelRequest) -> dict[str, object]:
    """Return instructions and input, with exact image bytes."""
    system = [m for m in request.messages if _instructs(m)]
    instructions = "\n".join(joined_text(m.parts) or "" for m in system)
    turns = [_turn(settings, m) for m in request.messages if not _instructs(m)]
    member = {"instructions": instructions} if instructions else {}
    # some servers stream unless told not to
    return {"store": False, "stream": False, **member, "input": turns}


def _instructs(message: Message) -> bool:
    """Tell whether a message belongs to the instructions, which are text only."""
    return message.role == "system" and joined_text(message.parts) is not None


def _turn(settings: Settings, message: Message) -> dict[str, Any]:
    if message.role == "assistant":  # what was answered is output, also in a request
        reply = joined_text(message.parts) or ""
        return {"role": message.role, "content": [_output_text(reply)]}
    parts = [_part(settings, part) for part in message.parts]
    return {"role": message.role, "content": parts}


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text}


def _part(settings: Settings, part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text}
    image = {"type": "input_image", "image_url": image_url(part)}
    return {**image, **settings.detail(part)}


FORM: Final = Form("/responses", ReplyKind.RESPONSE, parameters, content)
