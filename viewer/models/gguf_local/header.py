"""The header of a GGUF file (versions 2 and 3 of ggml's format), little-endian.

Magic ``GGUF``, version u32, tensor count u64, metadata count u64; each metadatum is a
string key, a type u32 and a value; each tensor a name, its dimensions, type and
offset. Everything is checked against the file's length before llama.cpp sees it.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.models.file_hash import unreadable_file

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_SMALLEST: Final = 24
_MOST_DIMENSIONS: Final = 4
_BOOL, _STRING, _ARRAY = 7, 8, 9
_NUMBERS: Final[Mapping[int, struct.Struct]] = {
    code: struct.Struct(f"<{letter}")
    for code, letter in {
        0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", _BOOL: "?",
        10: "Q", 11: "q", 12: "d",
    }.items()
}  # fmt: skip
_BLOCKS: Final[Mapping[int, tuple[int, int]]] = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24),
    8: (32, 34), 9: (32, 40), 10: (256, 84), 11: (256, 110), 12: (256, 144),
    13: (256, 176), 14: (256, 210), 15: (256, 292), 24: (1, 1), 25: (1, 2),
    26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2),
}  # fmt: skip
"""Numbers and bytes of a block of each tensor type; others are not checked."""

Value = bool | int | float | str | tuple[int, int]
"""A metadatum; an array only as its element type and its length."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor's shape (the fastest axis first), type and offset in the data part."""

    shape: tuple[int, ...]
    kind: int
    offset: int

    @property
    def end(self) -> int:
        """Offset after its last byte; its start if the type is unknown."""
        block, size = _BLOCKS.get(self.kind, (1, 0))
        numbers = 1
        for length in self.shape:
            numbers *= length
        return self.offset + numbers // block * size


@dataclass(frozen=True)
class GgufHeader:
    """A GGUF file's metadata and tensors; ``size`` is the file's length in bytes."""

    path: Path
    size: int
    metadata: Mapping[str, Value]
    tensors: Mapping[str, TensorInfo]

    @property
    def architecture(self) -> str:
        """``general.architecture``: ``llama``, ``gemma3``, for a projector ``clip``."""
        return self.text("general.architecture")

    def text(self, key: str) -> str:
        """Return a string of the metadata, "" if missing."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int:
        """Return an integer of the metadata, 0 if missing."""
        value = self.metadata.get(key)
        return value if isinstance(value, int) else 0


def read_header(path: Path) -> GgufHeader:
    """Return the header of a GGUF file.

    Raises
    ------
    UnreadableInputError
        If the file is missing, not a GGUF file, or truncated.
    """
    try:
        return _read(path, path.stat().st_size)
    except OSError as error:
        raise unreadable_file(path, error) from error
    except (struct.error, ValueError) as error:
        raise _damaged(path) from error


def _read(path: Path, size: int) -> GgufHeader:
    if size < _SMALLEST:
        raise _no_gguf(path)
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data,
    ):
        if data[:4] != _MAGIC:
            raise _no_gguf(path)
        return _read_parts(path, _Cursor(data, size))


def _read_parts(path: Path, cursor: "_Cursor") -> GgufHeader:
    cursor.place = len(_MAGIC)
    version = int(cursor.number(4))
    if version not in _VERSIONS:
        raise UnreadableInputError(
            f"The model's file '{path.name}' has the unsupported GGUF version "
            f"{version}.",
            "Convert the model again with a current llama.cpp.",
        )
    n_tensors, n_metadata = int(cursor.number(10)), int(cursor.number(10))
    # Before the loops: a damaged header may state billions of entries.
    cursor.check_count(max(n_tensors, n_metadata))
    metadata = dict(_metadatum(cursor) for _ in range(n_metadata))
    tensors = dict(_tensor(cursor) for _ in range(n_tensors))
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1:
        raise ValueError("alignment")
    start = -(-cursor.place // alignment) * alignment
    if start + max((t.end for t in tensors.values()), default=0) > cursor.size:
        raise _cut_short(path)
    return GgufHeader(path, cursor.size, metadata, tensors)


def _metadatum(cursor: "_Cursor") -> tuple[str, Value]:
    key = cursor.text()
    return key, cursor.value(int(cursor.number(4)))


def _tensor(cursor: "_Cursor") -> tuple[str, TensorInfo]:
    name = cursor.text()
    dimensions = int(cursor.number(4))
    if dimensions > _MOST_DIMENSIONS:
        raise ValueError("dimensions")
    shape = tuple(int(cursor.number(10)) for _ in range(dimensions))
    kind, offset = int(cursor.number(4)), int(cursor.number(10))
    return name, TensorInfo(shape, kind, offset)


class _Cursor:
    """Reads values in sequence; reading past the end raises ``struct.error``."""

    def __init__(self, data: mmap.mmap, size: int) -> None:
        self._data, self.size, self.place = data, size, 0

    def number(self, kind: int) -> int | float | bool:
        """Return a number of a GGUF value type."""
        packed = _NUMBERS[kind]
        (value,) = packed.unpack_from(self._data, self.place)
        self.place += packed.size
        return value  # type: ignore[no-any-return]

    def text(self) -> str:
        """Return the string at the place, with U+FFFD where it is not UTF-8."""
        begin = self._skipped(self._length())
        return self._data[begin : self.place].decode("utf-8", "replace")

    def value(self, kind: int) -> Value:
        """Return a value; an array is skipped."""
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self._array()
        if kind not in _NUMBERS:
            raise ValueError("value type")
        return self.number(kind)

    def check_count(self, count: int) -> None:
        """Refuse a count that the file is too short for."""
        if count > self.size:
            raise ValueError("count")

    def _array(self) -> tuple[int, int]:
        kind, count = int(self.number(4)), self._length()
        if kind in _NUMBERS:
            self._skipped(count * _NUMBERS[kind].size)
            return kind, count
        self.check_count(count)
        skip: Callable[[], object] = {_STRING: self._skip_text}.get(kind, self._refuse)
        for _ in range(count):
            skip()
        return kind, count

    def _skip_text(self) -> None:
        self._skipped(self._length())

    def _refuse(self) -> None:
        raise ValueError("array type")

    def _length(self) -> int:
        return int(self.number(10))

    def _skipped(self, length: int) -> int:
        begin = self.place
        if length > self.size - begin:
            raise ValueError("length")
        self.place += length
        return begin


def _no_gguf(path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"The model's file '{path.name}' is not a GGUF file.",
        "Choose a file that ends in .gguf; for safetensors folders use "
        "transformers_local.",
    )


def _damaged(path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"The model's file '{path.name}' has a damaged header.",
        "Copy or download it again.",
    )


def _cut_short(path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"The model's file '{path.name}' ends before its last weights.",
        "It was not copied or downloaded completely; fetch it again.",
    )
