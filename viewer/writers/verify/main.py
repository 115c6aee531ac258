"""Verify a bundle: python verify.py bundle.zip (nothing but Python is needed).

Every byte is held against its hash, every trial is judged again from its raw replies
and what is right of it, and every number of the tables named below is worked out again
and compared with what is printed, to the last digit. What cannot be worked out again,
such as the meaning of a sentence, is told. Exit codes: 0 all of it holds, 1
something does not, 2 the file cannot be read as a bundle, 3 nothing is wrong, but a
study of another package judges or counts in a way that is not known here.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from viewer.writers.verify.archive import MOST_BYTES, Bundle, BundleError, opened
from viewer.writers.verify.comparing import Report, Tell, Worked, compare_table
from viewer.writers.verify.item_bundle import recompute_items
from viewer.writers.verify.judging import (
    ABSENT,
    Judged,
    MismatchError,
    Row,
    items_of,
    judge_of,
)
from viewer.writers.verify.more_tables import (
    mask_mode_items,
    mask_mode_rows,
    recommended_rows,
)
from viewer.writers.verify.other_arms import absent_rows, replicate_rows
from viewer.writers.verify.results import Asked, results_rows

HOLDS, FAILS, UNREADABLE_FILE, PARTLY = 0, 1, 2, 3
HEADERS = {
    "items": "item patient image view finding condition repeat model status answer "
    "coverage outcome reference_cells request_sha256",
    "results": "finding view condition model n_planned n_scored n_failed n_refused "
    "n_unparsed n_excluded n_pending k hit_rate bootstrap_sd wilson_low wilson_high "
    "random_baseline prior_baseline skill skill_low skill_high partial",
    "recommended": "finding view condition model n patients k hit_rate patient_sd "
    "percentile_low percentile_high bca_low bca_high method",
    "mask_modes": "finding view condition model n k_paper hit_rate_paper k_exact "
    "hit_rate_exact n_verdict_differs",
    "mask_mode_items": "item condition repeat model answer hit_paper hit_exact",
    "absent": "finding view condition model n_planned n_excluded n_pending n_failed "
    "n_refused n_unparsed n_denied n_capitulated capitulation_rate wilson_low "
    "wilson_high hit_rate",
    "replicates": "item patient view finding condition model replicates mode "
    "mode_share tied entropy_bits hits mean_hit",
}
"""The tables whose every cell is worked out again; the others have a hash alone."""
_FEW = 2_000_000
"""Numbers to draw up to which one process is quicker than several."""
_MOST_NAMED = 20
_ODD_RECORDS = (
    *(KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError),
)


def main(arguments: Sequence[str]) -> int:
    """Verify the bundle that is named; return the exit code."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        _say("Write: python verify.py bundle.zip")
        return UNREADABLE_FILE
    return verify_file(Path(arguments[0]), _say)


def verify_file(path: Path, tell: Tell) -> int:
    """Verify a file, telling each step in a line; return the exit code."""
    try:
        data = _read(path)
        found = verify(data, tell)
    except OSError as error:
        tell(f"{path.name} cannot be read: {error.strerror}.")
        return UNREADABLE_FILE
    except BundleError as error:
        tell(str(error))
        return UNREADABLE_FILE
    for sentence in (*found.done, *found.left, *found.wrong[:_MOST_NAMED]):
        tell(sentence)
    if found.wrong:
        tell(f"NOT VERIFIED: {path.name} does not hold.")
        return FAILS
    if found.left:
        tell(f"PARTLY VERIFIED: {path.name} holds as far as it could be worked out.")
        return PARTLY
    tell(f"VERIFIED: {path.name} holds.")
    return HOLDS


def _read(path: Path) -> bytes:
    """Return a file's bytes; what has no end, or is too long, is no bundle."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise BundleError(f"{path.name} is no file.")
    if found.st_size > MOST_BYTES:
        raise BundleError(f"{path.name} is too large to be a bundle.")
    return path.read_bytes()


def verify(data: bytes, tell: Tell) -> Report:
    """Verify a bundle's bytes; what is no bundle raises BundleError."""
    found = Report()
    bundle, found.wrong = opened(data)
    if bundle is None or found.wrong:
        return found
    files = len(bundle.members)
    found.done.append(f"{files} files hold against their hashes, and the seal holds.")
    try:
        _recompute(bundle, found, tell)
    except MismatchError as error:
        found.wrong.append(str(error))
    except _ODD_RECORDS as error:
        found.wrong.append(f"The bundle's own records do not go together: {error!r}.")
    return found


