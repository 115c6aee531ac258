"""Local models made for tests."""

from pathlib import Path

from viewer.domain.exchange import ModelProfile
from viewer.models.transformers_local.adapter import TransformersLocal


def local_model(folder: Path, **settings: object) -> TransformersLocal:
    """Return the model of a folder, on the CPU, with other settings."""
    values = {"model": str(folder), "device": "cpu", **settings}
    return TransformersLocal(ModelProfile("tiny", "transformers_local", values))
