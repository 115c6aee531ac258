"""The reference of plug-ins and of the Python interface, from the program's source.

A hook of MkDocs, named in mkdocs.yml. A line ``<!-- class MODULE.CLASS -->`` becomes
the class with its docstring, its attributes and its methods, ``<!-- methods … -->``
its methods alone, ``<!-- function … -->`` a function. Nothing is imported.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
_MARK = re.compile(r"^<!-- (class|methods|function) ([\w.]+)\.(\w+) -->$", re.MULTILINE)
_SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\S.*)\n((?: {4}.+\n?)+)", re.MULTILINE)
_ROLE = re.compile(r":\w+:`([^`]+)`")
_CODE = re.compile(r"``([^`]+)``|`([^`]+)`")


def on_page_markdown(
    markdown: str, page: "Page", config: "MkDocsConfig", files: "Files"
) -> str:
    """Describe the classes that a page names."""
    del page, config, files
    return filled(markdown)


def filled(markdown: str) -> str:
    """Return a page with its marks replaced by what the source says."""
    return _MARK.sub(lambda mark: _MADE[mark[1]](mark[2], mark[3]), markdown)


def described(module: str, name: str) -> str:
    """Return a class: where it is, what it is for, and its public members."""
    found = class_named(module, name)
    lines = [f"### {name}", "", f"`{module}`", "", _prose(found), ""]
    told = (ast.unparse(one) for one in found.body if isinstance(one, ast.AnnAssign))
    attributes = [line for line in told if not line.startswith("_")]
    if attributes:
        lines += ["```python", *attributes, "```", ""]
    return "\n".join([*lines, methods_of(module, name)])


def methods_of(module: str, name: str) -> str:
    """Return the public methods of a class: how each is called, and what it does."""
    return "\n".join(map(_defined, _methods(class_named(module, name))))


def function(module: str, name: str) -> str:
    """Return a function: how it is called, and what it does."""
    return _defined(_named(module, name, ast.FunctionDef))


_MADE = {"class": described, "methods": methods_of, "function": function}


def class_named(module: str, name: str) -> ast.ClassDef:
    """Return a class of the source; one that is not there raises."""
    return _named(module, name, ast.ClassDef)


Found = TypeVar("Found", ast.ClassDef, ast.FunctionDef)


def _named(module: str, name: str, kind: type[Found]) -> Found:
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (found,) = (one for one in tree.body if isinstance(one, kind) and one.name == name)
    return found


def _defined(function: ast.FunctionDef) -> str:
    return f"`{_signature(function)}`\n\n: {_indented(_prose(function))}\n"


def _methods(found: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for one in found.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            yield one


def _signature(method: ast.FunctionDef) -> str:
    """Return a method as it is called; a property is its name and type."""
    told = ast.unparse(method.returns).strip("'") if method.returns else ""
    returned = f" -> {told}" if told else ""
    if any(ast.unparse(one) == "property" for one in method.decorator_list):
        return f"{method.name}{returned}".replace(" -> ", ": ")
    arguments = ast.unparse(method.args).removeprefix("self").removeprefix(", ")
    return f"{method.name}({arguments}){returned}"


def _prose(node: ast.ClassDef | ast.FunctionDef) -> str:
    """Return a docstring as Markdown; its sections begin with their name in italics."""
    text = inspect.cleandoc(ast.get_docstring(node) or "")
    text = _ENTRY.sub(_entry, _SECTION.sub(r"*\1*\n\n", text))
    return _CODE.sub(r"`\1\2`", _ROLE.sub(r"`\1`", text))


def _entry(found: re.Match[str]) -> str:
    """Return a parameter or an error with what is said of it as an item of a list."""
    return f"- ``{found[1]}``: {' '.join(found[2].split())}\n"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
