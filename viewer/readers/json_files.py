"""Small JSON files that people write beside their data."""

from pathlib import Path

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.readers.text_files import bounded_text


def document(path: Path) -> object:
    """Return what a file holds; one that is no JSON in UTF-8 raises."""
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
