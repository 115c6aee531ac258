"""Objects of transformers, whose types differ from release to release."""

import importlib
from typing import Any, TypeAlias

Foreign: TypeAlias = Any
"""A model, processor, tokenizer or their output; transformers defines what it can."""


def transformers() -> Foreign:
    """Return the library, imported at first use."""
    return importlib.import_module("transformers")
