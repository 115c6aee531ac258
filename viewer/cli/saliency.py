"""The command about maps of other networks: import-saliency."""

from pathlib import Path

import click

from viewer.cli.shared import DONE, WRONG_USE, json_option, say
from viewer.terminal import Progress, print_json


@click.command("import-saliency")
@click.argument(
    "paths",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--store", expose_value=False, help="Accepted; the maps need none.")
@json_option
def import_saliency(paths: tuple[Path, ...], out: Path, *, as_json: bool) -> int:
    """Convert CheXlocalize's saliency pickles; nothing in them is ever run.

    Files ending in _map.pkl, and those in folders, become .npz files and points.json
    with the most salient pixel of each. One that wants to run code is refused.
    """
    from viewer.services.import_saliency import import_saliency as convert

    with Progress("Saliency maps") as progress:
        converted = convert(paths, out, progress)
    for sentence in converted.refused:
        say(sentence)
    if as_json:
        print_json(
            {
                "written": [str(p) for p in converted.written],
                "refused": converted.refused,
            }
        )
    else:
        click.echo(f"{len(converted.written)} maps in {out}")
    return WRONG_USE if converted.refused else DONE
