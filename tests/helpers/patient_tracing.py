"""Threads that start while another installs its trace function wait for it.

Until Python 3.12 a thread that is started under coverage dies before it runs if another
thread is inside ``sys.settrace`` at that moment, which an audit hook makes likely
(python/cpython#98257): the guard against recursion is one for all threads.
"""

import sys
import threading
import time
from typing import Any

_A_MOMENT = 0.001


class _PatientSys:
    """What :mod:`threading` takes for ``sys``: its ``settrace`` tries again."""

    def __getattr__(self, name: str) -> object:
        return getattr(sys, name)

    @staticmethod
    def settrace(function: Any) -> None:  # noqa: ANN401 - as sys.settrace takes it
        while True:
            try:
                sys.settrace(function)
            except RuntimeError:
                time.sleep(_A_MOMENT)
            else:
                return


def install() -> None:
    """Let threads of this process wait, where its Python needs it."""
    if sys.version_info < (3, 12):
        threading._sys = _PatientSys()  # type: ignore[attr-defined]
