"""What every test gets: hypothesis profiles, a home of its own, and no way out."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

# Each test process has one core; more threads of numpy or torch wait for it, spinning.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as profiles

from tests.helpers import forked, made_once, patient_tracing, small_store
from tests.helpers.loopback_only import sitecustomize as loopback_only
from viewer.domain.styles import know_models
from viewer.readers.files.isolation import isolate_with
from viewer.services.worker import background, jobs
from viewer.settings import HOME_VARIABLE, STORE_VARIABLE, Settings, read_settings
from viewer.store import database
from viewer.store.database import Store, open_store

patient_tracing.install()
_SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)
profiles.register_profile(
    "fast",
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=_SLOW_IS_FINE,
)
profiles.register_profile(
    "fuzz",
    max_examples=10_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=_SLOW_IS_FINE,
)
profiles.load_profile(os.environ.get("OVERREAD_HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(autouse=True)
def _home_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep every test, and what it starts, away from the person's own files.

    It reads files in its own process, also after a test that ran the whole program.
    """
    isolate_with(None)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    know_models({})


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Let PySide6 not read the source of every module that is imported after it.

    It looks for its own name there, in case the module asks for names in snake case,
    as none here does: a tenth of the collection.
    """
    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        vars(feature)["_mod_uses_pyside"] = lambda _: False


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have a folder for what any process of this session makes for all of them."""
    base = session.config._tmp_path_factory.mktemp("made", numbered=False)  # type: ignore[attr-defined]
    made_once.keep_below(base)


# Cycles may hold widgets, which only the main thread may take down; so none is
# collected in the threads of a test, and all that are due in between.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let no collection look through the million objects of libraries and tests."""
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Collect while a proof without a window runs, which may take many minutes."""
    names = item.fixturenames if isinstance(item, pytest.Function) else ()
    if item.get_closest_marker("proof") and "qapp" not in names:
        gc.enable()
    yield
    gc.disable()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Collect in the main thread once everything of a test is put away."""
    yield
    counts = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [age for age, (count, limit) in enumerate(counts) if count > limit]
    if due:
        gc.collect(due[-1])


loopback_only.install()
# The programs that tests start begin their workers as they do elsewhere.
for _module in (background, jobs):
    vars(_module)["spawn_worker"] = forked.spawn_worker
vars(database)["_migrate"] = small_store.migrate


@pytest.fixture(autouse=True)
def _no_connection_but_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold what a test starts to this machine as well; whoever reaches out fails."""
    folder = str(Path(loopback_only.__file__).parent)
    before = os.environ.get("PYTHONPATH")
    path = folder if not before else os.pathsep.join((folder, before))
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.fixture
def settings() -> Settings:
    """Return settings whose home is this test's own empty folder."""
    return read_settings()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a store that is open, and empty."""
    with open_store(tmp_path / "s.sqlite") as opened:
        yield opened


@pytest.fixture
def hears_the_terminal_close() -> Iterator[None]:
    """Let programs be told by SIGHUP, also where nohup made this one deaf to it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
