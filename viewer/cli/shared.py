"""Options, exit codes and error output shared by the commands."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click

from viewer import printing
from viewer.domain.errors import DiskFullError
from viewer.terminal import drive

if TYPE_CHECKING:
    from viewer.services.running.batch_options import BatchOptions
    from viewer.store.database import Store

DONE, UNFINISHED, WRONG_USE = 0, 1, 2

store_option = click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The store file; default: OVERREAD_STORE, or one in the user's data folder.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print only JSON.")
threads_option = click.option(
    "--threads",
    type=click.IntRange(1, 64),
    help="Most questions in flight; default: 4 for this machine, up to 32 for others.",
)


class LazyGroup(click.Group):
    """A group that imports the module of a command only where it is needed.

    ``lazy`` has the commands of other modules of ``viewer.cli`` by name, each as module
    and function.
    """

    lazy: ClassVar[Mapping[str, str]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in order."""
        return sorted({*super().list_commands(ctx), *self.lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, None if there is none of this name."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, name = self.lazy[cmd_name].split(".")
        command: click.Command = getattr(import_module(f"viewer.cli.{module}"), name)
        return command


def say(sentence: str, code: int = WRONG_USE) -> int:
    """Print one line on standard error and return the exit code."""
    printing.say(sentence)
    return code


def finish(store: "Store", run: int, options: "BatchOptions", *, worker: bool) -> int:
    """Ask the pending questions; if the disk fills up, the rest stays pending."""
    try:
        return DONE if drive(store, run, options, worker=worker) else UNFINISHED
    except DiskFullError as error:
        return say(str(error), UNFINISHED)
