"""Commands that convert others' localizations: import-saliency and import-points."""

from pathlib import Path

import click

from viewer.cli.shared import DONE, WRONG_USE, json_option, say
from viewer.printing import echo, print_json, print_text
from viewer.terminal import Progress


@click.command("import-saliency")
@click.argument(
    "paths",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--store", expose_value=False, help="Accepted for consistency; not used.")
@json_option
def import_saliency(paths: tuple[Path, ...], out: Path, *, as_json: bool) -> int:
    """Convert CheXlocalize's saliency pickles without running anything in them.

    Files ending in _map.pkl, and those in folders, become .npz files, points.json
    with the most salient pixel of each, and answers.json for a model of a study file.
    A file that tries to run code is refused.
    """
    from viewer.services.importing.import_saliency import ANSWERS_FILE
    from viewer.services.importing.import_saliency import import_saliency as convert
    from viewer.services.importing.place_answers import model_table

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
        echo(f"{len(converted.written)} maps in {out}")
        if converted.written:
            print_text(model_table("saliency", out / ANSWERS_FILE))
    return WRONG_USE if converted.refused else DONE


@click.command("import-points")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--name", default="readers", show_default=True, help="The model's name.")
@click.option("--store", expose_value=False, help="Accepted for consistency; not used.")
@json_option
def import_points(file: Path, out: Path, name: str, *, as_json: bool) -> None:
    """Turn points into a model's answers, to be run like any other model.

    FILE is {image: {finding: [[x, y], ...]}} in native pixels: CheXlocalize's
    hb_salient_pt_test.json, or points.json of import-saliency. Copy what is printed
    into a study file.
    """
    from viewer.readers.datasets.human_points import read_human_points
    from viewer.services.importing.place_answers import (
        answers_of_points,
        model_table,
        write_answers,
    )

    found = answers_of_points(read_human_points(file))
    write_answers(found.answers, out)
    if as_json:
        several = list(found.several)
        print_json({"answers": len(found.answers), "several_points": several})
        return
    say(f"{found.sentence}.")
    print_text(model_table(name, out))
