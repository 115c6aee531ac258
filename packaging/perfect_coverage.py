"""Hold the files that must be covered to the last branch.

They are those that pyproject.toml lets coverage measure, in a run of the tests of their
own folders (LAYERS in the Makefile): for what falls short, write a test there. Reads
coverage's JSON report and prints each shortfall; exits with 1 if there is one.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def perfect_files() -> Iterator[str]:
    """Yield the files that must be perfect, also those that no test imports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for pattern in project["tool"]["coverage"]["run"]["include"]:
        for path in sorted(ROOT.glob(pattern)):
            if path.stat().st_size:
                yield path.relative_to(ROOT).as_posix()


def shortfalls(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each file that must be perfect and is not."""
    for name in perfect_files():
        if name not in report["files"]:
            yield f"{name}: no test imports it"
            continue
        entry = report["files"][name]
        lines = entry["missing_lines"]
        branches = [f"{a}->{b}" for a, b in entry["missing_branches"]]
        if lines or branches:
            yield f"{name}: lines {lines}, branches {branches}"


def main(path: Path) -> int:
    """Print the shortfalls of a report and return the exit code."""
    report = json.loads(path.read_text(encoding="utf-8"))
    short = list(shortfalls(report))
    for line in short:
        sys.stdout.write(f"not covered: {line}\n")
    sys.stdout.write(f"coverage: {len(short)} perfect files fall short\n")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
