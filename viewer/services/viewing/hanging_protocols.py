"""The table of hanging protocols: the program's, or the user's own."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Final

from viewer.domain.documents import read_toml
from viewer.domain.errors import WrongUseError
from viewer.domain.hanging import Protocol, read_stage
from viewer.domain.plain import made

FILE: Final = "hanging_protocols.toml"
_HOW: Final = "Begin each protocol with [[protocol]], its name, modalities and stages."


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    modalities: tuple[str, ...]
    stages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    protocol: tuple[_Entry, ...]


def default_protocols() -> tuple[Protocol, ...]:
    """Return the protocols that the program comes with."""
    return read_protocols(default_text())


def own_protocols(home: Path) -> tuple[Protocol, ...]:
    """Return the protocols of the user's own table, else the program's.

    Raises
    ------
    WrongUseError
        If the user's table cannot be used; the sentence names what is wrong.
    """
    return read_protocols(own_text(home))


def own_text(home: Path) -> str:
    """Return the table in the user's folder, else the program's."""
    own = home / FILE
    return own.read_text(encoding="utf-8") if own.is_file() else default_text()


def default_text() -> str:
    """Return the table that the program comes with."""
    return files("viewer.resources").joinpath(FILE).read_text(encoding="utf-8")


def read_protocols(text: str) -> tuple[Protocol, ...]:
    """Return the protocols of a table, in order of preference.

    Raises
    ------
    WrongUseError
        If the text is not such a table; the sentence names what is wrong.
    """
    try:
        table = made(_Table, read_toml(text), where="the table of protocols")
    except TOMLDecodeError as error:
        raise WrongUseError(f"The protocols cannot be read: {error}.", _HOW) from None
    if not any("*" in entry.modalities for entry in table.protocol):
        raise WrongUseError(
            "No protocol is for every modality.",
            'Let the last one have modalities = ["*"] and stages = ["series"].',
        )
    return tuple(
        Protocol(entry.name, entry.modalities, tuple(map(read_stage, entry.stages)))
        for entry in table.protocol
    )
