import socket
import subprocess
import sys

import pytest

REACH = "import socket; socket.create_connection(('192.0.2.7', 9), timeout=0.2)"


def test_that_no_test_reaches_another_machine() -> None:
    with (
        socket.socket() as stream,
        pytest.raises(ConnectionRefusedError, match=r"192\.0\.2\.7"),
    ):
        stream.connect(("192.0.2.7", 9))
    with (
        socket.socket(type=socket.SOCK_DGRAM) as datagrams,
        pytest.raises(ConnectionRefusedError, match="sendto"),
    ):
        datagrams.sendto(b"x", ("192.0.2.7", 9))


def test_that_no_test_asks_for_the_address_of_another_machine() -> None:
    with pytest.raises(ConnectionRefusedError, match=r"api\.example\.org"):
        socket.getaddrinfo("api.example.org", 443)


def test_that_what_a_test_starts_is_held_too() -> None:
    done = subprocess.run([sys.executable, "-c", REACH], capture_output=True, text=True)
    assert "a test reached for '192.0.2.7'" in done.stderr


def test_that_this_machine_can_be_reached() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5) as made,
    ):
        assert made.getpeername() == server.getsockname()
