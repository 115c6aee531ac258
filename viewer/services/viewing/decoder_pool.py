"""The decoding processes shared by every command and the window's own work.

They are few and reused: starting one takes about half a second, a call a fraction of a
millisecond in addition to copying its result.
"""

import atexit
import os
import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from viewer.readers.files.isolation import isolate_with
from viewer.services.viewing.decoder import DecodingProcess
from viewer.services.viewing.decoder_limits import DecoderLimits, read_limits

T = TypeVar("T")
_PROCESSES: Final = min(4, os.cpu_count() or 1)


class DecoderPool:
    """Calls readers in a few processes, starting another only if all are busy.

    Thread-safe; a caller waits if all are busy.
    """

    def __init__(self, limits: DecoderLimits, processes: int = _PROCESSES) -> None:
        self._decoders = tuple(DecodingProcess(limits) for _ in range(processes))
        # The one last used comes first: the others begin only when they are needed.
        self._free: queue.LifoQueue[DecodingProcess] = queue.LifoQueue()
        for decoder in self._decoders:
            self._free.put(decoder)

    def __call__(
        self,
        function: Callable[..., T],
        path: Path,
        arguments: tuple[object, ...],
        named: dict[str, Any],
    ) -> T:
        """Return what the function returns in another process; also its exception."""
        decoder = self._free.get()
        try:
            return decoder.call(function, path, arguments, named)
        finally:
            self._free.put(decoder)

    def close(self) -> None:
        """End the processes; a call in progress raises."""
        for decoder in self._decoders:
            decoder.close()


def read_files_elsewhere() -> DecoderPool:
    """Run every isolated reader of this process in shared decoding processes.

    Those processes end with this one. An invalid limit in the environment raises.
    """
    pool = DecoderPool(read_limits())
    isolate_with(pool)
    atexit.register(pool.close)
    if hasattr(os, "register_at_fork"):
        # The pipes are the parent's; two must not talk through them.
        os.register_at_fork(after_in_child=_stop_isolating)
    return pool


def _stop_isolating() -> None:
    isolate_with(None)
