"""Commands for predictions made elsewhere: import-predictions and export answers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewer.cli.shared import DONE, finish, json_option, say, store_option
from viewer.domain.counting import counted
from viewer.domain.prediction import Coordinates
from viewer.printing import echo, print_json
from viewer.settings import read_settings
from viewer.terminal import print_run, run_number

if TYPE_CHECKING:
    from viewer.services.importing.import_predictions import PlannedPredictions
    from viewer.services.importing.import_replies import PlannedReplies
    from viewer.services.importing.match_predictions import Matched
    from viewer.services.importing.match_replies import MatchedReplies
    from viewer.store.database import Store


@click.command("import-predictions")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dataset", default="", help="The data set the predictions belong to.")
@click.option("--name", required=True, help="Name for the model.")
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="COLUMN=FIELD",
    help="What a column holds: image, patient, finding, cell, x, y, x1, y1, x2, y2, "
    "width, height, mask_rows, mask_columns, mask_rle, score, model, and so on.",
)
@click.option(
    "--coordinates",
    type=click.Choice([c.value for c in Coordinates]),
    help="Units of the coordinates: pixels of the file, fractions of width and "
    "height, or pixels of the square that is sent. Never guessed.",
)
@click.option("--finding", default="", help="For a table without a finding column.")
@click.option("--model", default="", help="Use only this model of the file.")
@click.option("--like", metavar="RUN", help="Answer the questions of this run.")
@click.option(
    "--grid",
    "grids",
    type=click.IntRange(1),
    multiple=True,
    default=(8,),
    show_default=True,
    help="Cells per side, if no run is named.",
)
@click.option(
    "--annotations",
    type=click.Path(path_type=Path),
    help="The instances file whose ids the COCO results use.",
)
@click.option(
    "--shape",
    type=click.Choice(["box", "mask"]),
    default=None,
    help="Shape to score if COCO results have both.",
)
@click.option("--check", is_flag=True, help="Only report what would be used.")
@store_option
@json_option
def import_predictions(
    file: Path,
    dataset: str,
    name: str,
    columns: tuple[str, ...],
    coordinates: str | None,
    finding: str,
    model: str,
    like: str | None,
    grids: tuple[int, ...],
    annotations: Path | None,
    shape: str | None,
    store: Path | None,
    *,
    check: bool,
    as_json: bool,
) -> int:
    """Score predictions made elsewhere like a run: CSV, COCO JSON or DICOM SEG.

    Every row of a table is a cell, a point, a box or a mask (COCO's run-length code).
    COCO results may use the ids of an instances file. DICOM segmentations, one file or
    a folder, find their images by SOP Instance UID; their segments' labels are the
    findings. A folder of mask pictures has both in its file names:
    <image>.<Finding>.png. Predictions for unknown images or findings are listed and
    counted; items without a prediction count as unparsed, with the reason
    no_prediction.
    """
    from viewer.services.importing.import_predictions import (
        PredictionsSource,
        match_file,
        plan_predictions,
    )
    from viewer.store.database import open_store

    settings = read_settings(store)
    with open_store(settings.store) as opened:
        source = PredictionsSource(
            file=file,
            name=name,
            dataset=dataset,
            columns=dict(map(column_and_field, columns)),
            coordinates=Coordinates(coordinates) if coordinates else None,
            finding=finding,
            model=model,
            like=None if like is None else run_number(like, opened),
            grids=grids,
            listing=annotations,
            shape=shape or "",
        )
        if check:
            return say_matched(match_file(opened, source)[1])
        planned = plan_predictions(opened, settings.home, source)
        return score_import(opened, planned, as_json=as_json)


@click.command("answers")
@click.argument("run_name", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@click.option("--model", default="", help="Only one of the run's models.")
@store_option
@json_option
def export_answers(
    run_name: str, out: Path, model: str, store: Path | None, *, as_json: bool
) -> None:
    """Write what a run's models answered as a CSV table, in native pixels.

    import-predictions reads it back: the same answers give the same results. Answers
    in words have one row per trial; to import those, use export replies.
    """
    from viewer.services.exporting.export_answers import export_answers as write
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        written = write(opened, run_number(run_name, opened), out, model)
    if as_json:
        counts = {"answers": written.trials, "pending": written.pending}
        print_json({"file": str(written.path), **counts})
        return
    echo(f"{counted(written.trials, 'answer')} in {written.path}")
    if written.pending:
        say(f"{written.left_out}.")


def column_and_field(text: str) -> tuple[str, str]:
    """Split ``column=field`` into column and field."""
    column, equals, field = text.rpartition("=")
    if not equals or not column or not field:
        raise click.UsageError("Write --map column=field, such as image_id=image.")
    return column, field


def say_matched(matched: "Matched | MatchedReplies") -> int:
    """Print how much of a file is used, and one line for each unused part."""
    for sentence in (matched.sentence, *matched.unused):
        say(f"{sentence}.")
    return DONE


def score_import(
    store: "Store", planned: "PlannedPredictions | PlannedReplies", *, as_json: bool
) -> int:
    """Print what of a file is used, score it, print the results; return exit code."""
    from viewer.services.running.batch_options import BatchOptions

    say_matched(planned.matched)
    code = finish(store, planned.run, BatchOptions(), worker=False)
    print_run(store, planned.run, as_json=as_json)
    return code
