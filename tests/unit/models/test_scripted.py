"""Scripted answers and answers replayed from an earlier report."""

import base64
import json
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.requests import facts, request
from viewer.domain.errors import (
    ProviderError,
    RetryClass,
    UnreadableInputError,
    WrongUseError,
)
from viewer.domain.exchange import Facts, ModelProfile, ModelReply, ReplyKind
from viewer.domain.interpretability import Measures, letter_spellings
from viewer.metrics.posterior import from_letters
from viewer.models.catalog import adapter_for


def ask(adapter_name: str, about: Facts, **settings: object) -> ModelReply:
    adapter = adapter_for(ModelProfile("m", adapter_name, settings))
    return adapter.read(adapter.generate(request(about, png=b"png")))


def test_that_a_constant_answers_everything() -> None:
    assert ask("scripted", facts(), answer="D4").text == "D4"
    assert ask("scripted", facts(item="q|Edema"), answer="").text == ""


def test_that_the_longer_key_of_a_table_wins(tmp_path: Path) -> None:
    table = {"p|Edema": "A1", "p|Edema|grid=8|1": "B2"}
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(table))
    settings = {"answers_file": str(path), "answer": "H8"}
    assert ask("scripted", facts(item="p|Edema"), **settings).text == "A1"
    assert ask("scripted", facts(item="p|Edema", repeat=1), **settings).text == "B2"
    assert ask("scripted", facts(item="q|Edema"), **settings).text == "H8"


def test_that_an_item_without_an_answer_fails_alone(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text("{}")
    with pytest.raises(ProviderError) as caught:
        ask("scripted", facts(), answers_file=str(path))
    assert caught.value.retry_class is RetryClass.FAIL
    assert caught.value.reason == "not_recorded"


def test_that_reply_fields_and_a_delay_can_be_scripted() -> None:
    started = time.perf_counter()
    reply = ask(
        "scripted",
        facts(),
        answer="",
        finish_reason="content_filter",
        refusal="No.",
        delay_s=0.02,
    )
    assert time.perf_counter() - started >= 0.02
    assert (reply.finish_reason, reply.refusal) == ("content_filter", "No.")


def test_that_another_script_is_another_model(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    seen: list[object] = []
    for table in ("{}", '{"a": "b"}'):
        path.write_text(table)
        profile = ModelProfile(f"m{len(seen)}", "scripted", {"answers_file": str(path)})
        seen.append(adapter_for(profile).identity(0).params)
    assert seen[0] != seen[1]


def test_that_a_script_with_nothing_to_say_is_refused() -> None:
    with pytest.raises(WrongUseError, match="no answer"):
        ask("scripted", facts())


@pytest.mark.parametrize("text", ["[]", '{"a": 1}', '{"a": ', "\ufeff{"])
def test_that_a_bad_table_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "answers.json"
    path.write_text(text)
    with pytest.raises(UnreadableInputError, match="not a JSON object of texts"):
        ask("scripted", facts(), answers_file=str(path))


def test_that_a_missing_table_is_named_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError) as caught:
        ask("scripted", facts(), answers_file=str(tmp_path / "gone.json"))
    assert "gone.json" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


HEADER = "item,condition,repeat,model,status,answer,request_sha256\n"
ROWS = (
    "p|Edema,grid=8,0,a,scored_wrong,C3,k0\n"
    "p|Edema,grid=8,1,a,refused,,k1\n"
    "p|Edema,grid=8,2,a,truncated,,k2\n"
    "p|Edema,grid=8,3,a,unparsed,,k3\n"
    "p|Edema,grid=8,4,a,ambiguous,,k4\n"
)


def write_items(folder: Path, text: str = HEADER + ROWS) -> str:
    path = folder / "items.csv"
    path.write_text(text)
    return str(path)


def test_that_a_replayed_table_ends_in_the_same_statuses(tmp_path: Path) -> None:
    items = write_items(tmp_path)
    replies = [
        ask("replay", facts(item="p|Edema", repeat=r), items_file=items)
        for r in range(4)
    ]
    assert [reply.text for reply in replies] == ["C3", "", "", ""]
    assert replies[1].refusal is not None
    assert replies[2].finish_reason == "length"
    assert replies[3].refusal is None
    for absent in (4, 9):
        with pytest.raises(ProviderError, match="has no reply") as caught:
            ask("replay", facts(item="p|Edema", repeat=absent), items_file=items)
        assert caught.value.reason == "not_recorded"


def test_that_a_table_with_long_replies_is_replayed(tmp_path: Path) -> None:
    header = HEADER.replace("\n", ",reply\n")
    row = f"p|Edema,grid=8,0,a,scored_wrong,C3,k0,{'x' * 200_000}\n"
    items = write_items(tmp_path, header + row)
    reply = ask("replay", facts(item="p|Edema", repeat=0), items_file=items)
    assert reply.text == "C3"


def test_that_recorded_bodies_come_again_byte_for_byte(tmp_path: Path) -> None:
    body = json.dumps(
        {"choices": [{"finish_reason": "stop", "message": {"content": "G7"}}]}
    ).encode()
    line = {
        "request_sha256": "k4",
        "kind": "chat_completion",
        "body": base64.b64encode(body).decode(),
    }
    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps(line) + "\n")
    settings = {"items_file": write_items(tmp_path), "replies_file": str(replies)}
    adapter = adapter_for(ModelProfile("m", "replay", settings))
    raw = adapter.generate(request(facts(item="p|Edema", repeat=4)))
    assert (raw.kind, raw.body) == (ReplyKind.CHAT_COMPLETION, body)
    assert adapter.read(raw).text == "G7"
    with pytest.raises(ProviderError):
        adapter.generate(request(facts(item="p|Edema", repeat=0)))


