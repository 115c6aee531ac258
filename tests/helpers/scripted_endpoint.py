"""A scripted server with the habits that real ones have and do not tell of."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.helpers.scripted_server import Received, Script, completion

_IMAGE = re.compile(rb"data:image/png;base64,[A-Za-z0-9+/=]+")
_TEXT_TOKENS, _IMAGE_TOKENS = 20, 64


def response(text: str, **fields: object) -> dict[str, Any]:
    """Return a Responses document of one message."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "role": "assistant", "content": [part]}
    return {
        "id": "resp_0",
        "object": "response",
        "status": "completed",
        "model": "scripted-1",
        "output": [message],
        "usage": {"input_tokens": 85, "output_tokens": 2, "total_tokens": 87},
        **fields,
    }


def refusing(style: str, member: str) -> tuple[int, dict[str, object]]:
    """Return the status and the document in which a kind of server refuses a member."""
    if style == "openai":
        said = f"Unsupported parameter: '{member}' is not supported with this model."
        code = "unsupported_parameter"
        return 400, {"error": {"message": said, "param": member, "code": code}}
    if style == "vllm":
        message = (
            f"[{{'type': 'extra_forbidden', 'loc': ('body', '{member}'), "
            "'msg': 'Extra inputs are not permitted', 'input': 1}]"
        )
        return 400, {"object": "error", "message": message, "param": None}
    if style == "llama_cpp":
        return 400, {"error": {"message": f"Field '{member}': unsupported value"}}
    if style == "ollama":
        message = (
            "json: cannot unmarshal string into Go struct field "
            f"ChatCompletionRequest.{member} of type int"
        )
        return 400, {"error": {"message": message, "type": "invalid_request_error"}}
    detail = {"type": "extra_forbidden", "loc": ["body", member], "msg": "Extra"}
    return 422, {"detail": [detail]}


@dataclass
class EndpointScript(Script):
    """A server whose habits are known.

    ``rejects`` maps a member of the body to the style of its refusal. Images are
    ``seen``, ``ignored`` or taken for ``text``. ``streak`` is how often the same
    question has the same answer.
    """

    rejects: Mapping[str, str] = field(default_factory=dict)
    images: str = "seen"
    responds: bool = True
    tells_logprobs: bool = True
    keeps_schema: bool = True
    tells_length: bool = True
    streak: int = 1_000_000
    models: tuple[str, ...] = ("scripted-1",)

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Return a refusal of the first member not taken, else an answer."""
        body = json.loads(request.body)
        for member, style in self.rejects.items():
            at_image = member == "detail" and b'"detail"' in request.body
            if member in body or at_image:
                return refusing(style, member)
        if not request.path.partition("?")[0].endswith("/responses"):
            return 200, self._chat(request, body)
        return (200, self._response(request, body)) if self.responds else (404, {})

    def listing(self, path: str) -> tuple[int, object]:  # noqa: ARG002 - one list
        """Return the models it offers."""
        rows = [{"id": name, "object": "model"} for name in self.models]
        return (200, {"object": "list", "data": rows}) if rows else (404, {})

    def _text(self, request: Received, body: Mapping[str, Any]) -> str:
        seen = request.body if self.images == "seen" else _IMAGE.sub(b"", request.body)
        turn = len(self.received) // self.streak
        cell = self.answer_to(hashlib.sha256(seen).digest() + bytes(turn))
        structured = "response_format" in body or "text" in body
        return json.dumps({"cell": cell}) if structured and self.keeps_schema else cell

    def _tokens(self, request: Received) -> int:
        images = _IMAGE.findall(request.body)
        if self.images == "text":
            return _TEXT_TOKENS + sum(map(len, images)) // 4
        return _TEXT_TOKENS + (_IMAGE_TOKENS * len(images)) * (self.images == "seen")

    def _chat(self, request: Received, body: Mapping[str, Any]) -> dict[str, Any]:
        text = self._text(request, body)
        cut = self.tells_length and _cap(body) == 1
        document = completion(text, "length" if cut else "stop")
        document["usage"]["prompt_tokens"] = self._tokens(request)
        if body.get("logprobs") and self.tells_logprobs:
            document["choices"][0]["logprobs"] = {"content": [_token(text)]}
        return document

    def _response(self, request: Received, body: Mapping[str, Any]) -> dict[str, Any]:
        document = response(self._text(request, body))
        document["usage"]["input_tokens"] = self._tokens(request)
        part = document["output"][0]["content"][0]
        if "include" in body and self.tells_logprobs:
            part["logprobs"] = [_token(part["text"])]
        if self.tells_length and _cap(body) == 1:
            details = {"reason": "max_output_tokens"}
            document |= {"status": "incomplete", "incomplete_details": details}
        return document


def _cap(body: Mapping[str, Any]) -> object:
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    return next((body[name] for name in names if name in body), None)


def _token(text: str) -> dict[str, object]:
    top = [{"token": text, "logprob": -0.25}, {"token": "?", "logprob": -2.0}]
    return {"token": text, "logprob": -0.25, "top_logprobs": top}
