"""Verify a bundle: python verify.py bundle.zip (nothing but Python is needed).

Every byte is compared with its hash, every trial is judged again from its raw replies
and what is right of it, and every number of the tables named below is computed again
and compared with what is printed, to the last digit. What cannot be computed again,
such as the meaning of a sentence, is told. Exit codes: 0 all of it holds, 1 something
does not, 2 the file cannot be read as a bundle, 3 nothing is wrong, but a study of
another package judges or counts in a way that is not known here.
"""

import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from viewer.writers.verify.archive import MOST_BYTES, Bundle, BundleError, opened
from viewer.writers.verify.comparing import Report, Tell
from viewer.writers.verify.recompute import recompute

HOLDS, FAILS, UNREADABLE_FILE, PARTLY = 0, 1, 2, 3
_MOST_NAMED = 20
_ODD_RECORDS = (
    *(KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError),
)


def main(arguments: Sequence[str]) -> int:
    """Verify the bundle that is named; return the exit code."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        _say("Write: python verify.py bundle.zip")
        return UNREADABLE_FILE
    return verify_file(Path(arguments[0]), _say)


def verify_file(path: Path, tell: Tell) -> int:
    """Verify a file and report each step in a line; return the exit code."""
    try:
        data = _read(path)
        found = verify(data, tell)
    except OSError as error:
        tell(f"{path.name} cannot be read: {error.strerror}.")
        return UNREADABLE_FILE
    except BundleError as error:
        tell(str(error))
        return UNREADABLE_FILE
    for sentence in (*found.done, *found.left, *found.wrong[:_MOST_NAMED]):
        tell(sentence)
    if found.wrong:
        tell(f"NOT VERIFIED: {path.name} is not consistent.")
        return FAILS
    if found.left:
        tell(
            f"PARTLY VERIFIED: {path.name} is consistent as far as it could be checked."
        )
        return PARTLY
    tell(f"VERIFIED: {path.name} is consistent.")
    return HOLDS


def _read(path: Path) -> bytes:
    """Return a file's bytes; raise if it is endless or too long for a bundle."""
    found = path.stat()
    # A device or a pipe may never end.
    if not stat.S_ISREG(found.st_mode):
        raise BundleError(f"{path.name} is not a file.")
    if found.st_size > MOST_BYTES:
        raise BundleError(f"{path.name} is too large to be a bundle.")
    return path.read_bytes()


def verify(data: bytes, tell: Tell) -> Report:
    """Verify a bundle's bytes; raise BundleError if they are not a bundle."""
    found = Report()
    bundle, found.wrong = opened(data)
    if bundle is None or found.wrong:
        return found
    files = len(bundle.members)
    found.done.append(f"{files} files match their hashes, and the seal is intact.")
    try:
        recompute(bundle, found, tell)
        _report_others(bundle, found)
    except _ODD_RECORDS as error:
        found.wrong.append(
            f"The bundle's own records contradict each other: {error!r}."
        )
    return found


def _report_others(bundle: Bundle, found: Report) -> None:
    lines = (*found.done, *found.left)
    others = [
        name
        for name in bundle.tables
        if not any(one.startswith(f"tables/{name}.csv") for one in lines)
    ]
    if others:
        found.done.append(f"Checked against their hashes only: {', '.join(others)}.")


def _say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
