"""A Chat Completions server that answers every question after the same time.

Run it in its own process as ``python -m tests.helpers.late_server SECONDS``: it prints
its port and serves until its standard input ends. It takes a tenth of a millisecond of
processor time for a question, so that a measured client has the machine to itself.
"""

import asyncio
import json
import re
import sys
from typing import Final

from tests.helpers.scripted_server import completion

_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_BODY: Final = json.dumps(completion("D4")).encode()
_REPLY: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n" % len(_BODY)
) + _BODY


class _Connection(asyncio.Protocol):
    """One connection, with one question at a time."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._left = -1
        self._head = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._left < 0:
            self._head += data
            head, end, body = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            length = _LENGTH.search(head)
            self._left = int(length[1]) if length else 0
            self._head.clear()
            data = bytes(body)
        self._left -= len(data)
        if self._left <= 0:
            self._left = -1
            loop = asyncio.get_running_loop()
            loop.call_later(self._latency_s, self._transport.write, _REPLY)


async def _serve(latency_s: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(latency_s), "127.0.0.1", 0, backlog=1024
    )
    async with server:
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
