"""JSON and TOML from outside end in a value or in a sentence, never in a traceback."""

import tomllib

import pytest

from viewer.domain.documents import read_json, read_toml


def test_that_json_nested_too_deeply_is_no_json() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json("[" * 200_000)


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "a = " + "{a=" * 20_000 + "1" + "}" * 20_000]
)
def test_that_toml_nested_too_deeply_is_no_toml(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match="nested too deeply"):
        read_toml(text)


@pytest.mark.parametrize("half", ["\\ud800", "\\uDFFF", "\\udc00\\ud800"])
def test_that_half_a_letter_can_be_stored(half: str) -> None:
    found = read_json(f'{{"a{half}": ["{half}", "\\ud83d\\ude00", 1, true]}}')
    (key,) = found
    assert key.encode()
    assert found[key][0].encode()
    assert found[key][1:] == ["😀", 1, True]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_that_bytes_are_read_as_text_is(encoding: str) -> None:
    assert read_json('{"é": 1}'.encode(encoding)) == {"é": 1}


def test_that_documents_without_harm_are_read_as_they_are() -> None:
    assert read_json('["\\\\ud", "\\u00e9"]') == ["\\ud", "é"]
    assert read_toml("a = [1, [2]]") == {"a": [1, [2]]}
