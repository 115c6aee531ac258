"""Files of replies of every kind; fixtures are written after public documentation."""

import json
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from imagecodecs import zstd_encode

from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.exchange import RawReply, ReplyKind
from viewer.domain.written_reply import WrittenReply, reply_of_row, row_of
from viewer.readers.replies.catalog import read_replies

# https://inspect.aisi.org.uk/reference/inspect_ai.log.html: EvalLog has eval (with the
# model) and samples; EvalSample has id, epoch, input, target, metadata and output, its
# choices the assistant's message and a stop_reason.
SAMPLES = (
    {
        "id": "q1",
        "epoch": 1,
        "input": "Which?",
        "target": "A",
        "metadata": {"condition": "plain"},
        "output": {
            "model": "gpt-x",
            "choices": [
                {
                    "message": {"role": "assistant", "content": "A."},
                    "stop_reason": "stop",
                }
            ],
        },
    },
    {
        "id": 2,
        "epoch": 2,
        "output": {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": [
                            {"type": "reasoning", "reasoning": "Hm."},
                            {"type": "text", "text": "B,"},
                            {"type": "text", "text": "beca"},
                        ],
                    },
                    "stop_reason": "max_tokens",
                }
            ]
        },
    },
    {"id": "failed", "epoch": 1, "error": {"message": "timeout"}},
    {
        "id": "none",
        "epoch": 1,
        "output": {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": [
                            {"type": "text", "text": "I cannot.", "refusal": True}
                        ],
                    },
                    "stop_reason": "content_filter",
                }
            ]
        },
    },
)
LOG = {
    "version": 2,
    "status": "success",
    "eval": {"task": "chests", "model": "openai/gpt-x"},
    "samples": list(SAMPLES),
}
IN_LOG = (
    WrittenReply("q1", "A.", "plain", "0", "openai/gpt-x"),
    WrittenReply("2", "B,\nbeca", "", "1", "openai/gpt-x", finish_reason="length"),
    WrittenReply(
        *("none", "", "", "0", "openai/gpt-x"),
        finish_reason="content_filter",
        refusal="I cannot.",
    ),
)


def _read(path: Path) -> tuple[WrittenReply, ...]:
    return read_replies([path]).replies


def test_that_a_table_and_lines_of_json_say_the_same(tmp_path: Path) -> None:
    table, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    table.write_text(
        'Item,reply,condition,repeat,step,target\nq1,"A, I think",plain,0.0,answer,B\n'
    )
    row = {"item": "q1", "reply": "A, I think", "condition": "plain", "repeat": 0}
    lines.write_text(json.dumps({**row, "step": "answer", "target": "B"}) + "\n\n")
    wanted = WrittenReply("q1", "A, I think", "plain", "0", step="answer")
    assert _read(table) == _read(lines) == (wanted,)


def test_that_columns_of_other_names_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question_id,output\nq1,A\n")
    mapped = {"question_id": "item", "output": "reply"}
    assert read_replies([path], mapped).replies == (WrittenReply("q1", "A"),)
    with pytest.raises(WrongUseError, match="has no column 'item'; its columns are "):
        read_replies([path])
    with pytest.raises(WrongUseError, match="has no column 'reply'"):
        read_replies([path], {"question_id": "item"})
    with pytest.raises(WrongUseError, match="No column can be mapped to 'image'"):
        read_replies([path], {"output": "image"})
    with pytest.raises(WrongUseError, match="has no column 'said'"):
        read_replies([path], {"said": "reply"})


