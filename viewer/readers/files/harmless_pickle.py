"""Pickles parsed without running anything: numbers, texts, containers and arrays.

A pickle is a program. Here only the instructions that build plain values are
implemented, and the only callables are functions of this module, which replace the few
of numpy and torch that rebuild arrays; anything else in a pickle refuses the whole
file.
"""

import io
import math
import pickle
import re
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError

_INSTRUCTIONS: Final = (
    pickle.MARK, pickle.STOP, pickle.POP, pickle.POP_MARK, pickle.NONE, pickle.INT,
    pickle.LONG, pickle.FLOAT, pickle.BININT, pickle.BININT1, pickle.BININT2,
    pickle.BINFLOAT, pickle.LONG1, pickle.STRING, pickle.BINSTRING,
    pickle.SHORT_BINSTRING, pickle.UNICODE, pickle.BINUNICODE, pickle.EMPTY_LIST,
    pickle.EMPTY_DICT, pickle.EMPTY_TUPLE, pickle.APPEND, pickle.APPENDS, pickle.LIST,
    pickle.DICT, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3,
    pickle.SETITEM, pickle.SETITEMS, pickle.GET, pickle.BINGET, pickle.LONG_BINGET,
    pickle.PUT, pickle.BINPUT, pickle.LONG_BINPUT, pickle.NEWTRUE, pickle.NEWFALSE,
    pickle.PROTO, pickle.BINBYTES, pickle.SHORT_BINBYTES, pickle.BINBYTES8,
    pickle.SHORT_BINUNICODE, pickle.BINUNICODE8, pickle.MEMOIZE, pickle.FRAME,
    pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.REDUCE, pickle.BUILD, pickle.BINPERSID,
)  # fmt: skip
_STORAGES: Final[Mapping[str, str]] = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "|i1",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
    "UntypedStorage": "|u1",
}
_CODE: Final = re.compile("b1|[iu][1248]|f[248]")
# MAGIC_NUMBER and PROTOCOL_VERSION of torch/serialization.py.
_MAGIC: Final = 0x1950A86A20F9469CFC6C
_PROTOCOL: Final = 1001
_LENGTH_BYTES: Final = 8

Array = npt.NDArray[Any]


class _RefusedError(Exception):
    """A pickle is malformed or needs something that is not harmless."""


class _Name:
    """A callable of this module under the name used in pickles."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[..., object]) -> None:
        self.call = call


class _Array:
    """A numpy array that is named but has no data yet."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: Array = np.zeros(0)


class _Dtype:
    """A numpy dtype that is named but has no byte order yet."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        self.code, self.order = code, "<"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype; only plain type codes, as numpy would also evaluate others."""
        if not _CODE.fullmatch(self.code) or self.order not in ("<", ">", "|"):
            raise _RefusedError
        return np.dtype(self.order + self.code)


def load_harmless(data: bytes, name: str) -> Any:  # noqa: ANN401 - what a pickle holds
    """Return the value in a pickle, with tensors as numpy arrays.

    Parameters
    ----------
    data : bytes
        The whole pickle.
    name : str
        The file's name, for the error.

    Raises
    ------
    UnreadableInputError
        If it is damaged, or would call anything but what rebuilds arrays; nothing of it
        has been run.
    """
    try:
        return _plain(_Unpickler(io.BytesIO(data)).load(), depth=0)
    except Exception as error:  # a spoilt pickle fails in any of a dozen ways
        raise UnreadableInputError(
            f"The pickle '{name}' is damaged, or tries to run code; nothing in it was "
            "run.",
            "Use a pickle of plain values, numpy arrays and torch tensors.",
        ) from error


def _plain(value: object, depth: int) -> object:
    """Convert the arrays in a value to numpy's, three levels deep."""
    if isinstance(value, _Array):
        return value.values
    if isinstance(value, dict) and depth < 3:
        return {key: _plain(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple) and depth < 3:
        return type(value)(_plain(part, depth + 1) for part in value)
    return value


class _Unpickler(pickle._Unpickler):  # noqa: SLF001 - the one in Python, whose instructions can be taken away
    """An unpickler that implements only harmless instructions."""

    stack: list[Any]
    read: Callable[[int], bytes]
    dispatch: ClassVar[dict[int, Any]] = {
        code[0]: pickle._Unpickler.dispatch[code[0]]  # noqa: SLF001 - see above
        for code in _INSTRUCTIONS
    }

    def __init__(self, file: IO[bytes]) -> None:
        # numpy's arrays in Python 2 pickles are byte strings, which latin1 keeps.
        super().__init__(file, encoding="latin1")
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> object:
        """Return the harmless replacement for a name; any other is refused."""
        known = _NAMES.get(f"{module}.{name}")
        if known is None:
            raise _RefusedError
        return known

    def persistent_load(self, pid: object) -> object:
        """Return a torch file's named storage, which is filled later."""
        if not isinstance(pid, tuple) or len(pid) != 6 or pid[0] != "storage":
            raise _RefusedError
        key = str(pid[2])
        return self.storages.setdefault(key, _Storage(_dtype_of(pid[1])))

    def load_reduce(self) -> None:
        """Call a function of this module."""
        arguments = self.stack.pop()
        name = self.stack[-1]
        if not isinstance(name, _Name) or not isinstance(arguments, tuple):
            raise _RefusedError
        self.stack[-1] = name.call(*arguments)

    def load_build(self) -> None:
        """Set an array's data or a dtype's byte order."""
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, _Array):
            _fill(target, state)
        elif isinstance(target, _Dtype):
            target.order = state[1]
        # A state dict's OrderedDict has _metadata as its state, which is not needed.
        elif not isinstance(target, dict):
            raise _RefusedError

    def load_bytearray8(self) -> None:
        """Read bytes, limited to the pickle's length."""
        size = int.from_bytes(self.read(_LENGTH_BYTES), "little")
        # Python's own instruction allocates the claimed size before it reads a byte.
        data = self.read(min(size, sys.maxsize))
        if len(data) != size:
            raise _RefusedError
        self.stack.append(data)

    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8
    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.BUILD[0]] = load_build


