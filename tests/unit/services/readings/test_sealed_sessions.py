"""A session travels to another machine and back, and nothing changes on the way."""

import getpass
import hashlib
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import viewer
from tests.helpers.reviewed_run import DATASET, MODELS, missed_run
from tests.helpers.sealed_sessions import (
    PANEL,
    READER,
    answer_all,
    everything_in,
    store_of_questions,
)
from viewer.cli import run_command_line
from viewer.domain.aid import Aid, Arm
from viewer.domain.answer import CellAnswer
from viewer.domain.errors import (
    CancelledError,
    OverreadError,
    PrivacyError,
    UnreadableInputError,
    WrongUseError,
)
from viewer.domain.exchange import ModelProfile
from viewer.domain.form_catalog import READER_TASK, VERDICT
from viewer.domain.form_values import Values
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Cell
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.reading import Consent, Interval, SessionId
from viewer.imaging.luts import to_raster
from viewer.imaging.png import decode_png
from viewer.readers.pixels import load_pixels
from viewer.services.housekeeping.delete import Kind, Target, delete
from viewer.services.privacy.decisions import audit, consent_rows, restrict
from viewer.services.readings import cases, entering, mrmc, opening, recording
from viewer.services.readings.agreeing import open_adjudication
from viewer.services.readings.aiding import effects
from viewer.services.readings.certificate import certify, check_certificate
from viewer.services.readings.merging import merge_answers
from viewer.services.readings.reviewing import review_results
from viewer.services.readings.sealed import is_sealed, open_sealed, write_answers
from viewer.services.readings.sealing import content_sha256, seal_session
from viewer.services.readings.task_readings import open_task
from viewer.services.reporting.report_run import checked_report
from viewer.services.sessions.datasets import dataset_named
from viewer.services.sessions.ground import ground_of
from viewer.settings import HOME_VARIABLE, Settings
from viewer.store import cases as data_sets
from viewer.store import consents, reading_audit, readings
from viewer.store.database import open_store
from viewer.store.deleting import remove
from viewer.store.deletion_scope import DeletionScope
from viewer.store.reading_audit import (
    check_audit,
    events_of,
    has_consented,
    note_consent,
)
from viewer.studies.catalog import study_named
from viewer.writers.bundle import bundle_bytes
from viewer.writers.tables import csv_bytes


@dataclass(frozen=True)
class Trip:
    """A session in its store, its sealed file, the other machine, and its answers."""

    origin: Path
    session: SessionId
    sealed: Path
    there: Settings
    opened: SessionId
    answers: Path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Trip:
    """A session that was read at another machine; its answers are not merged."""
    folder = tmp_path_factory.mktemp("trip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(folder / "home"))
        origin = store_of_questions(folder)
        session = open_task(origin, PANEL, READER)
        sealed = seal_session(origin, session, folder / "zoe.session").path
        patch.setenv(HOME_VARIABLE, str(folder / "there"))
        there = Settings(folder / "there", folder / "there" / "overread.sqlite")
        opened = open_sealed(there, sealed)
        answer_all(there.store, opened)
        answers = write_answers(there.store, opened, folder / "zoe.answers").path
    return Trip(origin, session, sealed, there, opened, answers)


@pytest.fixture
def trip(finished: Trip, tmp_path: Path) -> Trip:
    """The same with a store of its own to merge into."""
    copy = tmp_path / "copy.sqlite"
    shutil.copy(finished.origin, copy)
    return Trip(copy, *(getattr(finished, n) for n in _REST))


TAKES_PART = Consent.on("panel", "1", "I take part.")
_REST = ("session", "sealed", "there", "opened", "answers")


def rewritten(
    trip: Trip, change: Callable[[dict[str, Any]], object], *, chain: bool = True
) -> Path:
    """Write the answers with a change, as somebody would who knows the format.

    With ``chain`` every hash that needs no key is made anew.
    """
    document = json.loads(trip.answers.read_text("utf-8"))
    change(document)
    if chain:
        acts = [{k: v for k, v in a.items() if k != "sha256"} for a in document["acts"]]
        previous = document["seal"]["signature"]
        for act in acts:
            link = f"{previous}\n".encode() + dumped(act)
            act["sha256"] = previous = hashlib.sha256(link).hexdigest()
        document["acts"], document["head"] = acts, previous
    return resealed(trip, document)


def resealed(trip: Trip, document: dict[str, Any]) -> Path:
    whole = {k: v for k, v in document.items() if k != "sha256"}
    document["sha256"] = hashlib.sha256(dumped(whole)).hexdigest()
    path = trip.origin.parent / "changed.answers"
    path.write_text(json.dumps(document), "utf-8")
    return path


def dumped(document: object) -> bytes:
    return json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).encode()


