"""Commands that open the window: open and demo."""

from pathlib import Path

import click

from viewer.cli.shared import DONE, UNFINISHED, say, store_option
from viewer.domain.errors import DiskFullError, MissingDependencyError, WrongUseError
from viewer.settings import Settings, read_settings
from viewer.terminal import OpenWindow, WindowParts, demo_batch


@click.command("open", hidden=True)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--new-window", is_flag=True, help="Open another window.")
@store_option
@click.pass_context
def open_command(
    context: click.Context,
    paths: tuple[Path, ...],
    store: Path | None,
    *,
    new_window: bool,
) -> int:
    """Open the window, or let the one that is open show the files."""
    return _window(context)(paths, store, demo=False, new_window=new_window)


def _window(context: click.Context) -> OpenWindow:
    parts: WindowParts = context.obj
    if parts.open is None:
        raise WrongUseError("This program has no window.", "See overread --help.")
    return parts.open


@click.command()
@click.option("--prepare", is_flag=True, help="Only create the demo collection.")
@click.option("--batch", is_flag=True, help="Run the demo's batch without the window.")
@store_option
@click.pass_context
def demo(
    context: click.Context, store: Path | None, *, prepare: bool, batch: bool
) -> int:
    """Open the demo collection in the window; without a display, run its batch."""
    settings = read_settings(store)
    if prepare or batch:
        return _demo_batch(settings, prepare=prepare)
    try:
        return _window(context)((), store, demo=True)
    except (WrongUseError, MissingDependencyError) as error:
        say(f"{error.what} The demo's batch runs on the command line instead.")
        return _demo_batch(settings, prepare=False)


def _demo_batch(settings: Settings, *, prepare: bool) -> int:
    try:
        return DONE if demo_batch(settings, prepare=prepare) else UNFINISHED
    except DiskFullError as error:
        return say(str(error), UNFINISHED)
