"""The verifier's tables are those of the program, estimator by estimator."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import isclose
from typing import Any, NamedTuple

import pytest

import viewer.studies.evidence_diagnosis.estimators
import viewer.studies.rubric_reading.estimators  # noqa: F401 - both register theirs
from viewer.results.estimators import ESTIMATORS
from viewer.results.evaluate import evaluate
from viewer.results.frame import frame_of
from viewer.results.spec import OF_WHOM, Cell, Key, TableSpec
from viewer.results.spec_json import spec_documents
from viewer.studies.grid_localization import tables as of_grids
from viewer.studies.grid_localization.asked import Asked
from viewer.studies.grid_localization.params import read_params
from viewer.studies.tables import STATUSES
from viewer.writers.verify import specs
from viewer.writers.verify.comparing import TAKEN
from viewer.writers.verify.place_frames import by_row

OF_PATIENT = {"cluster": "patient"}
GROUP: dict[str, object] = {"group": "x"}
WHOLE: dict[str, object] = {"group": None}
AMONG = {"by": "kind", "among": ("k", "l")}
OF_BOXES = ("predicted", "confidence", "reference")
Held = tuple[int, tuple[str, ...], dict[str, Any], dict[str, object]]
HELD: dict[str, Held] = {
    "size": (1, (), {}, {}),
    "sum": (1, ("correct",), {}, {}),
    "rate": (6, ("correct", *OF_WHOM), {}, {}),
    "average precision": (2, OF_BOXES, {"overlaps": (0.3, 0.5)}, {}),
    "average precision by overlap": (3, OF_BOXES, {"overlaps": (0.3, 0.5)}, {}),
    "froc": (2, OF_BOXES, {"overlap": 0.3, "rates": (0.5, 1.0)}, {}),
    "froc curve": (2, OF_BOXES, {"overlap": 0.3}, {}),
    "pooled rate": (4, ("hits", "tries", *OF_WHOM), {}, {}),
    "mean of pooled rates": (1, ("hits", "tries"), AMONG, {}),
    "interval of mean of pooled rates": (3, ("hits", "tries", *OF_WHOM), AMONG, {}),
    "share": (1, ("correct",), {}, {}),
    "part": (1, (), {}, WHOLE),
    "mean": (2, ("score", "other"), {}, {}),
    "largest": (1, ("tries",), {}, {}),
    "f1": (3, ("found", "true"), {"drop": ("c",)}, {}),
    "interval of f1": (9, ("found", "true", *OF_WHOM), {"drop": ("c",)}, {}),
    "macro f1": (1, ("found", "true"), {"only": ("a", "b")}, {}),
    "interval of macro f1": (
        *(3, ("found", "true", *OF_WHOM)),
        {"only": ("a", "b")},
        {},
    ),
    "gain in f1": (3, ("found", "true"), {}, GROUP),
    "nested mean of rates": (1, ("correct",), {"by": ("kind", "patient")}, {}),
    "change of rates": (
        *(6, ("correct", "half"), {"by": ("kind",), "pair": "item"}, GROUP),
    ),
    "intervals of changed rates": (
        *(6, ("correct", *OF_WHOM)),
        {"by": (), "pair": "item"},
        GROUP,
    ),
    "chance": (1, ("level",), {}, {}),
    "chance level": (1, ("half",), {}, {}),
    "constant answer": (2, ("kind",), {}, {}),
    "first": (2, ("kind", "patient"), {}, {}),
    "distinct": (2, ("patient",), {}, WHOLE),
    "rate of distinct": (3, ("patient", "scored"), {}, {}),
    "listed": (1, ("kind",), {}, {}),
    "median": (1, ("score",), {}, {}),
    "interval": (3, ("correct", *OF_WHOM), {"by": "kind"}, {}),
    "difference in points": (1, ("hits", "tries", "correct", "level"), {}, {}),
    "gain over words": (7, ("kind", "patient", "swapped", "said"), {}, {}),
    "paired difference": (8, ("score", "other"), {"cluster": "patient"}, {}),
    "gap of rates": (4, ("correct", "swapped"), {"cluster": "patient"}, {}),
    "interval of scores": (
        *(3, ("level",)),
        {"ends": (0, 5), "cluster": "patient"},
        {},
    ),
    "spread of shares": (1, ("correct",), AMONG, {}),
    "rank of share": (1, ("correct",), {"by": "group"}, WHOLE),
    "paired change": (8, ("correct",), {"pair": "item", "cluster": "patient"}, GROUP),
    "prediction-powered mean": (
        *(5, ("level", "scored")),
        {"ends": (0, 5), "cluster": "patient"},
        {},
    ),
    "judge agreement": (8, ("level", "scored"), {"levels": (1, 2, 3, 4, 5)}, {}),
    "cross-modal": (8, ("score", "other"), {}, {}),
    "mean cross-modal": (2, ("score", "other"), AMONG, {}),
    "change in nmse": (3, ("score", "other"), {"by": "correct"}, {}),
    "agreement over orders": (4, ("item", "order", "level", "scored"), {}, {}),
    "warning of few": (1, (), {"fewer_than": 20}, {}),
    "spread": (2, ("score",), {}, {}),
    "signed rank": (
        *(9, ("half", "quarter")),
        {**OF_PATIENT, "family": "kind", "zero_method": "wilcox", "p_method": "scipy"},
        WHOLE,
    ),
    "adjusted p": (
        *(1, ("half", "quarter")),
        {"cluster": "row", "family": "kind", "zero_method": "pratt"}
        | {"p_method": "exact"},
        dict[str, object](kind=None),
    ),
    "quadratic kappa": (4, ("level", "second"), OF_PATIENT, {}),
    "mean absolute difference": (4, ("level", "second"), OF_PATIENT, {}),
    "agreement of two": (13, ("level", "second"), OF_PATIENT, {}),
    "agreement of readers": (10, ("order", "output", "level"), OF_PATIENT, {}),
}
"""For each estimator how many names it gives, its columns, options and opposite."""


def rows(seed: int, n: int) -> list[dict[str, Any]]:
    """Return rows of every kind of column, some values missing."""
    draw = random.Random(seed)

    def labels() -> tuple[str, ...]:
        return tuple(draw.sample("abc", draw.randrange(3)))

    return [
        {
            "group": draw.choice("xyz"),
            "kind": draw.choice("klm"),
            "item": f"i{draw.randrange(9)}",
            "patient": (patient := f"p{draw.randrange(7)}"),
            "output": f"{patient}, {draw.randrange(3)}",
            "row": f"r{row}",
            "order": draw.randrange(4),
            "correct": draw.random() < 0.6,
            "swapped": draw.random() < 0.5,
            "said": draw.choice(("Yes", "No", "")),
            "hits": draw.randrange(3),
            "tries": draw.choice((2, 3, 4)),
            "score": None if draw.random() < 0.2 else draw.random(),
            "other": None if draw.random() < 0.2 else draw.random(),
            "half": draw.randrange(5) / 2,
            "quarter": draw.randrange(9) / 4,
            "level": draw.randrange(1, 6),
            "second": draw.randrange(1, 6),
            "scored": None if draw.random() < 0.5 else draw.randrange(1, 6),
            "found": labels(),
            "true": labels(),
            **drawn_boxes(draw),
        }
        for row in range(n)
    ]


class Corners(NamedTuple):
    """A box that both take."""

    x0: float
    y0: float
    x1: float
    y1: float


def drawn_boxes(draw: random.Random) -> dict[str, Any]:
    """Return boxes to find, those near them that were predicted, and how sure."""

    def box() -> Corners:
        x, y = draw.randrange(9), draw.randrange(9)
        return Corners(x, y, x + draw.randrange(1, 6), y + draw.randrange(1, 6))

    reference = tuple(box() for _ in range(draw.randrange(4)))
    predicted = [one._replace(x1=one.x1 + draw.random()) for one in reference]
    predicted = [one for one in predicted if draw.random() < 0.8]
    predicted += [box() for _ in range(draw.randrange(3))]
    sure = tuple(draw.randrange(4) / 4 for _ in predicted)
    return {
        "predicted": tuple(predicted),
        "confidence": sure if draw.random() < 0.8 else (),
        "reference": reference,
    }


def same(one: object, other: object) -> bool:
    if other == TAKEN:
        return True
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (
            one != one and other != other
        )
    is_none = other is None or other != other
    return is_none if one is None else one == other and type(one) is type(other)


def assert_alike(spec: TableSpec, made: Sequence[dict[str, Any]]) -> None:
    frame = frame_of({name: [row[name] for row in made] for name in made[0]})
    expected = evaluate(spec, {spec.frame: frame})
    (document,) = spec_documents([spec])
    found = specs.table_of(document, {spec.frame: list(made)})
    assert tuple(found.header) == expected.header
    assert len(found.rows) == len(expected.rows)
    for own, other in zip(expected.rows, found.rows, strict=True):
        pairs = zip(expected.header, own, other, strict=True)
        assert [pair for pair in pairs if not same(*pair[1:])] == []


def test_that_every_estimator_of_the_program_is_the_verifier_s_too() -> None:
    """But for those of packs, which no bundle has."""
    named = {cell.estimator for spec in grid_specs() for cell in spec.cells}
    own = {*ESTIMATORS} - {"classes of error", "extent of a review"}
    assert set(specs.ESTIMATORS) == own == {*HELD, *named}


@pytest.mark.parametrize("estimator", HELD)
def test_that_both_make_the_same_of_any_rows(estimator: str) -> None:
    count, of, options, against = HELD[estimator]
    names = tuple(f"c{i}" for i in range(count))
    cell = Cell(estimator, names, of, {}, against, options)
    for n, seed in product((1, 2, 7, 80), range(4)):
        made = rows(seed, n)
        assert_alike(TableSpec("t", (Key("group"), Key("kind")), (cell,)), made)
        assert_alike(TableSpec("t", (Key("group"),), (cell,)), made)


ASKED = {
    "finding": ["Edema", "Pneumothorax"],
    "view": ["frontal", "lateral", "all"],
    "condition": ["grid=2", "grid=3"],
    "model": ["one", "other"],
}
DRAWS: dict[str, Any] = {"replicates": 40, "paper_replicates": 30}


def grid_specs() -> list[TableSpec]:
    """Return the tables of grids that draw, and those of replicates."""
    params = replace(read_params("recommended", {}), **DRAWS)
    findings, views, grids, models = map(tuple, ASKED.values())
    of = Asked(params, 3, findings, views, grids, models, often=True, measured=False)
    of_asked = (of_grids.rates_spec(of), of_grids.recommended_spec(of))
    return [*of_asked, of_grids.replicates_spec(of), of_grids.agreement_spec(of)]


def grid_trials(seed: int, n: int) -> list[dict[str, Any]]:
    """Return trials of so many items, each asked up to three times."""
    draw, made = random.Random(seed), []
    for i in range(n):
        item = {
            "item": f"i{i:02}",
            "patient": f"p{draw.randrange(1 + n // 2)}",
            "finding": draw.choice(ASKED["finding"]),
            "view": draw.choice(ASKED["view"][:-1]),
        }
        for grid, model in product(ASKED["condition"], ASKED["model"]):
            n_cells = 4 if grid == "grid=2" else 9
            hits = tuple(sorted(draw.sample(range(n_cells), draw.randrange(1, 4))))
            for repeat in range(draw.randrange(1, 4)):
                place = draw.randrange(-1, n_cells)
                counted = draw.random() < 0.9
                made.append(
                    {
                        **item,
                        "condition": grid,
                        "model": model,
                        "repeat": repeat,
                        **dict.fromkeys(STATUSES, False),
                        "counted": counted,
                        "partial": draw.random() < 0.2,
                        "said": f"C{place}",
                        "answer": f"C{place}",
                        "place": place,
                        "correct": counted and place in hits,
                        "hits": hits,
                        "n_cells": n_cells,
                    }
                )
    return made


@pytest.mark.parametrize("spec", grid_specs(), ids=lambda spec: spec.name)
@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_that_both_draw_the_same_of_grids(spec: TableSpec, n: int) -> None:
    for seed in range(3):
        trials = grid_trials(seed, n)
        is_of_rows = spec.frame == "asked"
        assert_alike(spec, by_row(trials, ASKED) if is_of_rows else trials)


N = Cell("size", ("n",))
SHAPES = (
    TableSpec("t", (), (N,)),
    TableSpec(
        "t", (Key("group", ascending=True), Key("kind")), (Cell("size", ("n",)),)
    ),
    TableSpec(
        "t",
        (Key("group", "of", values=("z", "x")), Key("kind", total="all")),
        (
            Cell("size", ("n",), where={"level": (1, 2, 3)}),
            Cell("size", ("m",), blank="kind"),
            Cell("size", ("k",), total="part", against={"kind": None}),
            Cell("size", ("every",), frame="trials", where={"correct": (True,)}),
        ),
        where={"correct": (True,)},
        outer=("group",),
        every=True,
        sets=((), ("kind",)),
        only_several=("kind",),
        below=(("paper", "all", 3, None, 0.5, 1),),
    ),
    TableSpec(
        "t",
        (Key("kind"), Key("level", ascending=True)),
        (Cell("part", ("p",), against={"correct": None}),),
        where={"correct": (True,)},
        outer=("kind",),
        needs_several="group",
    ),
)


@pytest.mark.parametrize("spec", SHAPES)
@pytest.mark.parametrize("n", [1, 3, 40])
def test_that_both_lay_a_table_out_alike(spec: TableSpec, n: int) -> None:
    for seed in range(5):
        assert_alike(spec, rows(seed, n))


def test_that_what_is_not_known_is_named() -> None:
    strange = TableSpec("t", (), (Cell("mode", ("m",)),))
    (document,) = spec_documents([strange])
    with pytest.raises(specs.UnknownError, match="the estimator 'mode'"):
        specs.table_of(document, {"trials": []})
    with pytest.raises(specs.UnknownError, match="made from 'trials'"):
        specs.table_of(document, {})
