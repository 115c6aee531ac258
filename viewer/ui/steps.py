"""Long work of the GUI thread in steps, so that nobody waits for all of it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer


def run_in_steps(owner: QObject, steps: Sequence[Callable[[], object]]) -> None:
    """Do one step after the other; input and painting come between them.

    Parameters
    ----------
    owner : QObject
        With it ends what has not been done yet.
    steps : sequence of callable
        Each is done in a turn of the event loop of its own, from the next one on.
    """

    def step() -> None:
        steps[0]()
        run_in_steps(owner, steps[1:])

    if steps:
        QTimer.singleShot(0, owner, step)
