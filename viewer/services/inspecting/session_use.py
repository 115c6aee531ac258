"""What the store holds and what was asked of models since the window opened."""

from dataclasses import dataclass
from pathlib import Path

from viewer.domain.counting import counted
from viewer.store import usage
from viewer.store.database import open_store
from viewer.store.usage import LedgerPlace


@dataclass(frozen=True, slots=True)
class SessionUse:
    """Requests that left and what they cost, in micro-dollars, since ``start``.

    ``unpriced`` of them were answered beyond this machine at a price nobody said.
    ``cache_bytes`` are the images that the store keeps as they were sent, up to
    ``seen``; adding what came later is cheap.
    """

    start: LedgerPlace
    seen: LedgerPlace
    requests: int = 0
    cost_microusd: int = 0
    cache_bytes: int = 0
    unpriced: int = 0

    @property
    def words(self) -> str:
        """Such words as ``3 requests $0.00 · cache 212 MB``."""
        asked = counted(self.requests, "request")
        dollars = self.cost_microusd / 1_000_000
        unknown = f" + {self.unpriced} of unknown price" if self.unpriced else ""
        cache = size_words(self.cache_bytes)
        return f"{asked} ${dollars:.2f}{unknown} · cache {cache}"


def session_use(store: Path, before: SessionUse | None = None) -> SessionUse:
    """Return the use now; without an earlier one a session begins."""
    with open_store(store) as opened:
        now = usage.ledger_place(opened)
        if before is None:
            size = usage.image_bytes(opened, after=0, until=now.image)
            return SessionUse(now, now, cache_bytes=size)
        asked, cost, unpriced = usage.asked_since(opened, before.start)
        grown = usage.image_bytes(opened, after=before.seen.image, until=now.image)
    held = before.cache_bytes + grown
    return SessionUse(before.start, now, asked, cost, held, unpriced)


def size_words(n_bytes: int) -> str:
    """Return a size in the largest unit of which it has at least one."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.{1 if n_bytes < 10 * size else 0}f} {unit}"
    return f"{n_bytes} B"
