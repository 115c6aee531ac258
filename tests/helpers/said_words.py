"""The words that the program can say: every text in its sources, as patterns."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HOLE = "\0"
_LEAST = 3
"""Letters that a text must have; "{}: {}" could be anything."""


@dataclass(frozen=True, slots=True)
class Said:
    """Texts without holes, and patterns of those that are filled in."""

    texts: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    def says(self, words: str) -> bool:
        """Tell whether exactly these words are shown, whatever is filled in."""
        return words in self.texts or any(
            pattern.fullmatch(end)
            for pattern in self.patterns
            for end in (words, f"{words} ")
        )

    def holds(self, part: str) -> bool:
        """Tell whether a text has this part."""
        return any(part in text for text in self.texts) or any(
            re.escape(part) in pattern.pattern for pattern in self.patterns
        )


@cache
def said_below(folder: Path) -> Said:
    """Return every text in the modules below a folder."""
    trees = (ast.parse(p.read_text("utf-8")) for p in sorted(folder.rglob("*.py")))
    found = {text.strip() for tree in trees for text in _texts(tree)}
    filled = {text for text in found if _HOLE in text}
    patterns = (
        re.compile(re.escape(text).replace(re.escape(_HOLE), ".*"), re.DOTALL)
        for text in sorted(filled)
        if sum(map(str.isalpha, text)) >= _LEAST
    )
    return Said(frozenset(found - filled), tuple(patterns))


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else _HOLE
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
