"""The medsyn2026 pack with scripted models whose answers follow a rule.

What a model says is a function of model, case and condition. There are refusals,
replies without an answer, calls that fail, a judge who cannot be read, an image that is
missing, physicians and people's scores, so that every count is another.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.phantom_folders import write_phantom
from tests.helpers.tiny_study import finish
from viewer.domain.evidence import EvidenceCase
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.metrics.seeding import generator
from viewer.readers.datasets.catalog import read_dataset
from viewer.services.reporting.pack import PackRequest, plan_pack, write_pack
from viewer.services.synthetic.make_cases import make_cases
from viewer.store import cases
from viewer.store.database import open_store

NAMES = ("GPT-5.2", "Lingshu (7B)", "Qwen2.5-VL (72B)")
SCORES = (5, 4, 3, 2, 0, 1)
"""What the judge gives in turn; the last is none of the rubric's."""
ARMS = ("raw", "expert", "remove_text", "random_text", "refined")
REFUSAL = "I'm sorry, but I can't help with a diagnosis."
NO_ANSWER = "It is hard to say."
PEOPLE = ("Consultants", "Resident")


@dataclass(frozen=True)
class Made:
    """A pack that was written, its cases, and which of them lacks an image."""

    folder: Path
    cases: tuple[EvidenceCase, ...]
    models: tuple[str, ...]
    spoilt: int = -1

    def table(self, name: str, where: str = "tables") -> list[dict[str, str]]:
        """Return a table's rows."""
        path = self.folder / where / f"{name}.csv"
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))


def belief(model: int, number: int, condition: str) -> list[float]:
    """Return the models' posterior over a case's options, in the case's own order."""
    rng = generator(7, "belief", str(model), str(number), condition)
    return [float(p) for p in rng.dirichlet([0.6] * 4)]


def chosen(model: int, number: int, condition: str) -> int:
    """Return the option that a model chooses: the likeliest."""
    p = belief(model, number, condition)
    return p.index(max(p))


def manner(model: int, number: int, condition: str) -> str:
    """Return how a model answers: says, refuses, dodges (no answer) or fails."""
    turn = (7 * model + 3 * number + len(condition)) % 11
    return {0: "refuses", 1: "dodges", 2: "fails"}.get(turn, "says")


def listed(model: int, number: int, task: str, case: EvidenceCase) -> list[str]:
    """Return a differential, with the diagnosis at a rank of 1 to 12, or not at all."""
    others = [option for option in case.options if option != case.diagnosis]
    more = [f"{others[0]} {'abcdefghij'[i] * 3}" for i in range(8)]
    names = [*others, *more]
    rank = (5 * model + 2 * number + len(task)) % 14
    return (
        names if rank > len(names) else [*names[:rank], case.diagnosis, *names[rank:]]
    )


def judged(number: int, condition: str, task: str) -> int | None:
    """Return the judge's score, the same for every model; None where it says none."""
    if (number + len(task)) % 7 == 6:
        return None
    return SCORES[(number * 5 + len(condition) + len(task)) % len(SCORES)]


def labelled(model: int, number: int, task: str) -> int | None:
    """Return people's score of an answer, None where they gave none."""
    if (model + number) % 2:
        return None
    return SCORES[(number * 3 + model + len(task)) % len(SCORES)]


def answered(person: int, number: int) -> tuple[list[int], int | None] | None:
    """Return a person's differential, as options, and choice; None for no answer."""
    if (person + number) % 4 == 3:
        return None
    options = [int(i) for i in generator(9, str(person), str(number)).permutation(4)]
    return options[:3], None if number % 5 == 4 else options[0]


