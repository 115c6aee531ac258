"""A deletion that is killed is done wholly or not at all, whenever it was killed."""

from pathlib import Path

import pytest

from tests.helpers.kill_deletion import run_kills
from viewer.settings import Settings


@pytest.mark.proof
def test_that_fifty_kills_leave_all_or_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    ended = run_kills(settings, tmp_path, 50)
    print(dict(ended))
    assert ended.total() == 50
