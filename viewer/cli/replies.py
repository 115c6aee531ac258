"""The command that parses a model's reply: parse."""

import sys
from pathlib import Path

import click

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.grid import grid_of_name
from viewer.models.coordinates.settings import CONVENTION_NAMES
from viewer.printing import print_json
from viewer.terminal import size_of

_LARGEST = 8_000_000
"""Bytes of the longest reply that is read."""
_LONGEST_SIZE = len("1000000x1000000")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""The first two bytes of text that Windows' PowerShell wrote."""


def _size(
    context: click.Context, option: click.Parameter, text: str | None
) -> SizePx | None:
    """Parse a size with at most seven digits a side: the largest slides have six."""
    del context
    if text is None:
        return None
    if not text.isascii() or not text or len(text) > _LONGEST_SIZE:
        shown = text if len(text) <= _LONGEST_SIZE else f"{text[:_LONGEST_SIZE]}…"
        raise WrongUseError(
            f"The size '{shown}' of --{option.name} cannot be read.",
            "Write width x height: 2000x2500.",
        )
    return size_of(text)


@click.command()
@click.option(
    "--convention",
    required=True,
    metavar="NAME",
    help=f"How the reply gives places: auto, {', '.join(CONVENTION_NAMES)}.",
)
@click.option(
    "--sent",
    required=True,
    callback=_size,
    help="Size of the image as sent, width x height.",
)
@click.option(
    "--seen",
    callback=_size,
    help="Size of the image as the model saw it; default: as sent.",
)
@click.option("--grid", default="8", show_default=True, help="8, or 8x10: rows x cols.")
@click.option("--finding", default="", help="The finding that was asked for.")
@click.option("--truncated", is_flag=True, help="The reply hit its token limit.")
@click.option("--store", expose_value=False, help="Accepted for consistency; not used.")
@click.option(
    "--json", expose_value=False, is_flag=True, help="The output is always JSON."
)
@click.argument("reply", type=click.Path(path_type=Path), required=False)
def parse(
    convention: str,
    sent: SizePx,
    seen: SizePx | None,
    grid: str,
    finding: str,
    reply: Path | None,
    *,
    truncated: bool,
) -> None:
    """Parse a reply from a file, or from standard input.

    Prints the status, and the places in pixels of the image sent, as JSON.
    """
    from viewer.services.asking.parse_reply import parse_reply

    read = parse_reply(
        convention,
        _text(reply),
        sent,
        seen,
        grid=grid_of_name(grid),
        finding=finding,
        truncated=truncated,
    )
    print_json(read)


def _text(reply: Path | None) -> str:
    try:
        data = sys.stdin.buffer.read(_LARGEST + 1) if reply is None else _bytes(reply)
    except OSError as error:
        raise WrongUseError(
            f"The reply cannot be read ({error.strerror}).", "Name a text file."
        ) from error
    if len(data) > _LARGEST:
        raise WrongUseError(
            f"The reply is longer than {_LARGEST // 1_000_000} MB.",
            "Pass only the model's text.",
        )
    return data.decode("utf-16" if data[:2] in _UTF16 else "utf-8", "replace")


def _bytes(reply: Path) -> bytes:
    with reply.open("rb") as file:
        return file.read(_LARGEST + 1)
