"""What lies below the window is imported without Qt."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WINDOW = ("viewer.app", "viewer.ui")
IMPORTS = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        # who asks no local model has neither
        if error.name not in ("torch", "transformers"):
            raise
print([name for name in ("PySide6", "shiboken6", "pyqtgraph") if name in sys.modules])
"""


def _below_the_window() -> list[str]:
    paths = sorted((ROOT / "viewer").rglob("*.py"))
    parts = (path.relative_to(ROOT).with_suffix("").parts for path in paths)
    names = (".".join(part).removesuffix(".__init__") for part in parts)
    return [name for name in names if not name.startswith(WINDOW)]


def test_that_every_module_below_the_window_is_imported_without_qt() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, *_below_the_window()],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[]", done.stderr
