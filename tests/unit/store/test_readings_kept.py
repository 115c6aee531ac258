from pathlib import Path

import pytest

from tests.helpers.small_store import a_dataset
from viewer.domain.errors import StoreError
from viewer.domain.form_values import Flagged
from viewer.domain.reading import Act, SessionKind
from viewer.store import cases, reading_audit, readings
from viewer.store.database import open_store

NEW = readings.NewSession(
    kind=SessionKind.READER_STUDY,
    reader="A. Reader",
    dataset=1,
    work="w",
    form="{}",
    spec="{}",
    tasks=(readings.PlannedTask("a|Edema", "a", "frontal", "Edema"),),
)
SAID = readings.NewReading(Act.LOCKED, 0, {"problem": Flagged("blurred")}, "", 1200)


FORBIDDEN = (
    "UPDATE reading SET answers = '{}'",
    "DELETE FROM reading",
    "UPDATE reading_task SET finding = 'x'",
    "DELETE FROM reading_task",
    "INSERT INTO reading_task VALUES (1, 1, 'i', 'a', 'v', 'f', NULL)",
    "UPDATE reading_session SET reader = 'another'",
    "UPDATE reading_session SET spec = '[]'",
    "UPDATE reading_session SET sealed = 0",
    "DELETE FROM reading_session",
    "UPDATE reading_audit SET event = ''",
    "DELETE FROM reading_audit",
)


def test_that_what_readers_did_cannot_be_changed(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, a_dataset())
        session = readings.create_session(store, NEW)
        with store.transaction():
            readings.add_reading(store, session, 0, SAID)
        for sql in FORBIDDEN:
            with pytest.raises(StoreError), store.transaction():
                store.execute(sql)
        assert reading_audit.check_audit(store).intact
