"""Dataclasses as plain JSON values and back, checked where they come in.

The only module that uses msgspec. It is imported with the first value, so that a window
that converts nothing at its start does not wait for it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path, PurePath
from typing import Any, Final, Generic, TypeVar

from viewer.domain.errors import WrongUseError

T = TypeVar("T")

_WORDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "bytes": "base64",
    "float": "a number",
    "int": "a whole number",
    "object": "a table",
    "str": "text",
}
_PLACE: Final = re.compile(r" - at (?:`key` in )?`\$\.?(.*)`$")
_TYPE: Final = re.compile(r"Expected `(.*?)`(?: of length (\d+))?, got .*")
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_UNKNOWN_WORD: Final = re.compile(r"Invalid enum value (.*)")


def plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value as dicts, lists, texts and numbers that JSON can hold.

    Sets and maps come in the order of their members, so that equal values are written
    alike.
    """
    import msgspec

    return msgspec.to_builtins(
        value, str_keys=True, enc_hook=_as_known, order="deterministic"
    )


def made(kind: type[T], document: object, *, where: str) -> T:
    """Return the value of a type that a document of plain JSON values describes.

    Parameters
    ----------
    kind : type
        A dataclass or any other annotation, such as ``tuple[BoxPx, ...]``.
    document : object
        What JSON or TOML held.
    where : str
        What a sentence calls the document, such as a file's name.

    Raises
    ------
    WrongUseError
        For a wrong type, a missing and an unknown entry; it names the entry.
    """
    import msgspec

    try:
        value: T = msgspec.convert(document, kind, dec_hook=_from_known)
    except msgspec.ValidationError as error:
        raise _refusal(str(error), where) from error
    for entry in _unknown_entries(value, document):
        raise WrongUseError(f"'{entry}' in {where} is not known.", "Take it out.")
    return value


@dataclass(frozen=True)
class Kinds(Generic[T]):
    """Dataclasses that stand for one another; ``tag`` tells in a document which it is.

    ``types`` are their names there.
    """

    tag: str
    types: Mapping[str, Callable[..., T]]

    def name_of(self, value: T) -> str:
        """Return what documents call the type of a value."""
        return next(name for name, kind in self.types.items() if type(value) is kind)

    def plain(self, value: T) -> dict[str, Any]:
        """Return a value as a plain document that begins with its tag."""
        return {self.tag: self.name_of(value), **plain(value)}

    def made(self, document: object, *, where: str) -> T:
        """Return the value of the tagged type; see :func:`made`."""
        entries = made(dict[str, Any], document, where=where)
        kind = self.types.get(str(entries.pop(self.tag, "")))
        if kind is None:
            raise WrongUseError(
                f"'{self.tag}' in {where} names no known kind.",
                f"Write one of {', '.join(self.types)}.",
            )
        return made(kind, entries, where=where)  # type: ignore[arg-type]


def _as_known(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no plain form")


def _from_known(kind: type, value: object) -> object:
    if issubclass(kind, PurePath) and isinstance(value, str):
        return Path(value)
    if kind is object:
        return value
    raise ValueError(f"it cannot be a {kind.__name__}")


def _refusal(said: str, where: str) -> WrongUseError:
    """Return the error of what msgspec said, in words."""
    place = _PLACE.search(said)
    entry = place.group(1) if place else ""
    said = _PLACE.sub("", said)
    subject = f"'{entry}' in {where}" if entry else where[:1].upper() + where[1:]
    if wrong := _TYPE.fullmatch(said):
        length = f" of length {wrong.group(2)}" if wrong.group(2) else ""
        return WrongUseError(
            f"{subject} must be {_in_words(wrong.group(1))}{length}.", "Correct it."
        )
    if missing := _MISSING.fullmatch(said):
        name = ".".join(filter(None, (entry, missing.group(1))))
        return WrongUseError(f"'{name}' is missing in {where}.", "Add it.")
    if word := _UNKNOWN_WORD.fullmatch(said):
        return WrongUseError(f"{subject} cannot be {word.group(1)}.", "Correct it.")
    return WrongUseError(f"{subject} cannot be read ({said}).", "Correct it.")


def _in_words(types: str) -> str:
    words = [_WORDS.get(name, name) for name in types.split(" | ") if name != "null"]
    return " or ".join(words)


def _unknown_entries(value: object, document: object, at: str = "") -> Iterator[str]:
    """Yield the entries of a document that a value made of it has no field for."""
    if is_dataclass(value) and isinstance(document, Mapping):
        known = {field.name for field in fields(value)}
        for name, part in document.items():
            if name in known:
                yield from _unknown_entries(getattr(value, name), part, f"{at}{name}.")
            else:
                yield f"{at}{name}"
    elif isinstance(value, tuple | list) and isinstance(document, tuple | list):
        for made_part, part in zip(value, document, strict=False):
            yield from _unknown_entries(made_part, part, at)
    elif isinstance(value, Mapping) and isinstance(document, Mapping):
        for made_part, part in zip(value.values(), document.values(), strict=False):
            yield from _unknown_entries(made_part, part, at)
