import sys
from pathlib import Path

import pytest

from tests.helpers.forked import run_program
from viewer.domain.errors import StoreError, UnreadableInputError
from viewer.domain.exchange import RawReply, ReplyKind, Usage
from viewer.store import rescued
from viewer.store.database import open_store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.saved_replies import (
    ReplyFile,
    SavedReply,
    abandoned_reply_files,
    read_rescue_file,
    write_rescue_file,
)

RAW = RawReply(ReplyKind.PLAIN, b'{"text": "D4"}\x00\xff', 200, {"a": "\u0101"}, 7)


def saved(n: int, attempt: int = 0) -> SavedReply:
    record = ReplyRecord(RAW, Usage(3, None), 12, "m", True, f"2026-01-0{n}")
    return SavedReply(attempt, f"{n:064x}", record)


def test_that_a_rescue_file_holds_every_part_of_a_reply(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write_rescue_file(path, "store", [saved(1), saved(2)])
    file = read_rescue_file(path)
    assert (file.store, file.replies) == ("store", (saved(1), saved(2)))


def test_that_a_rescue_file_is_taken_in_once_however_often_it_is_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.jsonl"
    write_rescue_file(path, "another", [saved(1), saved(2)])
    with open_store(tmp_path / "s.sqlite") as store:
        counts = [store.take_in(read_rescue_file(path)) for _ in range(3)]
        assert counts == [2, 0, 0]
        assert rescued.waiting_reply(store, saved(2).request_sha256) == saved(2).record
        assert rescued.waiting_reply(store, saved(3).request_sha256) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"[" * 100_000,
        lambda b: b.replace(b"overread replies 1", b"something else"),
        lambda b: b.replace(b'"kind": "plain"', b'"kind": "other"'),
        lambda b: b.replace(b'"latency_ms": 7', b'"latency_ms": "x"'),
        lambda b: b.replace(b'"tokens_in": 3', b'"tokens_in": "3"'),
        lambda b: b.replace(b'"body": "', b'"body": "!'),
        lambda b: b.replace(b"0000", b"zzzz"),
        lambda b: b[:-20],
    ],
)
def test_that_a_malformed_rescue_file_is_refused_with_a_sentence(
    tmp_path: Path, damage: "object"
) -> None:
    path = tmp_path / "r.jsonl"
    write_rescue_file(path, "s", [saved(1)])
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UnreadableInputError, match="rescue file"):
        read_rescue_file(path)


def test_that_a_missing_rescue_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="cannot be read"):
        read_rescue_file(tmp_path / "none")


def test_that_a_reply_file_is_left_alone_during_its_run_and_loses_a_torn_end(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with ReplyFile(path, "s") as reply_file:
        reply_file.keep([saved(1)])
        reply_file.keep([saved(1)])  # attempt 0 is there already
        with abandoned_reply_files(path) as files:
            assert files == ()
    (file,) = tmp_path.glob("*.replies")
    file.write_bytes(file.read_bytes().partition(b"\0")[0] + b'{"attempt": 1, "re')
    with abandoned_reply_files(path) as files:
        assert [one.replies for one in files] == [(saved(1),)]
    assert list(tmp_path.glob("*.replies")) == []


def test_that_a_reply_file_whose_replies_are_stored_is_removed(tmp_path: Path) -> None:
    with ReplyFile(tmp_path / "s.sqlite", "s") as reply_file:
        reply_file.keep([saved(1, 1), saved(2, 2)])
        reply_file.forget([1])
        reply_file.forget([2])
        reply_file.forget([3])
        assert reply_file.held == {}
    assert list(tmp_path.iterdir()) == []


def test_that_a_folder_without_room_for_a_reply_file_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="No file can be created next to the store"),
        ReplyFile(tmp_path / "none" / "s.sqlite", "s"),
    ):
        pytest.fail("there is no such folder")


def test_that_a_reply_file_that_takes_no_more_says_that_it_failed(
    tmp_path: Path,
) -> None:
    code = (
        "import resource, sys; from pathlib import Path;"
        "from tests.unit.store.test_saved_replies import RAW, saved;"
        "from viewer.store.saved_replies import *;"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500));"
        "reply_file = ReplyFile(Path(sys.argv[1]), 's').__enter__();"
        "reply_file.keep([saved(1, 1)]); reply_file.keep([saved(2, 2)]);"
        "print(reply_file.failed, len(reply_file.give_up()), len(reply_file.held))"
    )
    if sys.platform == "win32":
        pytest.skip("needs a limit on the size of files")
    done = run_program(tmp_path / "s.sqlite", code=code)
    assert done.stdout.split() == ["True", "2", "0"], done.stderr
