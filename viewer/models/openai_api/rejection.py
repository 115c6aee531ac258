"""Which parameter a server rejected, parsed from its error.

OpenAI names it in ``error.param``; other servers only in a sentence, each in its own
words. If no parameter that was sent is named, nothing is guessed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from viewer.models.openai_api.question import Parameter

_STATUSES: Final = (400, 422)
_UNKNOWN: Final = re.compile(
    r"unsupported|not supported|not permitted|unknown|unrecognized|extra_forbidden",
    re.IGNORECASE,
)
_NAME: Final = r"[\"'`]?([A-Za-z_][\w.\[\]]*)[\"'`]?"
_KIND: Final = "(?:parameter|param|value|request argument|field|argument)"
_WORDINGS: Final = tuple(
    re.compile(wording)
    for wording in (
        # OpenAI, Azure, LM Studio
        rf"[Uu]n(?:supported|known|recognized) {_KIND}s?(?: supplied)?:? *{_NAME}",
        rf"[Ii]nvalid (?:parameter|param|value for|type for):? *{_NAME}",
        rf"not allowed to request {_NAME}",
        rf"{_NAME} (?:is|are) not (?:supported|permitted|allowed|available)",
        # vLLM and whatever else checks its input with pydantic
        rf"loc[\"']: ?[\[(] ?[\"']body[\"'], ?{_NAME}",
        r"(?m)^(\w+)\n +Extra inputs are not permitted",
        # llama.cpp
        rf"[Ff]ield {_NAME}",
        rf"{_NAME} requires ",
        # Ollama
        rf"struct field \w+?\.{_NAME} of type",
        rf"does not support {_NAME}",
    )
)
_ALSO_CALLED: Final = {
    "thinking": ("reasoning_effort", "reasoning"),
    "reasoning_effort": ("reasoning",),
    "top_logprobs": ("logprobs",),
}
"""What a server may call a member that was sent under another name."""


def rejected_member(status: int, body: bytes, sent: Sequence[Parameter]) -> str | None:
    """Return the body member that a server rejects, None for none.

    Parameters
    ----------
    status : int
        The HTTP status; only 400 and 422 are about parameters.
    body : bytes
        The reply's body.
    sent : sequence of Parameter
        The parameters sent; nothing else can be rejected.
    """
    if status not in _STATUSES:
        return None
    text = body.decode("utf-8", "replace")
    document = _document(text)
    members = [member for parameter in sent for member in parameter.sent]
    unknown = _UNKNOWN.search(text) is not None
    for name in _names(document, text):
        found = _member(name, members)
        # a cap that is too large is no unknown one: without it replies have no end
        if found is not None and (not found.endswith("_tokens") or unknown):
            return found
    return None


def _document(text: str) -> dict[str, object]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _names(document: dict[str, object], text: str) -> Iterator[str]:
    error = document.get("error")
    fields = error if isinstance(error, dict) else document
    param = fields.get("param")
    if isinstance(param, str):
        yield param
    message = fields.get("message", error)
    sentence = message if isinstance(message, str) else text
    for wording in _WORDINGS:
        yield from wording.findall(sentence)


def _member(name: str, members: Iterable[str]) -> str | None:
    """Return the member at a dotted name such as ``text.format``."""
    known = {*members}
    for element in re.split(r"[.\[\]]+", name):
        for called in (element, *_ALSO_CALLED.get(element, ())):
            if called in known:
                return called
    return None
