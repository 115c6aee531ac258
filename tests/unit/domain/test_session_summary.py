from dataclasses import replace

from viewer.domain.form_catalog import READER_TASK
from viewer.domain.reading import SessionId, SessionKind, SessionSummary

SESSION = SessionSummary(
    id=SessionId(1),
    kind=SessionKind.READER_STUDY,
    reader="Ann",
    run=None,
    dataset="chests",
    form=READER_TASK,
    work="w",
    opened_at="2026-01-01T00:00:00Z",
    planned=3,
    done=3,
    unresolved=0,
)


def test_that_a_session_is_finished_once_nothing_waits_or_is_unsure() -> None:
    assert SESSION.finished
    assert not replace(SESSION, done=2).finished
    assert not replace(SESSION, unresolved=1).finished


def test_that_a_session_is_named_by_its_form_and_data_set() -> None:
    assert SESSION.title == f"{READER_TASK.title} of chests"
