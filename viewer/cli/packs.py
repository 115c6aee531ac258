"""The command ``pack``: every table and figure of a paper in one go."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viewer.cli.privacy import ask_for_keys
from viewer.cli.shared import DONE, finish, json_option, store_option, threads_option
from viewer.domain.counting import counted
from viewer.printing import echo, print_json
from viewer.settings import read_settings
from viewer.terminal import run_number

if TYPE_CHECKING:
    from viewer.domain.exchange import ModelProfile
    from viewer.services.reporting.pack import PackRequest
    from viewer.store.database import Store


@click.command()
@click.argument("paper")
@click.option("--dataset", help="The data set's name in the store.")
@click.option("--models", help="Model names, separated by commas.")
@click.option("--judge", help="The model that scores answers, for papers that use one.")
@click.option("--run", "run_name", help="Write an existing run; ask nothing.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--order", help="A,B: order Figure 2 by (A - B) / B.")
@click.option(
    "--reference-cells",
    is_flag=True,
    help="Heat maps of how often cells qualify, instead of mean masks.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True)
@click.option("--limit", type=click.IntRange(1), help="Only the first K items.")
@click.option(
    "--ceiling",
    type=float,
    help="Spending limit in US dollars; the run pauses before exceeding it.",
)
@threads_option
@store_option
@json_option
def pack(
    paper: str,
    dataset: str | None,
    models: str | None,
    judge: str | None,
    run_name: str | None,
    out: Path,
    order: str | None,
    seed: int,
    repeats: int,
    limit: int | None,
    ceiling: float | None,
    threads: int | None,
    store: Path | None,
    *,
    reference_cells: bool,
    as_json: bool,
) -> int:
    """Run a paper's whole protocol and write its tables and figures.

    PAPER is grid2025, rexecution2025, heal2025, pathmmu2024 or medsyn2026, or
    question_set for the image-dependence card of anybody's questions. The same
    command continues an unfinished run, and writes a finished one again without
    asking; --run writes any run of the paper's study.
    """
    from viewer.services.configuring.study_file import microusd
    from viewer.services.reporting.pack import PackRequest, write_pack
    from viewer.store.database import open_store

    settings = read_settings(store)
    with open_store(settings.store) as opened:
        if run_name is not None and dataset is None and models is None:
            run, code = run_number(run_name, opened), DONE
        elif dataset is not None and models is not None and run_name is None:
            profiles = _profiles(models, settings.models_file)
            cost = None if ceiling is None else microusd(ceiling)
            who = _profiles(judge, settings.models_file)[0] if judge else None
            wanted = PackRequest(
                paper, dataset, profiles, seed, repeats, limit, cost, who
            )
            run, code = _asked(opened, wanted, threads or 0)
        else:
            raise click.UsageError("Give --dataset and --models, or --run.")
        two = _two(order)
        files = write_pack(
            *(opened, paper, run, out, two),
            reference_cells=reference_cells,
            say=partial(echo, err=True),
        )
    if as_json:
        print_json({"run": run, "files": [str(path) for path in files]})
    else:
        echo(f"Run {run}: {counted(len(files), 'file')}; begin with {files[0]}")
    return code


def _two(order: str | None) -> tuple[str, str] | None:
    """Return the two series named with a comma between them."""
    if order is None:
        return None
    above, _, below = (part.strip() for part in order.rpartition(","))
    if not above or not below:
        raise click.UsageError("Name two series to order by: --order A,B.")
    return above, below


def _profiles(names: str, models_file: Path) -> "tuple[ModelProfile, ...]":
    from viewer.services.configuring.study_file import known_profiles, named_profile

    known = known_profiles(models_file)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if not wanted:
        raise click.UsageError("Name at least one model: --models A,B.")
    return tuple(named_profile(name, known) for name in wanted)


def _asked(store: "Store", wanted: "PackRequest", threads: int) -> tuple[int, int]:
    """Plan a run and ask its pending questions; return the run and the exit code."""
    from viewer.services.reporting.pack import plan_pack
    from viewer.services.running.batch_options import BatchOptions

    ask_for_keys((*wanted.models, *((wanted.judge,) if wanted.judge else ())))
    run = plan_pack(store, wanted)
    return run, finish(store, run, BatchOptions(concurrency=threads), worker=False)
