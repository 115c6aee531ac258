"""Commands about images: phantom, import and cases."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewer.cli.shared import json_option, store_option
from viewer.domain.case import NAMED_VIEWS, View
from viewer.domain.counting import counted
from viewer.domain.plain import plain
from viewer.printing import echo, print_json, print_rows
from viewer.settings import read_settings
from viewer.terminal import Progress, size_of

if TYPE_CHECKING:
    from viewer.domain.case import Dataset

_AUTO, _SESSION = "auto", "session"


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option(
    "--n",
    type=click.IntRange(1, 100_000),
    required=True,
    help="Number of patients, cases, tissue tiles or questions.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--size", help="Width x height in pixels; default: as suits the study.")
@click.option(
    "--study",
    default="grid_localization",
    show_default=True,
    help="The study that the collection is for.",
)
@click.option(
    "--split",
    type=click.Choice(["test", "val"]),
    default="test",
    show_default=True,
    help="val: other patients, to name as examples_dataset in grid_localization.",
)
@click.option("--store", expose_value=False, help="Accepted for consistency; not used.")
@json_option
def phantom(
    out: Path,
    n: int,
    seed: int,
    size: str | None,
    study: str,
    split: str,
    *,
    as_json: bool,
) -> None:
    """Write synthetic data with known truth: chest studies, or what a study needs.

    A study is grid_localization (chests with outlined findings), rubric_reading
    (studies with reports and graded outputs), grounded_vqa (chests with anatomies and
    questions), pathology_mcq (tiles of tissue with multiple-choice questions),
    evidence_diagnosis (cases with several pieces of evidence) or question_set (a
    benchmark of questions about chests).
    """
    from viewer.services.synthetic.phantoms import phantom_for

    kind = phantom_for(study, split)
    with Progress(f"Phantom {kind.unit}s") as progress:
        summary = kind.write(out, n, seed, size_of(size) if size else None, progress)
    if as_json:
        many = f"{kind.unit}s"
        summary_json = {"folder": str(out), many: n, "images": summary.images}
        print_json({**summary_json, "next": list(kind.then(out))})
    else:
        images = counted(summary.images, "image")
        echo(f"{counted(n, kind.unit)}, {images} in {out}; next:")
        echo(*(f"  {command}" for command in kind.then(out)))


@click.command("import")
@click.argument("format_name", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="Name to register it under; default: the folder's.")
@click.option(
    "--view",
    type=click.Choice(NAMED_VIEWS),
    help="View of images that do not state one.",
)
@click.option(
    "--restricted/--unrestricted",
    default=None,
    help="Whether the licence forbids sending its images elsewhere.",
)
@store_option
@json_option
def import_command(
    format_name: str,
    path: Path,
    name: str | None,
    view: str | None,
    store: Path | None,
    *,
    restricted: bool | None,
    as_json: bool,
) -> None:
    """Register a data set from a folder, or from a table or JSON file in it.

    FORMAT is chexlocalize, folder, coco, csv-boxes, vindr, rsna, siim (whose convention
    is decided, else siim-relative or siim-absolute says it), nih-chestxray14, pathmmu,
    vlmevalkit, labelled-tiles, captioned-tiles, heal, medsyn, mimic-cxr,
    report-studies, question-set, yolo, or auto: what it looks like. With session as
    FORMAT, PATH is a file of answers that comes back of a sealed session.
    """
    if format_name == _SESSION:
        from viewer.cli.sealed import import_answers

        if name or view or restricted is not None:
            raise click.UsageError("A session takes no --name, --view or licence.")
        import_answers(path, read_settings(store).store, as_json=as_json)
        return
    from viewer.services.importing.import_dataset import import_dataset
    from viewer.services.importing.import_preview import format_of, name_of
    from viewer.store.database import open_store

    found = format_of(path) if format_name == _AUTO else format_name
    with open_store(read_settings(store).store) as opened, Progress("Files") as bar:
        dataset = import_dataset(
            opened,
            found,
            path,
            name or name_of(path.absolute()),
            View(view) if view else None,
            restricted=restricted,
            progress=bar,
        )
    _print_imported(dataset, as_json=as_json)


def _print_imported(dataset: "Dataset", *, as_json: bool) -> None:
    """Print what was registered; what could not be used goes to standard error."""
    from viewer.services.importing.import_preview import (
        notice_lines,
        previewed,
        unread_grades,
    )

    seen = previewed(dataset)
    if as_json:
        print_json(
            {
                "name": dataset.name,
                "format": dataset.format,
                "images": len(dataset.images),
                "patients": seen.patients,
                "items": seen.references + len(dataset.items),
                "readers": list(seen.readers),
                "findings": plain(seen.findings),
                "notices": [[n.kind, n.subject, n.text] for n in dataset.notices],
            }
        )
        return
    for line in notice_lines(dataset.name, dataset.notices):
        echo(line, err=True)
    for one in unread_grades(dataset):
        echo(one.first, err=True)
    echo(f"'{dataset.name}' ({dataset.format}): {seen.sentence}")


@click.command()
@click.argument("name", required=False)
@store_option
@json_option
def cases(name: str | None, store: Path | None, *, as_json: bool) -> None:
    """List the data sets, or one data set's images, items and notices."""
    from viewer.services.inspecting.listing import dataset_rows, image_rows, item_rows
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        rows, notices = image_rows(opened, name) if name else (dataset_rows(opened), [])
        items = item_rows(opened, name) if name else []
    if as_json:
        of_name = {"images": rows, "items": items, "notices": notices}
        print_json(rows if name is None else of_name)
        return
    if rows or not items:
        print_rows(rows, list(rows[0]) if rows else [])
    if items:
        print_rows(items, ["item", "patient", "kind", "images"])
    if notices:
        print_rows(notices, ("kind", "subject", "text"))
