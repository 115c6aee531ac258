"""Tables laid out as the paper prints them (Tables 1 to 4; E003-14)."""

from collections.abc import Iterable, Sequence
from typing import Final

from viewer.results.spec import (
    HIGHEST,
    PERCENT,
    Block,
    Column,
    Ranking,
    Shown,
    WideSpec,
)
from viewer.studies.pathology_mcq.arms import PLAIN
from viewer.studies.pathology_mcq.frames import OVER_KINDS
from viewer.studies.pathology_mcq.params import KINDS, SUBSETS, Arm
from viewer.studies.pathology_mcq.published import (
    EXPERTS,
    FREQUENT,
    RANDOM,
    subject_of,
)
from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.pathology_mcq.scopes import (
    ALL,
    OVERALL,
    TINY,
    VAL,
    Scope,
    subsets_of,
)
from viewer.studies.pathology_mcq.tables import BASELINES, EXPERTS_WHOLE

WITH_IMAGE, TEXT_ONLY, CHANCE = "image and text", "text only", "none"
_SCOPE: Final = ("part", "subset")
_CHANGE: Final = "_change"
_MODEL: Final = {"model": "model"}


def layouts(mcqs: Sequence[Mcq]) -> tuple[WideSpec, ...]:
    """Return Tables 1 to 4; ``mcqs`` are the questions asked."""
    tests = _tests(subsets_of(mcqs))
    return _table_1((Scope(VAL, OVERALL), *tests)), _TABLE_2, _table_3(tests), _TABLE_4


def _tests(subsets: Iterable[str]) -> tuple[Scope, ...]:
    """Return the columns of the test: tiny and all, overall and by subset."""
    every = (OVERALL, *subsets)
    return tuple(Scope(part, subset) for subset in every for part in (TINY, ALL))


def _columns(scopes: Sequence[Scope]) -> tuple[Column, ...]:
    return tuple(
        Column(f"{s.subset}_{s.part}", (s.part, s.subset), subject_of(s))
        for s in scopes
    )


def _shown(columns: Sequence[Column], change: str = "", best: str = "") -> list[Shown]:
    """Return columns in per cent; those of one subset stand under its name."""
    parts = [one.name.rpartition("_") for one in columns]
    return [
        Shown(
            one.name,
            part.capitalize(),
            PERCENT,
            group=group,
            change=f"{one.name}{change}" if change else "",
            none="",
            best=best,
        )
        for one, (group, _, part) in zip(columns, parts, strict=True)
    ]


def _table_1(scopes: Sequence[Scope]) -> WideSpec:
    """Return Table 1: chance, experts, models with image, models without."""
    columns = _columns(scopes)
    models = (
        Block(
            "accuracy_paper",
            ("accuracy",),
            _MODEL,
            {"input": told},
            {"condition": (condition,)},
        )
        for condition, told in ((PLAIN, WITH_IMAGE), (Arm.TEXT_ONLY.value, TEXT_ONLY))
    )
    return WideSpec(
        "table1",
        ("model", "input"),
        _SCOPE,
        columns,
        (
            _told(BASELINES, "random", RANDOM, CHANCE),
            _told(BASELINES, "frequent", FREQUENT, CHANCE),
            _told(EXPERTS_WHOLE, "score", EXPERTS, WITH_IMAGE),
            *models,
        ),
        "Table 1",
        "Accuracy in per cent. All is the tiny test and the rest of the test; every "
        "item counts the same. Chance needs no model.",
        shown=("model", "input", *_shown(columns, best=HIGHEST)),
        ranking=Ranking(("input",), {"model": (RANDOM, FREQUENT, EXPERTS)}),
    )


def _told(table: str, value: str, who: str, shown: str) -> Block:
    return Block(table, (value,), told={"model": who, "input": shown})


_KINDS: Final = tuple(Column(kind, (kind,)) for kind in (*KINDS, OVER_KINDS))
_TABLE_2: Final = WideSpec(
    "table2",
    ("model",),
    ("corruption",),
    _KINDS,
    (Block("corruption", ("accuracy", "change"), _MODEL),),
    "Table 2",
    "Accuracy in per cent on the tiny test with corrupted images, the mean over the "
    "levels, and what changes against the images as they are.",
    ("", _CHANGE),
    ("model", *_shown(_KINDS, _CHANGE)),
)
"""The mean over levels by kind, and each one's change."""


def _table_3(scopes: Sequence[Scope]) -> WideSpec:
    columns = _columns(scopes)
    return WideSpec(
        "table3",
        ("model",),
        _SCOPE,
        columns,
        (Block("noise", ("noise", "change"), _MODEL),),
        "Table 3",
        "Accuracy in per cent with Gaussian noise in the place of images, and what "
        "changes against the images.",
        ("", _CHANGE),
        ("model", *_shown(columns, _CHANGE)),
    )


_PUBLISHED: Final = _columns(_tests(SUBSETS))
_TABLE_4: Final = WideSpec(
    "table4_published",
    ("model",),
    _SCOPE,
    _PUBLISHED,
    (
        Block(
            "published",
            ("value",),
            {"model": "who"},
            where={"table": ("Table 4",)},
            per=100,
            across=("subject",),
        ),
    ),
    "Table 4, as published",
    "Models that the authors fine-tuned; reference only, nothing is trained here.",
    shown=("model", *_shown(_PUBLISHED)),
)
"""The paper's alone: nothing is fine-tuned here."""
