"""A clock that moves only when it is told to, so that tests need no real time."""

from threading import Lock


class ScriptedClock:
    """Stands for the module ``time`` where only ``perf_counter`` is asked of it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = Lock()

    def pass_(self, seconds: float) -> None:
        """Let so much time go by."""
        with self._lock:
            self.seconds += seconds

    def perf_counter(self) -> float:
        """Return the seconds since the clock was made."""
        return self.seconds
