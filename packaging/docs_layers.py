"""The layers and packages of the architecture pages, from the import contracts.

A hook of MkDocs, named in mkdocs.yml. A line ``<!-- layers NAME -->`` becomes the
contract of that name in pyproject.toml, each package with the first sentence of its
docstring.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
_MARK = re.compile(r"^<!-- layers ([\w ]+) -->$", re.MULTILINE)


def on_page_markdown(
    markdown: str, page: "Page", config: "MkDocsConfig", files: "Files"
) -> str:
    """Draw the contracts that a page names."""
    del page, config, files
    return filled(markdown)


def filled(markdown: str) -> str:
    """Return a page with its marks replaced by layers."""
    return _MARK.sub(lambda mark: drawn(mark[1]), markdown)


def drawn(name: str) -> str:
    """Return a contract as layers, the top one first."""
    packages = ("".join(map(_package, layer)) for layer in layers(name))
    rows = (f'<div class="layer">{of_layer}</div>' for of_layer in packages)
    return "\n".join(['<div class="layers">', *rows, "</div>"])


def layers(name: str) -> Iterator[list[Path]]:
    """Yield the packages and modules of each layer of a contract."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (found,) = (one for one in contracts if one["name"] == name)
    (container,) = found["containers"]
    below = ROOT.joinpath(*container.split("."))
    for layer in found["layers"]:
        yield [below / package.strip(" ()") for package in layer.split("|")]


def purpose(package: Path) -> str:
    """Return the first sentence of a package's or a module's docstring."""
    path = package / "__init__.py" if package.is_dir() else package.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(text.partition("\n\n")[0].split())
    return first.replace("`", "")


def _package(package: Path) -> str:
    name, told = escape(package.name), escape(purpose(package))
    return f'<div class="package"><strong>{name}</strong>{told}</div>'
