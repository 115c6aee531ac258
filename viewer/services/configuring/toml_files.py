"""TOML files that a person keeps: studies, keys, settings."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from viewer.domain import documents
from viewer.domain.errors import UnreadableInputError
from viewer.writers.files import write_atomically
from viewer.writers.toml import toml_bytes


def read_toml(path: Path) -> dict[str, object]:
    """Return a TOML file's content; the error names the position."""
    try:
        return documents.read_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableInputError(
            f"The file '{path.name}' cannot be read ({error.strerror}).",
            "Check its name and that you may read it.",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableInputError(
            f"The file '{path.name}' is not valid TOML: {error}.",
            "Correct the line it names.",
        ) from error


def write_toml(path: Path, table: Mapping[str, object]) -> None:
    """Write a table atomically; raises WrongUseError where the disk refuses it."""
    write_atomically(path, toml_bytes(table))
