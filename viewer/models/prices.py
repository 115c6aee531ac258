"""The cost of a question, and its upper bound before it is asked.

Prices are micro-dollars per million tokens, amounts whole micro-dollars. A price in a
profile goes before the table; a model without either has no price, and none is guessed.
"""

import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from viewer.domain.exchange import ModelProfile, ModelRequest, TextPart, Usage
from viewer.domain.geometry import SizePx
from viewer.models.batching import is_batched
from viewer.models.catalog import endpoint_of, spec_of
from viewer.models.profiles import with_defaults
from viewer.models.provider_view import PROVIDER_VIEWS, provider_view_named
from viewer.models.structured import schema_of

PRICES_DATE: Final = "2026-03-21"
"""The day of the table's prices: OpenAI's list prices, as other sites quote them
(developers.openai.com/api/docs/pricing); to be checked before a ceiling relies on them.
"""
BATCH_RATE: Final = 0.5
"""The part of the price that answers within a day cost, unless a profile says another
(platform.openai.com/docs/guides/batch).
"""
_MILLION: Final = 1_000_000
_DATED: Final = re.compile(r"-\d{4}-\d{2}-\d{2}")
_TOKENS_PER_MESSAGE: Final = 64
"""More than any chat template adds around a message."""
_DEAREST_BASE, _DEAREST_TILE, _TILE = 2833, 5667, 512
"""The dearest published count of an image's tokens, gpt-4o-mini's by tiles."""


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per million tokens; ``date`` is "" for a profile's price."""

    tokens_in: int
    tokens_out: int
    date: str = ""

    def part(self, rate: Fraction) -> "Price":
        """Return a part of the price, rounded up."""
        tokens_in, tokens_out = (
            math.ceil(rate * whole) for whole in (self.tokens_in, self.tokens_out)
        )
        return Price(tokens_in, tokens_out, self.date)

    def of(self, usage: Usage) -> int | None:
        """Return micro-dollars, rounded half up; None if token counts are unknown."""
        if usage.tokens_in is None or usage.tokens_out is None:
            return None
        total = self.tokens_in * usage.tokens_in + self.tokens_out * usage.tokens_out
        return (2 * total + _MILLION) // (2 * _MILLION)


def _listed(dollars_in: str, dollars_out: str) -> Price:
    return Price(_micro(dollars_in), _micro(dollars_out), PRICES_DATE)


def _micro(dollars: str) -> int:
    whole, _, part = dollars.partition(".")
    return int(whole) * _MILLION + int(part.ljust(6, "0"))


OPENAI_PRICES: Final[Mapping[str, Price]] = MappingProxyType(
    {
        "gpt-4o": _listed("2.50", "10.00"),
        "gpt-4.1": _listed("2.00", "8.00"),
        "gpt-5": _listed("1.25", "10.00"),
        "gpt-5-mini": _listed("0.25", "2.00"),
    }
)
"""OpenAI's prices by model; a dated snapshot of a model costs what the model does."""


def price_of(profile: ModelProfile) -> Price | None:
    """Return what a model's tokens cost, at the batch rate if it is asked in batches.

    None if the price is unknown.
    """
    price = _price_at_once(profile)
    if price is None or not is_batched(profile):
        return price
    return price.part(Fraction(str(profile.settings.get("batch_rate", BATCH_RATE))))


def _price_at_once(profile: ModelProfile) -> Price | None:
    price_in = profile.settings.get("price_in")
    price_out = profile.settings.get("price_out")
    if isinstance(price_in, int) and isinstance(price_out, int):
        return Price(price_in, price_out)
    if profile.settings.get("server") != "openai":
        return None
    model = _DATED.sub("", str(profile.settings.get("model")))
    return OPENAI_PRICES.get(model)


def is_priced(profile: ModelProfile) -> bool:
    """Tell whether asking this model is known to cost money."""
    price = price_of(profile)
    return price is not None and (price.tokens_in > 0 or price.tokens_out > 0)


def is_unpriced(profile: ModelProfile) -> bool:
    """Tell whether a model is on a remote server and has no known price."""
    endpoint = endpoint_of(profile)
    elsewhere = endpoint is not None and not endpoint.is_here
    return elsewhere and price_of(profile) is None


def may_cost(profile: ModelProfile) -> bool:
    """Tell whether asking this model costs money, as far as is known."""
    return is_priced(profile) or is_unpriced(profile)


def most_of_request(profile: ModelProfile, request: ModelRequest) -> Usage:
    """Return the maximum tokens of a question and of its answer.

    A token of text is at least one byte. An image counts by the formula of the
    profile's ``provider_view`` if it has one, else by the most expensive one published.
    An answer has at most the tokens that the profile allows.
    """
    texts = [
        part.text
        for message in request.messages
        for part in message.parts
        if isinstance(part, TextPart)
    ]
    sizes = [png_size(image.png) for image in request.images]
    schema = len(json.dumps(schema_of(request)).encode())
    return most_tokens(profile, texts, sizes, len(request.messages), schema)


def most_tokens(
    profile: ModelProfile,
    texts: list[str],
    images: list[SizePx],
    messages: int,
    schema_bytes: int = 0,
) -> Usage:
    """Return the maximum tokens of a question given by its parts, and of its answer."""
    settings = with_defaults(profile, spec_of(profile)).settings
    text_bytes = sum(len(text.encode()) for text in texts)
    seen = sum(image_tokens(size, settings.get("provider_view")) for size in images)
    asked = text_bytes + seen + schema_bytes + messages * _TOKENS_PER_MESSAGE
    longest = settings.get("max_completion_tokens") or settings.get("max_tokens") or 0
    return Usage(asked, int(str(longest)))


def image_tokens(sent: SizePx, provider_view: object = None) -> int:
    """Return the maximum tokens that an image of ``sent`` pixels can cost."""
    if isinstance(provider_view, str):
        known = provider_view_named(provider_view).tokens(sent)
        if known is not None:
            return known
    seen = PROVIDER_VIEWS["openai_high"].seen(sent)
    tiles = -(-seen.rows // _TILE) * -(-seen.columns // _TILE)
    counts = (view.tokens(sent) or 0 for view in PROVIDER_VIEWS.values())
    return max(_DEAREST_BASE + _DEAREST_TILE * tiles, *counts)


def most_microusd(profile: ModelProfile, request: ModelRequest) -> int:
    """Return the maximum cost of a question by the known prices.

    It is 0 for a model without a price: no ceiling can be enforced with a remote one
    (`is_unpriced`).
    """
    price = price_of(profile)
    if price is None:
        return 0
    return price.of(most_of_request(profile, request)) or 0


def png_size(png: bytes) -> SizePx:
    """Return the size that the header of a PNG declares (PNG 1.2, 11.2.2)."""
    columns, rows = struct.unpack(">II", png[16:24])
    return SizePx(rows, columns)
