"""A trial run of a model in a separate process, before it is loaded in this one.

llama.cpp refuses most files that do not match with an error, but a projector with
unexpected tensor names or sizes aborts the whole process. In a separate process that
does no harm: the run continues with other models, and the message names the files.
"""

import base64
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.image import Raster
from viewer.imaging.png import encode_png
from viewer.models.gguf_local.engine import EngineSettings, make_engine
from viewer.models.gguf_local.files import GgufModel, open_model
from viewer.models.loaded import check_cancelled

WORD: Final = "_rehearse_gguf"
"""The hidden first argument with which the program runs itself as this process."""
_REFUSED: Final = 3
_POLL_S: Final = 0.05
_SIDE: Final = 64
_LIMIT_S: Final = 900.0
_ENOUGH_TOKENS: Final = 4096

_passed: set[tuple[object, ...]] = set()


def rehearse(
    model: GgufModel,
    settings: EngineSettings,
    cancelled: threading.Event,
    command: Callable[[Sequence[str]], Sequence[str]] | None = None,
    limit_s: float = _LIMIT_S,
) -> None:
    """Try out a model, unless that was already done in this process.

    ``command`` returns the separate process's command line for its arguments; a trial
    that has not ended after ``limit_s`` counts as failed.

    Raises
    ------
    WrongUseError
        If the separate process crashed.
    LoadCancelledError
        Soon after ``cancelled`` was set.
    """
    key = _key(model, settings)
    if key in _passed:
        return
    process = subprocess.Popen(  # noqa: S603 - our own program
        (command or _command)(_arguments(model, settings)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"GGML_NO_BACKTRACE": "1"},  # else it starts a debugger
    )
    end = time.monotonic() + limit_s
    try:
        while process.poll() is None and time.monotonic() < end:
            cancelled.wait(_POLL_S)
            check_cancelled(cancelled)
    finally:
        process.kill()
        process.wait()
    if process.returncode not in (0, _REFUSED):
        raise _crashed(model)
    _passed.add(key)


def perform(
    model: str, projector: str, context: str, gpu_layers: str, threads: str
) -> None:
    """Load a model, ask it about a grey square, and exit; in the trial's process."""
    settings = EngineSettings(int(context), int(gpu_layers), int(threads))
    try:
        files = open_model(Path(model), Path(projector) if projector else None)
        engine = make_engine(files, settings)
        engine.handle_chat_completions(_question(files), lambda _piece: False)
    except (OverreadError, RuntimeError, ValueError):
        sys.exit(_REFUSED)  # the process that loads it will say why


def _command(arguments: Sequence[str]) -> Sequence[str]:
    """Return the command line; a frozen program runs itself again."""
    program = [sys.executable]
    if not getattr(sys, "frozen", False):
        program += ["-m", "viewer"]
    return [*program, WORD, *arguments]


def _arguments(model: GgufModel, settings: EngineSettings) -> tuple[str, ...]:
    projector = "" if model.eye is None else str(model.eye.path)
    # The trial asks one short question, and a larger context only takes memory.
    context = min(settings.context, _ENOUGH_TOKENS)
    numbers = (context, settings.gpu_layers, settings.threads)
    return (str(model.llm.path), projector, *(str(n) for n in numbers))


def _key(model: GgufModel, settings: EngineSettings) -> tuple[object, ...]:
    """Return the key of a trial: the files in their current state, and the device."""
    eye = () if model.eye is None else (model.eye.path,)
    stats = [(path, path.stat()) for path in (*model.parts, *eye)]
    files = tuple((path, s.st_size, s.st_mtime_ns) for path, s in stats)
    return (*files, settings.gpu_layers)


def _question(model: GgufModel) -> dict[str, object]:
    parts: list[dict[str, object]] = [{"type": "text", "text": "?"}]
    if model.eye is not None:
        square = np.full((_SIDE, _SIDE), 128, np.uint8)
        data = base64.b64encode(encode_png(Raster(square))).decode("ascii")
        url = {"url": f"data:image/png;base64,{data}"}
        parts.insert(0, {"type": "image_url", "image_url": url})
    return {"messages": [{"role": "user", "content": parts}], "max_tokens": 1}


def _crashed(model: GgufModel) -> WrongUseError:
    files = f"'{model.llm.path.name}'"
    if model.eye is not None:
        files += f" with the projector '{model.eye.path.name}'"
    return WrongUseError(
        f"llama.cpp crashes on {files}.",
        "Choose the projector that was published with this model, or download both "
        "again; if both are right, there may be too little memory.",
    )
