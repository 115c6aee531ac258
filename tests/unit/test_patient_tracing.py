"""No thread of the suite dies because another one is being traced."""

import subprocess
import sys

import pytest

from tests.helpers.kill_trial import ROOT

_THREADS = """
import sys, threading
from tests.helpers import patient_tracing
if sys.argv[1] == "patient":
    patient_tracing.install()
sys.addaudithook(lambda *_: None)
sys.setswitchinterval(1e-6)
threading.settrace(lambda *_: None)
ran = []
def start():
    for _ in range(1_000):
        thread = threading.Thread(target=ran.append, args=(1,))
        thread.start()
        thread.join()
starters = [threading.Thread(target=start) for _ in range(4)]
[one.start() for one in starters]
[one.join() for one in starters]
print(len(ran))
"""


def started(how: str) -> int:
    """Start 4,000 threads, four at a time; return how many ran."""
    words = [sys.executable, "-c", _THREADS, how]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_that_every_thread_runs_while_others_are_being_traced() -> None:
    assert started("patient") == 4_000


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 mended it")
def test_that_threads_would_die_without_it() -> None:
    assert any(started("plain") < 4_000 for _ in range(5))
