"""The frames of PathMMU: answers by column of its tables, guesses, and its script's."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.frames import (
    Source,
    Verdicts,
    add_comparable,
    chance_of,
    letter_at,
    trial_rows,
)
from viewer.writers.verify.question_frames import dependence_frames
from viewer.writers.verify.verdicts import LEFT_OUT, Verdict

_PARTS = {"val": ("val",), "tiny": ("test_tiny",), "all": ("test_tiny", "test")}
_SUBSETS = ("PubMed", "SocialPath", "EduContent", "Atlas", "PathCLS")
_SINGLE = ("plain", "text_only", "noise", "mismatch")
"""The conditions that are no corruption."""
_CONTROLS = ("text_only", "noise")
"""The conditions compared with the unchanged image."""
_SCRIPT_SPLITS = ("test_tiny", "test", "val")
_SCRIPT_SUBSETS = ("PubMed", "PathCLS", "SocialPath", "Atlas", "EduContent")
_Column = tuple[str, str, Sequence[str]]


def mcq_frames(source: Source) -> dict[str, Rows]:
    """Return trials, answers, changes, guesses, what the script reads, and experts.

    A run that makes questions has its trials, and the questions.
    """
    if source.params["work"] == "building":
        return _built(source.verdicts)
    verdicts = [one for one in source.verdicts if "options" in one.gold]
    answers, trials = list(_answers(verdicts)), trial_rows(source.verdicts)
    add_comparable(answers, "model", "condition")
    return {
        "trials": trials,
        **dependence_frames(trials, "plain", _CONTROLS, _CONTROLS[:1]),
        "answers": answers,
        "changes": [row for one in answers for row in _changes(one)],
        "guesses": list(_guesses(verdicts, source.params["guessed_by"])),
        "official": list(_official(verdicts, source.params["official_seed"])),
        **_experts(source.people.get("experts", ()), verdicts),
    }


def _built(verdicts: Verdicts) -> dict[str, Rows]:
    """Return the trials with how many questions each made, and all of those."""
    trials, questions = trial_rows(verdicts), list[dict[str, object]]()
    for one, row in zip(verdicts, trials, strict=True):
        made = json.loads(one.parsed.get("text", "[]"))
        row |= {"made": len(made), "some": bool(made)}
        about = {"item": one.item, "subset": one.finding, "split": one.view}
        questions += [
            {**about, "model": one.model, "number": number, "question": of["question"]}
            | {"options": " | ".join(of["options"]), "answer": letter_at(of["correct"])}
            | {"explanation": of["explanations"][of["correct"]]}
            for number, of in enumerate(made, 1)
        ]
    return {"trials": trials, "built_questions": questions}


def _columns(verdicts: Verdicts) -> list[_Column]:
    """Return the parts and subsets that hold any item, overall first."""
    there = list(dict.fromkeys(one.finding for one in verdicts))
    known = [name for name in _SUBSETS if name in there]
    subsets = ["Overall", *known, *(name for name in there if name not in known)]
    paper = {split for held in _PARTS.values() for split in held}
    others = [s for s in dict.fromkeys(o.view for o in verdicts) if s not in paper]
    parts = {**_PARTS, **{split: (split,) for split in others}}
    every = [(part, s, held) for s in subsets for part, held in parts.items()]
    return [column for column in every if any(_holds(column, one) for one in verdicts)]


def _holds(column: _Column, one: Verdict) -> bool:
    return one.view in column[2] and column[1] in ("Overall", one.finding)


def _answers(verdicts: Verdicts) -> Iterator[dict[str, object]]:
    """Yield each model's trials of a condition, column by column."""
    arms: dict[tuple[str, str], list[tuple[Verdict, dict[str, object]]]] = {}
    for one, row in zip(verdicts, trial_rows(verdicts), strict=True):
        row |= {"options": len(one.gold["options"])}
        row |= {"letter": letter_at(one.gold["right"])}
        arms.setdefault((one.model, one.condition), []).append((one, row))
    columns = _columns(verdicts)
    for own in arms.values():
        for column in columns:
            where = {"part": column[0], "subset": column[1]}
            yield from ({**row, **where} for one, row in own if _holds(column, one))


