"""Texts are changed wherever they stand, and nothing else is."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from viewer.domain.map_texts import with_texts


class _Kind(StrEnum):
    ONE = "one"


@dataclass(frozen=True)
class _Held:
    name: str
    parts: tuple[object, ...]


def test_that_every_text_is_changed_and_nothing_else() -> None:
    value = _Held("a", ({"b": ["c", 1]}, frozenset({"d"}), _Kind.ONE, Path("e"), None))
    assert with_texts(value, str.upper) == _Held(
        "A", ({"B": ["C", 1]}, frozenset({"D"}), _Kind.ONE, Path("e"), None)
    )
    assert with_texts(_Held, str.upper) is _Held
