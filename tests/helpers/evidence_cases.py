"""Small cases of the evidence study, rows of answers to them, and their tables."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from tests.helpers.phantom_folders import write_phantom
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.evidence import Evidence, EvidenceCase, EvidenceType, Language
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import SizePx
from viewer.domain.report import Table
from viewer.domain.specialties import SPECIALTIES
from viewer.readers.datasets.medsyn import read
from viewer.results.evaluate import evaluate
from viewer.results.frame import Frames
from viewer.results.spec import Spec
from viewer.services.synthetic.make_cases import make_cases
from viewer.studies.evidence_diagnosis.frames import (
    ANSWERS,
    ATTENTION,
    SENSITIVITIES,
    Labels,
    answer_frame,
    attention_frame,
)
from viewer.studies.evidence_diagnosis.params import ARMS, Arm, Params, Task
from viewer.studies.evidence_diagnosis.rows import Row
from viewer.studies.evidence_diagnosis.sensitivities import sensitivity_frame
from viewer.studies.evidence_diagnosis.showing import showing_of
from viewer.studies.evidence_diagnosis.tables import specs

ENGLISH = EvidenceCase(
    "case-1",
    Language.ENGLISH,
    "Rheumatology",
    "A 41-year-old man has had a dry cough for three months.",
    "Raised nodules over both shins.",
    (
        Evidence("e1", EvidenceType.LABORATORY, ("lab",), "Calcium is raised."),
        Evidence("e2", EvidenceType.CT, ("ct1", "ct2"), "Large hilar nodes.", "day 2"),
        Evidence("e3", EvidenceType.MICROSCOPY, ("slide",), "Granulomas, no necrosis."),
        Evidence("e4", EvidenceType.CT, ("ct3",), "Smaller nodes.", "day 90"),
    ),
    ("Sarcoidosis", "Tuberculosis", "Lymphoma", "Histoplasmosis"),
    0,
    "Sarcoidosis",
)
CHINESE = EvidenceCase(
    "case-2",
    Language.CHINESE,
    "Haematology",
    "男性，63岁，骨痛半年。",
    "",
    (
        Evidence("e1", EvidenceType.LABORATORY, ("zlab",), "血红蛋白降低。"),
        Evidence("e2", EvidenceType.X_RAY, ("zx",), "多发溶骨性病变。"),
    ),
    ("多发性骨髓瘤", "骨转移癌", "甲状旁腺功能亢进", "淋巴瘤"),
    0,
    "多发性骨髓瘤",
)


def reply(text: str, finish: str = "stop", refusal: str | None = None) -> ModelReply:
    """Return a reply with a text."""
    return ModelReply(text, finish_reason=finish, refusal=refusal)


def cases_dataset(folder: Path, n: int = 4) -> Dataset:
    """Write synthetic cases and return them as a data set."""
    write_phantom(make_cases, folder, n, 1, SizePx(128, 128))
    return read(folder, "cases")


EVERY = Params(arms=ARMS, cyclic_orders=True, sensitivity=True)
STATUSES = (
    *(Status.SCORED_CORRECT,) * 4,
    *(Status.SCORED_WRONG,) * 3,
    *(Status.UNPARSED, Status.REFUSED, Status.PROVIDER_ERROR, Status.EXCLUDED),
    Status.PENDING,
)


def frames_of(
    rows: Sequence[Row],
    params: Params = EVERY,
    labels: Labels | None = None,
    seed: int = 0,
    related: Collection[str] = (),
) -> Frames:
    """Return the frames of rows that their tables are made of."""
    return {
        ANSWERS: answer_frame(rows, params, labels, related),
        SENSITIVITIES: sensitivity_frame(rows, params, seed),
        ATTENTION: attention_frame(rows),
    }


def table_of(of: str | Spec, frames: Frames, params: Params = EVERY) -> Table:
    """Return a table by its specification, or by its name."""
    named = {spec.name: spec for spec in specs(params, tuple(Language))}
    return evaluate(named[of] if isinstance(of, str) else of, frames)


def lines_of(
    of: str | Spec, rows: Sequence[Row], params: Params = EVERY
) -> list[dict[str, Any]]:
    """Return the rows of a table about some rows, by column."""
    return table_of(of, frames_of(rows, params), params).records()


def some_cases(english: int, chinese: int) -> list[EvidenceCase]:
    """Return cases of every specialty in turn."""
    bases = [(ENGLISH, "en")] * english + [(CHINESE, "zh")] * chinese
    return [
        replace(base, key=f"{name}{i}", specialty=SPECIALTIES[i % len(SPECIALTIES)])
        for i, (base, name) in enumerate(bases)
    ]


def random_rows(seed: int, english: int = 30, chinese: int = 9) -> list[Row]:
    """Return answers of three models to every task and arm, drawn by a seed."""
    rng = Random(seed)
    rows = []
    for case in some_cases(english, chinese):
        for model in ("one", "two", "three"):
            for task in Task:
                for arm in Arm:
                    status = rng.choice(STATUSES)
                    scored = status in {Status.SCORED_CORRECT, Status.SCORED_WRONG}
                    judged = scored and task is not Task.FDX
                    score = float(rng.choice((5, 4, 3, 2, 0)))
                    rank = rng.choice((None, 1, 2, 4))
                    rows.append(
                        Row(
                            case,
                            model,
                            task,
                            showing_of(arm),
                            status,
                            judge=score if judged else None,
                            first_match=rank if judged else None,
                            place=rng.randrange(4) if task is Task.FDX else None,
                        )
                    )
    return rows
