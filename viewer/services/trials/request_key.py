"""The key of a request: a hash over exactly what is asked."""

import hashlib

import rfc8785

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import (
    BoxPrompt,
    Facts,
    ImagePart,
    Message,
    ModelIdentity,
    ModelRequest,
    TextPart,
)
from viewer.domain.interpretability import Choices
from viewer.domain.plain import plain
from viewer.models.structured import schema_of

SCHEMA = 1


def request_document(
    identity: ModelIdentity, request: ModelRequest, repeat: int, *, reads_facts: bool
) -> dict[str, object]:
    """Return the document that the key is a hash of, as plain JSON values.

    Images are represented by the SHA-256 of the exact bytes sent. Facts are included
    only if the answer depends on them, the answer's schema only if the model must
    follow it, a highlight and measures only if present. API keys, timeouts, retries and
    headers are never included.
    """
    document: dict[str, object] = {
        "schema": SCHEMA,
        "endpoint": dict(identity.endpoint),
        "model": identity.model,
        "model_revision": identity.revision,
        "messages": [_message(message) for message in request.messages],
        "params": dict(identity.params),
        "local": dict(identity.local),
        "replicate": repeat,
    }
    if identity.params.get("structured"):
        document["answer_schema"] = schema_of(request)
    if reads_facts:
        document["facts"] = _facts(request.facts)
    if request.highlight is not None:
        document["highlight"] = plain(request.highlight)
    if request.measures is not None:
        document["measures"] = plain(request.measures)
    return document


def request_key(document: dict[str, object]) -> str:
    """Return the SHA-256 of the document as canonical JSON (RFC 8785), in hex."""
    return hashlib.sha256(canonical_json(document)).hexdigest()


def canonical_json(document: dict[str, object]) -> bytes:
    """Return the document's canonical JSON; raises for values JSON cannot represent."""
    try:
        return rfc8785.dumps(document)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise WrongUseError(
            "A question contains a number or character that JSON cannot represent.",
            "Use whole numbers below 2^53, finite numbers and valid Unicode.",
        ) from error


def _message(message: Message) -> dict[str, object]:
    return {"role": message.role, "parts": [_part(part) for part in message.parts]}


def _part(part: TextPart | ImagePart) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {
        "image_sha256": part.sha256,
        "media_type": part.media_type,
        "detail": part.detail,
    }


def _facts(facts: Facts) -> dict[str, object]:
    counts = facts.reference_counts
    return {
        "rows": facts.rows,
        "columns": facts.columns,
        "letters": facts.letters,
        "finding": facts.finding,
        "view": facts.view,
        "item": facts.item,
        "condition": facts.condition,
        "seed": facts.seed,
        "repeat": facts.repeat,
        "plain_sha256": facts.plain_sha256,
        "reference_counts": None if counts is None else [list(row) for row in counts],
        **_prompt(facts.prompt),
        **({"step": facts.step} if facts.step else {}),
        **({"written": facts.written} if facts.written else {}),
        **_choices(facts.choices),
        **({} if facts.asked is None else {"asked": plain(facts.asked)}),
    }


def _choices(choices: Choices | None) -> dict[str, object]:
    if choices is None:
        return {}
    return {"question": choices.question, "options": list(choices.options)}


def _prompt(prompt: BoxPrompt | None) -> dict[str, object]:
    """Return the boxes and their image; a question without boxes has no such member."""
    if prompt is None:
        return {}
    pixels, aspect = prompt.raster.pixels, prompt.raster.pixel_aspect
    return {
        "boxes": plain(prompt.boxes),
        "boxes_on": {
            "size": list(pixels.shape),
            "sha256": hashlib.sha256(pixels.tobytes()).hexdigest(),
            **({"pixel_aspect": aspect} if aspect != 1 else {}),
        },
    }