def act(number: int, **fields: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["acts"][number].update(fields)


def seal(**fields: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["seal"].update(fields)


def whole(**fields: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document.update(fields)


def swapped(document: dict[str, Any]) -> None:
    acts = document["acts"]
    acts[1], acts[2] = acts[2], acts[1]


LATE, EARLY = "2999-01-01T00:00:00.000000+00:00", "2001-01-01T00:00:00.000000+00:00"
NOT_DONE = "of the file could not have been done"
BROKEN = "does not follow the one before it"
KEPT_HASHES = {
    "answer": (act(1, answers='{"answer": "B"}'), f"Action 2 {BROKEN}"),
    "comment": (act(0, comment="other"), f"Action 1 {BROKEN}"),
    "removed": (lambda d: d["acts"].pop(3), f"Action 4 {BROKEN}"),
    "swapped": (swapped, f"Action 2 {BROKEN}"),
    "cut": (lambda d: d["acts"].pop(), "The last actions of the file are missing"),
    "grafted": (act(0, sha256="0" * 64), f"Action 1 {BROKEN}"),
    "signature": (seal(signature="0" * 64), f"Action 1 {BROKEN}"),
    "newer": (whole(format=99), "is of format 99"),
    "kind": (whole(kind="something"), "is not a file of answers"),
    "extra": (whole(extra=1), "'extra' in changed.answers is not known"),
    "number": (act(0, stage="first"), "acts"),
}
RENEWED_HASHES = {
    "signature": (seal(signature="0" * 64), "The seal of the session was changed"),
    "session": (seal(session=1), "The seal of the session was changed"),
    "seal's reader": (seal(reader="Eve"), "The seal of the session was changed"),
    "seal's plan": (seal(plan_hmac="0" * 64), "The seal of the session was changed"),
    "seal's time": (seal(sealed_at=EARLY), "The seal of the session was changed"),
    "store": (seal(store="0" * 32), "of a session of another store"),
    "reader": (whole(reader="Eve"), "The answers are by 'Eve'"),
    "program": (whole(program="9.9"), "written by Overread 9.9"),
    "before the seal": (act(0, at=EARLY), "Action 1 is earlier"),
    "out of order": (act(5, at=EARLY), "Action 6 is earlier"),
    "after writing": (act(11, at=LATE), "was written before its last action"),
    "future": (whole(written_at=LATE), "was written in the future"),
    "no time": (act(0, at="soon"), "states the time 'soon'"),
    "case": (act(0, position=99), f"Action 1 {NOT_DONE}"),
    "option": (act(1, answers='{"answer": "Z"}'), f"Action 2 {NOT_DONE}"),
    "twice": (act(2, act="locked"), f"Action 3 {NOT_DONE}"),
    "stage": (act(1, stage=1), f"Action 2 {NOT_DONE}"),
    "shown": (act(0, act="revealed"), f"Action 1 {NOT_DONE}"),
    "resolved": (act(0, act="resolved"), f"Action 1 {NOT_DONE}"),
    "act": (act(0, act="guessed"), f"Action 1 {NOT_DONE}"),
    "clock": (act(0, active_ms=-1), f"Action 1 {NOT_DONE}"),
    "salt": (act(0, salt=""), f"Action 1 {NOT_DONE}"),
    "spelling": (act(0, answers='{"answer":"A"}'), f"Action 1 {NOT_DONE}"),
    "no values": (act(0, answers="[]"), f"Action 1 {NOT_DONE}"),
}


@pytest.mark.parametrize(("change", "sentence"), KEPT_HASHES.values(), ids=KEPT_HASHES)
def test_that_a_changed_file_breaks_its_chain(
    trip: Trip, change: Callable[[dict[str, Any]], object], sentence: str
) -> None:
    refused(trip, rewritten(trip, change, chain=False), sentence)


@pytest.mark.parametrize(
    ("change", "sentence"), RENEWED_HASHES.values(), ids=RENEWED_HASHES
)
def test_that_a_file_with_new_hashes_is_refused(
    trip: Trip, change: Callable[[dict[str, Any]], object], sentence: str
) -> None:
    refused(trip, rewritten(trip, change), sentence)


def test_that_any_changed_byte_of_the_file_is_refused(trip: Trip) -> None:
    data = trip.answers.read_bytes()
    path = trip.origin.parent / "changed.answers"
    for at in range(0, len(data), 97):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        if json_or_none(path) != json.loads(data):
            refused(trip, path)
    for cut in (0, 1, len(data) // 2):
        path.write_bytes(data[:cut])
        refused(trip, path, "is not a file of answers")


def json_or_none(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        return None


def refused(trip: Trip, path: Path, sentence: str = "") -> None:
    """Check that a file is refused with one sentence, and nothing of it stays."""
    before = rows_of(trip.origin)
    with pytest.raises(OverreadError) as told:
        merge_answers(trip.origin, path)
    assert sentence in told.value.what
    assert told.value.how
    assert rows_of(trip.origin) == before


def rows_of(store: Path) -> tuple[object, ...]:
    with open_store(store) as opened:
        acts = reading_audit.acts_of(opened, 2)
        return acts, check_audit(opened)


def test_that_answers_from_elsewhere_are_those_given_at_home(trip: Trip) -> None:
    home = trip.origin.parent / "home.sqlite"
    shutil.copy(trip.origin, home)
    answer_all(home, trip.session)
    assert merge_answers(trip.origin, trip.answers).acts == 12
    with open_store(home) as here, open_store(trip.origin) as merged:
        assert dataset_named(here, PANEL.dataset) == dataset_named(
            merged, PANEL.dataset
        )
        items = dataset_named(merged, PANEL.dataset).items
        assert [READER in str(one.reference["experts"]) for one in items] == [True] * 3
        assert check_audit(merged).intact
        assert len(events_of(merged, trip.session, "merge")) == 1
    with open_store(trip.there.store) as there, open_store(trip.origin) as merged:
        assert reading_audit.acts_of(there, trip.opened) == reading_audit.acts_of(
            merged, trip.session
        )
        assert check_audit(there).intact


def test_that_answers_are_merged_once(trip: Trip) -> None:
    merge_answers(trip.origin, trip.answers)
    refused(trip, trip.answers, "are merged already")


def test_that_a_stopped_merge_leaves_nothing_and_can_be_repeated(trip: Trip) -> None:
    stop, told = Event(), list[tuple[int, int]]()

    def tell(done: int, every: int) -> None:
        told.append((done, every))
        if done == every - 1:
            stop.set()

    with pytest.raises(CancelledError, match="Nothing was merged"):
        merge_answers(trip.origin, trip.answers, progress=tell, stop=stop)
    with open_store(trip.origin) as store:
        assert not reading_audit.acts_of(store, trip.session)
        assert check_audit(store).intact
    told.clear()
    acts = merge_answers(trip.origin, trip.answers, progress=tell).acts
    assert told == [(done, acts) for done in range(acts + 1)]


def test_that_answers_given_at_home_meanwhile_stay(trip: Trip) -> None:
    recording.lock(trip.origin, trip.session, 0, {"answer": "A"})
    refused(trip, trip.answers, "answered here after it was sealed")


def test_that_answers_of_a_withdrawn_reader_stay_out(trip: Trip) -> None:
    recording.withdraw(trip.origin, trip.session)
    refused(trip, trip.answers, "has withdrawn")


def test_that_answers_of_a_deleted_session_stay_out(trip: Trip) -> None:
    with open_store(trip.origin) as store:
        remove(store, DeletionScope(sessions=(trip.session,)))
    refused(trip, trip.answers, "was deleted after it was sealed")
    # Its number is given to the next session.
    wanted = replace(PANEL, limit=2)
    assert open_task(trip.origin, wanted, READER) == trip.session
    refused(trip, trip.answers, "made for another session")


def test_that_answers_for_another_version_of_the_study_stay_out(
    trip: Trip, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_named(PANEL.study)
    monkeypatch.setattr(type(study), "version", "99")
    refused(trip, trip.answers, "sealed for version")
    with pytest.raises(WrongUseError, match="of its study"):
        open_sealed(Settings(trip.origin.parent, trip.origin), trip.sealed)


def test_that_another_program_does_not_open_the_session(
    trip: Trip, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "__version__", "99")
    with pytest.raises(WrongUseError, match="sealed by Overread"):
        open_sealed(trip.there, trip.sealed)


def test_that_a_sealed_file_holds_no_name_truth_path_or_key(trip: Trip) -> None:
    with open_store(trip.origin) as store:
        key = store.rows("SELECT key FROM signing_key")[0][0]
    secrets = [
        *("CANARY", key, bytes.fromhex(key), "somebody", "1.2.3.4"),
        *(str(trip.sealed.parent), str(Path.home()), getpass.getuser()),
    ]
    told = everything_in(trip.sealed)
    assert any(b"What is seen in field 1?" in one for one in told)
    for secret in secrets:
        word = secret if isinstance(secret, bytes) else secret.encode()
        assert [one for one in told if word in one] == [], secret
    there = [file.read_bytes() for file in trip.there.home.rglob("*") if file.is_file()]
    assert not any(b"CANARY" in one for one in (*there, trip.answers.read_bytes()))


def test_that_a_sealed_file_names_no_model(trip: Trip, tmp_path: Path) -> None:
    with open_store(trip.origin) as store:
        ground = ground_of(store, trip.session)
        spec, row = ground.spec, ground.session
        profile = ModelProfile("SECRETMODEL", "scripted", {"answer": "SECRETANSWER"})
        asked = replace(
            spec.asked,
            models=(profile,),
            helpers=(profile,),
            params={"judge": "SECRETJUDGE"},
        )
        tasks = [
            replace(task, material=json.dumps({"notes": {"of": "SECRETNOTE"}}))
            for task in readings.tasks_of(store, row.id)
        ]
        new = readings.NewSession(
            row.kind,
            READER,
            row.dataset_id,
            "SECRETWORK",
            row.form,
            replace(spec, asked=asked).as_json(),
            tuple(tasks),
            returning=True,
        )
        session = readings.create_session(store, new)
    path = seal_session(trip.origin, session, tmp_path / "graded.session").path
    assert not any(b"SECRET" in one for one in everything_in(path))


def test_that_a_session_is_opened_once_and_shows_what_was_sealed(trip: Trip) -> None:
    assert open_sealed(trip.there, trip.sealed) == trip.opened
    assert is_sealed(trip.there.store, trip.opened)
    mine = cases.queue(trip.origin, trip.session)
    there = cases.queue(trip.there.store, trip.opened)
    for home, away in zip(mine, there, strict=True):
        assert away.question == home.question
        assert away.options == home.options
        assert away.image.path.is_relative_to(trip.there.home)
        raster = to_raster(load_pixels(home.image))
        assert (to_raster(load_pixels(away.image)).pixels == raster.pixels).all()
    assert cases.reveal(trip.there.store, trip.opened, 0).truth == ()


def test_that_images_that_were_deleted_come_back_with_the_file(trip: Trip) -> None:
    gone = [task.image.path for task in cases.queue(trip.there.store, trip.opened)]
    before = [path.read_bytes() for path in gone]
    for path in gone:
        path.unlink()
    with pytest.raises(UnreadableInputError, match="does not exist"):
        load_pixels(cases.task(trip.there.store, trip.opened, 0).image)
    assert open_sealed(trip.there, trip.sealed) == trip.opened
    assert [path.read_bytes() for path in gone] == before


def test_that_sealed_answers_count_only_where_they_come_from(trip: Trip) -> None:
    store, session = trip.there.store, trip.opened
    for does in (
        lambda: entering.enter(store, session),
        lambda: mrmc.export_readings(store, session, store.parent),
    ):
        with pytest.raises(WrongUseError, match="was sealed elsewhere"):
            does()


def test_that_a_sealed_session_is_deleted_with_its_images(
    trip: Trip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "there"))
    there = Settings(tmp_path / "there", tmp_path / "there" / "overread.sqlite")
    one = opening.session(there.store, open_sealed(there, trip.sealed))
    assert any((there.home / "sessions").rglob("*.png"))
    delete(there, Target(Kind.DATASET, one.dataset))
    assert opening.sessions(there.store) == ()
    assert not any((there.home / "sessions").rglob("*.png"))


def test_that_a_sealed_file_is_not_opened_where_it_comes_from(trip: Trip) -> None:
    with pytest.raises(WrongUseError, match="sealed from this very store"):
        open_sealed(Settings(trip.origin.parent, trip.origin), trip.sealed)


def test_that_any_changed_byte_of_a_sealed_file_is_refused(
    trip: Trip, tmp_path: Path
) -> None:
    data = trip.sealed.read_bytes()
    path = tmp_path / "changed.session"
    for at in range(0, len(data), len(data) // 40):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(UnreadableInputError):
            open_sealed(trip.there, path)
    path.write_bytes(b"PK")
    with pytest.raises(UnreadableInputError, match="is not a sealed session"):
        open_sealed(trip.there, path)


def forged(trip: Trip, path: Path, old: bytes = b"seen", new: bytes = b"scene") -> Path:
    """Write the sealed file with another question, and all hashes that need no key."""
    with zipfile.ZipFile(trip.sealed) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    assert old in members["session.json"]
    members["session.json"] = members["session.json"].replace(old, new)
    manifest["seal"]["content_sha256"] = content_sha256(members)
    path.write_bytes(
        bundle_bytes(members, {k: manifest[k] for k in ("format", "seal")})
    )
    return path


def test_that_answers_to_forged_questions_are_refused(
    trip: Trip, tmp_path: Path
) -> None:
    there = Settings(tmp_path, tmp_path / "forged.sqlite")
    session = open_sealed(there, forged(trip, tmp_path / "forged.session"))
    answer_all(there.store, session)
    path = write_answers(there.store, session, tmp_path / "forged.answers").path
    refused(trip, path, "The seal of the session was changed")


def test_that_a_forged_file_shows_no_image_of_another_data_set(
    trip: Trip, tmp_path: Path
) -> None:
    there = Settings(tmp_path, tmp_path / "forged.sqlite")
    none, named = rb"made\": \"\"", rb"made\": \"mine\""
    file = forged(trip, tmp_path / "forged.session", none, named)
    session = open_sealed(there, file)
    with open_store(there.store) as store:
        assert ground_of(store, session).spec.made == ""


def test_that_what_leaves_is_audited_and_consented_to_once(trip: Trip) -> None:
    with open_store(trip.origin) as store:
        told, standing = audit(store), consent_rows(store)
        assert len(events_of(store, trip.session, "seal")) == 1
    (departure,) = told["departures"]
    sha256 = hashlib.sha256(trip.sealed.read_bytes()).hexdigest()
    assert (departure["endpoint"], departure["body_sha256"]) == ("file", sha256)
    assert [c["decision"] for c in told["consents"]] == ["granted", "withdrawn"]
    assert standing == []


def reseal(trip: Trip) -> None:
    seal_session(trip.origin, trip.session, trip.origin.parent / "again.session")


def test_that_who_stops_sealing_gets_no_file_and_lets_nothing_leave(trip: Trip) -> None:
    told, stop, out = [], Event(), trip.origin.parent / "stopped.overread-session"

    def progress(done: int, every: int) -> None:
        told.append((done, every))
        stop.set()

    with open_store(trip.origin) as store:
        before = audit(store), check_audit(store)
    with pytest.raises(CancelledError, match="was stopped"):
        seal_session(trip.origin, trip.session, out, progress=progress, stop=stop)
    assert told == [(1, 3)]
    assert not out.exists()
    with open_store(trip.origin) as store:
        assert (audit(store), check_audit(store)) == before


def test_that_a_restricted_or_blocked_image_keeps_its_session_here(trip: Trip) -> None:
    sha256 = pixels_sha256(load_pixels(cases.queue(trip.origin, trip.session)[0].image))
    with open_store(trip.origin) as store:
        consents.add_review(store, PixelReview(sha256, ReviewDecision.BLOCKED))
    with pytest.raises(PrivacyError, match=r"because of case 1\. .*may not leave"):
        reseal(trip)
    with open_store(trip.origin) as store:
        consents.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))
        restrict(store, PANEL.dataset, restricted=True)
    with pytest.raises(PrivacyError, match="is restricted"):
        reseal(trip)
    assert not (trip.origin.parent / "again.session").exists()


def test_that_what_is_blacked_out_is_black_in_the_file(trip: Trip) -> None:
    image = load_pixels(cases.queue(trip.origin, trip.session)[0].image)
    box = BoxPx(4, 4, 12, 9)
    review = PixelReview(pixels_sha256(image), ReviewDecision.BLACKED_OUT, (box,))
    with open_store(trip.origin) as store:
        consents.add_review(store, review)
    reseal(trip)
    with zipfile.ZipFile(trip.origin.parent / "again.session") as archive:
        pixels = decode_png(archive.read("images/1.png")).pixels
    assert pixels[4:9, 4:12].max() == 0
    assert pixels[9:, 12:].max() > 0


def test_that_a_name_in_a_question_keeps_its_session_here(tmp_path: Path) -> None:
    store = store_of_questions(tmp_path, 1, question="Where is the lesion of {name}?")
    session = open_task(store, PANEL, READER)
    with pytest.raises(PrivacyError, match="contains the image's"):
        seal_session(store, session, tmp_path / "named.session")


def test_that_only_a_fresh_session_is_sealed(trip: Trip) -> None:
    recording.lock(trip.origin, trip.session, 0, {"answer": "A"})
    with pytest.raises(WrongUseError, match="has answers already"):
        reseal(trip)
    recording.withdraw(trip.origin, trip.session)
    with pytest.raises(WrongUseError, match="has withdrawn"):
        reseal(trip)


def test_that_other_readers_answers_keep_their_session_here(tmp_path: Path) -> None:
    run, store = reviews_of(tmp_path / "s.sqlite", 2)
    with pytest.raises(WrongUseError, match="other readers' answers"):
        seal_session(store, disputed(store, run), tmp_path / "kept.session")
    assert not (tmp_path / "kept.session").exists()


def disputed(store: Path, run: int) -> SessionId:
    """Return a session that settles what two readers disagree on."""
    for reader, verdict in (("C", "2"), ("D", "3")):
        session = opening.open_error_review(store, run, reader)
        for position in range(len(cases.queue(store, session))):
            recording.lock(store, session, position, {VERDICT: verdict})
    return open_adjudication(store, run, "E")


def reviews_of(store: Path, n: int) -> tuple[int, Path]:
    """Keep a run of misses on ``n`` images that may leave this machine."""
    run = missed_run(store, n)
    with open_store(store) as opened:
        for image in data_sets.dataset_named(opened, DATASET).images:
            sha256 = pixels_sha256(load_pixels(image.ref))
            consents.add_review(opened, PixelReview(sha256, ReviewDecision.CLEAN))
    return run, store


def test_that_an_error_review_is_read_elsewhere_without_what_it_reveals(
    tmp_path: Path,
) -> None:
    run, origin = reviews_of(tmp_path / "s.sqlite", 3)
    session = opening.open_error_review(origin, run, READER)
    home = tmp_path / "home.sqlite"
    shutil.copy(origin, home)
    sealed = seal_session(origin, session, tmp_path / "r.session").path
    told = everything_in(sealed)
    for secret in (*MODELS, DATASET, "patient0", str(tmp_path)):
        assert [one for one in told if secret.encode() in one] == [], secret
    there = Settings(tmp_path / "there", tmp_path / "there.sqlite")
    opened = open_sealed(there, sealed)
    mine, away = cases.queue(origin, session), cases.queue(there.store, opened)
    for here, elsewhere in zip(mine, away, strict=True):
        assert elsewhere.answer == here.answer is not None
        assert elsewhere.answer_text == here.answer_text
        assert elsewhere.advice == {}
    for store, read in ((home, session), (there.store, opened)):
        for position in range(len(mine)):
            verdict = "4" if position == 1 else "2"
            recording.lock(store, read, position, {VERDICT: verdict})
        recording.resolve(store, read, 1, {VERDICT: "3"})
    assert cases.reveal(there.store, opened, 0).reference is None
    answers = write_answers(there.store, opened, tmp_path / "r.answers").path
    merge_answers(origin, answers)
    assert review_results(origin, run) == review_results(home, run)


def test_that_answers_shown_from_the_start_go_along_without_their_source(
    tmp_path: Path,
) -> None:
    run, origin = reviews_of(tmp_path / "s.sqlite", 6)
    aid = Aid(run, MODELS[0], Arm.FROM_START, 0.37)
    session = opening.open_reader_study(origin, DATASET, READER_TASK, READER, aid=aid)
    home = tmp_path / "home.sqlite"
    shutil.copy(origin, home)
    sealed = seal_session(origin, session, tmp_path / "r.session").path
    told = everything_in(sealed)
    for secret in (*MODELS, DATASET, "0.37", "whole"):
        assert [one for one in told if secret.encode() in one] == [], secret
    there = Settings(tmp_path / "there", tmp_path / "there.sqlite")
    opened = open_sealed(there, sealed)
    for store, read in ((home, session), (there.store, opened)):
        recording.consent(store, read)
        for position, task in enumerate(cases.queue(store, read)):
            values = {"place": task.advice["place"], "confidence": 3}
            recording.lock(store, read, position, values)
    assert effects(there.store, opened) == ()
    merge_answers(
        origin, write_answers(there.store, opened, tmp_path / "r.answers").path
    )
    assert effects(origin, session)
    # As text: what has no trial is not a number, which equals nothing.
    assert str(effects(origin, session)) == str(effects(home, session))


PLACED: Values = {"place": CellAnswer(Cell(2, 5)), "confidence": 3}


def read_places(store: Path, session: SessionId) -> None:
    for position in range(len(cases.queue(store, session))):
        at_work = [Interval(0, 1500)]
        recording.lock(store, session, position, PLACED, activity=at_work)


def tables(store: Path) -> dict[str, bytes]:
    """Return the tables of the reader's run."""
    with open_store(store) as opened:
        found = checked_report(opened, 1).data.tables
    return {table.name: csv_bytes(table.header, table.rows) for table in found}


def test_that_tables_of_merged_answers_are_those_of_answers_at_home(
    trip: Trip, tmp_path: Path
) -> None:
    session = opening.open_reader_study(trip.origin, PANEL.dataset, READER_TASK, "Ann")
    home = tmp_path / "home.sqlite"
    shutil.copy(trip.origin, home)
    read_places(home, session)
    sealed = seal_session(trip.origin, session, tmp_path / "places.session").path
    there = Settings(tmp_path / "there", tmp_path / "there.sqlite")
    opened = open_sealed(there, sealed)
    read_places(there.store, opened)
    answers = write_answers(there.store, opened, tmp_path / "places.answers").path
    merge_answers(trip.origin, answers)
    mine, theirs = tables(trip.origin), tables(home)
    assert mine
    assert mine == theirs


def test_that_consent_comes_back_with_the_answers(trip: Trip, tmp_path: Path) -> None:
    with open_store(trip.there.store) as store, store.transaction():
        note_consent(store, trip.opened, TAKES_PART)
    path = write_answers(trip.there.store, trip.opened, tmp_path / "a.answers").path
    merge_answers(trip.origin, path)
    with open_store(trip.origin) as store:
        assert has_consented(store, trip.session, TAKES_PART)
        assert not has_consented(store, 1, TAKES_PART)


def test_that_a_certificate_says_who_read_what_and_holds(
    trip: Trip, tmp_path: Path
) -> None:
    merge_answers(trip.origin, trip.answers)
    path, page = certify(trip.origin, trip.session, tmp_path / "zoe.json")
    told = json.loads(path.read_text("utf-8"))
    assert (told["reader"], told["acts"], told["locked"]) == (READER, 12, 3)
    assert told["merged"]
    words = page.read_text("utf-8")
    assert READER in words
    assert told["head"] in words
    assert "CANARY" not in words + path.read_text("utf-8")
    assert check_certificate(trip.origin, path) == ()
    with open_store(trip.origin) as store:
        assert check_audit(store).intact
    for name, value in told.items():
        changed = f"{value}x" if isinstance(value, str) else not value
        other = tmp_path / "other.json"
        other.write_text(json.dumps({**told, name: changed}), "utf-8")
        try:
            assert check_certificate(trip.origin, other) != (), name
        except UnreadableInputError:
            assert name == "kind" or not isinstance(value, str | bool), name


def test_that_a_certificate_tells_what_happened_since(
    trip: Trip, tmp_path: Path
) -> None:
    merge_answers(trip.origin, trip.answers)
    path, _ = certify(trip.origin, trip.session, tmp_path / "zoe.json")
    assert check_certificate(trip.there.store, path)[0].endswith("another store.")
    changed = tmp_path / "changed.sqlite"
    shutil.copy(trip.origin, changed)
    tampered(
        changed,
        "UPDATE reading SET answers = '{}' WHERE session_id = 2;"
        "UPDATE reading_session SET reader = 'Eve' WHERE id = 2;"
        "UPDATE reading_task SET finding = 'x' WHERE session_id = 2;"
        "UPDATE reading_audit SET sha256 = printf('%064d', seq);",
    )
    assert check_certificate(changed, path) == (
        "The audit no longer has the event that the certificate ends with.",
        "The cases of session 2 were changed since.",
        "The answers of session 2 were changed since.",
        "The reader of session 2 was changed since.",
    )
    recording.withdraw(trip.origin, trip.session)
    assert check_certificate(trip.origin, path) == (
        "The reader of session 2 has withdrawn since.",
    )
    with open_store(trip.origin) as store:
        remove(store, DeletionScope(sessions=(trip.session,)))
    assert check_certificate(trip.origin, path) == ("Session 2 was deleted since.",)


def tampered(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    triggers = connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'")
    for (name,) in triggers.fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.executescript(sql)
    connection.close()


def test_that_nothing_is_certified_without_an_answer(
    trip: Trip, tmp_path: Path
) -> None:
    with pytest.raises(WrongUseError, match="is answered yet"):
        certify(trip.origin, trip.session, tmp_path / "zoe.json")
    with pytest.raises(WrongUseError, match="name of the page"):
        certify(trip.origin, trip.session, tmp_path / "zoe.html")
    recording.withdraw(trip.origin, trip.session)
    with pytest.raises(WrongUseError, match="has withdrawn"):
        certify(trip.origin, trip.session, tmp_path / "zoe.json")
    with pytest.raises(UnreadableInputError, match="is not the certificate"):
        check_certificate(trip.origin, trip.sealed)


def test_that_the_command_line_takes_a_session_there_and_back(
    trip: Trip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overread(*words: object, store: Path = trip.origin) -> int:
        return run_command_line([*map(str, words), "--store", str(store)])

    there = tmp_path / "there" / "overread.sqlite"
    monkeypatch.setenv(HOME_VARIABLE, str(there.parent))
    session, answers = tmp_path / "z.session", tmp_path / "z.answers"
    assert overread("export", "session", 2, "--out", session, "--json") == 0
    assert overread("open-session", session, store=there) == 0
    assert overread("open-session", session, "--json", store=there) == 0
    assert overread("export", "session", 1, "--out", answers, store=there) == 2
    answer_all(there, SessionId(1))
    assert overread("export", "session", 1, "--out", answers, store=there) == 0
    assert overread("import", "session", answers, "--name", "x") == 2
    assert overread("import", "session", answers) == 0
    assert overread("import", "session", answers, "--json") == 2
    certificate = tmp_path / "z.json"
    assert overread("readings", "--certificate", certificate) == 2
    assert overread("readings", "--session", 2, "--certificate", certificate) == 0
    assert overread("readings", "--check", "--certificate", certificate) == 0
    text = certificate.read_text("utf-8").replace(READER, "Eve")
    certificate.write_text(text, "utf-8")
    assert overread("readings", "--check", "--certificate", certificate) == 1
    there_again = recording.withdraw(there, SessionId(1))
    assert there_again == 12
    assert overread("open-session", session, store=there) == 2
    assert overread("export", "session", 1, "--out", answers, store=there) == 2
