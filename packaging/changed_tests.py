"""Print the test files that the changes since main concern.

They are those that changed, and those that import what changed: of the window's tests
for a module of the window, else of the unit tests in the folder of the module's own.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def changed_files() -> Iterator[str]:
    """Yield what differs from where this branch left main, new files included."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    yield from _git("diff", "--name-only", "--diff-filter=d", *base)
    yield from _git("ls-files", "--others", "--exclude-standard")


def _git(*words: str) -> list[str]:
    words = ("git", *words)
    done = subprocess.run(words, check=False, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.split()


def tests_of(name: str) -> Iterator[str]:
    """Yield the tests that a file concerns."""
    path = Path(name)
    if path.match("test_*.py") and "benchmarks" not in path.parts:
        yield name
    if path.parts[0] == "viewer" and path.suffix == ".py":
        package = re.escape(".".join(path.parent.parts))
        named = re.compile(rf"\b{package}(\.| import .*\b){path.stem}\b")
        for test in _near(path.parts[1:-1]):
            if named.search(test.read_text(encoding="utf-8")):
                yield test.relative_to(ROOT).as_posix()


def _near(folder: tuple[str, ...]) -> Iterator[Path]:
    """Yield the window's tests, or the unit tests of a folder of the program."""
    if folder[:1] == ("ui",):
        return (ROOT / "tests" / "ui").rglob("test_*.py")
    return ROOT.joinpath("tests", "unit", *folder).glob("test_*.py")


def main() -> None:
    """Print each test file once."""
    concerned = {test for name in changed_files() for test in tests_of(name)}
    sys.stdout.write(" ".join(sorted(concerned)) + "\n")


if __name__ == "__main__":
    main()
