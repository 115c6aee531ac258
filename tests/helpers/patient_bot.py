"""A hand on windows that waits as long as a busy machine needs."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import SignalInstance
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

LIMIT_MS: Final = 300_000
"""A condition that is not met after this never will be."""


class PatientBot(QtBot):
    """Waits for conditions and signals for minutes, whatever a test names at least."""

    def waitUntil(  # noqa: N802 - pytest-qt's name
        self, callback: Callable[[], bool | None], *, timeout: int = LIMIT_MS
    ) -> None:
        """Wait until something is true."""
        super().waitUntil(callback, timeout=max(timeout, LIMIT_MS))

    def waitSignal(  # noqa: N802 - pytest-qt's name
        self,
        signal: SignalInstance,
        *,
        timeout: int = LIMIT_MS,
        raising: bool | None = None,
        check_params_cb: Callable[..., bool] | None = None,
    ) -> SignalBlocker:
        """Return a context that waits for a signal; without raising, no longer."""
        longest = timeout if raising is False else max(timeout, LIMIT_MS)
        return super().waitSignal(
            signal, timeout=longest, raising=raising, check_params_cb=check_params_cb
        )
