"""The common part of Chat Completions and Responses: settings as body members."""

import base64
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.exchange import ImagePart, ModelRequest, ReplyKind, TextPart
from viewer.models.openai_api.servers import Api, Server

DETAIL: Final = "detail"
"""The setting that stands at each image instead of in the body."""
SAMPLING: Final = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
"""The settings whose member of the body has the same name in both interfaces."""
TOKEN_CAPS: Final = ("max_tokens", "max_completion_tokens")
"""Chat Completions' two names for the longest reply."""


@dataclass(frozen=True)
class Parameter:
    """A setting of a profile and the body members it is sent as."""

    name: str
    sent: Mapping[str, object]


@dataclass(frozen=True)
class Settings:
    """A profile's settings as used with its server.

    ``rejected`` are the body members that this server is known to reject, from the
    table of servers or from its replies.
    """

    values: Mapping[str, object]
    server: Server
    api: Api
    rejected: frozenset[str] = frozenset()

    def get(self, name: str) -> Any:  # noqa: ANN401 - JSON values
        """Return a setting's value, the explicit default for the server, or None."""
        return self.values.get(name, self.server.sampling.get(name))

    def takes(self, parameter: "Parameter") -> bool:
        """Tell whether a parameter is worth sending."""
        known = self.server.takes(self.api, parameter.name)
        return known and not self.rejected & {*parameter.sent}

    def detail(self, part: ImagePart) -> dict[str, str]:
        """Return an image's level of detail, as a member of its message part."""
        detail = part.detail or self.get(DETAIL)
        wanted = Parameter(DETAIL, {DETAIL: detail})
        return {DETAIL: str(detail)} if detail and self.takes(wanted) else {}


@dataclass(frozen=True)
class Form:
    """One of the two interfaces: its path, how it asks and what it returns.

    ``parameters`` takes settings, repeat and the answer's JSON Schema, ``content``
    settings and the request.
    """

    path: str
    kind: ReplyKind
    parameters: Callable[[Settings, int, Mapping[str, object]], list[Parameter]]
    content: Callable[[Settings, ModelRequest], dict[str, object]]


_MARK: Final = secrets.token_hex(16)
"""Prefix of an image's hash, which cannot occur in the text of a question."""
_MARKED: Final = re.compile(_MARK.encode() + rb"([0-9a-f]{64})")


def same_named(settings: Settings, names: Sequence[str]) -> list[Parameter]:
    """Return the parameters whose member has the same name as the setting."""
    values = ((name, settings.get(name)) for name in names)
    return [Parameter(name, {name: v}) for name, v in values if v is not None]


def seed_of(settings: Settings, repeat: int) -> list[Parameter]:
    """Return the seed of one repeat, so that repeats differ and are reproducible."""
    seed = settings.get("seed")
    return [] if seed is None else [Parameter("seed", {"seed": int(seed) + repeat})]


def body_of(parameters: Sequence[Parameter]) -> dict[str, object]:
    """Return the body members that parameters are sent as."""
    return {key: value for p in parameters for key, value in p.sent.items()}


def image_url(part: ImagePart) -> str:
    """Return a data URI that `with_images` completes by the image's exact bytes."""
    return f"data:{part.media_type};base64,{_MARK}{part.sha256}"


def with_images(body: bytes, images: Iterable[ImagePart]) -> bytes:
    """Complete the data URIs in a body.

    Only now, because a JSON encoder would look for characters to escape in all of them.
    """
    by_hash = {part.sha256.encode(): part.png for part in images}
    return _MARKED.sub(lambda found: base64.b64encode(by_hash[found[1]]), body)


def joined_text(parts: Sequence[TextPart | ImagePart]) -> str | None:
    """Return the text of a message without images, None if it has one."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    return "\n".join(texts) if len(texts) == len(parts) else None