def test_that_one_of_several_models_must_be_named(tmp_path: Path) -> None:
    items = write_items(tmp_path, HEADER + ROWS + ROWS.replace(",a,", ",b,"))
    with pytest.raises(WrongUseError, match="several models: a, b"):
        ask("replay", facts(item="p|Edema"), items_file=items)
    with pytest.raises(WrongUseError, match="no model 'c'"):
        ask("replay", facts(item="p|Edema"), items_file=items, model="c")
    assert (
        ask("replay", facts(item="p|Edema"), items_file=items, model="b").text == "C3"
    )


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", HEADER + "p,grid=8,0\n"])
def test_that_what_is_no_items_table_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableInputError, match=r"not an items\.csv"):
        ask("replay", facts(), items_file=write_items(tmp_path, text))


def test_that_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableInputError, match=r"not an items\.csv"):
        ask("replay", facts(), items_file=str(path))


@pytest.mark.parametrize(
    "line", ["x", "[]", '{"kind": "plain", "body": "e30="}', '{"request_sha256": "k"}']
)
def test_that_a_bad_line_of_replies_is_numbered(tmp_path: Path, line: str) -> None:
    replies = tmp_path / "replies.jsonl"
    good = '{"request_sha256": "k", "kind": "plain", "body": "e30="}'
    replies.write_text(f"{good}\n{line}\n")
    settings = {"items_file": write_items(tmp_path), "replies_file": str(replies)}
    with pytest.raises(UnreadableInputError, match="Line 2"):
        ask("replay", facts(), **settings)


def test_that_an_entry_may_say_how_its_reply_ended(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    entry = {"text": "It breaks", "finish_reason": "length"}
    path.write_text(json.dumps({"q": entry, "r": {"text": "", "refusal": "No."}}))
    cut = ask("scripted", facts(item="q"), answers_file=str(path))
    assert (cut.text, cut.finish_reason) == ("It breaks", "length")
    refused = ask("scripted", facts(item="r"), answers_file=str(path))
    assert refused.refusal == "No."


@pytest.mark.parametrize(
    "entry", [{"finish_reason": "length"}, {"text": 3}, {"text": "", "score": ""}, 4]
)
def test_that_an_entry_that_is_none_is_refused(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"q": entry}))
    with pytest.raises(UnreadableInputError, match="not a JSON object of texts"):
        ask("scripted", facts(item="q"), answers_file=str(path))


