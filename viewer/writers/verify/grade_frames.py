"""The frames of ReXecution: delivered outputs, and readers' grades."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from viewer.writers.verify.comparing import TAKEN
from viewer.writers.verify.draws import drawn_units, named_entropy
from viewer.writers.verify.estimators import Rows, ratio
from viewer.writers.verify.frames import Source, Verdicts, trial_rows
from viewer.writers.verify.verdicts import LEFT_OUT, Verdict

_CONTENT = ("process", "execution", "synthesis")
_TEXT, _IMAGE = (*_CONTENT, "language"), ("image_content", "image_style")
_TESTED = ("content", "language", *_CONTENT)
_CONTENT_ORDERS = ("average_then_minimum", "minimum_then_average")
_CODES = {
    "left_right_swap": "left and right mixed up",
    "wrong_abnormality": "right region, wrong abnormality",
    "hallucinated_checklist": "every sign of a checklist claimed to be there",
    "box_too_large": "box too large to be useful",
    "box_misses_structure": "box does not meet the structure it names",
    "non_discriminating_differential": "differential without discriminating arguments",
    "verbose": "so long that it is unclear",
    "under_reported": "secondary findings not reported",
    "box_instruction_ignored": "request for boxes ignored",
    "asked_what_to_draw": "asked what to draw",
}
_OF_TASK = ("category", "source", "task")
_CRITERIA = (
    *("Clinical relevance", "Answerability", "Complexity/Reasoning"),
    "Clarity/Precision",
)
"""What a task is scored on; all but the last make the paper's sum of three."""
_TAGS = (
    *("tag_anatomical_region", "tag_pathology_type", "tag_imaging_finding"),
    *("tag_laterality", "tag_diagnostic_intent", "tag_temporal_context"),
    *("tag_question_type", "tag_subtype"),
)
_ENDINGS = {"refused": "refused", "provider_error": "failed", LEFT_OUT: "excluded"}
Grade = Mapping[str, Any]


def used_grades(grades: Sequence[Grade], verdicts: Sequence[Verdict]) -> list[Grade]:
    """Return the grades of delivered outputs, and of images shown or returned."""
    shown = {
        (one.model, one.item, one.repeat): max(
            one.gold["images"], one.parsed.get("pictures", 0)
        )
        for one in verdicts
        if one.parsed.get("words") == "report" and "images" in one.gold
    }
    return [g for g in grades if (g["image"] or 0) <= shown.get(_output(g), -1)]


def graded_numbers(
    grades: Sequence[Grade], order: str
) -> dict[tuple[str, str, int], dict[str, float]]:
    """Return the scores from the readers' grades of each text, by output."""
    return {
        one["output"]: {name: _value(one, name, order) for name in _TESTED}
        for one in _finals(grades)
        if not one["image"]
    }


def grade_frames(source: Source) -> dict[str, Rows]:
    """Return trials, tasks proposed and, where readers have graded, their grades."""
    verdicts, grades, plan = source.verdicts, source.grades, source.plan
    if source.params["work"] == "curation":
        trials = [
            {**row, "proposed": bool(one.parsed.get("entries"))}
            for one, row in zip(verdicts, trial_rows(verdicts), strict=True)
        ]
        return {"trials": trials, "candidates": list(_candidates(verdicts))}
    trials = [
        {**row, **_delivered(one)}
        for one, row in zip(verdicts, trial_rows(verdicts), strict=True)
    ]
    if not grades:
        return {"trials": trials}
    finals, models, patients = _finals(grades), plan["models"], _patients(source)
    order = source.params["content_order"]
    given = ((g["model"], code, _output(g)) for g in grades for code in g["codes"])
    codes = [*((m, code, None) for m in models for code in _CODES), *given]
    return {
        "trials": trials,
        "scores": list(_scores(finals)),
        "compared": list(_side_by_side(finals, models, order, patients)),
        "read twice": list(_read_twice(grades, source)),
        "grades": [
            {
                "category": _words(name),
                "reader": g["reader"],
                "patient": patients.get(g["item"], g["item"]),
                "score": g["scores"][name],
            }
            | {"output": (_output(g), g["image"])}
            for g in grades
            for name in _dimensions(g["image"])
        ],
        "texts": list(_abstentions(grades, verdicts)),
        "images": list(_styles(finals, source.params)),
        "codes": [
            {"model": m, "code": c, "meaning": _CODES[c], "output": o}
            for m, c, o in codes
        ],
    }


