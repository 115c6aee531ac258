"""An error in a method that Qt calls is told as any other, and ends no process.

Until Python 3.12 an error that C code raises (``max(())``, a division by zero, a widget
that is gone) is but a type and a text until something catches it. Where Python calls Qt
and Qt calls an override in which that happens, PySide 6.8 to 6.12 takes the text for
the exception and reads past its end, which is a segmentation fault.
"""

import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import ParamSpec, TypeVar

from shiboken6 import Shiboken

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


def guard_overrides() -> None:
    """Guard the overrides of all classes derived from Qt's from now on."""
    if sys.version_info < (3, 12):
        Shiboken.Object.__init_subclass__ = classmethod(_guard)  # type: ignore[assignment]


def read_no_sources() -> None:
    """Spare each import the reading of its source, half the time of some imports.

    PySide looks there for its own name, in case the module asks for names in snake
    case, as none here does. A PySide that does it otherwise is left as it is.
    """
    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        vars(feature)["_mod_uses_pyside"] = lambda _: False


def _guard(derived: type[Shiboken.Object]) -> None:
    super(Shiboken.Object, derived).__init_subclass__()
    bases = [base for base in derived.__mro__ if base.__module__.startswith("PySide6.")]
    for name, method in tuple(vars(derived).items()):
        overrides = any(name in vars(base) for base in bases)
        if overrides and isinstance(method, FunctionType) and name != "__init__":
            setattr(derived, name, _guarded(method))


def _guarded(method: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
    @wraps(method)
    def call(*args: _Asked.args, **kwargs: _Asked.kwargs) -> _Answer:
        try:
            return method(*args, **kwargs)
        except BaseException:  # noqa: TRY203 - what is caught is made an exception
            raise

    return call
