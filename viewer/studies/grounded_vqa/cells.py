"""Cells, and what rows are about, that several of the study's tables share."""

from typing import Final

from viewer.results.spec import Cell, Key, Where
from viewer.studies.grounded_vqa.frames import EDITS

AS_IS: Final[Where] = {"asked_as_is": (True,)}
CLOSED: Final[Where] = {"closed": (True,), "counted": (True,)}
OPEN: Final[Where] = {"closed": (False,), "counted": (True,)}
LABELS: Final = ("found", "true")
VPT: Final = ("VPT",)
"""The test that the paper has; the other of ``VISUAL`` is our control of it."""
WHO: Final = (Key("model"), Key("condition"))


def f1(names: tuple[str, ...], where: Where, **options: tuple[str, ...]) -> Cell:
    """Return the F1 of answers' labels, with precision and recall if named."""
    return Cell("f1", names, LABELS, where, options=options)


def three(prefix: str, suffix: str = "") -> tuple[str, ...]:
    """Return the names of the columns of an F1 with what it is made of."""
    return tuple(f"{prefix}_{name}{suffix}" for name in ("f1", "precision", "recall"))


def mean_score(name: str, tests: tuple[str, ...]) -> Cell:
    """Return the mean over perturbation tests of the share that became No."""
    return Cell(
        "mean of pooled rates",
        (name,),
        ("n_flipped", "n_edits"),
        options={"by": "test", "among": tests},
        frame=EDITS,
    )