def _candidates(verdicts: Verdicts) -> Iterator[dict[str, object]]:
    """Yield the proposed tasks, the best first, with sums and tags."""
    for one in verdicts:
        for rank, entry in enumerate(one.parsed.get("entries", ()), 1):
            told = json.loads(entry)
            quality, tags = (
                told["quality"] or {},
                (told["tags"] or {}).get("values", {}),
            )
            scores, wrong = quality.get("scores", {}), told["unscored"]
            total = sum(scores.values()) if quality else None
            of_three = [n for name, n in scores.items() if name != _CRITERIA[-1]]
            if quality:
                wrong = TAKEN if quality["conclusion"] != total else ""
            yield {
                "item": one.item,
                "model": one.model,
                "rank": rank,
                **{name: told["candidate"][name] for name in _OF_TASK},
                **{name: scores.get(name) for name in _CRITERIA},
                "risk": quality.get("risk"),
                "total": total,
                "total_of_three": sum(of_three) if quality else None,
                "conclusion": quality.get("conclusion"),
                "disagreement": wrong,
                **{name: " \u2013 ".join(tags.get(name, ())) for name in _TAGS},
                "scored": bool(quality),
                "tagged": bool(tags),
                "other_sum": bool(wrong),
            }


def _delivered(one: Verdict) -> dict[str, object]:
    """Return how a trial ended, and what it drew: boxes, pictures or both."""
    boxes, pictures = one.parsed.get("boxes", []), one.parsed.get("pictures", 0)
    ending = _ENDINGS.get(one.status, "unparsed")
    if one.reason in ("token_limit", "too_long"):
        ending = "token_limit"
    elif one.parsed.get("words") == "report":
        ending = "delivered"
    elif one.status == "pending":
        ending = "pending"
    images = max(len({box["image"] for box in boxes}), pictures)
    counts = {"n_annotated_images": images, "n_boxes": len(boxes)}
    return {"ending": ending, "with_boxes": bool(boxes), **counts}


def _output(grade: Grade) -> tuple[str, str, int]:
    return grade["model"], grade["item"], grade["repeat"]


def _words(name: str) -> str:
    return name.replace("_", " ").title()


def _dimensions(image: int | None) -> Sequence[str]:
    return _TEXT if image is None else _IMAGE


def _finals(grades: Sequence[Grade]) -> list[dict[str, Any]]:
    """Return the scores of every output, averaged over its readers."""
    outputs: dict[tuple[object, ...], list[Grade]] = {}
    for grade in grades:
        outputs.setdefault((*_output(grade), grade["image"]), []).append(grade)
    finals = []
    for (*output, image), own in outputs.items():
        names = _IMAGE if image else _TEXT
        given = {name: [grade["scores"][name] for grade in own] for name in names}
        scores = {name: sum(of) / len(of) for name, of in given.items()}
        final = {"output": tuple(output), "image": image, **scores}
        if not image:
            least = [min(g["scores"][name] for name in _CONTENT) for g in own]
            means = min(scores[name] for name in _CONTENT), sum(least) / len(least)
            final |= {"contents": dict(zip(_CONTENT_ORDERS, means, strict=True))}
        finals.append(final)
    return finals


def _value(final: Mapping[str, Any], name: str, order: str) -> Any:  # noqa: ANN401
    """Return a measure of an output, None if missing."""
    return (
        final.get("contents", {}).get(order) if name == "content" else final.get(name)
    )