def test_that_a_map_of_a_file_is_the_answer_and_part_of_the_identity(
    tmp_path: Path,
) -> None:
    path = tmp_path / "map.npy"
    np.save(path, np.arange(6.0).reshape(2, 3))
    reply = ask("scripted", facts(), heat_map_file=str(path))
    assert reply.heat_map is not None
    assert reply.heat_map.values.tolist() == [[0, 1, 2], [3, 4, 5]]
    profile = ModelProfile("m", "scripted", {"heat_map_file": str(path)})
    before = adapter_for(profile).identity(0)
    np.save(path, np.ones((2, 3)))
    other = ModelProfile("n", "scripted", {"heat_map_file": str(path)})
    assert adapter_for(other).identity(0) != before


@pytest.mark.parametrize("values", [np.full((2, 2), np.nan), np.ones(4), [["a"]]])
def test_that_a_file_without_a_map_is_refused(tmp_path: Path, values: object) -> None:
    path = tmp_path / "map.npy"
    np.save(path, np.asarray(values))
    with pytest.raises(UnreadableInputError, match="no map"):
        ask("scripted", facts(), heat_map_file=str(path))


def test_that_how_a_reply_is_read_takes_no_part_in_what_is_asked() -> None:
    plain = ModelProfile("m", "scripted", {"answer": "D4"})
    read_otherwise = ModelProfile(
        "m", "scripted", {"answer": "D4", "convention": "gemini"}
    )
    one, other = adapter_for(plain), adapter_for(read_otherwise)
    assert one.identity(0) == other.identity(0)


def measured(
    wishes: Measures, tmp_path: Path, entry: object
) -> tuple[ModelReply, list[float]]:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({facts().item: entry}))
    settings = {"answers_file": str(path), "interpretable": True}
    adapter = adapter_for(ModelProfile("m", "scripted", settings))
    asked = replace(request(facts(), png=b"png"), measures=wishes)
    reply = adapter.read(adapter.generate(asked))
    assert reply.measured is not None
    return reply, [math.exp(o[0].logprob) for o in reply.measured.options]


@pytest.mark.statement("E004-17")
def test_that_a_posterior_can_be_scripted(tmp_path: Path) -> None:
    wishes = Measures(letter_spellings("ABC"))
    entry = {"text": "B", "posterior": [0.25, 0.75, 0]}
    reply, told = measured(wishes, tmp_path, entry)
    assert reply.text == "B"
    assert told == pytest.approx([0.25, 0.75, 0.0], abs=1e-12)
    assert from_letters(
        {s.text: s.logprob for o in reply.measured.options for s in o},  # type: ignore[union-attr]
        "ABC",
    ).p == pytest.approx((0.25, 0.75, 0.0), abs=1e-12)
    silent, again = measured(replace(wishes, answer=False), tmp_path, entry)
    assert (silent.text, again) == ("", told)


@pytest.mark.parametrize(
    ("said", "sure"), [("(B", [0, 1]), (" A ", [1, 0]), ("none", [0, 0])]
)
def test_that_a_script_without_a_posterior_is_sure_of_its_answer(
    said: str, sure: list[float], tmp_path: Path
) -> None:
    wishes = Measures((("A", " A", "(A"), ("B", " B", "(B")))
    assert measured(wishes, tmp_path, said)[1] == pytest.approx(sure, abs=1e-12)


@pytest.mark.parametrize(
    "entry",
    [
        {"text": "B", "posterior": [0.5, 1.5]},
        {"text": "B", "posterior": 3},
        {"text": "B", "posterior": ["much"]},
        {"posterior": [1.0]},
        {"text": "B", "mood": "good"},
        {"text": 3},
        7,
    ],
)
def test_that_an_entry_of_another_form_is_refused(
    entry: object, tmp_path: Path
) -> None:
    with pytest.raises(UnreadableInputError, match="not a JSON object of texts"):
        measured(Measures(), tmp_path, entry)


def test_that_a_posterior_of_other_options_fails_alone(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="the wrong number of options") as caught:
        measured(
            Measures(letter_spellings("ABC")),
            tmp_path,
            {"text": "B", "posterior": [0.5, 0.5]},
        )
    assert caught.value.retry_class is RetryClass.FAIL
