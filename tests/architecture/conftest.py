"""The scripts of packaging, which are no modules of a package."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

PACKAGING = Path(__file__).parents[2] / "packaging"


@contextmanager
def loaded_script(name: str) -> Iterator[ModuleType]:
    """Load a script from its file, as long as the context lasts."""
    spec = importlib.util.spec_from_file_location(name, PACKAGING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]
