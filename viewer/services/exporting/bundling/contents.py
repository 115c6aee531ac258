"""What a bundle contains of a run: every trial with steps, replies and truth.

It contains neither images nor the text of questions: a question is represented by its
hash, its prompt by the program's text. A trial of a localization has one step, its grid
and the names of its right cells; masks are stored once for all trials.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.answer_json import PLACED_START
from viewer.domain.box_reference import boxes_to_find
from viewer.domain.case import Dataset
from viewer.domain.item import TASK_MARK, Item
from viewer.domain.plain import plain
from viewer.domain.rubric import Grades
from viewer.services.exporting.bundling.records import (
    Record,
    Replies,
    json_bytes,
    sha256_of,
    trial_record,
)
from viewer.services.reporting.report_run import RunResults
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.services.trials.run_context import RunContext
from viewer.store.database import Store
from viewer.store.runs import condition_of
from viewer.store.steps import kept_replies
from viewer.store.trial_columns import trial_columns
from viewer.store.trials import TrialReply
from viewer.studies.catalog import package_of
from viewer.studies.places import Pointed

_TOKEN: Final = re.compile(r"[\w.#-]+")
VERIFIED: Final = """\
What verify.py verifies
- every file against its hash, and every reply against the hash in its step
- that each planned trial is present once and has one status
- locations: the cell is parsed from the raw reply again, placed on the reference mask
  and scored; points, boxes, masks and maps are assigned to their cells and measured
  again, and boxes are compared with those of the rule and of each reader
