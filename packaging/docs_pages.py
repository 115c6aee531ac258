"""The pages of the manual that are made from the program's own tables.

A hook of MkDocs, named in mkdocs.yml: commands.md is what every command says with
``--help``, keys.md the table of the window's actions. Neither can be out of date.
"""

import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_MARKUP = re.compile(r"([\\`*_<>\[\]|])")
_COMMANDS = """\
# Command line

What `overread COMMAND --help` says of each command. Every command is also a line of
`overread --help`.

Exit codes: 0 done, 1 trials failed at the provider or are still pending, 2 wrong use or
unreadable input; then one line says what is wrong and what to do.
"""
_KEYS = """\
# Menus and keys

Every command of the window. **All commands…** (Ctrl+K) finds each by its name,
**Shortcuts** (F1) shows every key.
"""


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages to those that lie in docs/."""
    from mkdocs.structure.files import File

    for name, text in (("commands.md", commands_page()), ("keys.md", keys_page())):
        files.append(File.generated(config, name, content=text))
    return files


def commands_page() -> str:
    """Return the page of all commands in Markdown."""
    from viewer.cli import overread

    context = click.Context(overread, info_name="overread")
    sections = (_section(*found) for found in commands(context))
    return "\n".join([_COMMANDS, *sections])


def commands(context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield each command that is shown, and each below it, in order of name."""
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, info_name=name, parent=context)
        yield command, below
        yield from commands(below)


def _section(command: click.Command, context: click.Context) -> str:
    level = "##" if context.parent and context.parent.parent is None else "###"
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"{level} {context.command_path}", "", *_paragraphs(command.help or "")]
    lines += ["```text", f"{context.command_path} {usage}", "```", ""]
    records = [
        record
        for option in command.params  # without --help, which every command has
        if isinstance(option, click.Option)
        and (record := option.get_help_record(context))
    ]
    if records:
        lines += ["| option | what it does |", "|---|---|"]
        lines += [f"| `{name}` | {_plain(text)} |" for name, text in records]
        lines.append("")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return text with a backslash before all that Markdown would read as markup."""
    return _MARKUP.sub(r"\\\1", text)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of a help text; a paragraph after a backspace keeps its lines."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("```text", paragraph.removeprefix("\b").strip("\n"), "```", "")
        else:
            yield from (_plain(" ".join(paragraph.split())), "")


def keys_page() -> str:
    """Return the page of all menus in Markdown."""
    from viewer.ui.application.action_set import as_displayed
    from viewer.ui.application.actions import ACTIONS, MENUS, ActionSpec, Place

    def menu(spec: ActionSpec) -> int:
        return MENUS.index(spec.menu)

    def row(spec: ActionSpec) -> str:
        where = "" if spec.place is Place.HERE else spec.place.capitalize()
        keys = _plain(as_displayed(spec.shortcut))
        return f"| {_plain(spec.text)} | {keys} | {where} | {_plain(spec.tip)} |"

    lines = [_KEYS]
    for place, specs in groupby(sorted(ACTIONS, key=menu), menu):
        lines += [f"## {MENUS[place]}", "", "| command | keys | in | what it does |"]
        lines += ["|---|---|---|---|", *map(row, specs), ""]
    return "\n".join([*lines, *_keymaps()])


def _keymaps() -> Iterator[str]:
    """Yield the keys of other programs, beside those of this one."""
    from viewer.ui.application.action_set import as_displayed
    from viewer.ui.application.actions import ACTIONS
    from viewer.ui.application.keymap import presets

    every = presets()
    yield from ("## Keymaps", "", "What **Edit ▸ Keys…** offers, where it differs.", "")
    yield from (f"- {one.name}: <{one.source}>" for one in every if one.source)
    yield from ("", f"| keys of | {' | '.join(one.name for one in every)} |")
    yield f"|---|{'---|' * len(every)}"
    for spec in ACTIONS:
        if any(spec.id in one.keys for one in every):
            keys = (_plain(as_displayed(one.key_of(spec))) for one in every)
            yield f"| {_plain(spec.text)} | {' | '.join(keys)} |"
    yield ""
