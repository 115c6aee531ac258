"""llama.cpp in this process: loading, asking and stopping, without the network.

llama.cpp's server object cannot be created without listening on something. It is given
a Unix socket in a folder that only this user may enter, and the socket's file is
removed as soon as it exists: afterwards nobody can connect to it. Windows has no such
socket, so there it listens on the loopback interface. Everywhere it requires a random
key, made for each loading and never disclosed.
"""

import contextlib
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import OverreadError, WrongUseError
from viewer.models.gguf_local.files import GgufModel
from viewer.models.gguf_local.templates import OWN, ChatTemplate, unusable

_MOST_THREADS_OF_SERVER: Final = 1
_OWN: Final = ChatTemplate(OWN)
_GIB: Final = 1 << 30
_LONGEST_SOCKET_PATH: Final = 100
"""Bytes; Linux takes 107, macOS 103."""


@dataclass(frozen=True)
class EngineSettings:
    """Options for loading a model.

    ``context`` is the maximum of question and answer in tokens, ``gpu_layers`` the
    number of layers on the GPU (negative: as many as fit), ``threads`` the number of
    CPU threads (negative: one per core).
    """

    context: int
    gpu_layers: int
    threads: int


@dataclass
class Collected:
    """An answer assembled from the pieces received so far."""

    text: list[str] = field(default_factory=list)
    thought: list[str] = field(default_factory=list)
    logprobs: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None

    def add(self, piece: Mapping[str, Any]) -> None:
        """Add a chunk of a streamed Chat Completion, or the error sent instead."""
        self.error = piece.get("error", self.error)
        self.usage = piece.get("usage") or self.usage
        for choice in piece.get("choices", ()):
            delta = choice.get("delta", {})
            self.text.append(delta.get("content") or "")
            self.thought.append(delta.get("reasoning_content") or "")
            self.logprobs += (choice.get("logprobs") or {}).get("content") or []
            self.finish_reason = choice.get("finish_reason") or self.finish_reason


def device_class(gpu_layers: int) -> str:
    """Return ``gpu`` if layers go to one that llama.cpp can use, else ``cpu``."""
    return "gpu" if gpu_layers and _gpus() else "cpu"


def check_memory(model: GgufModel, settings: EngineSettings) -> None:
    """Refuse a model that does not fit into memory, before anything is loaded.

    Raises
    ------
    WrongUseError
        With the memory needed and available.
    """
    import xllamacpp

    needed = model.weights_bytes + model.cache_bytes(settings.context)
    there = sum(d["memory_total"] for d in xllamacpp.get_device_info())
    if needed > there:
        raise WrongUseError(
            f"The model '{model.name}' needs {needed / _GIB:.1f} GB of memory; this "
            f"machine has {there / _GIB:.1f} GB.",
            "Choose a smaller model or a smaller context, or one quantized to fewer "
            "bits.",
        )


def make_engine(
    model: GgufModel, settings: EngineSettings, template: ChatTemplate = _OWN
) -> Any:  # noqa: ANN401 - untyped library
    """Load a model; ``OverreadError`` if it cannot be loaded.

    llama.cpp reports neither the file nor the reason, so the error names the likely
    one.
    """
    import xllamacpp

    # a breakdown shall end this process at once, not start a debugger on it
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    try:
        with _listening_host() as host:
            params = _parameters(model, settings, host)
            template.apply(params)
            engine = xllamacpp.Server(params)
        # one that is let go before its first answer may wait for itself for ever
        engine.handle_completions({"prompt": ".", "max_tokens": 1}, _goes_on)
    except (RuntimeError, MemoryError) as error:
        if template.file:
            raise unusable(template.file) from error
        raise _not_loaded(model, settings) from error
    return engine


@contextlib.contextmanager
def _listening_host() -> Iterator[str]:
    """Provide the address that llama.cpp's server object listens on while starting."""
    if sys.platform == "win32":
        yield "127.0.0.1"
        return
    with tempfile.TemporaryDirectory(prefix="overread-", dir=_socket_root()) as folder:
        yield str(Path(folder, "llama.sock"))  # by this ending it knows a Unix socket


def _socket_root() -> str | None:
    """Return the parent of the socket's folder, None for the default."""
    longest = Path(tempfile.gettempdir(), "overread-12345678", "llama.sock")
    return None if len(os.fsencode(longest)) <= _LONGEST_SOCKET_PATH else "/tmp"  # noqa: S108 - a folder of our own is made in it


def _parameters(model: GgufModel, settings: EngineSettings, host: str) -> Any:  # noqa: ANN401 - untyped library
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model.llm.path)
    if model.eye is not None:
        params.mmproj.path = str(model.eye.path)
    params.n_ctx = settings.context
    params.n_gpu_layers = settings.gpu_layers
    params.mmproj_use_gpu = settings.gpu_layers != 0
    params.cpuparams.n_threads = settings.threads
    params.n_parallel = 1  # the batch an answer is computed in changes its digits
    params.cache_prompt = False  # the same question shall be the same computation
    params.fit_params = False  # nothing that was set is changed silently
    params.warmup = False
    params.verbosity = -1
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    params.n_threads_http = _MOST_THREADS_OF_SERVER
    params.hostnames = [host]
    params.port = 0
    params.api_keys = [secrets.token_urlsafe(32)]
    return params


def _goes_on(_piece: Mapping[str, Any]) -> bool:
    """Ignore a piece of an answer that nobody reads."""
    return False


def _not_loaded(model: GgufModel, settings: EngineSettings) -> OverreadError:
    files = f"'{model.llm.path.name}'"
    if model.eye is not None:
        files += f" with the projector '{model.eye.path.name}'"
    needed = model.weights_bytes + model.cache_bytes(settings.context)
    return WrongUseError(
        f"llama.cpp could not load {files}.",
        f"It needs about {needed / _GIB:.1f} GB: check that this much memory is free, "
        "that the projector was published with this model, and that xllamacpp is new "
        f"enough for '{model.llm.architecture}'.",
    )


def _gpus() -> list[str]:
    import xllamacpp

    return [d["name"] for d in xllamacpp.get_device_info() if d["name"] != "CPU"]