def _recompute(bundle: Bundle, found: Report, tell: Tell) -> None:
    plan = json.loads(bundle.members["plan.json"])
    if plan.get("asks") == "items":
        recompute_items(bundle, plan, found, tell)
    elif plan["package"]:
        found.left.append(
            f"How the study {plan['study']} judges places is its own: its trials and "
            "tables were held against their hashes only."
        )
    else:
        _recompute_places(bundle, plan, found, tell)
    _tell_others(bundle, found)


def _recompute_places(
    bundle: Bundle, plan: Mapping[str, Any], found: Report, tell: Tell
) -> None:
    judge, trials = judge_of(bundle), list(bundle.lines("trials.jsonl"))
    tell(f"{len(trials)} trials are judged again.")
    judged = [judge.trial(trial) for trial in trials]
    items = items_of(judge, judged, [trial["image"] for trial in trials])
    close = ("coverage",) if judge.params["mask_mode"] == "exact" else ()
    compare_table(bundle, Worked("items", _header("items"), items, close), found)
    found.done.append(
        f"{judge.read} raw replies were read again. Of {judge.worded} worded ones the "
        f"stored reading was used, of {judge.placed} places the stored pixels, of "
        f"{judge.masks} masks the stored cell."
    )
    conditions = [c["name"] for c in plan["conditions"]]
    arms = [(c, m) for c in conditions for m in plan["models"]]
    asked = Asked(plan["params"], plan["seed"], arms)
    for name, rows in _tables(judged, asked, tell).items():
        compare_table(bundle, Worked(name, _header(name), rows), found)


def _tables(
    judged: Sequence[Judged], asked: Asked, tell: Tell
) -> Mapping[str, Sequence[Row]]:
    present = [one for one in judged if not one.condition.endswith(ABSENT)]
    absent = [one for one in judged if one.condition.endswith(ABSENT)]
    work = partial(_worked, tell=tell, size=_numbers_drawn(present, asked))
    results = results_rows(present, asked, work)
    return {
        "results": results,
        "recommended": recommended_rows(present, asked, work),
        "mask_modes": mask_mode_rows(present, asked),
        "mask_mode_items": mask_mode_items(present, asked),
        "absent": absent_rows(absent, results, asked),
        "replicates": replicate_rows(present, asked),
    }


def _header(name: str) -> Sequence[str]:
    return HEADERS[name].split()


def _numbers_drawn(results: Sequence[Judged], asked: Asked) -> int:
    patients = len({one.patient for one in results})
    return patients * int(asked.params["replicates"])


def _worked(
    function: Callable[[Any], Any], tasks: Sequence[Any], tell: Tell, size: int
) -> list[Any]:
    """Return what a function makes of each task, in several processes where it pays."""
    started, shown = time.monotonic(), 0.0
    done: list[Any] = []
    for result in _results(function, tasks, size * len(tasks) > _FEW):
        done.append(result)
        now = time.monotonic() - started
        if now - shown > 2 and len(done) < len(tasks):
            shown = now
            left = now / len(done) * (len(tasks) - len(done))
            tell(f"Resampling: {len(done)} of {len(tasks)}, about {left:.0f} s left.")
    return done


def _results(
    function: Callable[[Any], Any], tasks: Sequence[Any], many: bool
) -> Iterator[Any]:
    if not many or (os.cpu_count() or 1) < 2:
        yield from map(function, tasks)
        return
    with ProcessPoolExecutor() as pool:
        yield from pool.map(function, tasks)


def _tell_others(bundle: Bundle, found: Report) -> None:
    told = (*found.done, *found.left)
    others = [
        name
        for name in bundle.tables
        if not any(one.startswith(f"tables/{name}.csv") for one in told)
    ]
    if others:
        found.done.append(f"Held against their hashes only: {', '.join(others)}.")


def _say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
