"""The command that outlines what a box contains: segment."""

from pathlib import Path

import click

from viewer.cli.shared import json_option
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.printing import echo, print_json


@click.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.option(
    "--box", "boxes", multiple=True, required=True, help="x0,y0,x1,y1 in pixels."
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder of a SAM or MedSAM model.",
)
@click.option("--frame", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda")),
    default="auto",
    show_default=True,
)
@click.option("--out", type=click.Path(path_type=Path), help="mask.png or mask.json.")
@click.option("--store", expose_value=False, help="Accepted for consistency; not used.")
@json_option
def segment(
    image: Path,
    boxes: tuple[str, ...],
    model: Path,
    frame: int,
    device: str,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Outline what a box of an image contains."""
    from viewer.services.asking.segment import segment as find
    from viewer.services.asking.segment import segmentation_row, write_segmentation

    wanted = [_box(text) for text in boxes]
    found = find(ImageRef(image.absolute(), frame), wanted, model, device)
    if out is not None:
        write_segmentation(found, out)
    if as_json:
        print_json(segmentation_row(found))
        return
    for part in found.parts:
        echo(f"{part.mask.sum()} pixels, expected IoU {part.quality:.3f}")


def _box(text: str) -> BoxPx:
    try:
        x0, y0, x1, y1 = (float(part) for part in text.split(","))
    except ValueError:
        raise WrongUseError(
            f"The box '{text}' cannot be read.", "Write x0,y0,x1,y1: 100,200,400,500."
        ) from None
    return BoxPx(x0, y0, x1, y1)
