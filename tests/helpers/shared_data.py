"""Real images that lie beside the project on a developer's machine only."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3] / "shared" / "data"


def shared_data(*parts: str) -> Path:
    """Return a path inside the shared data, or skip the calling test."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs the shared data folder: {'/'.join(parts)} is not there")
    return path