def _scores(finals: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, object]]:
    for final in finals:
        model, item, _ = final["output"]
        for order in _CONTENT_ORDERS:
            for name in (*_TESTED, *_IMAGE):
                value = _value(final, name, order)
                if value is not None:
                    about = {"model": model, "item": item, "metric": _words(name)}
                    flags = {"five": value == 5, "low": value < 3}
                    half = round(2 * value) / 2
                    yield {
                        **about,
                        "order": order,
                        "value": value,
                        **flags,
                        "half": half,
                    }


def _side_by_side(
    finals: Sequence[Mapping[str, Any]],
    models: Sequence[str],
    order: str,
    patients: Mapping[str, str],
) -> Iterator[dict[str, object]]:
    """Yield the measures of each pair of models' texts, repeats averaged."""
    texts: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for final in finals:
        model, item, _ = final["output"]
        own = texts.setdefault(model, {})
        if not final["image"]:
            own.setdefault(item, []).append(final)
    for first, second in combinations([m for m in models if m in texts], 2):
        for name in _TESTED:
            for item in dict.fromkeys((*texts[first], *texts[second])):
                row: dict[str, object] = {"metric": _words(name), "first": first}
                row |= {"second": second, "of_two": len(models) == 2}
                row |= {"patient": patients.get(item, item)}
                for side, model in (("one", first), ("other", second)):
                    some = [_value(f, name, order) for f in texts[model].get(item, ())]
                    row[side] = ratio(sum(some), len(some))
                yield row


def _readers(grades: Sequence[Grade], main: str) -> list[str]:
    """Return the main reader, then the others by number of grades."""
    names = [grade["reader"] for grade in grades]
    return sorted(set(names), key=lambda n: (n != main, -names.count(n), n))


def _read_twice(grades: Sequence[Grade], source: Source) -> Iterator[dict[str, object]]:
    """Yield both readers' scores of what both graded, and shifted for a picture."""
    first, second, *_ = *_readers(grades, source.params["main_reader"]), ""
    other = {(*_output(g), g["image"]): g for g in grades if g["reader"] == second}
    patients = _patients(source)
    for name in (*_TEXT, *_IMAGE):
        for one in grades:
            two = other.get((*_output(one), one["image"]))
            if one["reader"] != first or two is None or name not in one["scores"]:
                continue
            again = [str(one["repeat"])] if one["repeat"] else []
            which = (name, one["model"], one["item"], str(one["image"]), *again)
            entropy = named_entropy(source.plan["seed"], "figure 5", *which)
            a, b = one["scores"][name], two["scores"][name]
            dx, dy = (-0.3 + (0.3 - -0.3) * x for x in drawn_units(entropy, 2))
            about = {"category": _words(name), "item": one["item"]}
            about |= {"patient": patients.get(one["item"], one["item"])}
            about |= {"main_score": a, "second_score": b}
            yield {**about, "main": a + dx, "second": b + dy}


def _patients(source: Source) -> dict[str, str]:
    return {one.item: one.patient for one in source.verdicts}


def _abstentions(
    grades: Sequence[Grade], verdicts: Verdicts
) -> Iterator[dict[str, object]]:
    """Yield graded texts with whether a majority calls them abstaining."""
    kinds = {one.item: one.gold["answerable"] for one in verdicts}
    votes: dict[tuple[str, str, int], list[bool]] = {}
    for grade in grades:
        if grade["image"] is None:
            vote = [] if grade["abstained"] is None else [grade["abstained"]]
            votes.setdefault(_output(grade), []).extend(vote)
    for (model, item, _), own in votes.items():
        agree = 2 * sum(own)
        kind, abstained = kinds[item], agree > len(own)
        about = {"model": model, "answerable": kind, "told": agree != len(own)}
        appropriate = abstained == (kind != "yes")
        yield {**about, "abstained": abstained, "appropriate": appropriate}


def _styles(
    finals: Sequence[Mapping[str, Any]], params: Mapping[str, Any]
) -> Iterator[dict[str, object]]:
    for final in finals:
        if final["image"]:
            high = final["image_style"] >= params["high_style"]
            low = final["image_content"] <= params["low_content"]
            flags = {"high_style": high, "low_content": low, "both": high and low}
            yield {"model": final["output"][0], **flags}
