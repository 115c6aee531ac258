"""The text of a question under each condition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.grid import Grid, grid_of_name
from viewer.domain.places import PlaceWords
from viewer.domain.question_kinds import COORDINATES, AnswerKind
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
"""The suffix of the name of a prompt from the data set."""
_MODEL_S: Final = "of_the_model"
"""The suffix of the name of a prompt in a model's own coordinate format."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Whose words a question is asked in.

    A person's ``own`` come before the data set's, these before those of the model that
    writes ``places`` in its own way, and these before the study's.
    """

    own: OwnPrompts
    places: PlaceWords | None = None

    def template(self, asked: Asked, arm: Arm) -> str:
        """Return the words of a question with their places open."""
        if arm is Arm.OPTIONS_ONLY:
            return PROMPTS.text(OPTIONS_ONLY, self.own)
        text = self._text(asked)
        guess = f"{PROMPTS.text(GUESS, self.own)}\n\n"
        return f"{guess}{text}" if arm is Arm.GUESS else text

    def prompt_name(self, asked: Asked, arm: Arm) -> str:
        """Return the name of a prompt, such as ``choice_guess``."""
        if arm is Arm.OPTIONS_ONLY:
            return OPTIONS_ONLY
        parts = (asked.kind.value, self._whose(asked), GUESS * (arm is Arm.GUESS))
        return "_".join(filter(None, parts))

    def _text(self, asked: Asked) -> str:
        if self._whose(asked) == _DATA_SET_S:
            return asked.template
        if self.places is None or self._whose(asked) != _MODEL_S:
            return PROMPTS.text(asked.kind.value, self.own)
        return f"{{question}}\n\n{getattr(self.places, asked.kind)}".rstrip()

    def _whose(self, asked: Asked) -> str:
        """Return whose words these are, "" for a person's or the study's."""
        if asked.kind in self.own:
            return ""
        if asked.template:
            return _DATA_SET_S
        return _MODEL_S if self.places and asked.kind in COORDINATES else ""


def brought(asked: Sequence[Asked]) -> Mapping[str, str]:
    """Return the data set's own words by kind of answer, where a kind has one text."""
    found: dict[str, set[str]] = {}
    for one in asked:
        found.setdefault(one.kind.value, set()).add(one.template)
    return {kind: max(texts) for kind, texts in found.items() if _is_one(texts)}


def _is_one(texts: set[str]) -> bool:
    return len(texts) == 1 and "" not in texts


def question_text(asked: Asked, order: Sequence[int], open_text: str) -> str:
    """Return a template with its question, its options and its grid filled in."""
    shown = (asked.options[i] for i in order)
    listed = "".join(f"{letter_of(i)}) {text}\n" for i, text in enumerate(shown))
    values = {"question": asked.question, "options": listed}
    return fill(open_text, {**values, **_of_grid(asked)})


def grid_of(asked: Asked) -> Grid | None:
    """Return the grid that is drawn on a question's image, None without any."""
    return grid_of_name(asked.grid) if asked.grid else None


def prompts(
    asked: Sequence[Asked], params: Params, places: PlaceWords | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the name and template of every prompt that questions are asked with."""
    prompts, words = params.prompts, Wording(params.prompts, places)
    system = PROMPTS.text(SYSTEM, prompts)
    arms = [Arm(name) for name in params.arms]
    found = {
        words.prompt_name(one, arm): with_system(system, words.template(one, arm))
        for one in asked
        for arm in arms
    }
    yield from found.items()
    if params.judge:
        yield JUDGE, PROMPTS.text(JUDGE, prompts)


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
