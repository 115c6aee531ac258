"""The house rules that no linter holds."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "viewer").rglob("*.py"))
LONGEST_MODULE = 450
TOP_LEVEL = {
    ".ci", ".gitignore", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE",
    "Makefile", "README.md", "SECURITY.md", "docs", "mkdocs.yml",
    "packaging", "pyproject.toml", "resources", "tests", "viewer",
}  # fmt: skip
HEAVY = (
    "PySide6", "SimpleITK", "highdicom", "matplotlib", "nibabel", "pyqtgraph",
    "scipy.ndimage", "torch", "transformers", "wsidicom", "xllamacpp",
)  # fmt: skip
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:work|root|home|tmp)/\w")


def _tracked() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("needs the repository that the files are tracked in")
    listed = subprocess.run(
        [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.exists()]


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_that_every_package_is_in_the_distribution() -> None:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        listed = tomllib.load(stream)["tool"]["setuptools"]["packages"]
    packages = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in MODULES
        if path.name == "__init__.py"
    }
    assert packages | {"viewer.resources"} == set(listed)


def test_that_every_folder_of_modules_is_a_package() -> None:
    assert {
        path.parent for path in MODULES if not (path.parent / "__init__.py").exists()
    } == set()


def test_that_the_domain_imports_numpy_msgspec_and_the_standard_library_only() -> None:
    for path in (ROOT / "viewer" / "domain").rglob("*.py"):
        for name in _imports(path):
            top = name.split(".")[0]
            assert (
                top in sys.stdlib_module_names
                or top in {"numpy", "msgspec", "_typeshed"}  # the last for mypy
                or name.startswith("viewer.domain")
            ), f"{path.name} imports {name}"


def test_that_no_module_is_too_long_to_read() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in MODULES
    }
    assert {name: n for name, n in lengths.items() if n > LONGEST_MODULE} == {}


def test_that_the_top_level_holds_what_the_design_names() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in _tracked()}
    assert names - TOP_LEVEL == set()


def test_that_no_tracked_file_names_a_path_of_one_machine() -> None:
    found = []
    for path in _tracked():
        if path.name == ".gitignore":
            continue
        text = path.read_bytes().decode("utf-8", errors="replace")
        if MACHINE_PATH.search(text):
            found.append(path.relative_to(ROOT).as_posix())
    assert found == []


WINDOW = """
import sys
from viewer.app import build_window, furnish, make_application
from viewer.settings import read_settings
make_application()
window = build_window(read_settings())
bare = [m for m in {heavy!r} if m in sys.modules]
furnish(window)
window.show()
print([bare, [m for m in {heavy!r} if m in sys.modules]])
"""


FIRST = """
import sys
from viewer.app import _add_read, build_window, make_application
from viewer.settings import read_settings
make_application()
window = build_window(read_settings())
_add_read(window)
window.show()
print(*sys.modules)
"""
LATER = (
    "PIL", "difflib", "fractions", "hashlib", "importlib.metadata", "pydicom",
    "sqlite3", "tomllib", "viewer.domain.answer", "viewer.domain.exchange",
    "viewer.domain.run", "viewer.imaging.resample", "viewer.imaging.smooth",
    "viewer.readers.volumes", "viewer.store.database",
    "viewer.ui.canvas.overlays.answers",
)  # fmt: skip
MOST_BEFORE_AN_IMAGE = 165
"""A dataclass takes half a millisecond, a module with none as much."""


def test_that_the_window_opens_without_the_heavy_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    heavy = tuple(name for name in HEAVY if name != "PySide6")
    done = subprocess.run(
        [sys.executable, "-c", WINDOW.format(heavy=heavy)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[[], []]", done.stderr


def test_that_few_modules_are_imported_before_the_first_image(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The start is mostly imports: what the first image does without comes later."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    done = subprocess.run(
        [sys.executable, "-c", FIRST], cwd=ROOT, capture_output=True, text=True
    )
    imported = set(done.stdout.split())
    assert imported & set(LATER) == set(), done.stderr
    ours = {name for name in imported if name.partition(".")[0] == "viewer"}
    assert 100 < len(ours) <= MOST_BEFORE_AN_IMAGE


def test_that_the_command_line_starts_without_the_heavy_libraries() -> None:
    code = (
        f"import sys, viewer.cli\nprint([m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_that_only_one_module_prints() -> None:
    """What it prints cannot control the terminal; everything else calls it."""
    prints = re.compile(
        r"\bclick\.(echo|secho|echo_via_pager)\b|^\s+print\(", re.MULTILINE
    )
    found = [
        path.relative_to(ROOT).as_posix()
        for path in MODULES
        if prints.search(path.read_text("utf-8"))
    ]
    assert found == ["viewer/printing.py"]


def test_that_the_window_reads_no_text_from_outside_as_html() -> None:
    """Labels are plain; a tool tip is our own words, or ``as_tip`` of what it tells."""
    found = []
    for path in (ROOT / "viewer" / "ui").rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        calls = (node for node in nodes if isinstance(node, ast.Call))
        found += [f"{path.name}:{c.lineno}" for c in calls if _may_read_html(c)]
    assert found == []


def _may_read_html(call: ast.Call) -> bool:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name == "setToolTip":
        told = call.args[-1]
        ours = isinstance(told, ast.Constant) or (
            isinstance(told, ast.Name) and told.id.isupper()
        )
        return not ours and getattr(getattr(told, "func", None), "id", "") != "as_tip"
    return name == "QLabel"
