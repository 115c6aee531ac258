"""What the store does not take along."""

import importlib
import subprocess
import sys

import pytest

from viewer.store.lean_import import without


def test_that_a_package_cannot_be_imported_inside_and_can_be_again_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with without("colorsys"), pytest.raises(ImportError):
        importlib.import_module("colorsys")
    assert importlib.import_module("colorsys").rgb_to_hsv(0, 0, 0) == (0, 0, 0)


def test_that_a_package_imported_before_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.import_module("colorsys")
    monkeypatch.setitem(sys.modules, "colorsys", known)
    with without("colorsys"):
        assert importlib.import_module("colorsys") is known
    assert sys.modules["colorsys"] is known


def test_that_the_store_does_not_import_pandas() -> None:
    script = "import sys, viewer.store.database; print('pandas' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
