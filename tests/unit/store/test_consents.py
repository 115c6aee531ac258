import pytest

from tests.helpers.small_store import a_dataset, a_run, some_trials
from viewer.domain.errors import StoreError, WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.privacy import PixelReview, ReviewDecision
from viewer.domain.run import RunNote
from viewer.store import cases, consents, runs, trials
from viewer.store.database import Store
from viewer.store.schema import APPEND_ONLY

HOST = "https://api.example.org:443"
SHA = "c" * 64


def allowed(store: Store, dataset: str | None) -> list[str]:
    return [c.endpoint for c in consents.standing_consents(store, dataset)]


def test_that_nothing_is_allowed_at_first(store: Store) -> None:
    assert consents.standing_consents(store) == ()
    assert consents.standing_consents(store, "chests") == ()


def test_that_the_last_word_about_an_endpoint_holds(store: Store) -> None:
    cases.add_dataset(store, a_dataset())
    name = a_dataset().name
    consents.add_consent(store, HOST, name, "questions", granted=True)
    assert allowed(store, name) == [HOST]
    assert allowed(store, "another") == []
    consents.add_consent(store, HOST, name, "questions", granted=False)
    assert allowed(store, name) == []
    assert [c.granted for c in consents.consents(store)] == [True, False]


def test_that_a_word_about_one_data_set_comes_before_that_about_any(
    store: Store,
) -> None:
    cases.add_dataset(store, a_dataset())
    name = a_dataset().name
    consents.add_consent(store, HOST, None, "questions", granted=True)
    assert allowed(store, name) == [HOST]
    consents.add_consent(store, HOST, name, "questions", granted=False)
    assert allowed(store, name) == []
    assert allowed(store, "another") == [HOST]


def test_that_consent_for_an_unknown_data_set_is_refused(store: Store) -> None:
    with pytest.raises(WrongUseError, match="No data set is named 'nothing'"):
        consents.add_consent(store, HOST, "nothing", "questions", granted=True)


def test_that_a_departure_names_its_trial_and_its_consent(store: Store) -> None:
    run = a_run(store, some_trials())
    consent = consents.add_consent(store, HOST, None, "questions", granted=True)
    trial = store.rows("SELECT * FROM trial WHERE run_id = ? LIMIT 1", (run,))[0]
    with store.transaction():
        trials.keep_requests(store, [trials.RequestRecord(SHA, {}, "p", {}, {})])
        attempt = trials.begin_attempt(store, trial["id"], SHA)
        consents.note_departure(
            store, attempt, HOST, SHA, consent, ("113100", "113101")
        )
        consents.note_departure(store, None, HOST, SHA, consent)
    asked, probed = consents.departures(store)
    assert (asked.run, asked.item, asked.model) == (run, trial["item"], trial["model"])
    assert (asked.endpoint, asked.body_sha256, asked.consent) == (HOST, SHA, consent)
    assert (probed.run, probed.item, probed.model) == (None, None, None)
    assert (asked.deidentified, probed.deidentified) == (("113100", "113101"), ())
    assert consents.deidentified_of_run(store, run) == (("113100", "113101"),)


def test_that_every_decision_is_seen_to_have_been_made(store: Store) -> None:
    dataset = a_dataset()
    cases.add_dataset(store, dataset)
    seen = {consents.decided_until(store)}
    consents.add_consent(store, HOST, None, "x", granted=True, given_by="ann")
    seen.add(consents.decided_until(store))
    consents.add_review(store, PixelReview(SHA, ReviewDecision.CLEAN))
    seen.add(consents.decided_until(store))
    consents.set_restricted(store, dataset.name, restricted=True)
    seen.add(consents.decided_until(store))
    assert len(seen) == 4
    assert consents.decided_until(store) in seen
    assert [consent.given_by for consent in consents.consents(store)] == ["ann"]


def test_that_nothing_departs_without_a_consent(store: Store) -> None:
    with (
        pytest.raises(StoreError, match="FOREIGN KEY"),
        store.transaction(),
    ):
        consents.note_departure(store, None, HOST, SHA, 7)


def test_that_a_restricted_data_set_restricts_its_files(store: Store) -> None:
    dataset = a_dataset()
    cases.add_dataset(store, dataset)
    assert consents.restricted_files(store) == {}
    consents.set_restricted(store, dataset.name, restricted=True)
    assert consents.restricted_files(store) == {
        image.sha256: dataset.name for image in dataset.images if image.sha256
    }
    consents.set_restricted(store, dataset.name, restricted=False)
    assert consents.restricted_files(store) == {}


def test_that_the_last_look_at_an_images_pixels_holds(store: Store) -> None:
    assert consents.reviews(store) == {}
    consents.add_review(store, PixelReview(SHA, ReviewDecision.CLEAN))
    box = BoxPx(1, 2, 30.5, 40)
    consents.add_review(store, PixelReview(SHA, ReviewDecision.BLACKED_OUT, (box,)))
    kept = consents.reviews(store)[SHA]
    assert (kept.decision, kept.boxes) == (ReviewDecision.BLACKED_OUT, (box,))
    assert kept.reviewed_at


def test_that_a_runs_note_is_kept_once(store: Store) -> None:
    run = a_run(store, some_trials())
    note = ("gpt", "parameter_dropped", "seed")
    consents.add_notes(store, run, [note, ("gpt", "model_changed", "a to b")])
    consents.add_notes(store, run, [note])
    assert runs.run_notes(store, run) == (
        RunNote(*note),
        RunNote("gpt", "model_changed", "a to b"),
    )


@pytest.mark.parametrize("table", [*APPEND_ONLY["outgoing"], "run_note"])
def test_that_what_left_and_why_can_only_grow(store: Store, table: str) -> None:
    run = a_run(store, some_trials())
    consent = consents.add_consent(store, HOST, None, "questions", granted=True)
    consents.add_notes(store, run, [("m", "k", "t")])
    consents.add_review(store, PixelReview(SHA, ReviewDecision.CLEAN))
    with store.transaction():
        consents.note_departure(store, None, HOST, SHA, consent)
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET id = id + 1"):
        with pytest.raises(StoreError, match="append-only"), store.transaction():
            store.execute(statement)
