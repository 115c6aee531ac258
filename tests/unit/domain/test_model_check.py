from dataclasses import replace

import pytest

from viewer.domain.model_check import ModelCheck
from viewer.domain.probe import Verdict

FOUND = ModelCheck("m", "2026-01-01", Verdict.YES, "grid", "grid", 1.9, None, True)


@pytest.mark.parametrize(
    ("changes", "sound"),
    [
        ({}, True),
        ({"convention": "gemini"}, False),
        ({"sees": Verdict.UNKNOWN, "convention": ""}, False),
    ],
)
def test_that_a_model_is_sound_if_its_answers_are_read_right(
    changes: dict[str, object], sound: bool
) -> None:
    assert replace(FOUND, **changes).is_sound is sound  # type: ignore[arg-type]
