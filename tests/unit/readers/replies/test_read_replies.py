"""Files of replies of every kind; fixtures are written after public documentation."""

import json
import zipfile
from pathlib import Path

import pytest

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
                            {"type": "text", "text": "B, beca"},
                        ],
                    },
                    "stop_reason": "max_tokens",
                }
            ]
        },
    },
    {"id": "failed", "epoch": 1, "error": {"message": "timeout"}},
)
LOG = {
    "version": 2,
    "status": "success",
    "eval": {"task": "chests", "model": "openai/gpt-x"},
    "samples": list(SAMPLES),
}
IN_LOG = (
    WrittenReply("q1", "A.", "plain", "0", "openai/gpt-x"),
    WrittenReply("2", "B, beca", "", "1", "openai/gpt-x", finish_reason="length"),
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
        header = {k: value for k, value in LOG.items() if k != "samples"}
        log.writestr("header.json", json.dumps(header))
        log.writestr("summaries.json", "[]")
        for sample in SAMPLES:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            log.writestr(name, json.dumps(sample))
    for path in (document, archive):
        found = read_replies([path])
        assert found.replies == IN_LOG
        assert found.problems == (
            f"Sample 3 of '{path.name}' is not used: it has no reply",
        )


def test_that_samples_of_lmms_eval_are_read_in_both_versions(tmp_path: Path) -> None:
    # https://docs.lmms-lab.com/docs/latest/releases/lmms-eval-0.7, "Flattened JSONL Log
    # Output": ["text"] since version 0.7, [["text"]] before; likelihoods are numbers
    path = tmp_path / "samples_chests.jsonl"
    doc = {"item": "q3", "condition": "text_only", "question": "Which?"}
    rows = [
        {"doc_id": 0, "target": "A", "resps": [["A."]], "filtered_resps": ["A"]},
        {"doc_id": 1, "target": "B", "filtered_resps": [["B"]]},
        {"doc_id": 2, "doc": doc, "resps": ["C"], "filtered_resps": ["C"]},
        {"doc_id": 3, "resps": [[[-1.5, False]]], "filtered_resps": [[-1.5, False]]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_replies([path])
    assert found.replies == (
        WrittenReply("0", "A.", position=0),
        WrittenReply("1", "B", position=1),
        WrittenReply("q3", "C", "text_only"),
    )
    assert len(found.problems) == 1


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
