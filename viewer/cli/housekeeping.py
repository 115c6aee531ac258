"""Commands about the store's own file: delete, backup, restore and compact."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewer.cli.shared import DONE, UNFINISHED, json_option, say, store_option
from viewer.printing import echo, print_json
from viewer.settings import read_settings

if TYPE_CHECKING:
    from viewer.services.housekeeping.delete import Deletion

_KINDS = ("dataset", "case", "run", "reply", "model")
yes_option = click.option("--yes", is_flag=True, help="Do it; else it is only told.")


@click.command()
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("name")
@click.argument("case", required=False, default="")
@yes_option
@store_option
@json_option
def delete(
    kind: str, name: str, case: str, store: Path | None, *, yes: bool, as_json: bool
) -> int:
    """Delete a data set, case, run, reply or model with everything kept of it.

    NAME is a data set, a model of your own, the number of a run, or the number of the
    trial that a reply answers. CASE is a patient, an image or an item of the data set.

    Without --yes it only says what would go, and what would stay.
    """
    from viewer.services.housekeeping import delete as service

    if (kind == "case") != bool(case):
        raise click.UsageError("Only a case takes a second name: its data set first.")
    settings = read_settings(store)
    target = service.Target(service.Kind(kind), name, case)
    act = service.delete if yes else service.preview_deletion
    told = act(settings, target)
    if as_json:
        print_json({"deleted": yes, "goes": told.goes, "stays": told.stays})
    else:
        _print(told, done=yes)
    return DONE if yes else say("Nothing was deleted; add --yes to do it.", UNFINISHED)


def _print(told: "Deletion", *, done: bool) -> None:
    echo(f"{'Deleted' if done else 'To delete'}: {told.target}.")
    for title, lines in (("Goes:", told.goes), ("Stays:", told.stays)):
        if lines:
            echo(title, *(f"  {line}" for line in lines))


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@store_option
def backup(file: Path, store: Path | None) -> None:
    """Write a backup of the store to a new FILE; others may go on writing."""
    from viewer.services.housekeeping.backup import back_up

    echo(f"Backed up: {back_up(read_settings(store).store, file)}.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@yes_option
@store_option
def restore(file: Path, store: Path | None, *, yes: bool) -> int:
    """Put the backup in FILE in the place of the store; what is newer is gone.

    Without --yes it only says what either holds.
    """
    from viewer.services.housekeeping import backup as service

    path = read_settings(store).store
    if path.exists():
        echo(f"Goes:   {service.content_of(path)}.")
    echo(f"Comes:  {service.content_of(file)}.")
    if not yes:
        return say("Nothing was restored; add --yes to do it.", UNFINISHED)
    service.restore(file, path)
    return DONE


@click.command()
@store_option
def compact(store: Path | None) -> None:
    """Rewrite the store's file without the space of what was deleted."""
    from viewer.services.housekeeping.backup import compact as rewrite

    before, after = rewrite(read_settings(store).store)
    echo(f"{before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now.")
