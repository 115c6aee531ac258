"""Text from outside does nothing where it is shown, and comes back as it was."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain import escapes

_TEXT = st.text(st.characters(), max_size=12)
_ODD = st.text(
    st.sampled_from("'=+-@\t\r\n\x1b\\xe9ud80\u202e\ud800\udce90a_x001B$&{}<é="),
    max_size=12,
)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain é 肺\n\t", "plain é 肺\n\t"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("a\u202egnp", r"a\u202egnp"),
        ("caf\udce9", r"caf\xe9"),
        ("\ud800", r"\ud800"),
        ("\x9b2J", r"\x9b2J"),
        ("\U000e0041", r"\U000e0041"),
        ("one\rtwo", r"one\rtwo"),
    ],
)
def test_that_control_characters_are_shown_and_not_obeyed(text: str, seen: str) -> None:
    assert escapes.visible(text) == seen


def test_that_one_line_stays_one_line() -> None:
    assert escapes.one_line("a\nb\tc\u2028d") == r"a\nb\tc\u2028d"


@given(_TEXT | _ODD)
def test_that_visible_text_can_always_be_written(text: str) -> None:
    for seen in (escapes.visible(text), escapes.one_line(text), escapes.latex(text)):
        assert seen.encode().decode() == seen
        assert not set(seen) & set("\x00\x1b\x7f\x9b\u202e\u2066")


_ONE_HALF = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two halves side by side are another letter in JSON."""


@given((_TEXT | _ODD).filter(lambda text: not _ONE_HALF.search(text)))
def test_that_printed_json_keeps_its_value(text: str) -> None:
    printed = escapes.json_visible(json.dumps([text], ensure_ascii=False))
    assert json.loads(printed) == [text]
    assert not set(printed) & set("\x1b\x7f\x9b\u202e")
    assert printed.encode().decode() == printed


@given(_TEXT | _ODD)
def test_that_a_guarded_cell_is_no_formula_and_comes_back(text: str) -> None:
    cell = escapes.guarded(text)
    assert escapes.unguarded(cell) == text
    assert cell[:1] not in set("=@\t\r\n") or cell == text in set("=@")
    assert cell[:1] not in set("+-") or cell == text


@pytest.mark.parametrize("number", ["-1", "+2.5", "-.5e-3", "-inf", "-1e308", "-0.0"])
def test_that_a_number_stays_a_number(number: str) -> None:
    assert escapes.guarded(number) == number


@pytest.mark.statement("E003-06")
@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_that_a_sign_alone_stays_as_it_is(sign: str) -> None:
    assert escapes.guarded(sign) == escapes.unguarded(sign) == sign
    assert escapes.unguarded(escapes.guarded(f"'{sign}")) == f"'{sign}"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1"]
)
def test_that_a_formula_is_guarded(text: str) -> None:
    assert escapes.guarded(text) == f"'{text}"


@given(st.binary(max_size=12).filter(lambda b: b"\0" not in b) | _ODD)
def test_that_a_path_comes_back_from_its_text(name: bytes | str) -> None:
    path = Path(os.fsdecode(name) if isinstance(name, bytes) else name)
    text = escapes.path_text(path)
    assert text.encode().decode() == text
    assert escapes.path_of(text) == path


def test_that_bytes_and_their_escape_are_two_names() -> None:
    assert escapes.path_text("caf\udce9") == r"caf\xe9"
    assert escapes.path_text(r"caf\xe9") == r"caf\x5cxe9"


@pytest.mark.parametrize(
    ("text", "xml"),
    [
        ("a<b>&", "a&lt;b&gt;&amp;"),
        ("\x1b[1m", "_x001B_[1m"),
        ("_x001B_", "_x005F_x001B_"),
        ("\ud800", "_xD800_"),
    ],
)
def test_that_a_sheet_is_valid_xml(text: str, xml: str) -> None:
    assert escapes.spreadsheet_xml(text) == xml


def test_that_latex_commands_are_text() -> None:
    written = escapes.latex("\\input{/etc/passwd} 5 % & #1 a_b ~^ $x$\n\x1b")
    assert written == (
        r"\textbackslash{}input\{/etc/passwd\} 5 \% \& \#1 a\_b "
        r"\textasciitilde{}\textasciicircum{} \$x\$ \textbackslash{}x1b"
    )


@pytest.mark.parametrize(
    ("text", "label"),
    [("_model", " _model"), ("a_model", "a_model"), ("_\x1b", r" _\x1b"), ("", "")],
)
def test_that_no_label_begins_as_one_that_matplotlib_leaves_out(
    text: str, label: str
) -> None:
    assert escapes.drawn(text) == label
