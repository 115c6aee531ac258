"""Hold the files that must be covered to the last branch.

Reads coverage's JSON report and prints each shortfall; exits with 1 if there is one.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

PERFECT = (
    "viewer/domain/*.py",
    "viewer/metrics/*.py",
    "viewer/imaging/*.py",
    "viewer/results/*.py",
    "viewer/studies/choice*.py",
    "viewer/studies/*/parse.py",
    "viewer/studies/*/score.py",
    "viewer/store/schema/*.py",
)


def shortfalls(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each file that must be perfect and is not."""
    for name, entry in sorted(report["files"].items()):
        if not any(fnmatch(name, pattern) for pattern in PERFECT):
            continue
        lines = entry["missing_lines"]
        branches = [f"{a}->{b}" for a, b in entry["missing_branches"]]
        if lines or branches:
            yield f"{name}: lines {lines}, branches {branches}"


def main(path: Path) -> int:
    """Print the shortfalls of a report and return the exit code."""
    report = json.loads(path.read_text(encoding="utf-8"))
    short = list(shortfalls(report))
    total = report["totals"]["percent_covered_display"]
    for line in short:
        sys.stdout.write(f"not covered: {line}\n")
    sys.stdout.write(f"coverage {total} %; {len(short)} perfect files fall short\n")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
