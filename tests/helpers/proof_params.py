"""Values of a parameter of which one or two are tried always, the others as proofs."""

from collections.abc import Collection, Iterable
from typing import TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

T = TypeVar("T")


def always(tried: Collection[T], values: Iterable[T]) -> list[ParameterSet]:
    """Return the values, all marked as proofs but those that are always tried."""
    return [
        pytest.param(value, marks=[] if value in tried else pytest.mark.proof)
        for value in values
    ]
