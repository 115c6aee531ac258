"""The frames of MEDSYN: answers about cases, sensitivities, attention, preparation."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from viewer.writers.verify.agreeing import TIE
from viewer.writers.verify.comparing import TAKEN
from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.frames import Source, Verdicts, add_comparable, trial_rows
from viewer.writers.verify.trial_check import JUDGES
from viewer.writers.verify.verdicts import Verdict

_PREPARING = ("extraction", "summaries", "distractors")
_TOPS, _OPTIONS = (1, 3, 5, 10), range(4)
_PEOPLE = "physicians"
_MEAN_OF_READERS = "mean of individual readers"
_CONSENSUS, _CONSENSUS_OF_READERS = "consensus", "consensus of readers"
_ABOUT = ("task", "model", "language", "patient", "case")
_WRITTEN = ("ddx", "open_fdx")
_FIRST = ("first", "first_score", "first_covers")
_SECOND = ("second", "second_score", "second_covers")
_OF_JUDGE = {"judge": "judge", "first": "first_match"}
_Posterior = Mapping[str, float]


def case_frames(source: Source) -> dict[str, Rows]:
    """Return the frames of trials, prepared cases, and cases."""
    made = [one for one in source.verdicts if one.finding in _PREPARING]
    asked = [one for one in source.verdicts if one.finding not in _PREPARING]
    found = {
        "trials": trial_rows(source.verdicts),
        "preparation": list(_prepared(made)),
        "invented": list(_invented(made)),
    }
    if not asked:
        return found
    answers = _answered(source, asked)
    return found | {
        "answers": answers,
        **_judge_frames(source, answers),
        "sensitivities": list(_sensitivities(source, asked)),
        "attention": [row for one in asked for row in _attention(one)],
    }


def _case_of(one: Verdict) -> str:
    return one.item.rpartition("|")[0]


def _answered(source: Source, asked: Verdicts) -> Rows:
    """Return every answer: physicians' first, then model after model."""
    covered_from = source.params["covered_from"]
    people = [one for one in asked if one.model == _PEOPLE]
    asked = [one for one in asked if one.model != _PEOPLE]
    labels = {(i, t, m): n for i, t, m, n in source.people.get("judge_labels", ())}
    models = list(dict.fromkeys(one.model for one in asked))
    rows: Rows = []
    for one in sorted(asked, key=lambda one: models.index(one.model)):
        right = one.gold.get("right")
        rows.append(
            {
                **_about(one, one.model, one.finding, one.gold["arm"], one.repeat),
                "order": one.gold["turned"],
                "status": one.status,
                "first": one.numbers.get("first_match"),
                "judge": one.numbers.get("judge"),
                "human": labels.get((_case_of(one), one.finding, one.model)),
                "place": None if right is None else one.gold["order"].index(right),
                "chosen": one.parsed.get("option"),
                "answer": right,
                "told": "p_0" in one.numbers,
                "repeat": one.repeat,
                "judges": one.numbers,
            }
        )
    physicians = [*_physicians(source, asked, people)]
    rows = [*physicians, *_averaged(physicians), *rows]
    judged = [
        row["arm"] == "raw" and row["repeat"] == 0 and row["judge"] is not None
        for row in rows
    ]
    calibrated = {
        (row["model"], row["task"])
        for row, own in zip(rows, judged, strict=True)
        if own and row["human"] is not None
    }
    for row, own in zip(rows, judged, strict=True):
        _complete(row, covered_from)
        row["calibrated"] = own and (row["model"], row["task"]) in calibrated
    add_comparable(rows, "model", "task", "arm")
    return rows


def _about(
    one: Verdict, model: str, task: str, arm: str, repeat: int
) -> dict[str, object]:
    return {
        "model": model,
        "person": False,
        "patient": one.patient,
        "case": _case_of(one),
        "language": one.view,
        "specialty": one.gold["specialty"][1],
        "group": one.gold["group"][1],
        "task": task,
        "arm": arm,
        "pair": f"{_case_of(one)}|{repeat}",
    }


def _complete(row: dict[str, object], covered_from: int) -> None:
    """Add what follows from an answer's status, scores and arm."""
    counted = row["status"] not in ("excluded", "pending")
    right = row["status"] == "scored_correct"
    plain = row["arm"] == "raw" and row["order"] == 0
    first, judge, human = row["first"], row["judge"], row["human"]
    row |= {"plain": plain, "counted": counted, "correct": right}
    row["chance"] = 1 / len(_OPTIONS) if row["task"] == "fdx" else None
    for task in ("ddx", "fdx"):
        own = plain and counted and row["task"] == task
        row[task] = right if own else None
    for k in _TOPS:
        row[f"top_{k}"] = isinstance(first, float) and first <= k
    for name, score in (("covered", judge), ("human_covered", human)):
        known = isinstance(score, float | int)
        row[name] = float(score >= covered_from) if known else None  # type: ignore[operator]
    row |= {"judged": judge is not None, "labelled": human is not None}


