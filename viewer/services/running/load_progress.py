"""How far the models of a run are that are fetched or loaded while it waits."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import Self

from viewer.domain.run import ModelLoading
from viewer.models.loaded import NOTHING_MORE, Loadable


class LoadWatch:
    """Keeps what is to be told of each model's loading, whichever thread loads it.

    Of steps that do the same, such as downloading, only the last is told.

    Parameters
    ----------
    run : int
        The run whose events are made.
    models : iterable of (str, Loadable)
        Its models that are loaded before they are asked, with their names.
    """

    def __init__(self, run: int, models: Iterable[tuple[str, Loadable]]) -> None:
        self._run, self._models = run, tuple(models)
        self._lock = Lock()
        self._steps: list[ModelLoading] = []
        self._told: dict[str, str] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        for name, adapter in self._models:
            self._open.enter_context(adapter.watch(partial(self._hear, name)))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _hear(self, name: str, part: float, what: str) -> None:
        step = ModelLoading(self._run, name, part, what)
        with self._lock:
            if self._steps and _kind(self._steps[-1]) == _kind(step):
                self._steps.pop()
            self._steps.append(step)

    def news(self) -> Iterator[ModelLoading]:
        """Return the steps that came since this was asked last."""
        with self._lock:
            steps, self._steps = self._steps, []
        for step in steps:
            if step.what != NOTHING_MORE or self._told.get(step.model, NOTHING_MORE):
                self._told[step.model] = step.what
                yield step


def _kind(step: ModelLoading) -> tuple[str, str]:
    """Return what a step does, without how much of it."""
    return step.model, step.what.partition(",")[0]
