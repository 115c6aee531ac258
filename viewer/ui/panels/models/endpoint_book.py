"""What the worker found out about endpoints: capabilities and offered models."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from viewer.domain.plain import made
from viewer.domain.probe import ProbeRow
from viewer.services.configuring.known_cards import KnownFit
from viewer.services.configuring.new_models import NewModel
from viewer.services.worker.background import WorkerDied, WorkerReply
from viewer.ui.application.app_context import WorkerBridge


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """A server offers these models."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundHere:
    """Servers on this machine have these models; ``looking`` on for more of them.

    ``fits`` tell which known models fit this computer, once that is known.
    """

    models: tuple[NewModel, ...]
    looking: bool
    fits: tuple[KnownFit, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointFailed:
    """An endpoint could not be asked."""

    sentence: str


class EndpointBook(QObject):
    """Tests and lists endpoints in the worker; holds the results of this session."""

    changed = Signal()
    listed = Signal(object)
    """ModelsListed"""
    found_here = Signal(object)
    """FoundHere"""
    failed = Signal(object)
    """EndpointFailed"""

    def __init__(self, worker: WorkerBridge, parent: QObject) -> None:
        super().__init__(parent)
        self._worker = worker
        self._found: dict[str, tuple[ProbeRow, ...]] = {}
        self._tests: dict[int, str] = {}
        self._lists: set[int] = set()
        self._finds: set[int] = set()
        worker.message.connect(self._hear)

    def found(self, name: str) -> tuple[ProbeRow, ...]:
        """Return the test results of a model's endpoint, none before a test."""
        return self._found.get(name, ())

    def is_tested(self, name: str) -> bool:
        """Return whether a model's endpoint is being tested."""
        return name in self._tests.values()

    def test(self, name: str) -> None:
        """Test what a model's endpoint supports."""
        if not self.is_tested(name):
            self._tests[self._worker.probe_model(name)] = name
            self.changed.emit()

    def stop(self, name: str) -> None:
        """Stop the test of a model's endpoint."""
        self._worker.cancel_probe(name)

    def list_models(self, table: Mapping[str, object]) -> None:
        """Ask which models the server of a profile offers."""
        self._lists.add(self._worker.list_models(table))

    def find(self) -> None:
        """Ask which models servers on this machine have, then what they see."""
        self._finds = {self._worker.find_models(ask=ask) for ask in (False, True)}

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerReply) and message.id in self._tests:
            self._end_test(message)
        elif isinstance(message, WorkerReply) and message.id in self._lists:
            self._end_list(message)
        elif isinstance(message, WorkerReply) and message.id in self._finds:
            self._end_find(message)
        elif isinstance(message, WorkerDied):
            self._tests.clear()
            self._lists.clear()
            self._finds.clear()
            self.changed.emit()

    def _end_test(self, reply: WorkerReply) -> None:
        name = self._tests.pop(reply.id)
        if reply.ok is None:
            self._found.pop(name, None)
            self.failed.emit(EndpointFailed(reply.sentence))
        else:
            self._found[name] = _rows_of(reply.ok)
        self.changed.emit()

    def _end_list(self, reply: WorkerReply) -> None:
        self._lists.discard(reply.id)
        names = (reply.ok or {}).get("listed")
        if isinstance(names, list):
            self.listed.emit(ModelsListed(tuple(names)))
        else:
            self.failed.emit(EndpointFailed(reply.sentence))

    def _end_find(self, reply: WorkerReply) -> None:
        self._finds.discard(reply.id)
        if reply.ok is None:
            self.failed.emit(EndpointFailed(reply.sentence))
        found = (reply.ok or {}).get("found", ())
        models = made(tuple[NewModel, ...], found, where="the worker's reply")
        told = (reply.ok or {}).get("fits", ())
        fits = made(tuple[KnownFit, ...], told, where="the worker's reply")
        self.found_here.emit(FoundHere(models, bool(self._finds), fits))


def _rows_of(ok: Mapping[str, object]) -> tuple[ProbeRow, ...]:
    report = ok.get("probed")
    rows = report["rows"] if isinstance(report, dict) else []
    return made(tuple[ProbeRow, ...], rows, where="the worker's reply")