- plain answers (a letter, yes or no, a judge's "Score: 4", a list of labels) are parsed
  from the raw reply again; for an option, a list of diagnoses or a text in sentences,
  the stored answer must appear in the reply
- that every verdict follows from the answer and from the truth stored with the trial
- that the specifications of the built-in studies are unchanged, and every cell of the
  tables they make from the trials: counts, rates, intervals and tests, to the last
  digit or, where versions of Python add up differently, to a billionth
What it does not verify
- that truth, masks and reference boxes are correct, and what sentences mean: a cell, an
  option or a list in sentences must be named by the reply; for yes, no and labels in
  sentences, and for what could not be parsed, the stored answer is trusted
- how a model's own coordinates or masks became native pixels
- columns that it names, such as intervals over replicates
- why an answered trial was left out, and what was made from reports or proposed
- what was measured while a model was asked (time, tokens, cost, memory, attention,
  regions, likelihoods), and the groups that items belong to
- the tables that it names as checked only against their hashes: what they list about a
  data set, a paper or a report is not in the bundle
"""
"""What verify.py computes again, and what it trusts."""
README: Final = f"""\
A run of Overread, complete and verifiable.

python verify.py BUNDLE.zip     checks every byte against its hash and computes again
                                what can be; needs nothing but Python
index.html                      every trial with its replies; works offline
report.html                     the report
tables/ figures/                what the report prints, at full precision
plan.json trials.jsonl          what was asked, and the results
replies.jsonl references.json   raw replies, and reference masks (COCO run-length
                                code) and boxes if locations were asked for
grades.json people.json         what readers graded, what physicians and experts chose
                                and scored, which edited images readers rejected, and
                                where radiologists pointed, if they did
specs.json                      how each table is made from the trials, as data
manifest.json                   versions, settings and the hash of every file, as
                                described by manifest.schema.json

{VERIFIED}
Patients, images, items and readers appear under pseudonyms that follow the order of
their names. The bundle has no pixels, file names or dates, and of questions only their
hashes. Options, diagnoses, labels, the text of tasks that readers selected and replies
are included word for word: a reply may repeat what a question told its model. Only a
reply that contains a picture has pixels: what its model made of an image.
"""
"""What stands in README.txt."""


def plan_of(
    context: RunContext, records: Sequence[Record], names: Pseudonyms
) -> Record:
    """Return the plan: every trial by name, and why one is not asked."""
    expected = [one.name for one in context.study.conditions(context.params)]
    conditions = (*expected, *(one["condition"] for one in records))
    return {
        "study": context.spec.study,
        "package": package_of(context.spec.study),
        "preset": context.spec.preset,
        "params": names.params(plain(context.params)),
        "seed": context.spec.seed,
        "dataset": context.spec.dataset,
        "models": [profile.name for profile in context.spec.models],
        "roles": dict(context.study.roles(context.params)),
        "conditions": list(dict.fromkeys(conditions)),
        "prompts": [{"name": n, "text": text} for n, text in context.prompts()],
        "trials": [
            [*(one[name] for name in _PLANNED), "" if _is_asked(one) else one["reason"]]
            for one in records
        ],
    }


_PLANNED: Final = ("item", "condition", "repeat", "model")


def _is_asked(one: Record) -> bool:
    """Tell whether a trial was to be asked; one whose answer is left out was."""
    return bool(one["steps"]) or one["status"] != Status.EXCLUDED


def judged_trials(
    store: Store, own: RunResults, names: Pseudonyms, replies: Replies
) -> Iterator[Record]:
    """Yield every trial in the order of the plan, with its steps and its truth."""
    context, strata = own.context, own.context.study.words.columns
    numbered = trial_columns(store, own.summary.id, ("id", "numbers"))
    for one in own.trials.having(**numbered).records():
        trial_replies: tuple[TrialReply, ...] = ()
        if one["reply_id"] is not None:
            trial_replies = kept_replies(store, one["id"], one["reply_id"])
        yield {
            **trial_record(one, names, strata),
            "steps": [
                _step(step, one["model"], context, replies) for step in trial_replies
            ],
            "gold": {**json.loads(one["gold"] or "{}"), **_grid(context, one)},
        }


def _grid(context: RunContext, one: Record) -> Record:
    if not context.study.words.places:
        return {}
    condition = condition_of(str(one["condition"]), str(one["condition_params"]))
    grid = context.places.grid(condition)
    return {"grid": [grid.rows, grid.columns]}


def references_of(
    context: RunContext, records: Sequence[Record], pointed: Iterable[Pointed] = ()
) -> dict[str, Record]:
    """Return the references of localizations, by the image's name.

    Size, pixel aspect and masks, also those that readers pointed at; for runs with
    answers other than cells also pixel spacing and the boxes to find.
    """
    if not context.study.words.places:
        return {}
    asked = dict[str, set[object]]()
    for trial in records:
        asked.setdefault(str(trial["image"]), set()).add(trial["finding"])
    for one in pointed:
        asked.setdefault(one.image.key, set()).add(one.mask)
    placed = any(str(trial["parsed"]).startswith(PLACED_START) for trial in records)
    references: dict[str, Record] = {}
    for name, findings in asked.items():
        image = context.images[name]
        masks = {
            str(f): plain(image.masks[str(f)]) for f in findings if f in image.masks
        }
        references[name] = {
            "size": plain(image.size),
            "pixel_aspect": image.geometry.pixel_aspect,
            "masks": masks,
        }
        if placed:
            rule = context.places.reader_rule
            references[name]["spacing"] = plain(image.geometry.spacing)
            references[name]["to_find"] = {
                str(f): plain(boxes_to_find(image, str(f), rule)) for f in findings
            }
    return references


def _step(
    reply: TrialReply, model: str, context: RunContext, replies: Replies
) -> Record:
    step = reply.step
    return {
        "step": step.name,
        "role": step.role,
        "again": step.again,
        "model": context.profile_for(model, step).name,
        "request_sha256": reply.request_sha256,
        "reply": replies.number(reply.id),
        "reply_sha256": sha256_of(reply.raw),
    }


def replies_with_names(told: Iterable[str], dataset: Dataset) -> int:
    """Count the replies that contain an original name from a data set.

    A question may have contained it, such as the number of a case. Names of only
    letters or only digits also occur as words and measurements, and are not searched
    for.
    """
    known = {name for item in dataset.items for name in (item.key, item.patient)}
    known |= {name for image in dataset.images for name in (image.key, image.patient)}
    names = {name.casefold() for name in known if _is_a_name(name)}
    return sum(
        not names.isdisjoint(
            word.strip(".-") for word in _TOKEN.findall(text.casefold())
        )
        for text in told
    )


def _is_a_name(text: str) -> bool:
    digits = sum(c.isdigit() for c in text)
    return bool(_TOKEN.fullmatch(text)) and 0 < digits < len(text) > 2


def people_members(
    grades: Grades,
    items: Iterable[Item],
    records: Sequence[Record],
    pointed: Sequence[Pointed] = (),
) -> Mapping[str, bytes]:
    """Return the files with readers' grades of these trials and people's choices.

    ``items`` are the data set's items under pseudonyms. A physician's option is given
    beside the right one, a differential is not.
    """
    outputs = {(one["model"], one["item"], one["repeat"]) for one in records}
    given = [
        {
            "reader": g.reader,
            "model": g.model,
            "item": g.item,
            "repeat": g.repeat,
            "image": g.image,
            "abstained": g.abstained,
            "scores": {str(d): n for d, n in g.scores.items()},
            "codes": list(map(str, g.codes)),
        }
        for g in grades.grades
        if g.output in outputs
    ]
    asked = {str(one["item"]).partition(TASK_MARK)[0] for one in records}
    people: Record = dict(_people([item for item in items if item.key in asked]))
    if pointed:
        people["points"] = [
            [one.finding, one.image.key, one.mask, [[p.x, p.y] for p in one.points]]
            for one in pointed
        ]
    files = {"grades.json": {"grades": given} if given else {}, "people.json": people}
    return {name: json_bytes(found) for name, found in files.items() if found}


def _people(items: Sequence[Item]) -> Iterator[tuple[str, list[list[object]]]]:
    """Yield what people answered or scored, by its name in an item's truth."""
    for name, places in _OF_PEOPLE.items():
        found = [
            [item.key, *(entry[place] for place in places), *_right(name, item)]
            for item in items
            for entry in _entries(item.reference.get(name))
        ]
        if found:
            yield name, found


_OF_PEOPLE: Final = {
    "physicians": (0, 2),
    "judge_labels": (0, 1, 2),
    "experts": (0, 1, 2),
    "edited_images": (0, 1, 2, 3),
}
"""Lists of an item's truth, and which parts of their entries go along."""


def _right(name: str, item: Item) -> Iterator[object]:
    if name == "physicians":
        yield item.reference.get("answer", -1)


def _entries(listed: object) -> Iterable[Sequence[object]]:
    return listed if isinstance(listed, list) else ()
