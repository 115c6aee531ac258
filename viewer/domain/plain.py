"""Convert dataclasses to plain JSON values and back, with validation."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import EnumType
from pathlib import Path, PurePath
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Generic,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import msgspec

from viewer.domain.errors import WrongUseError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")

NotNegative = Annotated[int, msgspec.Meta(ge=0)]
"""A whole number of 0 or more."""
Positive = Annotated[int, msgspec.Meta(ge=1)]
"""A whole number of 1 or more."""
_WORDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "bytes": "base64",
    "float": "a number",
    "int": "a whole number",
    "object": "a table",
    "str": "text",
}
# msgspec's errors have no attributes: place and type are only in their text.
_PLACE: Final = re.compile(r" - at (?:`key` in )?`\$\.?(.*)`$")
_TYPE: Final = re.compile(
    r"Expected `(.*?)`(?: of(?: at (?:least|most))? length (\d+))?, got .*"
)
_LEAST: Final = re.compile(r"Expected `(.*?)` >= (\d+)")
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_UNKNOWN_WORD: Final = re.compile(r"Invalid enum value (.*)")


@overload
def plain(value: msgspec.Struct) -> list[Any]: ...


@overload
def plain(value: "DataclassInstance") -> dict[str, Any]: ...


@overload
def plain(value: object) -> Any: ...  # noqa: ANN401 - any JSON value


def plain(value: object) -> Any:
    """Convert a value to plain JSON types: dict, list, str, number, bool or None.

    Sets and maps are sorted, so that equal values are written identically.
    """
    return _with_lists(
        msgspec.to_builtins(
            value, str_keys=True, enc_hook=_as_known, order="deterministic"
        )
    )


def made(kind: type[T], document: object, *, where: str) -> T:
    """Create a value of a type from plain JSON values.

    Parameters
    ----------
    kind : type
        A dataclass or any other annotation, such as ``tuple[BoxPx, ...]``.
    document : object
        Decoded JSON or TOML.
    where : str
        Name of the document in error messages, such as its file name.

    Raises
    ------
    WrongUseError
        For a wrong type, or a missing or unknown entry, which it names.
    """
    try:
        value: T = msgspec.convert(document, kind, dec_hook=_from_known)
    except msgspec.ValidationError as error:
        raise _refusal(str(error), kind, where) from error
    # msgspec forbids unknown fields of its own structs only, not of dataclasses.
    for entry, known in _unknown_entries(value, document):
        raise WrongUseError(
            f"'{entry}' in {where} is not known.",
            f"{did_you_mean(entry.rpartition('.')[2], known)}Known: "
            f"{', '.join(known) or 'none'}.",
        )
    return value


def packed(value: object) -> bytes:
    """Return a value as JSON that only `unpacked` reads."""
    return msgspec.json.encode(value, enc_hook=_as_known)


def unpacked(kind: type[T], data: bytes) -> T:
    """Return what `packed` wrote: 10,000 headers in 0.2 s, a third of `made`'s time.

    Unlike there, nothing says which entry is wrong, and unknown ones are ignored.

    Raises
    ------
    WrongUseError
        For anything else.
    """
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=_from_known)
    except msgspec.MsgspecError as error:
        raise WrongUseError(f"This is no {kind.__name__}.", str(error)) from error


@dataclass(frozen=True)
class Kinds(Generic[T]):
    """A tagged union of dataclasses; ``tag`` is the member that names the type.

    ``types`` maps the names used in documents to the types.
    """

    tag: str
    types: Mapping[str, Callable[..., T]]

    def name_of(self, value: T) -> str:
        """Return the name used in documents for the type of a value."""
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
                f"'{self.tag}' in {where} is not a known kind.",
                f"Write one of {', '.join(self.types)}.",
            )
        return made(kind, entries, where=where)  # type: ignore[arg-type]


def _with_lists(value: object) -> object:
    if isinstance(value, dict):
        return {name: _with_lists(part) for name, part in value.items()}
    # msgspec leaves tuples as they are; read back from JSON they would be lists.
    if isinstance(value, list | tuple):
        return [_with_lists(part) for part in value]
    return value


def _as_known(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, float):
        # msgspec refuses subclasses of float.
        return float(value)  # numpy's, which is one too
    raise TypeError(f"{type(value).__name__} has no plain form")


def _from_known(kind: type, value: object) -> object:
    if issubclass(kind, PurePath) and isinstance(value, str):
        return Path(value)
    if kind is object:
        return value
    raise ValueError(f"it cannot be a {kind.__name__}")


def _refusal(message: str, kind: object, where: str) -> WrongUseError:
    """Convert msgspec's error message to our words."""
    place = _PLACE.search(message)
    entry = place.group(1) if place else ""
    message = _PLACE.sub("", message)
    subject = f"'{entry}' in {where}" if entry else _at_start(where)
    if wrong := _TYPE.fullmatch(message):
        length = f" of length {wrong.group(2)}" if wrong.group(2) else ""
        return WrongUseError(
            f"{subject} must be {_in_words(wrong.group(1))}{length}.", "Correct it."
        )
    if small := _LEAST.fullmatch(message):
        what = (
            f"{subject} must be {_in_words(small.group(1))}, {small.group(2)} or more."
        )
        return WrongUseError(what, "Correct it.")
    if missing := _MISSING.fullmatch(message):
        name = ".".join(filter(None, (entry, missing.group(1))))
        return WrongUseError(f"'{name}' is missing in {where}.", "Add it.")
    if word := _UNKNOWN_WORD.fullmatch(message):
        return WrongUseError(
            f"{subject} cannot be {word.group(1)}.",
            f"Write one of {_words_at(kind, entry)}.",
        )
    return WrongUseError(f"{subject} cannot be used: {message}.", "Correct it.")


