"""The table of hanging protocols: the program's, or the user's own."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Final

from viewer.domain.documents import read_toml
from viewer.domain.errors import WrongUseError
from viewer.domain.hanging import SERIES, Place, Protocol, read_stage
from viewer.domain.plain import made
from viewer.writers.files import write_atomically

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
    protocols = tuple(
        Protocol(entry.name, entry.modalities, tuple(map(read_stage, entry.stages)))
        for entry in table.protocol
    )
    check_protocols(protocols)
    return protocols


def check_protocols(protocols: Sequence[Protocol]) -> None:
    """Check that something hangs whatever is opened.

    Raises
    ------
    WrongUseError
        If a name is missing or used twice, or an image could be left without one.
    """
    names = [protocol.name for protocol in protocols]
    if not all(names) or len(set(names)) < len(names):
        raise WrongUseError(
            "A protocol has no name of its own.", "Give each a different one."
        )
    if not any(_shows_anything(protocol) for protocol in protocols):
        raise WrongUseError(
            "No protocol is for every image.",
            "Let one be for modality * and have the stage 'series'.",
        )


def _shows_anything(protocol: Protocol) -> bool:
    return "*" in protocol.modalities and any(
        stage.places == (Place(SERIES),) for stage in protocol.stages
    )


def keep_protocols(home: Path, protocols: Sequence[Protocol]) -> None:
    """Write the user's own table; the program's own, if it is the same, is none."""
    if tuple(protocols) == default_protocols():
        (home / FILE).unlink(missing_ok=True)
        return
    text = "\n".join(map(_entry_text, protocols))
    write_atomically(home / FILE, text.encode())


def _entry_text(protocol: Protocol) -> str:
    """Return a protocol as TOML, whose strings and lists are also JSON's."""
    stages = [stage.words for stage in protocol.stages]
    lines = (
        "[[protocol]]",
        f"name = {json.dumps(protocol.name)}",
        f"modalities = {json.dumps(protocol.modalities)}",
        f"stages = {json.dumps(stages)}",
    )
    return "".join(f"{line}\n" for line in lines)
