"""The questions of a batch that other batches are asking, and who asks them."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from viewer.domain.run import RunWaiting
from viewer.services.running.ledger import Asked
from viewer.store.claims import Coordinator

_PATIENCE_S: Final = 1.0
"""A batch that waits for less is not told to wait."""


class Waits:
    """Knows who is waited for, and says so once there is nothing else to do."""

    def __init__(self, run: int) -> None:
        self._run = run
        self._holders: dict[int, Coordinator] = {}
        self._idle_since: float | None = None
        self._told = ""

    def hold(self, asked: Asked, holder: Coordinator) -> None:
        """Note that a question waits for the reply to somebody else's."""
        self._holders[asked.stored.id] = holder

    def release(self, asked: Asked) -> None:
        """Note that a question waits no longer."""
        self._holders.pop(asked.stored.id, None)

    def news(self, *, idle: bool) -> Iterator[RunWaiting]:
        """Return what changed; ``idle`` where nothing of the batch is under way."""
        holders = self._waited_for(idle=idle and bool(self._holders))
        if holders != self._told:
            self._told = holders
            yield RunWaiting(self._run, holders)

    def _waited_for(self, *, idle: bool) -> str:
        now = time.monotonic()
        self._idle_since = (self._idle_since or now) if idle else None
        if self._idle_since is None or now - self._idle_since < _PATIENCE_S:
            return ""
        return ", ".join(sorted({str(holder) for holder in self._holders.values()}))


class StoreWait:
    """Tells once for each wait that a batch waits for another writer, and its end."""

    def __init__(self, run: int, tell: Callable[[RunWaiting], None]) -> None:
        self._run, self._tell = run, tell
        self._told = False

    def __call__(self, waited_s: float) -> None:
        """Hear how long the batch has waited so far."""
        if waited_s >= _PATIENCE_S and not self._told:
            self._told = True
            self._tell(RunWaiting(self._run, "", store_is_busy=True))

    def over(self) -> None:
        """Hear that the batch goes on."""
        if self._told:
            self._told = False
            self._tell(RunWaiting(self._run, ""))
