"""One report to make a case of, from its report.json or report.txt (E004-03).

A report.json holds an object of texts: ``background``, and optionally ``caption`` (of
all figures), ``diagnosis``, ``language`` and ``id``. A report.txt is plain text; lines
that begin with ``Background:``, ``Captions:`` and ``Diagnosis:`` begin its sections. If
it has none of them, all of it is background.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.item import Item
from viewer.readers.datasets.files import files_below
from viewer.readers.files.text_files import bounded_text, whole_text

REPORT_FILES: Final = ("report.json", "report.txt")
_KEYS: Final = ("background", "caption", "diagnosis", "language", "id")
_SECTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("background", "背景"), "background"),
    **dict.fromkeys(("caption", "captions", "figures", "图注"), "caption"),
    **dict.fromkeys(("diagnosis", "final diagnosis", "诊断", "最终诊断"), "diagnosis"),
}
_HEADING: Final = re.compile(
    rf"[ \t]*({'|'.join(_SECTIONS)})[ \t]*[:：]", re.IGNORECASE
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_MOST_HAN: Final = 0.1
"""Share of Chinese characters among the letters of English; names may have some."""


def read_report(path: Path) -> Item:
    """Read a report as an item without images.

    Raises
    ------
    UnreadableInputError
        For anything invalid, in one sentence.
    """
    found = _object(path) if path.name == REPORT_FILES[0] else _sections(path)
    if not found.get("background", "").strip():
        raise _bad(path, "has no text 'background'")
    language = found.get("language", "en")
    if language not in {"en", "zh"}:
        raise _bad(path, f"is in the language '{language}', neither en nor zh")
    key = found.get("id", "").strip() or path.parent.name
    facts = {
        "background": found["background"],
        "caption": found.get("caption", ""),
        "language": language,
    }
    truth = {"diagnosis": found.get("diagnosis", "")}
    return Item(key, key, "report", (), facts, truth)


def lacks_sections(path: Path) -> bool:
    """Tell whether a report is plain text without the heading of any section."""
    lines = whole_text(path).splitlines() if path.suffix == ".txt" else ()
    return bool(lines) and not any(map(_HEADING.match, lines))


def report_folders(root: Path) -> dict[str, Path]:
    """Return the folders of the reports below a folder, by the reports' names."""
    paths = (path for path in files_below(root) if path.name in REPORT_FILES)
    found: dict[str, Path] = {}
    for path in paths:
        try:
            found.setdefault(read_report(path).key, path.parent)
        except UnreadableInputError:
            continue  # the import has told
    return found


def _object(path: Path) -> dict[str, str]:
    try:
        found = read_json(bounded_text(path))
    except (OSError, ValueError) as error:
        raise _bad(path, "cannot be read as JSON") from error
    if not isinstance(found, dict) or set(found) - set(_KEYS):
        raise _bad(path, f"has something other than {', '.join(_KEYS)}")
    if not all(isinstance(value, str) for value in found.values()):
        raise _bad(path, "has a value that is not text")
    return {key: str(value) for key, value in found.items()}


def _sections(path: Path) -> dict[str, str]:
    """Return the sections of a plain text; what precedes the first is background."""
    parts: dict[str, list[str]] = {}
    section, text = "background", whole_text(path)
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            section = _SECTIONS[heading[1].casefold()]
        rest = line[heading.end() :].strip() if heading else line.rstrip()
        parts.setdefault(section, []).append(rest)
    letters = len(_LETTER.findall(text))
    is_chinese = letters > 0 and len(_HAN.findall(text)) > _MOST_HAN * letters
    found = {name: "\n".join(lines).strip() for name, lines in parts.items()}
    return {**found, "language": "zh" if is_chinese else "en"}


def _bad(path: Path, what: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"The report '{path.parent.name}' {what}.", f"Correct its {path.name}."
    )
