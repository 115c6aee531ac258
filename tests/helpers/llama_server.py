"""llama.cpp's own server (xllamacpp) with the tiny model, in a process of its own."""

import contextlib
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.helpers.tiny_gguf import write_tiny_model

MODEL = "tiny-vlm"
_ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def llama_server(
    folder: Path, key: str = "", timeout_s: float = 600.0
) -> Iterator[str]:
    """Write the tiny model into a folder, serve it and yield the base URL.

    The server ends with the block; it also ends by itself when this process dies,
    because its standard input then ends.
    """
    llm, eye = write_tiny_model(folder)
    command = [sys.executable, "-m", __name__, str(llm), str(eye), key]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        url = _address(process, timeout_s)
        wait_until_ready(url, process, timeout_s)
        yield f"{url}/v1"
    finally:
        process.kill()
        process.communicate()


def _address(process: "subprocess.Popen[str]", timeout_s: float) -> str:
    watch = threading.Timer(timeout_s, process.kill)
    watch.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("listening "):
                return line.split()[1]
    finally:
        watch.cancel()
    raise AssertionError(f"the server ended with {process.wait()} before it listened")


def wait_until_ready(
    url: str, process: "subprocess.Popen[Any]", timeout_s: float
) -> None:
    """Wait until a server that runs in a process says that it can answer."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=60):  # noqa: S310 - loopback
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AssertionError("the server was not ready in time")


def main() -> None:
    """Serve until standard input ends."""
    import xllamacpp

    llm, eye, key = sys.argv[1:4]
    params = xllamacpp.CommonParams()
    params.model.path = llm
    params.mmproj.path = eye
    params.model_alias = {MODEL}
    params.n_ctx = 2048
    params.n_parallel = 1
    # Several threads would spin while they wait for one another.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.fit_params = False
    params.cache_prompt = False  # the same question shall be the same computation
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    if key:
        params.api_keys = [key]
    server = xllamacpp.Server(params)
    sys.stdout.write(f"listening {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
