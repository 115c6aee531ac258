"""A request in the form of transformers' chat templates."""

from typing import Any

from PIL import Image

from viewer.domain.exchange import ImagePart, ModelRequest, TextPart
from viewer.domain.geometry import SizePx
from viewer.imaging.png import decode_png

Turn = dict[str, Any]
"""``{"role": …, "content": [{"type": "image", "image": …} | {"type": "text", …}]}``."""


def conversation(request: ModelRequest) -> list[Turn]:
    """Return the turns of a request; images are the exact PNGs, decoded, as RGB."""
    return [
        {"role": message.role, "content": [_part(part) for part in message.parts]}
        for message in request.messages
    ]


def without_system(turns: list[Turn]) -> list[Turn]:
    """Return the turns with the system's text before the first user's text.

    For chat templates without a system role, so that its text is not lost.
    """
    instructions = [
        part for t in turns if t["role"] == "system" for part in t["content"]
    ]
    others = [dict(turn) for turn in turns if turn["role"] != "system"]
    if instructions and others:
        others[0]["content"] = [*instructions, *others[0]["content"]]
    return others


def plain_prompt(turns: list[Turn]) -> str:
    """Return all text, one line per part, for a model without a chat template."""
    parts = [part for turn in turns for part in turn["content"]]
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def images_of(turns: list[Turn]) -> list[Image.Image]:
    """Return the images of a conversation in the order they are shown."""
    parts = [part for turn in turns for part in turn["content"]]
    return [part["image"] for part in parts if part["type"] == "image"]


def sent_sizes(turns: list[Turn]) -> list[SizePx]:
    """Return rows and columns of every image in pixels as sent."""
    return [SizePx(image.height, image.width) for image in images_of(turns)]


def _part(part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    pixels = decode_png(part.png).pixels
    return {"type": "image", "image": Image.fromarray(pixels).convert("RGB")}
