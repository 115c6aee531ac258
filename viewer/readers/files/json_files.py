"""Small JSON files that people write beside their data."""

from pathlib import Path
from typing import Any

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.text_files import bounded_text


def document(path: Path) -> object:
    """Return the content of a JSON file; raises if it is not JSON in UTF-8."""
    try:
        return read_json(bounded_text(path))
    except OSError as error:
        raise UnreadableInputError(
            f"'{path.name}' cannot be read: {error.strerror or 'no reason is given'}.",
            "Check its path and that you may read it.",
        ) from error
    except ValueError as error:
        raise UnreadableInputError(
            f"'{path.name}' cannot be read as JSON.", "Save it as JSON in UTF-8."
        ) from error


def with_list(path: Path, name: str) -> tuple[dict[str, Any], list[Any]]:
    """Return a file's object and the nonempty list in it under a name."""
    found = document(path)
    members: dict[str, Any] = found if isinstance(found, dict) else {}
    listed = members.get(name)
    if not isinstance(listed, list) or not listed:
        raise UnreadableInputError(
            f"'{path.name}' contains no list '{name}'.",
            "Name a file in the format that the study's page describes.",
        )
    return members, listed
