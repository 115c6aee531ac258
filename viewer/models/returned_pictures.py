"""Pictures in replies: data URLs and base64, never an address elsewhere (E001-09).

Chat Completions has parts of type ``image_url`` in a message's content, or a list
``images`` of them beside it; Responses has output items of type
``image_generation_call`` and parts of type ``output_image``.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from viewer.domain.exchange import ReturnedPicture
from viewer.models.reply_parts import objects, text_of

_DATA_URL: Final = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)
_PARTS: Final = frozenset({"image_url", "image", "output_image"})
_GENERATED: Final = "image_generation_call"
_LONGEST_HOST: Final = 80


def pictures_of_message(message: dict[str, Any]) -> tuple[ReturnedPicture, ...]:
    """Return the pictures of a message of Chat Completions, in their order."""
    parts = (*objects(message.get("content")), *objects(message.get("images")))
    return tuple(picture for part in parts for picture in _of_part(part))


def pictures_of_output(output: list[Any]) -> tuple[ReturnedPicture, ...]:
    """Return the pictures of a response's output items, in their order."""
    return tuple(p for item in objects(output) for p in _of_item(item))


def _of_item(item: dict[str, Any]) -> Iterator[ReturnedPicture]:
    if item.get("type") == _GENERATED and isinstance(item.get("result"), str):
        yield _decoded(item["result"])
    for part in objects(item.get("content")):
        yield from _of_part(part)


def _of_part(part: dict[str, Any]) -> Iterator[ReturnedPicture]:
    """Yield the picture of a part: under an address, or as plain base64."""
    if str(part.get("type")) not in _PARTS:
        return
    named = part.get("image_url")
    url = named.get("url") if isinstance(named, dict) else named
    if isinstance(url, str):
        yield _at(url)
        return
    plain = next((part[k] for k in ("b64_json", "data") if k in part), None)
    if isinstance(plain, str):
        yield _decoded(plain)


def _at(url: str) -> ReturnedPicture:
    found = _DATA_URL.match(url)
    if found:
        return _decoded(url[found.end() :])
    return ReturnedPicture(
        missing=f"A picture at {_host(url)} was not fetched: only pictures inside a "
        "reply are shown."
    )


def _host(url: str) -> str:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return text_of(host)[:_LONGEST_HOST] or "another address"


def _decoded(text: str) -> ReturnedPicture:
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        return ReturnedPicture(missing="A picture in the reply is not valid base64.")
    return ReturnedPicture(data)
