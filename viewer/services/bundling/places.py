"""What a bundle holds of a study that places findings: grids, masks and one reply."""

from collections.abc import Iterable, Sequence
from typing import Final

from viewer.domain.plain import plain
from viewer.domain.run import Condition
from viewer.services.bench import Bench
from viewer.services.bundling.records import Record, Replies, trial_record
from viewer.services.pseudonyms import Pseudonyms
from viewer.store.trials import ScoredTrial
from viewer.studies.catalog import package_of

VERIFIED: Final = """\
What verify.py verifies
- every file against its hash
- every trial: the cell is read off the raw reply again, put on the reference mask and
  scored; points, boxes and maps are put into their cells again
- every cell of the tables that it names follows, to the last digit
What it does not
- that the reference masks are true
- how sentences were read: the stored cell has to be named by the reply
- how a model's own coordinates or masks became native pixels, which are taken
- columns that it names, such as intervals over replicates
- the tables that it names as held against their hashes only
"""
"""What verify.py works out again, and what stands as it is."""
README: Final = f"""\
A run of Overread, complete and verifiable.

python verify.py BUNDLE.zip     holds every byte against its hash and works out the
                                tables again from the raw replies; nothing but Python
index.html                      every item, without a network
report.html                     the report
tables/ figures/                what the report prints, at full precision
plan.json trials.jsonl          what was asked, and what came of it
replies.jsonl references.json   raw replies and reference masks (COCO run-length code)
specs.json                      how each table is made of the trials, as data
manifest.json                   versions, settings and the hash of every file, as
                                manifest.schema.json describes it

{VERIFIED}
Patients and images go by pseudonyms that follow the order of their names. There are no
pixels, no file names and no dates of patients in it.
"""
"""What stands in README.txt."""


def plan_of_places(bench: Bench, asked: Iterable[Condition]) -> Record:
    """Return what was planned, with the grid of every condition."""
    expected = bench.study.conditions(bench.params)
    ordered = [*expected, *(c for c in asked if c not in expected)]
    grids = [(c.name, bench.places.grid(c)) for c in ordered]
    return {
        "study": bench.spec.study,
        "package": package_of(bench.spec.study),
        "preset": bench.spec.preset,
        "params": dict(plain(bench.params)),
        "seed": bench.spec.seed,
        "models": [profile.name for profile in bench.spec.models],
        "conditions": [
            {"name": name, "rows": grid.rows, "columns": grid.columns}
            for name, grid in grids
        ],
    }


def placed_trials(
    scored_trials: Sequence[ScoredTrial],
    names: Pseudonyms,
    replies: Replies,
) -> list[Record]:
    """Return every trial in the order of the plan, with the number of its reply."""
    kept = []
    for scored in scored_trials:
        reply = scored.reply_id
        number = None if reply is None else replies.number(reply)
        asked = trial_record(scored, names)
        kept.append({**asked, "reply": number, "parsed": scored.parsed})
    return kept


def references_of(bench: Bench, kept: Sequence[Record]) -> dict[str, Record]:
    """Return size and masks of every image that was asked about."""
    asked = {(str(trial["image"]), str(trial["finding"])) for trial in kept}
    found: dict[str, Record] = {}
    for name in sorted({image for image, _ in asked}):
        image = bench.images[name]
        masks = {
            finding: plain(m)
            for finding, m in sorted(image.masks.items())
            if (name, finding) in asked
        }
        found[name] = {"size": plain(image.size), "masks": masks}
    return found
