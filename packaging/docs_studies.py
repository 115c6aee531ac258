"""What the pages of studies have from the program: settings, and what numbers mean.

A hook of MkDocs, named in mkdocs.yml. A line ``<!-- settings NAME -->`` becomes the
table of a study's parameters, ``<!-- prompts NAME -->`` that of its prompts and
``<!-- definitions NAME -->`` what its reports print.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, Final

from viewer.domain.plain import plain
from viewer.domain.run import RunSpec
from viewer.domain.study_words import capital
from viewer.services.configuring.own_prompts import prompt_rows
from viewer.studies.catalog import study_named
from viewer.studies.fields import OneOf
from viewer.studies.study import Study

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_MARK = re.compile(r"^<!-- (settings|prompts|definitions) (\w+) -->$", re.MULTILINE)
_MARKUP = re.compile(r"([\\`*_<>\[\]|])")


def on_page_markdown(
    markdown: str, page: "Page", config: "MkDocsConfig", files: "Files"
) -> str:
    """Fill what a page has from the program."""
    del page, config, files
    return filled(markdown)


def filled(markdown: str) -> str:
    """Return a page with its marks replaced by tables."""
    return _MARK.sub(lambda mark: _MADE[mark[1]](study_named(mark[2])), markdown)


def settings(study: Study) -> str:
    """Return each parameter, its value as in the paper, and what it is for.

    The second column has a value only where the recommended one differs; a study of no
    paper has its own names for both.
    """
    named = ("as published", "recommended")
    if study.benchmark() is None:
        named = tuple(study.preset_title(p).lower() for p in study.presets()[:2])
    paper, recommended = (plain(study.read_params(p, {})) for p in study.presets()[:2])
    params = study.read_params(study.presets()[0], {})
    rows = (
        (
            f"`{one.name}`",
            _value(paper[one.name]),
            ""
            if recommended[one.name] == paper[one.name]
            else _value(recommended[one.name]),
            _plain(" ".join([str(one.metadata["help"]), *_choices(one)])),
        )
        for one in fields(params)
    )
    return _table(("setting", *named, "what it is"), rows)


def prompts(study: Study) -> str:
    """Return each prompt that a study file may replace, and its placeholders."""
    rows = (
        (f"`{row['name']}`", _plain(row["use"]), _plain(row["source"]), _places(row))
        for row in prompt_rows(study.name)
    )
    return _table(("prompt", "what it is", "source", "placeholders"), rows)


def _places(row: Mapping[str, Any]) -> str:
    groups = [*row["required"], *([one] for one in row["optional"])]
    return ", ".join(" or ".join(f"`{{{one}}}`" for one in group) for group in groups)


def definitions(study: Study) -> str:
    """Return what the names in a study's reports mean."""
    spec = RunSpec(study.name, "", study.presets()[0], 0, 1, ())
    told: Mapping[str, str] = study.report((), spec).metric_definitions
    rows = ((f"`{name}`", _plain(text)) for name, text in told.items())
    return _table(("number", "is"), rows)


def _choices(param: "Field[object]") -> Iterator[str]:
    """Yield which values a parameter takes, where they are few."""
    kind = param.metadata["kind"]
    if isinstance(kind, OneOf):
        yield f"{capital(kind.expected)}."


def _value(value: object) -> str:
    """Return a value as a study file has it; a long list is cut."""
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} names, `{json.dumps(value[0])}` first"
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


_MADE: Final[Mapping[str, Callable[[Study], str]]] = {
    "settings": settings,
    "prompts": prompts,
    "definitions": definitions,
}