def _physicians(
    source: Source, asked: Verdicts, judged: Verdicts
) -> Iterator[dict[str, object]]:
    """Yield a differential, judged or not, and a choice of each physician."""
    scores = {(_case_of(one), one.repeat): one for one in judged}
    places = Counter[str]()
    of_case = {_case_of(one): one for one in asked}
    right = {_case_of(o): o.gold["right"] for o in asked if "right" in o.gold}
    raw: dict[tuple[str, str], set[str]] = {}
    for one in asked:
        if one.gold["arm"] == "raw" and not one.gold["turned"]:
            raw.setdefault((_case_of(one), one.finding), set()).add(one.status)
    for case, name, option, answer in source.people.get("physicians", ()):
        judgement = scores.get((case, places[case]))
        places[case] += 1
        together = name.strip().casefold() == _CONSENSUS
        model = _CONSENSUS_OF_READERS if together else name
        truth = right.get(case, answer)
        verdict = "scored_correct" if option == truth else "scored_wrong"
        chosen = "unparsed" if option is None else verdict
        for task, said, status in (("ddx", None, "excluded"), ("fdx", option, chosen)):
            own = _about(of_case[case], model, task, "raw", 0)
            nothing = dict.fromkeys(("judge", "human", "first", "place"))
            own |= {**nothing, "person": True, "order": 0, "told": False, "judges": {}}
            own |= {"chosen": said, "answer": truth, "repeat": 0}
            score = judgement if task == "ddx" else None
            own["status"] = status if score is None else score.status
            if score is not None:
                own |= {k: score.numbers.get(v) for k, v in _OF_JUDGE.items()}
                own["judges"] = score.numbers
            of_models = raw.get((case, task), set())
            if of_models and of_models <= {"excluded", "pending"}:
                own["status"] = "pending" if "pending" in of_models else "excluded"
            yield own


def _averaged(physicians: Rows) -> Iterator[dict[str, object]]:
    """Yield the rows of several who answered alone again, as those of their mean."""
    alone = [one for one in physicians if one["model"] != _CONSENSUS_OF_READERS]
    readers = list(dict.fromkeys(one["model"] for one in alone))
    for one in alone if len(readers) > 1 else ():
        place = readers.index(one["model"])
        own = {"model": _MEAN_OF_READERS, "repeat": place}
        yield {**one, **own, "pair": f"{one['case']}|{place}"}


def _judge_frames(source: Source, answers: Rows) -> dict[str, Rows]:
    """Return what each of several judges says of each settled answer, and each two."""
    params = source.params
    names = [params[role] for role in JUDGES if params[role]]
    each: Rows = []
    pairs: Rows = []
    for row in answers if len(names) > 1 else ():
        if not (row["plain"] and row["counted"] and row["task"] in _WRITTEN):
            continue
        about = {name: row[name] for name in _ABOUT}
        scores = [row["judges"].get(f"judge_{n}") for n in range(1, len(names) + 1)]
        covers = [x is not None and x >= params["covered_from"] for x in scores]
        said = list(zip(names, scores, covers, strict=True))
        for name, score, covered in said:
            own = {"judge": name, "score": score, "judged": score is not None}
            each.append({**about, **own, "covered": covered})
        for a, b in combinations(said, 2):
            if None not in (a[1], b[1]):
                both = zip((*_FIRST, *_SECOND), (*a, *b), strict=True)
                alike = {"same_score": a[1] == b[1], "same_verdict": a[2] == b[2]}
                pairs.append({**about, **dict(both), **alike})
    return {"judgements": each, "judge_pairs": pairs}


def _attention(one: Verdict) -> Iterator[dict[str, object]]:
    for name, value in one.numbers.items():
        section, _, layer = name.removeprefix("rapt_").rpartition("_")
        if name.startswith("rapt_"):
            about = {"model": one.model, "arm": one.condition, "section": section}
            yield {**about, "layer": int(layer), "rapt": value}


def _sensitivities(source: Source, asked: Verdicts) -> Iterator[dict[str, object]]:
    """Yield how far each type of evidence moves a model in a case, image and text."""
    found: dict[tuple[str, str], dict[str, _Posterior]] = {}
    types: dict[str, dict[str, None]] = {}
    languages = {_case_of(one): one.view for one in asked}
    patients = {_case_of(one): one.patient for one in asked}
    for one in asked:
        case, (base, left_out, of) = _case_of(one), one.condition.partition(" without ")
        if left_out and base:
            types.setdefault(case, {})[of] = None
        if one.finding == "fdx" and one.repeat == 0 and "p_0" in one.numbers:
            found.setdefault((one.model, case), {})[one.condition] = one.numbers
    context = source.params["context"]
    for refined in (False, True):
        raw, expert = ("refined", "refined expert") if refined else ("raw", "expert")
        for (model, case), beliefs in found.items():
            for of in types.get(case, ()):
                image = (raw, f"{raw} without {of}")
                text = (expert, f"{expert} without {of}")
                if context == "single":
                    text = (f"{raw} with {of} as text", image[1])
                row = _moved_both(beliefs, image, text, source)
                if row:
                    about: dict[str, object] = {"case": case, "model": model}
                    about |= {
                        "evidence": of,
                        "language": languages[case],
                        "patient": patients[case],
                    }
                    about |= {"context": context, "refined": refined, **row}
                    yield {**about, **_below(row)}


