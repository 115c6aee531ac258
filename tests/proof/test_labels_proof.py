"""Of 10,000 random sets of answers each label belongs to its own shape."""

import os
from collections import Counter

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs PySide6")

from tests.helpers.random_answers import faults, random_scene

pytestmark = [pytest.mark.proof, pytest.mark.usefixtures("qapp")]
SETS = 10_000


def test_that_labels_of_random_answers_belong_to_their_shapes() -> None:
    found = Counter(
        fault for seed in range(SETS) for fault in faults(random_scene(seed))
    )
    assert not found