def test_that_a_line_without_a_reply_is_told_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        {"item": "q1", "reply": "A"},
        {"item": "q2", "reply": None},
        {"item": "q3", "reply": 3},
        {"item": "q4", "reply": "D", "repeat": "once"},
        {"item": "q5", "reply": "E", "body": "not base64!"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_replies([path])
    assert found.replies == (WrittenReply("q1", "A"),)
    assert found.problems == (
        "Line 2 of 'a.jsonl' is not used: it has no reply",
        "Line 3 of 'a.jsonl' is not used: its reply is not text",
        "Line 4 of 'a.jsonl' is not used: its repeat is not a number",
        "Line 5 of 'a.jsonl' is not used: its body is not base64",
    )


def test_that_logs_of_inspect_ai_are_read_in_both_formats(tmp_path: Path) -> None:
    document, archive = tmp_path / "log.json", tmp_path / "log.eval"
    document.write_text(json.dumps(LOG))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as log:
        _write_log(log.writestr)
    for path in (document, archive):
        found = read_replies([path])
        assert found.replies == IN_LOG
        assert found.problems == (
            f"Sample 3 of '{path.name}' is not used: it has no reply",
        )


def _write_log(write: Callable[[str, str], None]) -> None:
    """Write the members of a log's zip as log/_recorders/eval.py does."""
    header = {k: value for k, value in LOG.items() if k != "samples"}
    write("_journal/start.json", json.dumps(header))
    for sample in SAMPLES:
        name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
        write(name, json.dumps(sample))
    write("summaries.json", "[]")
    write("header.json", json.dumps(header))


def _zstandard(path: Path, *, damaged: bool = False, more: int = 0) -> Path:
    """Write a log whose members are compressed with Zstandard, as newer ones are.

    Python's zipfile writes the frames as they are, and the method is put afterwards.
    Every member claims ``more`` bytes than it has.
    """
    sizes: list[tuple[int, int]] = []
    with zipfile.ZipFile(path, "w") as log:

        def write(name: str, text: str) -> None:
            log.writestr(name, zstd_encode(text.encode()))
            sizes.append((len(text.encode()), zlib.crc32(text.encode())))

        _write_log(write)
    data, at = bytearray(path.read_bytes()), 0
    for size, checksum in sizes:
        at = data.index(b"PK\x01\x02", at) + 4
        struct.pack_into("<H", data, at + 6, 93)
        struct.pack_into("<I", data, at + 12, checksum + damaged)
        struct.pack_into("<I", data, at + 20, size + more)
    path.write_bytes(data)
    return path


def test_that_logs_compressed_with_zstandard_are_read(tmp_path: Path) -> None:
    assert _read(_zstandard(tmp_path / "log.eval")) == IN_LOG
    with pytest.raises(UnreadableInputError, match="as a log of inspect_ai"):
        _read(_zstandard(tmp_path / "damaged.eval", damaged=True))


def test_that_no_memory_is_taken_for_what_a_log_claims_to_hold(tmp_path: Path) -> None:
    bomb = _zstandard(tmp_path / "bomb.eval", more=3 << 30)
    tracemalloc.start()
    with pytest.raises(UnreadableInputError, match="as a log of inspect_ai"):
        _read(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20


def test_that_a_sample_written_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as log:
        _write_log(log.writestr)
        first = {**SAMPLES[0], "metadata": {"condition": "again"}}
        with pytest.warns(UserWarning, match="Duplicate name"):
            log.writestr("samples/q1_epoch_1.json", json.dumps(first))
    assert [one.condition for one in _read(path) if one.item == "q1"] == ["again"]


def test_that_samples_divided_into_documents_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as log:
        _write_log(log.writestr)
        log.writestr("samples/q9_epoch_1/sample.json", "{}")
        log.writestr("samples/q9_epoch_1/messages/0.json", "[]")
    with pytest.raises(UnreadableInputError, match="stored in a way") as raised:
        _read(path)
    assert "inspect log convert --to json" in str(raised.value)


def test_that_samples_of_lmms_eval_are_read_in_both_versions(tmp_path: Path) -> None:
    # https://docs.lmms-lab.com/docs/latest/releases/lmms-eval-0.7, "Flattened JSONL Log
    # Output": ["text"] since version 0.7, [["text"]] before; sanitize_list of
    # lmms_eval/utils.py writes the numbers of likelihoods as text
    path = tmp_path / "samples_chests.jsonl"
    doc = {"item": "q3", "condition": "text_only", "question": "Which?"}
    rows = [
        {"doc_id": 0, "target": "A", "resps": [["A."]], "filtered_resps": ["A"]},
        {"doc_id": 1, "target": "B", "filtered_resps": [["B"]]},
        {"doc_id": 2, "doc": doc, "resps": ["C"], "filtered_resps": ["C"]},
        {"doc_id": 3, "resps": [[["-1.5", "False"]]], "filtered_resps": ["B"]},
        {"doc_id": 4, "filtered_resps": [["-1.5", "False"], ["-0.5", "True"]]},
        {"doc_id": 5, "resps": [[[-1.5, False]]], "filtered_resps": [[-1.5, False]]},
        {"doc_id": 6, "resps": ["Left", "False"], "filtered_resps": ["Left"]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_replies([path])
    assert found.replies == (
        WrittenReply("0", "A.", position=0),
        WrittenReply("1", "B", position=1),
        WrittenReply("q3", "C", "text_only"),
        WrittenReply("3", "B", position=3),
        WrittenReply("6", "Left", position=6),
    )
    assert len(found.problems) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"A"),
        ("a.csv", b"item,reply\n"),
        ("a.jsonl", b""),
        ("a.jsonl", b'["A"]'),
        ("a.jsonl", b'{"item": '),
        ("a.jsonl", b"\xff\xfe"),
        ("a.json", b"{}"),
        ("a.json", b"{"),
        ("a.json", b'{"samples": [], "results": {}}'),
        ("a.eval", b"no zip"),
    ],
)
def test_that_another_file_is_refused_with_a_sentence(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnreadableInputError, match=name):
        read_replies([path])


@pytest.mark.parametrize(
    "reply",
    [
        WrittenReply("q1", ""),
        WrittenReply("q1", " A\n", "plain", "3", "m", "answer", 2, "judge"),
        WrittenReply("q1", "A", finish_reason="length", refusal="No."),
        WrittenReply("q1", "A", settings={"convention": "qwen3_vl"}),
        WrittenReply(
            "q1",
            "A",
            raw=RawReply(ReplyKind.PLAIN, b"\x00{", headers={"h": "1"}, latency_ms=7),
        ),
    ],
)
def test_that_what_is_written_is_read_again(reply: WrittenReply) -> None:
    assert reply_of_row(json.loads(json.dumps(row_of(reply)))) == reply
