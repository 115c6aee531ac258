"""The words of a question under each condition."""

from collections.abc import Iterator, Sequence
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.grid import Grid, grid_of_name
from viewer.domain.question_kinds import AnswerKind
from viewer.studies.prompts import OwnPrompts, fill, with_system
from viewer.studies.question_set.params import Arm, Params
from viewer.studies.question_set.questions import Asked
from viewer.studies.question_set.templates import (
    GUESS,
    JUDGE,
    OPTIONS_ONLY,
    PROMPTS,
    SYSTEM,
)

_DATA_SET_S: Final = "of_the_data_set"
"""How the name of a prompt goes on that the data set brings."""


def template(asked: Asked, arm: Arm, own: OwnPrompts) -> str:
    """Return the words of a question with their places open.

    A person's text comes before the data set's own, and that before the study's.
    """
    if arm is Arm.OPTIONS_ONLY:
        return PROMPTS.text(OPTIONS_ONLY, own)
    kind = asked.kind.value
    text = PROMPTS.text(kind, own)
    if asked.template and kind not in own:
        text = asked.template
    return f"{PROMPTS.text(GUESS, own)}\n\n{text}" if arm is Arm.GUESS else text


def prompt_name(asked: Asked, arm: Arm, own: OwnPrompts) -> str:
    """Return the name of a prompt, such as ``choice_guess``."""
    if arm is Arm.OPTIONS_ONLY:
        return OPTIONS_ONLY
    kind = asked.kind.value
    brought = asked.template and kind not in own
    parts = (kind, *((_DATA_SET_S,) if brought else ()))
    return "_".join((*parts, *((GUESS,) if arm is Arm.GUESS else ())))


def question_text(asked: Asked, order: Sequence[int], open_text: str) -> str:
    """Return a template with its question, its options and its grid filled in."""
    shown = (asked.options[i] for i in order)
    listed = "".join(f"{letter_of(i)}) {text}\n" for i, text in enumerate(shown))
    values = {"question": asked.question, "options": listed}
    return fill(open_text, {**values, **_of_grid(asked)})


def grid_of(asked: Asked) -> Grid | None:
    """Return the grid that is drawn on a question's image, None without any."""
    return grid_of_name(asked.grid) if asked.grid else None


def prompts(asked: Sequence[Asked], params: Params) -> Iterator[tuple[str, str]]:
    """Yield the name and template of every prompt that questions are asked with."""
    own = params.prompts
    system = PROMPTS.text(SYSTEM, own)
    arms = [Arm(name) for name in params.arms]
    found = {
        prompt_name(one, arm, own): with_system(system, template(one, arm, own))
        for one in asked
        for arm in arms
    }
    yield from found.items()
    if params.judge:
        yield JUDGE, PROMPTS.text(JUDGE, own)


def of_kind(kind: AnswerKind) -> Asked:
    """Return a question of a kind that no data set has, for the study's own words."""
    return Asked("", "", "", kind, (), "", (), "", "")


def _of_grid(asked: Asked) -> dict[str, str]:
    grid = grid_of(asked)
    if grid is None:
        return {}
    cells = grid.cells()
    ends = {"first cell": grid.label(cells[0]), "last cell": grid.label(cells[-1])}
    return {"rows": str(grid.rows), "columns": str(grid.columns), **ends}
