"""The server that comes with transformers, with a tiny LLaVA, as a child process."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import tiny_vlm

_NEEDED = ("torch", "transformers", "accelerate", "fastapi", "uvicorn")


@contextlib.contextmanager
def transformers_server(folder: Path, timeout_s: float = 600.0) -> Iterator[str]:
    """Write the tiny model into a folder, serve it there and yield the base URL.

    The model's name is the folder's path; nothing is fetched.
    """
    for module in _NEEDED:
        pytest.importorskip(module, reason=f"transformers serve needs {module}")
    tiny_vlm.build("llava", folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    command = [str(Path(sys.executable).parent / "transformers"), *words, str(folder)]
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub")}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **offline}, stdout=log, stderr=log
        )
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}/health", process, timeout_s)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.communicate()


def _wait_until_ready(
    url: str, process: "subprocess.Popen[bytes]", timeout_s: float
) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=60):  # noqa: S310 - loopback
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("the server was not ready in time")