def make_pack(folder: Path, n: int, models: int, size: SizePx) -> Made:
    """Write a collection, run the pack with scripted models and a judge, write it."""
    write_phantom(make_cases, folder / "cases", n, 3, size)
    plain = read_dataset("medsyn", folder / "cases", "cases")
    all_ = tuple(EvidenceCase.of_item(item) for item in plain.items)
    _beside(folder / "cases", all_, models)
    spoilt = n // 2
    (folder / "cases" / all_[spoilt].images[0]).unlink()
    dataset = read_dataset("medsyn", folder / "cases", "cases")
    profiles = tuple(
        _scripted(folder, NAMES[m], dict(_answers(all_, m))) for m in range(models)
    )
    judge = _scripted(folder, "judge", dict(_judgements(all_)))
    with open_store(folder / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        wanted = PackRequest("medsyn2026", "cases", profiles, judge=judge)
        run = plan_pack(store, wanted)
        finish(store, run)
        write_pack(store, "medsyn2026", run, folder / "pack")
    return Made(folder / "pack", all_, NAMES[:models], spoilt)


def conditions(case: EvidenceCase) -> Iterator[str]:
    """Yield every condition in which a case's final diagnosis is asked."""
    yield from ARMS
    yield "refined expert"
    for of in case.types:
        for base in ("raw", "expert", "refined", "refined expert"):
            yield f"{base} without {of}"


def _beside(root: Path, all_: Sequence[EvidenceCase], models: int) -> None:
    """Write what physicians answered and what people scored."""
    lines = ["reader,case,differential,option"]
    labels = ["case,task,model,score"]
    for i, case in enumerate(all_):
        for person, name in enumerate(PEOPLE):
            found = answered(person, i)
            if found is not None:
                options, choice = found
                names = "; ".join(case.options[o] for o in options)
                letter = "" if choice is None else "ABCD"[choice]
                lines.append(f'{name},{case.key},"{names}",{letter}')
        for m in range(models):
            for task in ("ddx", "open_fdx"):
                score = labelled(m, i, task)
                if score is not None:
                    labels.append(f'{case.key},{task},"{NAMES[m]}",{score}')
    (root / "physicians.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "judge_labels.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")


def _scripted(folder: Path, name: str, answers: dict[str, object]) -> ModelProfile:
    path = folder / f"{name.split(maxsplit=1)[0]}.json"
    path.write_text(json.dumps(answers, ensure_ascii=False), encoding="utf-8")
    return ModelProfile(
        name, "scripted", {"answers_file": str(path), "interpretable": True}
    )


def _answers(all_: Sequence[EvidenceCase], m: int) -> Iterator[tuple[str, object]]:
    for i, case in enumerate(all_):
        order = [int(o) for o in generator(0, "options", case.key).permutation(4)]
        for condition in conditions(case):
            p = belief(m, i, condition)
            letter = "ABCD"[order.index(chosen(m, i, condition))]
            text = {"says": letter, "refuses": REFUSAL, "dodges": NO_ANSWER}
            how = manner(m, i, condition)
            if how != "fails":
                told = {"text": text[how], "posterior": [p[option] for option in order]}
                yield f"{case.key}|fdx|{condition}|0", told
        yield from _lists(case, m, i)


def _lists(case: EvidenceCase, m: int, i: int) -> Iterator[tuple[str, object]]:
    for task, step in (("ddx", ""), ("open_fdx", "|differential")):
        how = manner(m, i, task)
        names = listed(m, i, task, case)
        text = "\n".join(f"{rank}. {name}" for rank, name in enumerate(names, 1))
        if how != "fails":
            said = {"says": text, "refuses": REFUSAL, "dodges": "..."}[how]
            yield f"{case.key}|{task}{step}", said
    yield f"{case.key}|open_fdx|final", case.options[(m + i) % 4]


def _judgements(all_: Sequence[EvidenceCase]) -> Iterator[tuple[str, object]]:
    """Yield a judge that at every other case says 7 first, and is asked again."""
    for i, case in enumerate(all_):
        for task in ("ddx", "open_fdx"):
            score = judged(i, "raw", task)
            said = "I like it." if score is None else f"Score: {score}\nRationale: So."
            for repeat in range(len(PEOPLE)):
                key = f"{case.key}|{task}|raw|{repeat}"
                yield f"{key}|judge", "Score: 7\nRationale: Ha." if i % 2 else said
                yield f"{key}|judge again", said