def _below(row: Mapping[str, object]) -> dict[str, object]:
    """Return whether a case has both sensitivities, and images move it less."""
    both = row["image_corrected"], row["text_corrected"]
    known = [x for x in both if isinstance(x, float)]
    compared = len(known) == len(both)
    return {"compared": compared, "below": compared and known[1] - known[0] >= TIE}


def _moved_both(
    beliefs: Mapping[str, _Posterior],
    image: tuple[str, str],
    text: tuple[str, str],
    source: Source,
) -> dict[str, object]:
    """Return both sensitivities with the estimators; {} without any posterior."""
    had = [
        "monte_carlo" if "n_0" in beliefs[name] else source.params["estimator"]
        for name in (*image, *text)
        if name in beliefs
    ]
    if not had:
        return {}
    row: dict[str, object] = {"estimator": " ".join(dict.fromkeys(had))}
    for modality, (full, without) in (("image", image), ("text", text)):
        both = [beliefs[name] for name in (full, without) if name in beliefs]
        alike = len(both) == 2 and ("n_0" in both[0]) == ("n_0" in both[1])
        cells = _moved(both, source.params["log_base"]) if alike else (None,) * 6
        names = ("s", "corrected", "se", "low", "high", "interval_by")
        row |= {f"{modality}_{n}": c for n, c in zip(names, cells, strict=True)}
    return row


def _moved(both: Sequence[_Posterior], base: float) -> tuple[object, ...]:
    """Return the divergence of two beliefs; drawn or bounded ones as stored."""
    unit = 1 / math.log(base)
    if "n_0" not in both[0]:
        value = _divergence(
            *([b[f"p_{i}"] for i in _OPTIONS] for b in both)
        ) / math.log(base)
        return value, value, 0.0, TAKEN, TAKEN, "bounds"
    counts = [[int(b[f"n_{i}"]) for i in _OPTIONS] for b in both]
    sizes = n, m = [sum(of) for of in counts]
    smoothed = _divergence(*([(k + 0.5) / (sum(of) + 2) for k in of] for of in counts))
    plain = _divergence(*([k / sum(of) for k in of] for of in counts))
    chance = math.fsum(
        _chance_part(sum(both), *sizes) for both in zip(*counts, strict=True)
    )
    name = f"Monte Carlo, {n} and {m} answers"
    return smoothed * unit, (plain - chance) * unit, TAKEN, TAKEN, TAKEN, name


def _divergence(p: Sequence[float], q: Sequence[float]) -> float:
    """Return the Jensen-Shannon divergence in nats (Lin 1991)."""
    found = sum(
        one * math.log(2 * one / (a + b))
        for a, b in zip(p, q, strict=True)
        for one in (a, b)
        if one > 0
    )
    return max(found / 2, 0.0)


def _chance_part(drawn: int, n: int, m: int) -> float:
    """Return an option's part of the expected divergence under a common source."""
    total = 0.0
    for k in range(max(0, drawn - m), min(drawn, n) + 1):
        p, q = k / n, (drawn - k) / m
        share = math.comb(drawn, k) * math.comb(n + m - drawn, n - k)
        apart = sum(x * math.log(2 * x / (p + q)) / 2 for x in (p, q) if x)
        total += share / math.comb(n + m, n) * apart
    return total


def _prepared(made: Verdicts) -> Iterator[dict[str, object]]:
    """Yield what was made of each report."""
    for one in made:
        yield {
            "report": one.patient,
            "task": one.finding,
            "model": one.model,
            "status": one.status,
            "reason": one.reason,
            **{name: one.numbers.get(name) for name in ("chunks", "invented")},
            "json": one.parsed.get("text", ""),
        }


def _invented(made: Verdicts) -> Iterator[dict[str, object]]:
    """Yield the extracted passages that do not occur in their report."""
    for one in made:
        if one.finding == "extraction" and "text" in one.parsed:
            for chunk in json.loads(one.parsed["text"])["chunks"]:
                if not chunk["verbatim"]:
                    own = {name: chunk[name] for name in ("key", "source", "text")}
                    yield {"report": one.patient, "model": one.model, **own}
