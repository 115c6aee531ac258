"""The import contracts hold, and each of them notices when it is broken."""

import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
LAYERS = (
    ("app", "cli", "api"),
    ("ui", "terminal"),
    ("services",),
    ("studies", "models", "readers", "writers", "store"),
    ("private_files",),
    ("imaging", "metrics", "settings"),
    ("domain",),
)
ONLY_IN = {
    "Qt only in ui and app": {"viewer.ui", "viewer.app"},
    "SQL only in store": {"viewer.store"},
    "model libraries only in models": {"viewer.models"},
    "pandas only in api and the scripts of tables": {"viewer.api", "viewer.writers"},
    "highdicom only in readers and writers": {"viewer.readers", "viewer.writers"},
    "msgspec only in domain": {"viewer.domain"},
}
NEIGHBOUR = "viewer/studies/rubric_reading/__init__.py"
VIOLATIONS = (
    ("layers", {"viewer/stray.py": "x = 1"}),
    (
        "no sibling cycles",
        {
            "viewer/readers/one_way.py": "import viewer.readers.other_way",
            "viewer/readers/other_way.py": "import viewer.readers.one_way",
        },
    ),
    (
        "packages of services",
        {"viewer/services/trials/memo.py": "import viewer.services.probing.rows"},
    ),
    (
        "packages of ui",
        {"viewer/ui/tables/columns.py": "import viewer.ui.application.jobs"},
    ),
    (
        "packages of readers",
        {"viewer/readers/rasters/page.py": "import viewer.readers.dicom.spacing"},
    ),
    ("Qt only in ui and app", {"viewer/services/__init__.py": "import PySide6"}),
    ("Qt only in ui and app", {"viewer/cli/running.py": "import pyqtgraph"}),
    ("ui calls services", {"viewer/ui/__init__.py": "import viewer.store"}),
    ("ui calls services", {"viewer/ui/__init__.py": "import viewer.models"}),
    ("SQL only in store", {"viewer/services/__init__.py": "import sqlite_utils"}),
    ("SQL only in store", {"viewer/ui/__init__.py": "import sqlite3"}),
    ("model libraries only in models", {"viewer/cli/running.py": "import torch"}),
    (
        "model libraries only in models",
        {"viewer/services/__init__.py": "from openai import OpenAI"},
    ),
    (
        "pandas only in api and the scripts of tables",
        {"viewer/results/__init__.py": "import pandas"},
    ),
    (
        "highdicom only in readers and writers",
        {"viewer/imaging/__init__.py": "import highdicom"},
    ),
    ("msgspec only in domain", {"viewer/store/__init__.py": "import msgspec"}),
    (
        "studies do not import each other",
        {NEIGHBOUR: "import viewer.studies.grid_localization"},
    ),
    (
        "adapters do not import each other",
        {"viewer/models/baselines.py": "import viewer.models.scripted"},
    ),
    (
        "formats do not import each other",
        {
            "viewer/readers/datasets/folder.py": (
                "import viewer.readers.datasets.chexlocalize"
            )
        },
    ),
)


@dataclass(frozen=True)
class Tree:
    """A copy of the program that may be spoilt."""

    root: Path

    def broken(self) -> set[str]:
        """Return the names of the contracts that do not hold."""
        lines = self.report().splitlines()
        return {line.removesuffix(" BROKEN") for line in lines if "BROKEN" in line}

    def report(self) -> str:
        """Return what import-linter says."""
        done = subprocess.run(
            [LINT_IMPORTS, "--no-logo", "--cache-dir", self.root / "cache"],
            cwd=self.root,
            capture_output=True,
            text=True,
        )
        assert "Contracts:" in done.stdout, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def spoilt(self, additions: Mapping[str, str]) -> Iterator[None]:
        """Append lines to files, new ones included, and take them back."""
        before = {}
        for name, text in additions.items():
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            before[path] = path.read_text() if path.exists() else None
            path.write_text(f"{before[path] or ''}\n{text}\n")
        yield
        for path, content in before.items():
            if content is None:
                path.unlink()
            else:
                path.write_text(content)


def _contracts() -> list[dict[str, object]]:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        project = tomllib.load(stream)
    contracts: list[dict[str, object]] = project["tool"]["importlinter"]["contracts"]
    return contracts


def _home(module: str) -> str:
    package = f"viewer/{module}/__init__.py"
    return package if (ROOT / package).exists() else f"viewer/{module}.py"


def _siblings() -> list[tuple[str, str]]:
    return [(a, b) for layer in LAYERS for a in layer for b in layer if a != b]


def _upward() -> list[tuple[str, str]]:
    return [(low, high[0]) for high, lower in pairwise(LAYERS) for low in lower]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy of the program's sources and contracts."""
    root = tmp_path_factory.mktemp("tree")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "viewer", root / "viewer", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", root)
    return Tree(root)


def test_that_every_contract_holds(tree: Tree) -> None:
    assert tree.broken() == set()


@pytest.mark.parametrize(
    ("contract", "additions"),
    [
        pytest.param(*broken, marks=[] if place < 3 else pytest.mark.proof)
        for place, broken in enumerate(VIOLATIONS)
    ],
)
def test_that_a_contract_broken_on_purpose_fails_and_no_other(
    tree: Tree, contract: str, additions: Mapping[str, str]
) -> None:
    with tree.spoilt(additions):
        assert tree.broken() == {contract}


@pytest.mark.parametrize("pairs", [_siblings(), _upward()], ids=["sibling", "upward"])
def test_that_no_layer_imports_a_sibling_nor_upwards(
    tree: Tree, pairs: Sequence[tuple[str, str]]
) -> None:
    lines: dict[str, str] = defaultdict(str)
    for importer, imported in pairs:
        lines[_home(importer)] += f"import viewer.{imported}\n"
    with tree.spoilt(lines):
        report = tree.report()
    for importer, imported in pairs:
        refusal = f"viewer.{importer} is not allowed to import viewer.{imported}:\n"
        assert refusal in report


def test_that_every_contract_has_been_broken_on_purpose() -> None:
    broken_here = {contract for contract, _ in VIOLATIONS}
    assert broken_here == {contract["name"] for contract in _contracts()}


@pytest.mark.parametrize("name", ONLY_IN)
def test_that_a_library_kept_to_one_place_is_forbidden_everywhere_else(
    name: str,
) -> None:
    contract = next(c for c in _contracts() if c["name"] == name)
    children = [
        f"viewer.{path.stem}"
        for path in (ROOT / "viewer").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    ]
    expected = set(children) - ONLY_IN[name] - {"viewer.__init__"}
    sources = contract["source_modules"]
    assert isinstance(sources, list)
    assert set(sources) == expected
