"""A model that Ollama downloads to this machine: its progress, and what goes wrong.

Formats: ``PullRequest``, ``StatusEvent`` and ``ErrorResponse`` of ``POST /api/pull``
(docs/openapi.yaml of github.com/ollama/ollama). The reply is a JSON object a line, the
last with the status ``success`` or with an error. Ollama continues what it began to
download when it is asked again (docs/api.md). Versions as of issue 13142 there go on
with a file after the connection was closed.
"""

import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from viewer.domain.documents import read_json
from viewer.domain.errors import DiskFullError, OverreadError, WrongUseError
from viewer.models.endpoint import LOCAL_ONLY, Endpoint, endpoint_at
from viewer.models.loaded import (
    LoadCancelledError,
    Progress,
    check_cancelled,
    received_words,
    until_cancelled,
)
from viewer.models.openai_api.servers import in_ollamas_cloud
from viewer.models.provider_errors import quotation

_TIMEOUT: Final = httpx2.Timeout(5.0, read=None)
"""Seconds to connect; while Ollama verifies a large file it says nothing for long."""
_REGISTRY: Final = "https://registry.ollama.ai"
"""From where Ollama gets models."""
_MB: Final = 1e6
_LONGEST_LINE: Final = 1_000_000
"""Bytes; Ollama's lines have some hundred."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What words of Ollama mean; ``{}`` in ``what`` is the model's name.

    ``{missing}`` says how much of it is not here yet.
    """

    words: tuple[str, ...]
    error: type[OverreadError]
    what: str
    how: str


_MEANINGS: Final = (
    _Meaning(
        ("no space left", "not enough space", "disk quota"),
        DiskFullError,
        "The disk is full, so Ollama could not get '{}'{missing}",
        "Free some space and try again.",
    ),
    _Meaning(
        ("file does not exist", "invalid model name", "not found"),
        WrongUseError,
        "Ollama knows no model called '{}'",
        "Look up its name, such as medgemma:4b, at https://ollama.com/search.",
    ),
    _Meaning(
        (
            "no such host", "dial tcp", "unreachable", "timeout", "reset", "eof",
            "max retries",
        ),
        WrongUseError,
        "Ollama could not reach the place from which it gets '{}'",
        "Check the connection to the internet and try again.",
    ),
    _Meaning(
        ("",),
        WrongUseError,
        "Ollama could not get '{}'",
        "Do what it says, or look into Ollama's log, and try again.",
    ),
)  # fmt: skip
"""The first whose words are in what Ollama says; the last takes all others."""


def pull(
    base_url: str, model: str, progress: Progress, cancelled: threading.Event
) -> None:
    """Let Ollama download a model, and wait until all of it is here.

    Parameters
    ----------
    base_url : str
        Of an Ollama on this machine, as a profile has it.
    model : str
        The model's name, such as medgemma:4b.
    progress : Progress
        Told what part of the files that Ollama has named so far is here.
    cancelled : Event
        Closes the connection when it is set.

    Raises
    ------
    LoadCancelledError
        Soon after ``cancelled`` was set.
    PrivacyError
        If the address is not on this machine, or an administrator forbids downloads.
    DiskFullError
        If Ollama's disk is full.
    WrongUseError
        If Ollama knows no such model, cannot get it, or does not answer any more.
    """
    if in_ollamas_cloud(model):
        raise WrongUseError(
            f"'{model}' runs on the computers of Ollama's company, so images would "
            "leave this one.",
            "Get a model whose name does not end in cloud.",
        )
    endpoint = endpoint_at(base_url)
    LOCAL_ONLY.check(endpoint)
    endpoint_at(_REGISTRY).check_policy()
    _Pull(endpoint, model, progress, cancelled).run()


class _Pull:
    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        progress: Progress,
        cancelled: threading.Event,
    ) -> None:
        self._endpoint, self._model = endpoint, model
        self._progress, self._cancelled = progress, cancelled
        self._socket: socket.socket | None = None
        self._files: dict[str, tuple[int, int]] = {}

    def run(self) -> None:
        """Wait for the end of the download, or close the connection."""
        try:
            until_cancelled(self._follow, self._cancelled)
        except LoadCancelledError:
            self._disconnect()
            raise

    def _follow(self) -> None:
        try:
            ended = self._ask()
        except httpx2.HTTPError as error:
            raise self._gone() from error
        except ValueError as error:
            raise WrongUseError(
                f"The server at {self._endpoint.address} does not answer as Ollama "
                "does.",
                "Check which program listens there, or update Ollama.",
            ) from error
        if not ended:
            raise self._gone()

    def _ask(self) -> bool:
        """Return whether Ollama said that it has the whole model."""
        with (
            httpx2.Client(
                timeout=_TIMEOUT, trust_env=False, follow_redirects=False
            ) as client,
            client.stream(
                "POST",
                f"{self._endpoint.origin}/api/pull",
                json={"model": self._model, "stream": True},
                extensions={"trace": self._trace},
            ) as reply,
        ):
            return any(self._hear(line) for line in _lines(reply))

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Keep the connection, so that it can be closed while Ollama says nothing."""
        if event == "connection.connect_tcp.complete":
            self._socket = info["return_value"].get_extra_info("socket")

    def _disconnect(self) -> None:
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                self._socket = None  # it ended in the same moment

    def _hear(self, line: bytes) -> bool:
        """Take a line of Ollama's; return whether it is the last."""
        check_cancelled(self._cancelled)
        event = read_json(line)
        if not isinstance(event, dict) or not event.keys() & {"status", "error"}:
            raise ValueError("a line has neither a status nor an error")
        if "error" in event:
            here, total = self._amounts()
            raise _refused(self._model, str(event["error"]), total - here)
        self._tell(event)
        return bool(event["status"] == "success")

    def _tell(self, event: Mapping[str, object]) -> None:
        digest, total = event.get("digest"), event.get("total")
        if isinstance(digest, str) and isinstance(total, int):
            here = event.get("completed")  # missing until something is here
            self._files[digest] = (here if isinstance(here, int) else 0, total)
            words = received_words(*self._amounts())
        else:
            words = str(event["status"])
        here, total = self._amounts()
        self._progress(min(here / total, 1.0) if total else 0.0, words)

    def _amounts(self) -> tuple[int, int]:
        """Return the bytes that are here, and those of all files named so far."""
        files = self._files.values()
        return sum(here for here, _ in files), sum(total for _, total in files)

    def _gone(self) -> WrongUseError:
        return WrongUseError(
            f"Ollama at {self._endpoint.address} does not answer any more; it keeps "
            "what has arrived.",
            "Start Ollama and try again.",
        )


def _refused(model: str, said: str, missing: int) -> OverreadError:
    words = said.casefold()
    meaning = next(m for m in _MEANINGS if any(word in words for word in m.words))
    more = f", of which {missing / _MB:.1f} MB are missing" if missing else ""
    what = meaning.what.format(model, missing=more)
    return meaning.error(f"{what}{quotation(said, '')}.", meaning.how)


def _lines(reply: httpx2.Response) -> Iterator[bytes]:
    """Yield lines that are not empty; raises ``ValueError`` if one is endless."""
    rest = b""
    for chunk in reply.iter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        yield from filter(bytes.strip, lines)
        if len(rest) > _LONGEST_LINE:
            raise ValueError("a line is too long")
    yield from filter(bytes.strip, (rest,))
