"""Cells, and what rows are about, that several of the study's tables share."""

from dataclasses import replace
from itertools import chain
from typing import Final

from viewer.results.spec import OF_WHOM, Cell, Key, Where
from viewer.studies.grounded_vqa.frames import EDITS

AS_IS: Final[Where] = {"asked_as_is": (True,)}
CLOSED: Final[Where] = {"closed": (True,), "counted": (True,)}
OPEN: Final[Where] = {"closed": (False,), "counted": (True,)}
LABELS: Final = ("found", "true")
VPT: Final = ("VPT",)
"""The test that the paper has; the other of ``VISUAL`` is our control of it."""
WHO: Final = (Key("model"), Key("condition"))


_UNIT: Final = {"ends": (0.0, 1.0), "cluster": "patient"}


def f1(
    names: tuple[str, ...], where: Where, **options: tuple[str, ...]
) -> tuple[Cell, Cell]:
    """Return the F1 of answers' labels, with precision and recall if named.

    The second cell has their intervals.
    """
    ends = tuple(chain.from_iterable(map(ends_of, names)))
    return (
        Cell("f1", names, LABELS, where, options=options),
        Cell("interval of f1", ends, (*LABELS, *OF_WHOM), where, options=options),
    )


def ends_of(name: str) -> tuple[str, str, str]:
    """Return the names of the columns of an interval, and of its method."""
    return f"{name}_low", f"{name}_high", f"{name}_method"


def three(prefix: str, suffix: str = "") -> tuple[str, ...]:
    """Return the names of the columns of an F1 with what it is made of."""
    return tuple(f"{prefix}_{name}{suffix}" for name in ("f1", "precision", "recall"))


def mean_score(
    name: str, tests: tuple[str, ...], where: Where | None = None
) -> tuple[Cell, Cell]:
    """Return the mean over perturbation tests of the share that became No.

    The second cell has its interval.
    """
    of, options = ("n_flipped", "n_edits"), {"by": "test", "among": tests}
    score = Cell(
        *("mean of pooled rates", (name,), of, where or {}),
        options=options,
        frame=EDITS,
    )
    return score, replace(
        score,
        estimator=f"interval of {score.estimator}",
        names=ends_of(name),
        of=(*of, *OF_WHOM),
    )


def share(name: str, where: Where) -> tuple[Cell, Cell]:
    """Return the share of right answers, and its interval."""
    return (
        Cell("share", (name,), ("correct",), where),
        Cell("interval", ends_of(name), ("correct", *OF_WHOM), where),
    )


def mean_of_shares(name: str, of: str, where: Where | None = None) -> tuple[Cell, Cell]:
    """Return the mean of a column whose values are 0 to 1, and its interval."""
    return (
        Cell("mean", (name,), (of,), where or {}),
        Cell(*("interval of scores", ends_of(name), (of,), where or {}), options=_UNIT),
    )