def _changes(row: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yield what was shown of an image: itself, noise, or a corruption at a level."""
    names = (*("model", "part", "subset", "correct", "chance", "patient", "item"),)
    own, condition = {name: row[name] for name in names}, str(row["condition"])
    own |= {"counted": row["comparable"], "pair": (row["item"], row["repeat"])}
    plain = {"plain": "clean", "noise": "noise"}
    if condition in plain:
        yield {**own, "shown": plain[condition], "kind": "", "level": 0}
    elif condition not in _SINGLE and (row["part"], row["subset"]) == (
        "tiny",
        "Overall",
    ):
        kind, _, level = condition.rpartition("-")
        for shown in (kind, "overall") if row["comparable"] else ():
            yield {**own, "shown": shown, "kind": kind, "level": int(level)}


def _guesses(verdicts: Verdicts, threshold: int) -> Iterator[dict[str, object]]:
    """Yield the items asked without their image: who guesses them, and the result."""
    blind = [o for o in verdicts if o.condition == "text_only" and o.status != LEFT_OUT]
    models = len({one.model for one in blind})
    heard: dict[str, dict[str, list[bool]]] = {one.item: {} for one in blind}
    for one in blind:
        if one.status not in ("pending", "provider_error"):
            heard[one.item].setdefault(one.model, []).append(one.is_right)
    about = {one.item: (one.finding, one.view) for one in blind}
    patients = {one.item: one.patient for one in blind}
    for item, found in heard.items():
        by = [model for model, right in found.items() if 2 * sum(right) > len(right)]
        could = len(by) + models - len(found)
        guessable = len(by) >= threshold
        guessed = guessable or (len(found) >= threshold and could < threshold)
        yield {
            "item": item,
            "subset": about[item][0],
            "split": about[item][1],
            "asked": len(found),
            "guessed": len(by),
            "models": " ".join(by),
            "guessable": int(guessable) if guessed else None,
            "out": guessable,
            "told": guessed,
            "guessed_by": threshold,
            "of_models": models,
            "patient": patients[item],
        }


def _official(verdicts: Verdicts, seed: int) -> Iterator[dict[str, object]]:
    """Yield first repeats as the authors' script reads them, with its chance."""
    arms: dict[tuple[str, str], list[Verdict]] = {}
    for one in sorted(verdicts, key=_script_turn):
        if one.repeat == 0 and one.counted:
            arms.setdefault((one.model, one.condition), []).append(one)
    for (model, condition), own in arms.items():
        # One series an arm, drawn in the script's order: skipped draws would shift it.
        chance = Random(seed)  # noqa: S311 - the script's own numbers
        for one in own:
            right, dropped, drawn = _settled(one, chance)
            official = "dropped" if dropped else "correct" if right else "wrong"
            yield {
                "model": model,
                "condition": condition,
                "item": one.item,
                "typed": one.status,
                "official": official,
                "one": 1,
                "why": dropped or ("at random" if drawn else "read otherwise"),
                "typed_correct": int(one.is_right),
                "official_correct": int(right),
                "official_counted": int(not dropped),
                "at_random": int(drawn),
                "differs": bool(dropped) or right != one.is_right,
                "chance": chance_of(one),
            }


def _script_turn(one: Verdict) -> int:
    """Return where the script reads a trial's part of the data."""
    order = [
        (subset, split)
        for subset in _SCRIPT_SUBSETS
        for split in (
            ("test", "test_tiny", "val") if subset == "Atlas" else _SCRIPT_SPLITS
        )
    ]
    part = (one.finding, one.view)
    return order.index(part) if part in order else len(order)


def _settled(one: Verdict, chance: Random) -> tuple[bool, str, bool]:
    """Return whether the script calls a reply right, why it drops it, and if drawn."""
    if "official" not in one.numbers:
        return False, "no_reply", False
    code, parts = (
        int(one.numbers["official"]),
        [w.split(")") for w in one.gold["written"]],
    )
    letter = ord(one.gold["letter"][0].upper()) - ord("A")
    if code == -2 or any(len(part) < 2 for part in parts) or letter >= len(parts):
        return False, "options_or_answer", False
    options = [part[1].strip().lower() for part in parts]
    if code >= 0:
        return options[code] == options[letter], "", False
    drawn = chance.choice(range(len(options)))
    return code == -3 or options[drawn] == options[letter], "", True


def _experts(listed: Sequence[Sequence[object]], verdicts: Verdicts) -> dict[str, Rows]:
    """Return what experts chose, and whether a majority chose right, by column."""
    choices, votes, ballots = (
        Rows(),
        Rows(),
        dict[tuple[object, object], Counter[object]](),
    )
    for item, group, _, option in listed:
        ballots.setdefault((group, item), Counter())[option] += 1
    for column in _columns(verdicts):
        held = (o for o in verdicts if o.counted and _holds(column, o))
        truth = {o.item: o.gold["right"] for o in held}
        where = {"part": column[0], "subset": column[1]}
        choices += [
            {**where, "group": group, "reader": reader, "item": item}
            | {"correct": option == truth[item], "items": len(truth)}
            for item, group, reader, option in listed
            if item in truth
        ]
        votes += [
            {**where, "group": group, "item": item, "correct": _most(of) == truth[item]}
            for (group, item), of in ballots.items()
            if item in truth
        ]
    return {"choices": choices, "votes": votes}


def _most(ballots: Counter[object]) -> object:
    """Return the most frequent choice, None for a tie."""
    (option, most), *others = ballots.most_common(2)
    return None if others and others[0][1] == most else option
