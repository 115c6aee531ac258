"""How often the window did not answer: a log in the data folder, and its sum.

The log holds times and positions in the code, nothing of a case.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from viewer.domain.counting import counted
from viewer.private_files import make_private_folder, open_private

LIMIT_S: Final = 0.05
"""A window that does not answer for longer is felt to be stuck."""
_FILE: Final = "window.log"
_MOST_BYTES: Final = 1 << 20
_LINE: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)T\S+ (?P<ms>\d+) ms, (?P<own_ms>\d+) ms of it computing"
)


@dataclass(frozen=True, slots=True)
class Block:
    """The window did not answer for ``seconds``.

    For ``own_s`` of them the program computed: the window's thread, or others that the
    window may have waited for; in the rest it waited for the system, or for a
    processor. ``places`` are positions in the code, the innermost first.
    """

    seconds: float
    own_s: float
    places: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether the program's own computing alone was over the limit."""
        return self.own_s > LIMIT_S

    def __str__(self) -> str:
        ms, own_ms = 1000 * self.seconds, 1000 * self.own_s
        return (
            f"{ms:.0f} ms, {own_ms:.0f} ms of it computing: {' < '.join(self.places)}"
        )


@dataclass(frozen=True, slots=True)
class BlockCount:
    """Blocks since ``since``, an ISO date; of them, those of computing."""

    blocks: int
    own: int
    longest_ms: int
    longest_own_ms: int
    since: str

    def __str__(self) -> str:
        return (
            f"{counted(self.blocks, 'block')} over {1000 * LIMIT_S:.0f} ms since "
            f"{self.since}, the longest {self.longest_ms} ms; {self.own} of computing, "
            f"the longest {self.longest_own_ms} ms"
        )


def log_file(home: Path) -> Path:
    """Return the file of the log."""
    return home / _FILE


def keep_block(block: Block, home: Path) -> None:
    """Append a block to the log; a full log becomes the old one."""
    path = log_file(home)
    line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {block}\n"
    try:
        make_private_folder(home)
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            path.replace(path.with_suffix(".log.old"))
        with open_private(path, "ab") as file:
            file.write(line.encode())
    except OSError:
        return  # a full disk must not end the watch


def count_blocks(home: Path) -> BlockCount | None:
    """Return the sum of the log, None if it holds no block."""
    try:
        text = log_file(home).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = [match for match in map(_LINE.match, text.splitlines()) if match]
    if not found:
        return None
    own_ms = [int(match["own_ms"]) for match in found]
    return BlockCount(
        blocks=len(found),
        own=sum(ms > 1000 * LIMIT_S for ms in own_ms),
        longest_ms=max(int(match["ms"]) for match in found),
        longest_own_ms=max(own_ms),
        since=found[0]["day"],
    )