def _at_start(where: str) -> str:
    """Capitalise the beginning of a sentence, unless it is a file name."""
    is_file = "." in where.partition(" ")[0]
    return where if is_file else where[:1].upper() + where[1:]


def _words_at(kind: Any, entry: str) -> str:  # noqa: ANN401 - any annotation
    """Return the words allowed at an entry of a type, those of keys for a map."""
    for step in re.findall(r"[^\W\d]\w*|\[", entry):
        kind = _known(kind)
        kind = _inside(kind)[-1] if step == "[" else get_type_hints(kind)[step]
    inside = _inside(_known(kind))
    words = next((one for one in inside if isinstance(one, EnumType)), inside)
    return ", ".join(map(str, words))


def _known(kind: Any) -> Any:  # noqa: ANN401 - any annotation
    """Return X of ``X | None``."""
    return _inside(kind)[0] if get_origin(kind) in (Union, UnionType) else kind


def _inside(kind: Any) -> list[Any]:  # noqa: ANN401 - any annotation
    return [one for one in get_args(kind) if one not in (NoneType, ...)] or [kind]


def _in_words(types: str) -> str:
    words = [_WORDS.get(name, name) for name in types.split(" | ") if name != "null"]
    return " or ".join(words)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'? `` for the closest known name, or nothing."""
    from difflib import get_close_matches  # for refusals alone, which are rare

    close = get_close_matches(name, list(known), n=1)
    return f"Did you mean '{close[0]}'? " if close else ""


def _unknown_entries(
    value: object, document: object, at: str = ""
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the unknown entries of a document.

    Each comes with the names of the fields that exist.
    """
    parts: Iterable[tuple[object, object, str]] = ()
    if is_dataclass(value) and isinstance(document, dict):
        known = tuple(field.name for field in fields(value))
        for name in document.keys() - set(known):
            yield f"{at}{name}", known
        parts = (
            (getattr(value, n, None), part, f"{at}{n}.") for n, part in document.items()
        )
    elif isinstance(value, Mapping) and isinstance(document, dict):
        pairs = zip(value.values(), document.values(), strict=True)
        parts = ((one, part, at) for one, part in pairs)
    elif isinstance(value, tuple | list) and isinstance(document, list | tuple):
        parts = ((one, part, at) for one, part in zip(value, document, strict=True))
    for one, part, place in parts:
        if one is not part and isinstance(part, dict | list | tuple):
            yield from _unknown_entries(one, part, place)
