"""Reads Markdown: its links, headings, code, and the names that it prints in bold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_NAME = re.compile(r"\{ #([\w-]+) \}")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code and its language, "" where none is named."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page of Markdown; ``prose`` is its text without any code."""

    path: Path
    text: str
    prose: str

    @property
    def blocks(self) -> Iterator[Code]:
        """The blocks of code."""
        return (Code(*found) for found in _FENCE.findall(self.text))

    @property
    def spans(self) -> list[str]:
        """What stands in backquotes within lines."""
        return _SPAN.findall(_FENCE.sub("", self.text))

    @property
    def links(self) -> list[str]:
        """Where the links lead to."""
        return _LINK.findall(self.prose)

    @property
    def images(self) -> list[str]:
        """Which pictures are shown, without the theme that they are for."""
        return [target.partition("#")[0] for target in _IMAGE.findall(self.prose)]

    @property
    def bold(self) -> list[str]:
        """What is printed in bold, on one line."""
        return [" ".join(found.split()) for found in _BOLD.findall(self.prose)]

    @property
    def anchors(self) -> set[str]:
        """What leads to its headings, as MkDocs makes it, and the names it gives."""
        heads = _HEADING.findall(_FENCE.sub("", self.text))
        words = (re.sub(r"[^\w\s-]", "", head).strip().lower() for head in heads)
        return {re.sub(r"\s+", "-", word) for word in words} | set(self.names)

    @property
    def names(self) -> list[str]:
        """The anchors that it names itself, as ``{ #name }``."""
        return _NAME.findall(_FENCE.sub("", self.text))

    def section(self, title: str) -> str:
        """Return what stands under a heading of the second level."""
        return self.text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def read_page(path: Path) -> Page:
    """Return a page of Markdown."""
    text = path.read_text(encoding="utf-8")
    return Page(path, text, _SPAN.sub("", _FENCE.sub("", text)))
