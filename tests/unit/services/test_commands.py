import json
from pathlib import Path

import pytest

from viewer.domain.case import ImageRef, View
from viewer.domain.errors import WrongUseError
from viewer.domain.grid import LetterAxis
from viewer.domain.image import VoiFunction, Window
from viewer.services.commands import AskCommand, ask_as_json, ask_of_json
from viewer.services.events_json import line

PLAIN = AskCommand(ImageRef(Path("ümlaut.dcm"), 3), "Edema", ("a", "b"))
WINDOWED = AskCommand(
    PLAIN.ref,
    "Edema",
    ("a",),
    "8x10",
    View.LATERAL,
    Window(-600.5, 1500, VoiFunction.SIGMOID),
    LetterAxis.COLUMN,
)


@pytest.mark.parametrize("command", [PLAIN, WINDOWED])
def test_that_a_question_comes_back_from_its_json_line(command: AskCommand) -> None:
    assert ask_of_json(json.loads(line(ask_as_json(command)))) == command


@pytest.mark.parametrize(
    "change",
    [
        {"path": 3},
        {"view": "from above"},
        {"letters": "x"},
        {"models": 1},
        {"window": [1, 2]},
    ],
)
def test_that_a_question_that_cannot_be_read_is_refused(
    change: dict[str, object],
) -> None:
    with pytest.raises(WrongUseError, match="cannot read"):
        ask_of_json({**ask_as_json(PLAIN), **change})
    with pytest.raises(WrongUseError, match="cannot read"):
        ask_of_json({})
