"""The command that lists published values that are inconsistent: published."""

import click

from viewer.cli.shared import json_option
from viewer.domain.counting import counted
from viewer.printing import echo, print_json, print_rows

_COLUMNS = (
    "badge",
    "table",
    "measure",
    "subject",
    "who",
    "printed",
    "reason",
    "tolerance",
)


@click.command()
@click.argument("study", required=False, default="")
@click.option(
    "--all", "every", is_flag=True, help="Also list rows that are consistent."
)
@click.option("--store", expose_value=False, help="Accepted for consistency; not used.")
@json_option
def published(study: str, *, every: bool, as_json: bool) -> None:
    """List published values that are inconsistent, and why.

    STUDY names one study's paper; without it, all papers are checked.
    """
    from viewer.services.reporting.published_rows import published_rows

    rows = published_rows(study, every=every)
    if as_json:
        print_json(list(rows))
        return
    for name in dict.fromkeys(row["study"] for row in rows):
        of_study = [row for row in rows if row["study"] == name]
        echo(f"{of_study[0]['source']}: {counted(len(of_study), 'row')}")
        print_rows(of_study, _COLUMNS)
