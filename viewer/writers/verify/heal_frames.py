"""The frames of HEAL-MedVQA: labels of trials, edits of true positives, passes."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from viewer.writers.verify.estimators import Rows, ratio
from viewer.writers.verify.frames import Source, Verdicts, trial_rows
from viewer.writers.verify.verdicts import LEFT_OUT, Verdict

_APPROXIMATE = ("contour", "crop", "located")
_TEXTUAL = {
    "TPT anatomy": ("tpt-anatomy", "tpt-sham"),
    "TPT disease": ("tpt-disease", "tpt-sham"),
}
_TESTS = {
    **_TEXTUAL,
    "VPT": ("vpt", "vpt-sham-same"),
    "VPT, own region": ("vpt", "vpt-sham-own"),
}
"""The condition of each test, and its shams."""
_MEASURED = (
    *("peak_mib", "tower_attention_inside", "attention_on_image"),
    *("attention_inside", "outside_paste"),
)


def heal_frames(source: Source) -> dict[str, Rows]:
    """Return trials, edits and passes."""
    verdicts = source.verdicts
    names = list(dict.fromkeys(_dataset_of(one, source) for one in verdicts))
    places = {name: place for place, name in enumerate(names, 1)}
    of_item = {_item_of(one): _dataset_of(one, source) for one in verdicts}
    pair = dict(zip(("first", "second"), [*names, "", ""], strict=False))
    rejected = _rejected(source)
    trials = zip(_with_labels(verdicts, rejected), verdicts, strict=True)
    edits = (row for name in _TESTS for row in _edits(verdicts, name, rejected))
    return {
        "trials": [
            {**row, **pair, "dataset": of, "place": places[of]}
            for row, one in trials
            for of in (of_item[_item_of(one)],)
        ],
        "edits": [{**row, "place": places[of_item[str(row["item"])]]} for row in edits],
        "worded": [row for name in _TEXTUAL for row in _same_words(verdicts, name)],
        "passes": list(_passes(verdicts)),
        "disagreements": list(_disagreements(verdicts)),
    }


def _rejected(source: Source) -> set[str]:
    """Return the edits whose image, as this run made it, failed with any reader."""
    params = source.plan["params"]
    return {
        edit
        for _, _, edit, made, failed in source.people.get("edited_images", ())
        if failed and all(params[name] == value for name, value in made.items())
    }


def _is_rejected(one: Verdict, rejected: Collection[str]) -> bool:
    return _test_of(one.condition).startswith("vpt") and one.item in rejected


def _dataset_of(one: Verdict, source: Source) -> str:
    """Return the data set that a trial's question is from."""
    return str(one.listed["source"] or source.plan["dataset"])


def _disagreements(verdicts: Verdicts) -> Iterator[dict[str, object]]:
    """Yield the open answers that model and dictionary read differently."""
    for one in verdicts:
        who, words = one.parsed.get("tier", ""), one.parsed.get("dictionary")
        if "labels" not in one.parsed or not who:
            continue
        mine = one.parsed["labels"] if who == "extractor" else None
        if mine is None or words is None or sorted(mine) != sorted(words):
            row = {"item": one.item, "model": one.model, "condition": one.condition}
            both = {"extractor": mine, "dictionary": words}
            told = {name: _labels_spelled(labels) for name, labels in both.items()}
            yield {**row, "repeat": one.repeat, **told}


def _labels_spelled(labels: Sequence[str] | None) -> str:
    return "not read" if labels is None else "; ".join(labels) or "No finding"


