"""Commands that compare two runs: compare, and declare for confirmatory tests."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewer.cli.shared import DONE, UNFINISHED, json_option, store_option
from viewer.printing import echo, print_json, print_rows, print_text
from viewer.settings import read_settings
from viewer.terminal import run_number

if TYPE_CHECKING:
    from viewer.services.comparing.runs import Comparison, Statistics
    from viewer.services.comparing.sides import Side
    from viewer.store.database import Store

_COLUMNS = (
    "condition", "finding", "n", "k_first", "k_second", "difference", "ci_low",
    "ci_high", "p_mcnemar", "p_mcnemar_adjusted", "p_sign_flip",
    "p_sign_flip_adjusted", "family",
)  # fmt: skip


@click.command()
@click.argument("first", metavar="RUN[:MODEL][@VARIANT]")
@click.argument("second", metavar="RUN[:MODEL][@VARIANT]")
@click.option("--out", type=click.Path(path_type=Path), help="Also write files here.")
@store_option
@json_option
def compare(
    first: str, second: str, out: Path | None, store: Path | None, *, as_json: bool
) -> int:
    """Compare two runs, two models of one, or a model with a prompt variant.

    Shows the settings, the hits and why they differ.

    Tests are confirmatory only if their family was declared before the two were first
    compared; see overread declare.
    """
    from viewer.services.comparing.export import write_comparison
    from viewer.services.comparing.runs import compare as compare_sides
    from viewer.services.comparing.runs import statistics_of
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        found = compare_sides(opened, _side(opened, first), _side(opened, second))
        statistics = statistics_of(opened, found)
    files = write_comparison(found, statistics, out) if out else ()
    _print(found, statistics, files, as_json=as_json)
    return UNFINISHED if found.incomplete else DONE


def _side(store: "Store", text: str) -> "Side":
    from viewer.services.comparing.sides import side_of

    run, colon, model = text.partition(":")
    if not colon:
        run, at, variant = text.partition("@")
        model = f"{at}{variant}"
    return side_of(store, run_number(run, store), model)


def _print(
    comparison: "Comparison",
    statistics: "Statistics",
    files: tuple[Path, ...],
    *,
    as_json: bool,
) -> None:
    from viewer.services.comparing.runs import denied_by_none, summary_sentence
    from viewer.services.comparing.tables import as_json as plain
    from viewer.services.comparing.tables import groups_table, methods_of

    if as_json:
        print_json(plain(comparison, statistics) | {"files": [str(f) for f in files]})
        return
    table = groups_table(comparison, statistics)
    told = {one.condition for one in comparison.groups if not denied_by_none(one)}
    rows = [
        {n: _shown(n, v) for n, v in zip(table.header, row, strict=True)}
        for row in table.rows
        if row[0] in told
    ]
    print_text(summary_sentence(comparison))
    echo(statistics.adjustment.sentence)
    print_rows(rows, _COLUMNS)
    if comparison.causes:
        causes = ", ".join(
            f"the {cause} in {n}" for cause, n in comparison.causes.items()
        )
        echo(f"Why {len(comparison.flips)} verdicts differ: {causes}.")
    echo(*methods_of(statistics, comparison.words), *files)


def _shown(name: str, value: object) -> object:
    """Return a table cell as text; small p values are not shown as 0.0000."""
    from viewer.services.comparing.runs import p_text

    if name.startswith("ci_") and value is None:
        return "not estimable"
    if name.startswith("p_") and isinstance(value, float):
        return p_text(value).removeprefix("= ")
    return value


@click.command()
@click.option("--dataset", required=True, help="The data set's registered name.")
@click.option("--models", required=True, help="Two or more models: A,B,C.")
@click.option(
    "--findings", default="", help="Findings to compare; default: all that have masks."
)
@click.option(
    "--test",
    type=click.Choice(["sign_flip", "mcnemar"]),
    default="sign_flip",
    show_default=True,
    help="The test that decides.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True)
@click.option(
    "--study", help="Study whose runs are compared; default: the study of findings."
)
@store_option
@json_option
def declare(
    dataset: str,
    models: str,
    findings: str,
    test: str,
    alpha: float,
    study: str | None,
    store: Path | None,
    *,
    as_json: bool,
) -> None:
    """Declare which findings and pairs of models will decide, before seeing results.

    The declaration is stored with its time and can be neither changed nor withdrawn.
    """
    from viewer.services.comparing.family import OF_FINDINGS, declare_family, size_words
    from viewer.store.database import open_store

    with open_store(read_settings(store).store) as opened:
        made = declare_family(
            opened,
            dataset,
            _names(models),
            _names(findings),
            test=test,
            alpha=alpha,
            study=study or OF_FINDINGS,
        )
    if as_json:
        pairs = [list(pair) for pair in made.pairs]
        print_json(
            {
                "id": made.id,
                "declared_at": made.declared_at,
                "findings": list(made.findings),
                "pairs": pairs,
                "test": made.test,
                "alpha": made.alpha,
            }
        )
        return
    echo(
        f"Declared {size_words(made)}, decided by {made.test.replace('_', ' ')} at "
        f"{made.alpha:g}, at {made.declared_at}."
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
