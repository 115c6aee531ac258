"""Size of the store, and requests to models since the window opened."""

from dataclasses import dataclass
from pathlib import Path

from viewer.domain.counting import counted, size_words
from viewer.store import usage
from viewer.store.database import open_store
from viewer.store.usage import LedgerPlace


@dataclass(frozen=True, slots=True)
class SessionUse:
    """Requests sent since ``start`` and their cost, in micro-dollars.

    ``unpriced`` of them were answered by a remote model without a known price.
    ``cache_bytes`` is the size of the stored images as sent, up to ``seen``; later ones
    are added incrementally.
    """

    start: LedgerPlace
    seen: LedgerPlace
    requests: int = 0
    cost_microusd: int = 0
    cache_bytes: int = 0
    unpriced: int = 0

    @property
    def words(self) -> str:
        """Text such as ``3 requests $0.00 · cache 212 MB``."""
        asked = counted(self.requests, "request")
        dollars = self.cost_microusd / 1_000_000
        unknown = f" + {self.unpriced} of unknown price" if self.unpriced else ""
        cache = size_words(self.cache_bytes)
        return f"{asked} ${dollars:.2f}{unknown} · cache {cache}"


def session_use(store: Path, before: SessionUse | None = None) -> SessionUse:
    """Return the current use; without an earlier one a session begins."""
    with open_store(store) as opened:
        now = usage.ledger_place(opened)
        if before is None:
            size = usage.image_bytes(opened, after=0, until=now.image)
            return SessionUse(now, now, cache_bytes=size)
        asked, cost, unpriced = usage.asked_since(opened, before.start)
        grown = usage.image_bytes(opened, after=before.seen.image, until=now.image)
    held = before.cache_bytes + grown
    return SessionUse(before.start, now, asked, cost, held, unpriced)