def _with_labels(
    verdicts: Verdicts, rejected: Collection[str]
) -> Iterator[dict[str, object]]:
    plain = {one.model for one in verdicts if one.condition == "plain"}
    for one, row in zip(verdicts, trial_rows(verdicts), strict=True):
        found, true, closed = _found(one), _true(one), _is_closed(one)
        way, loba = _way_of(one.condition), one.condition.startswith("loba-")
        latency, dice = one.numbers.get("latency_ms") or None, one.numbers.get("dice")
        shown = loba or one.condition in _APPROXIMATE
        yield {
            **dict.fromkeys(_MEASURED),
            **row,
            "source": "this run",
            "anatomy": one.listed["anatomy"],
            "told_anatomy": bool(one.listed["anatomy"]),
            "way": way,
            "note": _note_of(way),
            "asked_as_is": shown or one.condition == "plain",
            "localization": one.condition != "plain",
            "self_prompt": loba,
            "beside_plain": shown and one.model in plain,
            "closed": closed,
            "questions": "Yes/No" if closed else "Open",
            "weight": float(one.condition.removeprefix("loba-")) if loba else None,
            "told_tower": "tower_attention_inside" in one.numbers,
            "told_outside": "outside_paste" in one.numbers,
            "remains": one.numbers.get("outside_paste", 0) > 0,
            "rejected": _is_rejected(one, rejected),
            "told_attention": "attention_on_image" in one.numbers,
            "timed": latency is not None,
            "seconds_per_100": None if latency is None else latency / 10,
            "dice_from": None if dice is None else min(int(dice * 10), 9) / 10,
            "told_dice": dice is not None,
            "found": found,
            "true": true,
            "said": "".join(found[:1]),
            "right_answer": "".join(true[:1]),
        }


def _is_closed(one: Verdict) -> bool:
    return one.view in ("positive", "hallucinated")


def _found(one: Verdict) -> Sequence[str]:
    """Return the labels of an answer; none if it was not read."""
    if "yes" in one.parsed:
        return ["Yes" if one.parsed["yes"] else "No"]
    return (one.parsed["labels"] or ["No finding"]) if "labels" in one.parsed else []


def _true(one: Verdict) -> Sequence[str]:
    if _is_closed(one):
        return ["Yes" if one.view == "positive" else "No"]
    return one.gold.get("labels") or ["No finding"]


@dataclass(frozen=True)
class _Tested:
    """A test in one model's way of asking: its questions, and those answered yes.

    ``shared`` are the true positives that all models share in all ways with any.
    """

    about: dict[str, str]
    own: Verdicts
    questions: dict[str, list[Verdict]]
    positive: set[str]
    shared: set[str]

    def trials(self, key: str, edit: str, *, edited: bool) -> list[Verdict]:
        """Return the edits of a true positive, or its shams, that were asked."""
        return [
            one
            for one in self.questions[key]
            if (_test_of(one.condition) == edit) is edited
            and one.status not in ("pending", LEFT_OUT)
            and key in self.positive
        ]


def _tested(verdicts: Verdicts, name: str) -> Iterator[_Tested]:
    tests = _TESTS[name]
    ways: dict[tuple[str, str], list[Verdict]] = {}
    for one in verdicts:
        ways.setdefault((one.model, _way_of(one.condition)), []).append(one)
    asked = {
        key: {_question_of(o) for o in own if _is_told(o, tests)} & _positives(own)
        for key, own in ways.items()
        if any(_test_of(one.condition) == tests[0] for one in own)
    }
    some = [own for own in asked.values() if own]
    shared = set.intersection(*some) if some else set()
    for (model, way), positive in asked.items():
        questions: dict[str, list[Verdict]] = {}
        for one in ways[model, way]:
            if _test_of(one.condition) in tests:
                questions.setdefault(_question_of(one), []).append(one)
        about = {"model": model, "condition": way, "note": _note_of(way), "test": name}
        yield _Tested(about, ways[model, way], questions, positive, shared)


