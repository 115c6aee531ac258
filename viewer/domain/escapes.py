r"""Escaping of outside text for every medium it is shown in or written to.

Names of files, findings, patients, models and readers, replies and the sentences that
quote them are kept unchanged and escaped where they are shown or written:

- terminal and window: `visible` and `one_line`;
- the store: `path_text`, which `path_of` undoes;
- JSON that is printed: `json_visible`, whose values stay the same;
- CSV: `guarded`, which `unguarded` undoes;
- XLSX: `guarded`, then `spreadsheet_xml`;
- LaTeX: `latex`;
- HTML: the templates escape by themselves, after `visible`;
- figures: `drawn`, where matplotlib reads no mathematics (writers/figures_style).

The rule of `guarded`: text that begins with ``=``, ``+``, ``-``, ``@``, their
full-width forms, a tab or a line break, and is not a number, gets an apostrophe in
front, so that no spreadsheet evaluates it as a formula. A single ``=``, ``+``, ``-`` or
``@`` has nothing to evaluate and stays as it is: ``=`` is the sign of no change in our
own tables. Text that begins with apostrophes before such a character gets one more.
Reading our CSV files back removes exactly one apostrophe before apostrophes and such a
character, so every text survives the round trip; verify.py repeats this rule
(writers/verify/comparing).
"""

import re
from html import escape
from pathlib import Path, PurePath
from typing import Final

_BIDI: Final = "\u202a-\u202e\u2066-\u206f"
"""Characters that reorder or switch the text that follows; marks of a direction that
Arabic and Hebrew texts need (U+200E, U+200F) are left alone."""
_UNSEEN: Final = f"\x7f-\x9f{_BIDI}\u2028\u2029\ufff9-\ufffb\U000e0000-\U000e007f"
_LONE: Final = "\ud800-\udfff"
_HIDDEN: Final = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSEEN}{_LONE}]")
_HIDDEN_IN_LINE: Final = re.compile(f"[\x00-\x1f{_UNSEEN}{_LONE}]")
_HIDDEN_IN_JSON: Final = re.compile(f"[{_UNSEEN}{_LONE}]")
_LONE_ONE: Final = re.compile(f"[{_LONE}]")
_LIKE_ESCAPE: Final = re.compile(r"\\(?=x5c|x[89a-f][0-9a-f]|ud[89a-f][0-9a-f]{2})")
_ESCAPED: Final = re.compile(r"\\(?:x(5c|[89a-f][0-9a-f])|u(d[89a-f][0-9a-f]{2}))")
_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_BYTES: Final = range(0xDC80, 0xDD00)
"""What Python reads the bytes 0x80 to 0xff of a name as that is not UTF-8 (PEP 383)."""

_FORMULA: Final = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_SIGN: Final = re.compile(r"[=+\-@]")
_GUARDED: Final = re.compile("'+[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")
# XML 1.0 forbids these (2.2) but for CR, which a parser reads as LF (2.11).
_NO_XML: Final = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
# Such text would be read back as the character that it names.
_LIKE_XML_ESCAPE: Final = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "×": r"$\times$",
        "−": r"$-$",
    }
)


def visible(text: str) -> str:
    r"""Return text with control characters escaped visibly: ``\x1b``.

    Line breaks and tabs stay; bytes of names that are not UTF-8 become ``\xe9``.
    """
    return _HIDDEN.sub(_seen, text)


def one_line(text: str) -> str:
    r"""Return text as `visible`, with line breaks and tabs as ``\n`` and ``\t`` too."""
    return _HIDDEN_IN_LINE.sub(_seen, text)


def json_visible(text: str) -> str:
    r"""Return JSON with terminal control characters as ``\u`` escapes: the same value.

    JSON itself escapes only the control characters below 0x20.
    """
    return _HIDDEN_IN_JSON.sub(_json_escape, text)


def path_text(path: PurePath | str) -> str:
    r"""Return a path as valid UTF-8 text, whatever bytes its names contain.

    A byte that is not UTF-8 becomes ``\xe9``; a backslash that would look like such an
    escape becomes ``\x5c``, so that `path_of` finds the same path again.
    """
    return _LONE_ONE.sub(_seen, _LIKE_ESCAPE.sub(r"\\x5c", str(path)))


def path_of(text: str) -> Path:
    """Return the path that `path_text` encoded."""
    return Path(_ESCAPED.sub(_unseen, text))


def guarded(text: str) -> str:
    """Return the text of a CSV cell that no spreadsheet evaluates as a formula."""
    harmless = _NUMBER.fullmatch(text) or _SIGN.fullmatch(text)
    if _FORMULA.match(text) and not harmless:
        return f"'{text}"
    return text


def unguarded(cell: str) -> str:
    """Return the original text of a cell written by `guarded`."""
    return cell[1:] if _GUARDED.match(cell) else cell


def spreadsheet_xml(text: str) -> str:
    """Return text as encoded in the XML of a sheet (ECMA-376, ST_Xstring)."""
    escaped = _LIKE_XML_ESCAPE.sub("_x005F_", text)
    return escape(
        _NO_XML.sub(lambda m: f"_x{ord(m.group()):04X}_", escaped), quote=False
    )


def latex(text: str) -> str:
    """Return text on one line, with LaTeX's special characters escaped."""
    return " ".join(visible(text).translate(_LATEX).split())


def drawn(text: str) -> str:
    """Return text as a figure's label; matplotlib ignores labels that begin with _."""
    return visible(f" {text}" if text.startswith("_") else text)


def _seen(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code in _BYTES:
        return f"\\x{code - 0xDC00:02x}"
    if found.group() in _SHORT:
        return _SHORT[found.group()]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _unseen(found: re.Match[str]) -> str:
    code = int(found[1] or found[2], 16)
    return "\\" if code == ord("\\") else chr(code + 0xDC00 if found[1] else code)


def _json_escape(found: re.Match[str]) -> str:
    # Beyond U+FFFF JSON's \u escapes are surrogate pairs (RFC 8259, 7).
    units = found.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
