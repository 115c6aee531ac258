"""Raw replies read again, and the cells that they plainly name."""

import base64
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

REFUSALS = frozenset(
    {"content_filter", "refusal", "safety", "prohibited_content", "blocklist"}
)
CUT_SHORT = frozenset({"length", "max_tokens", "max_output_tokens"})
_FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
_KEYS = frozenset({"cell", "coordinate", "grid_cell", "answer", "grid_coordinate"})
_PICTURES = ("image_url", "image", "output_image")
_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)
_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"\A```[a-z]*\s*(.*?)\s*```\Z", re.DOTALL | re.IGNORECASE)
_CELL = re.compile(r"([A-Za-z])[\s\-_.,:;/|]{0,3}(\d{1,3})")
_SPOKEN = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
)
_EDGES = " \t\r\n.,;:!?'\"`()[]{}<>*"


@dataclass(frozen=True)
class ReadReply:
    """A reply's text, how it ended, the words of a refusal, and how many pictures."""

    text: str
    finish: str
    refusal: str
    pictures: int = 0


def body_of(stored: dict[str, Any]) -> bytes:
    """Return the bytes of a reply as the bundle stores it."""
    if "base64" in stored:
        return base64.b64decode(stored["base64"], validate=True)
    return str(stored["text"]).encode()


def read_reply(kind: str, body: bytes, length_cap: int | None) -> ReadReply | None:
    """Read a reply's body; None if it cannot be read."""
    try:
        value = json.loads(body)
        error = value.get("error")
        if isinstance(error, dict) and error.get("code") in _FILTERED:
            return ReadReply("", "content_filter", "filter")
        reply = _WAYS[kind](value)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None
    used = (value.get("usage") or {}).get("output_tokens")
    full = length_cap is not None and isinstance(used, int) and used >= length_cap
    if kind == "response" and reply.finish == "stop" and full:
        reply = replace(reply, finish="length")
    return reply


def _chat(value: dict[str, Any]) -> ReadReply:
    choice = value["choices"][0]
    message = choice["message"]
    content = message.get("content") or ""
    parts = [*_objects(content), *_objects(message.get("images"))]
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content)
    made = _made(content, choice.get("finish_reason"), message.get("refusal"))
    return replace(made, pictures=_pictures(parts))


def _response(value: dict[str, Any]) -> ReadReply:
    if value.get("status") in ("failed", "cancelled"):
        raise ValueError("the response failed")
    messages = [item for item in value["output"] if item.get("type") == "message"]
    parts = [part for item in messages for part in _objects(item.get("content"))]
    text = "".join(p["text"] for p in parts if p.get("type") == "output_text")
    refused = "".join(p["refusal"] for p in parts if p.get("type") == "refusal")
    finish = "stop"
    if value.get("status") == "incomplete":
        reason = (value.get("incomplete_details") or {}).get("reason") or ""
        finish = "length" if reason in ("", "max_output_tokens") else reason
    made = _made(text, finish, refused)
    return replace(made, pictures=_pictures(_shown(value["output"])))


def _shown(output: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a response that may be pictures, also generated ones."""
    for item in _objects(output):
        if item.get("type") == "image_generation_call":
            yield {"type": "image", "data": item.get("result")}
        yield from _objects(item.get("content"))


def _objects(value: object) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _pictures(parts: Iterable[dict[str, Any]]) -> int:
    """Return how many parts are pictures whose bytes came, not just an address."""
    return sum(part.get("type") in _PICTURES and _has_bytes(part) for part in parts)


def _has_bytes(part: dict[str, Any]) -> bool:
    named = part.get("image_url")
    data = named.get("url") if isinstance(named, dict) else named
    if isinstance(data, str):
        found = _DATA_URL.match(data)
        data = data[found.end() :] if found else ""
    else:
        data = next((part[k] for k in ("b64_json", "data") if k in part), None)
    if not isinstance(data, str):
        return False
    try:
        return bool(base64.b64decode("".join(data.split()), validate=True))
    except ValueError:
        return False


def _local(value: dict[str, Any]) -> ReadReply:
    return _made(value["text"], value.get("finish_reason"), value.get("refusal"))


_WAYS = {
    "chat_completion": _chat,
    "response": _response,
    "local": _local,
    "plain": _local,
}


def _made(text: str, finish: object, refusal: object) -> ReadReply:
    shown = _THOUGHT.sub("", text).lstrip() if _THOUGHT.match(text) else text
    ended = finish if isinstance(finish, str) and finish else "stop"
    refused = refusal if isinstance(refusal, str) else ""
    return ReadReply(shown, ended.casefold(), refused.strip())


def plain_cell(text: str, *, whole_only: bool) -> str | None:
    """Return the cell of a reply that is only a cell, or JSON that holds one.

    None if the reply is worded; then only people, or a parser, can say.
    """
    text = unicodedata.normalize("NFKC", text).strip()
    if match := _CELL.fullmatch(text.strip(_EDGES)):
        return _named(match)
    if whole_only:
        return None
    fenced = _FENCED.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not _KEYS.issuperset(value) or len(value) != 1:
        return None
    match = _CELL.fullmatch(str(next(iter(value.values()))).strip(_EDGES))
    return _named(match) if match else None


def could_name(text: str, cell: str) -> bool:
    """Tell whether a text has a cell's letter and number, as digits or a word."""
    text, number = unicodedata.normalize("NFKC", text).casefold(), int(cell[1:])
    words = set(re.findall(r"[a-z]+", text))
    digits = {int(run) for run in re.findall(r"\d+", text)}
    spoken = number <= len(_SPOKEN) and _SPOKEN[number - 1] in words
    return cell[0].casefold() in text and (number in digits or spoken)


def _named(match: re.Match[str]) -> str:
    return f"{match[1].upper()}{int(match[2])}"
