"""What was measured in a window that is killed is there in the next one."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from tests.helpers.window_process import open_again, start_window
from viewer.domain.mark import MarkKind
from viewer.services.viewing.marks import kept_marks

_PATIENCE_S = 600


@pytest.fixture
def image(tmp_path: Path) -> Path:
    values = np.arange(128 * 128, dtype=np.int16).reshape(128, 128)
    return make_dicom(tmp_path / "ct.dcm", values, Modality="CT")


def measure(store: Path, image: Path) -> "subprocess.Popen[str]":
    """Start a window in which a length is drawn; return it once the mouse is up."""
    window = start_window(store, "measure", image, stdout=subprocess.PIPE)
    assert window.stdout is not None
    with window.stdout as said:
        assert said.readline() == "drawn\n"
    return window


def test_that_a_measurement_survives_the_kill_of_its_window(
    tmp_path: Path, image: Path
) -> None:
    store = tmp_path / "s.sqlite"
    window = measure(store, image)
    end = time.monotonic() + _PATIENCE_S
    while not kept_marks(store):
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(window.pid, signal.SIGKILL)
    window.wait()
    ((ref, (length,)),) = kept_marks(store).items()
    assert ref.path == image
    assert length.kind is MarkKind.LENGTH
    again = open_again(store)
    again.terminate()
    again.wait()
    assert kept_marks(store) == {ref: (length,)}
