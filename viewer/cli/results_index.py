"""The command that checks and rebuilds the table of predictions: reindex."""

from pathlib import Path

import click

from viewer.cli.shared import DONE, json_option, store_option
from viewer.domain.counting import counted
from viewer.printing import echo, print_json
from viewer.settings import read_settings


@click.command()
@click.option(
    "--check", is_flag=True, help="Only report what is wrong; change nothing."
)
@store_option
@json_option
def reindex(store: Path | None, *, check: bool, as_json: bool) -> int:
    """Rebuild the table of predictions from its trials."""
    from viewer.services.inspecting.predictions.index import check_index, rebuild_index

    path = read_settings(store).store
    wrong = check_index(path)
    rows = None if check else rebuild_index(path)
    if as_json:
        print_json({"wrong": wrong, "rows": rows})
        return DONE if not check or not wrong else 1
    differ = "differs from its trial" if wrong == 1 else "differ from their trials"
    found = f"{counted(wrong, 'prediction')} {differ}."
    echo(found if wrong else "Every prediction matches its trial.")
    if rows is not None:
        echo(f"{counted(rows, 'prediction')} rebuilt.")
    return DONE if not check or not wrong else 1
