"""One report that is to become a case, from its report.json (E004-03).

A report.json holds ``background`` (the text up to the discussion), and where there are
``caption`` (those of its figures), ``diagnosis`` (the confirmed one), ``language``
(``en``, else ``zh``) and ``id``. Tables and figures stay with whoever cuts them.
"""

from pathlib import Path
from typing import Final

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.item import Item
from viewer.readers.text_files import bounded_text

REPORT_FILE: Final = "report.json"
_KEYS: Final = ("background", "caption", "diagnosis", "language", "id")


def read_report(path: Path) -> Item:
    """Read a report.json as an item without images.

    Raises
    ------
    UnreadableInputError
        For whatever is not as it should be, in one sentence.
    """
    try:
        found = read_json(bounded_text(path))
    except (OSError, ValueError) as error:
        raise _bad(path, "cannot be read as JSON") from error
    if not isinstance(found, dict) or set(found) - set(_KEYS):
        raise _bad(path, f"has something else than {', '.join(_KEYS)}")
    if not all(isinstance(value, str) for value in found.values()):
        raise _bad(path, "has a value that is no text")
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


def _bad(path: Path, what: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"The report '{path.parent.name}' {what}.", "Correct its report.json."
    )
