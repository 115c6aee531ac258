"""What every module of the domain promises."""

import dataclasses
import pkgutil
from importlib import import_module

import viewer.domain


def test_that_no_value_of_the_domain_can_be_changed() -> None:
    # they are passed between threads, and are keys of caches
    found = [
        kind
        for module in pkgutil.iter_modules(viewer.domain.__path__, "viewer.domain.")
        for kind in vars(import_module(module.name)).values()
        if isinstance(kind, type) and kind.__module__ == module.name
    ]
    values = [kind for kind in found if dataclasses.is_dataclass(kind)]
    assert len(values) > 100
    changeable = [
        kind for kind in values if not vars(kind)["__dataclass_params__"].frozen
    ]
    assert changeable == []