def _edits(
    verdicts: Verdicts, name: str, rejected: Collection[str]
) -> Iterator[dict[str, object]]:
    """Yield each question that a test should edit, by model and way of asking."""
    edit, *shams = _TESTS[name]
    for test in _tested(verdicts, name):
        tests = {_test_of(one.condition) for one in test.own}
        replied = {
            _test_of(one.condition)
            for one in test.own
            if one.counted and one.status != "provider_error"
        }
        for key, some in test.questions.items():
            made, shams_of = (
                test.trials(key, edit, edited=is_edit) for is_edit in (True, False)
            )
            edits, others = (
                [_yes_no(one) for one in of if not _is_rejected(one, rejected)]
                for of in (made, shams_of)
            )
            yield {
                **test.about,
                "item": _item_of(some[0]),
                "patient": some[0].patient,
                "anatomy": some[0].listed["anatomy"],
                "finding": some[0].finding,
                "positive": key in test.positive,
                "controlled": bool(tests & set(shams)),
                "comparable": edit in replied and bool(replied & set(shams)),
                "shared": key in test.shared,
                "edited": bool(made),
                "n_edits": len(edits),
                "n_flipped": edits.count("No"),
                "n_unread": edits.count(""),
                "n_rejected": len(made) - len(edits),
                "edit_share": ratio(edits.count("No"), len(edits)),
                "sham_share": ratio(others.count("No"), len(others)),
            }


def _same_words(verdicts: Verdicts, name: str) -> Iterator[dict[str, object]]:
    """Yield swapped questions, and the same texts if the finding is present."""
    for test in _tested(verdicts, name):
        asked = set[str]()
        for key in test.questions:
            for one in test.trials(key, _TESTS[name][0], edited=True):
                asked.add(_words_json(one))
                about = {**test.about, "shared": key in test.shared}
                yield _worded_row(one, about, swapped=True)
        for one in test.own:
            is_there = one.view == "positive" and one.counted
            is_plain = one.condition == test.about["condition"]
            if is_there and is_plain and _words_json(one) in asked - {""}:
                yield _worded_row(one, {**test.about, "shared": True}, swapped=False)


def _worded_row(
    one: Verdict, about: Mapping[str, object], *, swapped: bool
) -> dict[str, object]:
    who = {"patient": one.patient, "words": _words_json(one)}
    return {**about, **who, "swapped": swapped, "said": _yes_no(one)}


def _words_json(one: Verdict) -> str:
    words = one.gold.get("words")
    return json.dumps(words) if words else ""


def _yes_no(one: Verdict) -> str:
    return "".join(_found(one)) if "yes" in one.parsed else ""


def _is_told(one: Verdict, tests: Sequence[str]) -> bool:
    return _test_of(one.condition) in tests and one.status != "pending"


def _positives(own: Verdicts) -> set[str]:
    """Return the questions that a model correctly answered yes.

    They are those that it was asked more about, and those whose own trial says so.
    """
    return {
        _question_of(one)
        for one in own
        if one.counted
        and (
            (_is_edit(one.condition) and one.status != "provider_error")
            or (one.view == "positive" and one.is_right)
        )
    }


def _test_of(condition: str) -> str:
    return condition.partition("/")[0]


def _way_of(condition: str) -> str:
    test, _, way = condition.partition("/")
    return way or ("plain" if _is_edit(condition) else test)


def _note_of(way: str) -> str:
    return "LobA-approximation" if way in _APPROXIMATE else ""


def _is_edit(condition: str) -> bool:
    return _test_of(condition).startswith(("tpt-", "vpt"))


def _question_of(one: Verdict) -> str:
    """Return the question that a trial asks, and its repeat."""
    return f"{_item_of(one)} {one.repeat}"


def _item_of(one: Verdict) -> str:
    return one.item.rpartition("|")[0] if _is_edit(one.condition) else one.item


def _passes(verdicts: Verdicts) -> Iterator[dict[str, object]]:
    """Yield each question's answers side by side, if there are several ways."""
    asked = [one for one in verdicts if not _is_edit(one.condition)]
    conditions = list(dict.fromkeys(one.condition for one in asked))
    of: dict[tuple[str, str, int], dict[str, Verdict]] = {}
    for one in asked:
        of.setdefault((one.item, one.model, one.repeat), {})[one.condition] = one
    for (item, model, repeat), own in of.items() if len(conditions) > 1 else ():
        told = [own[name] for name in conditions if name in own]
        dice = [one.numbers["dice"] for one in told if "dice" in one.numbers]
        yield {
            "item": item,
            "model": model,
            "repeat": repeat,
            **{f"answer_{c}": own[c].answer if c in own else "" for c in conditions},
            "dice": dice[0] if dice else None,
        }