class _Storage:
    """The data of one or more tensors."""

    __slots__ = ("dtype", "numbers")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.numbers: Array = np.zeros(0, dtype)


def _dtype_of(storage: object) -> np.dtype[Any]:
    if not isinstance(storage, np.dtype):
        raise _RefusedError
    return storage


def _fill(array: _Array, state: Any) -> None:  # noqa: ANN401 - what a pickle holds
    """Set an array's state from a pickle, as numpy does."""
    _version, shape, dtype, column_major, data = state
    order = "F" if column_major else "C"
    array.values = _shaped(_encoded(data), dtype, shape, order)


def _shaped(data: object, dtype: object, shape: object, order: object) -> Array:
    if not isinstance(dtype, _Dtype) or not isinstance(data, bytes):
        raise _RefusedError
    if not isinstance(shape, tuple) or order not in ("C", "F"):
        raise _RefusedError
    numbers = np.frombuffer(data, dtype.dtype)
    return numbers.reshape(shape, order="F" if order == "F" else "C").copy()


def _encoded(text: object, encoding: str = "latin1") -> object:
    """Return the bytes of a text, as Python 2 and old protocols encode them."""
    if encoding not in ("latin1", "latin-1"):
        raise _RefusedError
    return text.encode("latin1") if isinstance(text, str) else text


def _frombuffer(data: object, dtype: object, shape: object, order: object) -> _Array:
    array = _Array()
    array.values = _shaped(data, dtype, shape, order)
    return array


def _scalar(dtype: object, data: object) -> float:
    return float(_shaped(_encoded(data), dtype, (1,), "C")[0])


def _tensor(
    storage: object,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    *_: object,
) -> Array:
    """Return a tensor's values; access beyond its storage is refused."""
    if not isinstance(storage, _Storage) or len(size) != len(stride):
        raise _RefusedError
    if min((offset, *size, *stride)) < 0:
        raise _RefusedError
    count = math.prod(size)
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    numbers = storage.numbers
    # as_strided checks nothing: it would read whatever lies behind the storage.
    if count > len(numbers) or (count and last >= len(numbers)):
        raise _RefusedError
    steps = tuple(s * numbers.itemsize for s in stride)
    view = np.lib.stride_tricks.as_strided(numbers[offset:], size, steps)
    # A view would keep a whole storage of which it may show one number.
    return view.copy()


def _parameter(tensor: object, *_: object) -> object:
    return tensor


def _storage(data: object) -> object:
    """Parse torch's file format from before version 1.6.

    Five pickles follow one another (a magic number, the format, the writer's machine,
    the value, the keys of its storages), then each storage: a count and the numbers.
    """
    if not isinstance(data, bytes):
        raise _RefusedError
    file = io.BytesIO(data)
    if _Unpickler(file).load() != _MAGIC or _Unpickler(file).load() != _PROTOCOL:
        raise _RefusedError
    _Unpickler(file).load()
    reader = _Unpickler(file)
    value = reader.load()
    for key in _Unpickler(file).load():
        storage = reader.storages[key]
        count = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        read = file.read(count * storage.dtype.itemsize)
        storage.numbers = np.frombuffer(read, storage.dtype)
        if len(storage.numbers) != count:
            raise _RefusedError
    return value


def _ordered(pairs: object = ()) -> dict[Any, Any]:
    if not isinstance(pairs, list | tuple):
        raise _RefusedError
    return dict(pairs)


def _array(*_: object) -> _Array:
    return _Array()


def _dtype(code: object, *_: object) -> _Dtype:
    if not isinstance(code, str):
        raise _RefusedError
    return _Dtype(code.lstrip("<>|="))


_NAMES: Final[Mapping[str, object]] = {
    "collections.OrderedDict": _Name(_ordered),
    "_codecs.encode": _Name(_encoded),
    "numpy.dtype": _Name(_dtype),
    "numpy.ndarray": "ndarray",
    **{
        f"numpy.{core}.{name}": _Name(call)
        # numpy 2 renamed the module, and pickles of both are about.
        for core in ("core", "_core")
        for name, call in (
            ("multiarray._reconstruct", _array),
            ("multiarray.scalar", _scalar),
            ("numeric._frombuffer", _frombuffer),
        )
    },
    "torch._utils._rebuild_tensor": _Name(_tensor),
    "torch._utils._rebuild_tensor_v2": _Name(_tensor),
    "torch._utils._rebuild_parameter": _Name(_parameter),
    "torch.storage._load_from_bytes": _Name(_storage),
    **{f"torch.{name}": np.dtype(code) for name, code in _STORAGES.items()},
}
"""What a pickle may name: functions of this file, and words that stand for types."""
