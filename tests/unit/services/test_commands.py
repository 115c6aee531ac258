import json
from pathlib import Path

import pytest

from viewer.domain.case import ImageRef, View
from viewer.domain.errors import WrongUseError
from viewer.domain.grid import LetterAxis
from viewer.domain.image import VoiFunction, Window
from viewer.domain.plain import made, plain
from viewer.services.commands import AskCommand
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
    assert made(AskCommand, json.loads(line(plain(command))), where="") == command


@pytest.mark.parametrize(
    "change",
    [
        {"ref": {"path": 3}},
        {"view": "from above"},
        {"letters": "x"},
        {"models": 1},
        {"window": [1, 2]},
    ],
)
def test_that_a_question_that_cannot_be_read_is_refused(
    change: dict[str, object],
) -> None:
    with pytest.raises(WrongUseError, match=f"'{next(iter(change))}.* in the command"):
        made(AskCommand, {**plain(PLAIN), **change}, where="the command")
