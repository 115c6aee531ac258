"""A policy of the administrator in a folder of the test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from viewer import settings

Decide = Callable[[str], Path]


def deciding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Decide:
    """Return what writes a policy, and returns its file, where the program looks."""
    file = folder / "etc" / "policy.toml"
    file.parent.mkdir()
    monkeypatch.setattr(settings, "_places", lambda: (file,))

    def write(text: str) -> Path:
        file.write_text(text, "utf-8")
        return file

    return write
