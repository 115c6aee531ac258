"""Commands about studies: what they ask with."""

import click

from viewer.cli.shared import json_option
from viewer.printing import print_json, print_text


@click.command()
@click.argument("study")
@click.option("--name", default="", help="Only the prompt of this name.")
@click.option("--store", expose_value=False, help="Accepted; prompts need none.")
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
