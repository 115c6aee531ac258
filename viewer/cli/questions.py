"""The command that draws questions about a data set's images: questions."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewer.cli.shared import json_option, store_option
from viewer.domain.counting import counted
from viewer.domain.documents import read_json
from viewer.domain.errors import WrongUseError
from viewer.printing import echo, print_json, print_rows
from viewer.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.domain.item import Item
    from viewer.services.importing.draw_questions import Drawing


@click.command()
@click.argument("datasets", metavar="DATASET...", nargs=-1, required=True)
@click.option("--name", default="", help="Name to register the questions under.")
@click.option(
    "--check", is_flag=True, help="Only show what would be drawn, and from which boxes."
)
@click.option("--preset", default="heal2025", show_default=True)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the grounded_vqa study, reader_rule or report_filter; its "
    "value as JSON or plain text.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@store_option
@json_option
def questions(
    datasets: tuple[str, ...],
    name: str,
    preset: str,
    settings: tuple[str, ...],
    seed: int,
    store: Path | None,
    *,
    check: bool,
    as_json: bool,
) -> None:
    """Draw questions from boxes of findings and masks of anatomies.

    Registers DATASET's images under another name with two to five questions each, for
    runs of the study grounded_vqa; those of several data sets together, for tables with
    the data sets side by side. Of boxes by several readers, reader_rule says whose
    count (any, majority or a reader); with report_filter=true only those of findings
    that the image's report affirms.
    """
    from viewer.services.importing.draw_questions import draw_questions
    from viewer.store.database import open_store

    if not name and not check:
        raise WrongUseError(
            "The questions need a name.", "Give --name, or --check to only look."
        )
    overrides = dict(_setting(text) for text in settings)
    with open_store(read_settings(store).store) as opened:
        drawn = draw_questions(
            *(opened, datasets, "" if check else name),
            preset=preset,
            overrides=overrides,
            seed=seed,
        )
    if as_json:
        print_json({"name": name, **_together(drawn)})
        return
    for one in drawn:
        _tell(one, check=check)
    if not check:
        items = [item for one in drawn for item in one.dataset.items]
        echo(f"'{name}': {_counts(items)}")


def _together(drawn: "Sequence[Drawing]") -> dict[str, object]:
    items = [item for one in drawn for item in one.dataset.items]
    notices = [notice for one in drawn for notice in one.dataset.notices]
    boxes = [asdict(left) for one in drawn for left in one.boxes]
    rows = [[n.kind, n.subject, n.text] for n in notices]
    kinds = Counter(item.kind for item in items)
    return {"questions": dict(kinds), "boxes": boxes, "notices": rows}


def _tell(drawn: "Drawing", *, check: bool) -> None:
    from viewer.services.importing.import_preview import notice_lines

    _tell_rules(drawn)
    for line in notice_lines(drawn.source, drawn.dataset.notices):
        echo(line, err=True)
    if check:
        boxes = [asdict(left) for left in drawn.boxes]
        print_rows(boxes, tuple(boxes[0]))
        echo(f"'{drawn.source}': would be drawn: {_counts(drawn.dataset.items)}")


def _counts(items: "Sequence[Item]") -> str:
    kinds = Counter(item.kind for item in items)
    each = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
    return f"{counted(len(items), 'question')} ({each})"


def _tell_rules(drawn: "Drawing") -> None:
    from viewer.services.importing.draw_questions import rule_words

    for rule in drawn.rules:
        doubtful = counted(rule.doubtful, "healthy anatomy", "healthy anatomies")
        echo(
            f"'{drawn.source}', {rule_words(rule)}: {rule.placed:,} of "
            f"{rule.findings:,} findings are in an anatomy, {rule.lost:,} "
            f"inside one that does not count; {doubtful} with half a box",
            err=True,
        )


def _setting(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise WrongUseError(f"'{text}' is not a setting.", "Write it as KEY=VALUE.")
    try:
        return key.strip(), read_json(value)
    except ValueError:
        return key.strip(), value
