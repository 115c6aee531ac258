"""Commands about studies: init and prompts."""

from pathlib import Path

import click

from viewer.cli.shared import json_option
from viewer.printing import echo, print_json, print_text


@click.command()
@click.argument("study")
@click.option("--name", default="", help="Only the prompt of this name.")
@click.option("--store", expose_value=False, help="Accepted for consistency; not used.")
@json_option
def prompts(study: str, *, name: str, as_json: bool) -> None:
    """Print a study's prompts as a study file takes them, to be changed there.

    Each has its placeholders beside it, and the paper that prints it.
    """
    from viewer.services.configuring.own_prompts import prompt_rows, prompts_text

    if as_json:
        print_json(list(prompt_rows(study, name)))
    else:
        print_text(prompts_text(study, name))


@click.command()
@click.argument("study")
@click.option("--out", type=click.Path(path_type=Path), help="Write it to this file.")
@click.option("--store", expose_value=False, help="Accepted; a study file needs none.")
def init(study: str, out: Path | None) -> None:
    """Write a study file to start from: all that it may say, as comments.

    It runs once a data set and models are named in it.
    """
    from viewer.services.configuring.new_study_file import (
        new_study_file,
        write_new_study_file,
    )

    if out is None:
        print_text(new_study_file(study))
    else:
        write_new_study_file(study, out)
        echo(out)
