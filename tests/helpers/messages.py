"""Every message that a person may read, listed from the program's sources.

The list is kept as a file, so that a change of wording is seen in review.
"""

import ast
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Final

COMMAND: Final = "python -m tests.helpers.messages"
ROOT: Final = Path(__file__).parents[2]
LIST: Final = ROOT / "tests/golden/messages.txt"
_LEFT_OUT: Final = (
    "viewer/services/synthetic/phantom/", "viewer/store/schema/",
    "viewer/writers/verify/fingerprints.py",
)  # fmt: skip
"""Invented patients' own words, statements of the database, and hashes."""
_LABELS: Final = (
    "viewer/cli/", "viewer/services/reporting/", "viewer/studies/", "viewer/ui/",
)  # fmt: skip
"""Where a single capitalised word is a label and no tag, class or name of a file."""
_WORDS: Final = re.compile(r"[\w.,;:!?)}'\"…%] [\w({'\"\[]")
_LETTERS: Final = re.compile(r"[a-z]{2}")
_LABEL: Final = re.compile(r"[A-Z][a-z]+(?:-[a-z]+)?[….:]?")
_CODE: Final = re.compile(
    r"\W*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|BEGIN|FROM|JOIN|WHERE"
    r"|AND|OR|ORDER|GROUP|LEFT|LIMIT|VALUES) [\w(?{*]|.*\\[bsSwWd.(|]|.*\{\w*\}\.\w+ ="
    r"|.*</?(?:p|div|svg|td|tr|script|style)\b|.*\(\?|\s*QToolTip|.*\bsans-serif",
    re.DOTALL,
)
"""Statements, patterns, pages and style sheets."""
_CODE_CALLS: Final = {
    "TypeVar", "cast", "compile", "execute", "execute_many", "rows", "sub",
}  # fmt: skip


def messages(folder: Path = ROOT / "viewer") -> Iterator[str]:
    """Yield a line for each message: the module's path and the words."""
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(_LEFT_OUT):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for words in _messages(tree, name.startswith(_LABELS)):
                yield f"{name}: {words}"


def _messages(tree: ast.AST, labels: bool) -> Iterator[str]:
    found = sorted(_texts(tree), key=lambda text: (text.lineno, text.col_offset))
    for text in found:
        shape = _words(text, "{}")
        said = _WORDS.search(shape) and _LETTERS.search(shape)
        if (said and not _CODE.match(shape)) or (labels and _LABEL.fullmatch(shape)):
            yield cleandoc(_words(text)).strip().replace("\n", r"\n")


def _texts(node: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Yield the texts below a node that are values, and the help of commands."""
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        yield node
        return
    if isinstance(node, ast.Call) and _called(node) in _CODE_CALLS:
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            is_docstring = isinstance(child, ast.Expr) and isinstance(
                child.value, ast.Constant
            )
            if isinstance(child, ast.AST) and (not is_docstring or _is_command(node)):
                yield from _texts(child)


def _is_command(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", ())
    called = {_called(one) for one in decorators if isinstance(one, ast.Call)}
    return not called.isdisjoint({"command", "group"})


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _words(text: ast.Constant | ast.JoinedStr, place: str = "") -> str:
    """Return a text with ``place``, or what is filled in, where something is."""
    if isinstance(text, ast.Constant):
        return str(text.value)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else place or _place(part)
        for part in text.values
    )


def _place(part: ast.expr) -> str:
    value = part.value if isinstance(part, ast.FormattedValue) else part
    return "{" + ast.unparse(value) + "}"


if __name__ == "__main__":
    LIST.parent.mkdir(exist_ok=True)
    LIST.write_text("".join(f"{line}\n" for line in messages()), encoding="utf-8")
