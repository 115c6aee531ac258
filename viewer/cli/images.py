"""Commands about images: phantom, import and cases."""

from pathlib import Path

import click

from viewer.cli.shared import json_option, store_option
from viewer.domain.case import NAMED_VIEWS, View
from viewer.settings import read_settings
from viewer.terminal import Progress, print_json, print_rows, size_of


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--n", type=click.IntRange(1, 100_000), required=True, help="Patients.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--size",
    default="2000x2500",
    show_default=True,
    help="Width x height in pixels.",
)
@click.option("--store", expose_value=False, help="Accepted; a phantom needs none.")
@json_option
def phantom(out: Path, n: int, seed: int, size: str, *, as_json: bool) -> None:
    """Write synthetic chest studies with their truth."""
    from viewer.services.make_phantom import make_phantom

    with Progress("Phantom patients") as progress:
        summary = make_phantom(out, n, seed, size_of(size), progress)
    if as_json:
        print_json({"folder": str(out), "patients": n, "images": summary.images})
    else:
        click.echo(f"{n} patients, {summary.images} images in {out}")


@click.command("import")
@click.argument("format_name", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="The name to register it under; default: the folder's.")
@click.option(
    "--view",
    type=click.Choice(NAMED_VIEWS),
    help="The view of images that do not say it themselves.",
)
@click.option(
    "--restricted/--unrestricted",
    default=None,
    help="Its licence keeps its images on this machine.",
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
    """Register a data set: chexlocalize or folder."""
    from viewer.services.import_dataset import import_dataset
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        dataset = import_dataset(
            opened,
            format_name,
            path,
            name or path.absolute().name,
            View(view) if view else None,
            restricted=restricted,
        )
    items = sum(len(image.masks) for image in dataset.images)
    if as_json:
        print_json(
            {
                "name": dataset.name,
                "images": len(dataset.images),
                "items": items,
                "notices": [[n.kind, n.subject, n.text] for n in dataset.notices],
            }
        )
        return
    for n in dataset.notices:
        click.echo(f"{n.subject}: {n.text}", err=True)
    click.echo(
        f"'{dataset.name}': {len(dataset.images)} images, {items} reference masks, "
        f"{len(dataset.notices)} notices"
    )


@click.command()
@click.argument("name", required=False)
@store_option
@json_option
def cases(name: str | None, store: Path | None, *, as_json: bool) -> None:
    """List the data sets, or one data set's images and notices."""
    from viewer.services.listing import dataset_rows, image_rows
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        rows, notices = image_rows(opened, name) if name else (dataset_rows(opened), [])
    if as_json:
        print_json(rows if name is None else {"images": rows, "notices": notices})
        return
    print_rows(rows, list(rows[0]) if rows else [])
    if notices:
        print_rows(notices, ("kind", "subject", "text"))
