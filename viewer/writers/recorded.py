"""Wrappers of matplotlib objects that draw, and record each call as Python.

So a figure and its script come from the same calls and cannot differ.
"""

import base64
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from pprint import pformat
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

P = ParamSpec("P")
T = TypeVar("T")
_WIDTH: Final = 84
_LETTERS: Final = 76
_MODULES: Final = {
    "Figure": "matplotlib.figure",
    "ConstrainedLayoutEngine": "matplotlib.layout_engine",
    "Line2D": "matplotlib.lines",
    "Patch": "matplotlib.patches",
    "withStroke": "matplotlib.patheffects",
    "MaxNLocator": "matplotlib.ticker",
}
_KEPT: Final = {"add_subplot": "axes", "add_gridspec": "grid"}
"""Methods whose result is drawn upon in turn, and how it is called."""
_PIXELS: Final = '''

def pixels(text, *shape):
    """Return a picture, (rows, columns) or (rows, columns, 3), of grey or colour."""
    content = zlib.decompress(base64.b64decode(text))
    return np.frombuffer(content, np.uint8).reshape(shape)

'''


class Script:
    """The Python statements recorded so far."""

    def __init__(self) -> None:
        self._lines: list[tuple[str, object]] = []
        self._named: Counter[str] = Counter()

    def add(self, expression: object, name: str = "") -> object:
        """Add a statement; return its variable, numbered if the result is kept."""
        if not name:
            self._lines.append(("", expression))
            return expression
        self._named[name] += 1
        numbered = f"{name}_{self._named[name]}" if name in _KEPT.values() else name
        self._lines.append((f"{numbered} = ", expression))
        return numbered

    def text(self, settings: Mapping[str, object], last: str) -> str:
        """Return the script: imports, matplotlib's settings, the drawing, ``last``."""
        drawn = "\n".join(f"{name}{expression}" for name, expression in self._lines)
        first = "".join(f"    {k!r}: {v!r},\n" for k, v in settings.items())
        body = f"matplotlib.rcParams.update({{\n{first}}})\n\n{drawn}\n{last}\n"
        pictures = "pixels(" in body
        imports = [
            *(["import base64"] if pictures else []),
            "import sys",
            *(["import zlib"] if pictures else []),
            *(["from math import nan"] if _names("nan", drawn) else []),
            "",
            "import matplotlib",
            *(["import numpy as np"] if pictures else []),
            *(f"from {m} import {n}" for n, m in _MODULES.items() if _names(n, drawn)),
        ]
        return "\n".join([*imports, _PIXELS if pictures else "", body])


def _names(name: str, code: str) -> bool:
    return re.search(rf"\b{name}\b", code) is not None


class Recorded:
    """A matplotlib object with the name, or the expression, it has in a script.

    What is called of it is called at once, and written down. Methods that only read,
    ``get_…``, stand where their result is used.
    """

    def __init__(self, real: Any, source: object, script: Script) -> None:  # noqa: ANN401
        self.real, self.source, self.script = real, source, script

    def __repr__(self) -> str:
        return str(self.source)

    def __getattr__(self, name: str) -> "Recorded":
        if name.startswith("__"):
            raise AttributeError(name)
        source = f"{self.source}.{name}"
        return Recorded(getattr(self.real, name), source, self.script)

    def __getitem__(self, key: Any) -> "Recorded":  # noqa: ANN401 - as of the object
        keys = key if isinstance(key, tuple) else (key,)
        words = ", ".join(":" if one == slice(None) else repr(one) for one in keys)
        return Recorded(self.real[key], f"{self.source}[{words}]", self.script)

    def __call__(self, *values: object, **options: object) -> "Recorded":
        """Call the object, and record the call."""
        result = self.real(*map(_real, values), **_real(options))
        source = str(self.source)
        method = source.rpartition(".")[2]
        expression: object = _Call(source, values, options)
        if not method.startswith("get_"):
            expression = self.script.add(expression, _KEPT.get(method, ""))
        return Recorded(result, expression, self.script)


def recorded(
    name: str, kind: Callable[P, T], *values: P.args, **options: P.kwargs
) -> T:
    """Return an object named ``name`` in a new script, created by ``kind``."""
    script, made_ = Script(), made(kind, *values, **options)
    script.add(repr(made_), name)
    return cast("T", Recorded(_real(made_), name, script))


def made(kind: Callable[P, T], *values: P.args, **options: P.kwargs) -> T:
    """Return an object that the script creates where it is used."""
    result = kind(*map(_real, values), **_real(dict(options)))
    expression = _Call(getattr(kind, "__name__", ""), values, dict(options))
    return cast("T", Recorded(result, expression, Script()))


def real(value: T) -> T:
    """Return the matplotlib object itself, without its recorder if it has one."""
    return cast("T", _real(value))


def script_of(value: object) -> Script | None:
    """Return the script that records an object, None if there is none."""
    return value.script if isinstance(value, Recorded) else None


def _real(value: Any) -> Any:  # noqa: ANN401 - whatever a method of matplotlib takes
    if isinstance(value, Recorded):
        return value.real
    if isinstance(value, dict):
        return {key: _real(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_real, value))
    return value


class _Call:
    """A call, put in words only for a script: most figures are only drawn."""

    def __init__(
        self, source: str, values: tuple[object, ...], options: dict[str, object]
    ) -> None:
        self._source, self._values, self._options = source, values, options

    def __repr__(self) -> str:
        return _called(self._source, self._values, self._options)


class _Pixels:
    """A picture as a call of the script's own function."""

    def __init__(self, pixels: npt.NDArray[np.uint8]) -> None:
        self._pixels = pixels

    @cached_property
    def _text(self) -> str:
        text = base64.b64encode(zlib.compress(self._pixels.tobytes(), 9)).decode()
        parts = (text[i : i + _LETTERS] for i in range(0, len(text), _LETTERS))
        lines = "\n".join(parts)
        return f'pixels("""\n{lines}\n""", {", ".join(map(str, self._pixels.shape))})'

    def __repr__(self) -> str:
        return self._text


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a method of matplotlib takes
    """Return a value whose representation is Python without any import."""
    if isinstance(value, np.ndarray):
        return _Pixels(value) if value.dtype == np.uint8 else value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str):
        return str(value)
    if isinstance(value, range):
        return list(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value


def _called(source: str, values: tuple[object, ...], options: dict[str, object]) -> str:
    """Return a call in one line, or with its arguments on separate lines."""
    given = [("", _plain(value)) for value in values]
    given += [(f"{name}=", _plain(value)) for name, value in options.items()]
    flat = ", ".join(f"{name}{value!r}" for name, value in given)
    if len(flat) + len(source) < _WIDTH and "\n" not in flat:
        return f"{source}({flat})"
    lines = [f"    {name}{_below(value, len(name))}," for name, value in given]
    return "\n".join([f"{source}(", *lines, ")"])


def _below(value: object, beside: int) -> str:
    told = pformat(value, width=_WIDTH - beside, compact=True, sort_dicts=False)
    if told.startswith("pixels("):
        return told
    return told.replace("\n", "\n" + " " * (4 + beside))
