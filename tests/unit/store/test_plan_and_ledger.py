from dataclasses import replace

import pytest

from tests.helpers.small_store import a_dataset, a_run, a_spec, some_trials
from viewer.domain.answer import Status
from viewer.domain.errors import StoreError, WrongUseError
from viewer.domain.exchange import RawReply, ReplyKind, Usage
from viewer.domain.result import Outcome, Score
from viewer.domain.run import Step
from viewer.store import cases, runs, steps, trials, usage
from viewer.store.database import Store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.schema import APPEND_ONLY
from viewer.store.trials import RequestRecord, Verdict

SHA = "c" * 64


def a_request(sha256: str = SHA) -> RequestRecord:
    return RequestRecord(
        sha256,
        {"messages": [{"role": "user", "parts": [{"image_sha256": "png"}]}]},
        "prompt",
        {"prompt": ("grid", "Where is ‘{condition}’?")},
        {"png": b"\x89PNG exact bytes"},
    )


def a_reply(text: bytes = b'{"text": "D4"}', *, reusable: bool = True) -> ReplyRecord:
    raw = RawReply(ReplyKind.PLAIN, text, 200, {"x-request-id": "7"}, 12)
    return ReplyRecord(raw, Usage(10, 2), 31, "tiny", reusable)


def begin(store: Store, trial_id: int, sha256: str = SHA) -> int:
    with store.transaction():
        trials.keep_requests(store, [a_request(sha256)])
        return trials.begin_attempt(store, trial_id, sha256)


def answer(store: Store, trial_id: int, sha256: str = SHA) -> int:
    attempt = begin(store, trial_id, sha256)
    with store.transaction():
        return trials.keep_reply(store, attempt, sha256, a_reply())


def settle(store: Store, trial_id: int, reply_id: int) -> None:
    score = Score(Status.SCORED_CORRECT, "", "D4", 0.75, Outcome.FULL)
    with store.transaction():
        kept = (trials.reply_with_id(store, reply_id),)
        verdict = Verdict(score, "1", '{"cell": [3, 3]}', "1", kept)
        trials.settle(store, [(trial_id, verdict)])


def test_that_a_data_set_comes_back_as_it_was_registered(store: Store) -> None:
    dataset = a_dataset()
    cases.add_dataset(store, dataset)
    assert cases.dataset_named(store, "small") == dataset


def test_that_registering_the_same_content_again_only_moves_it(store: Store) -> None:
    first = cases.add_dataset(store, a_dataset())
    assert cases.add_dataset(store, a_dataset()) == first
    assert len(cases.dataset_summaries(store)) == 1


def test_that_other_content_under_the_same_name_is_refused(store: Store) -> None:
    cases.add_dataset(store, a_dataset())
    other = a_dataset(n=3)
    changed = type(other)(**{**other.__dict__, "root_sha256": "0" * 64})
    with pytest.raises(WrongUseError, match="other content"):
        cases.add_dataset(store, changed)


def test_that_an_unknown_data_set_names_those_that_are_known(store: Store) -> None:
    cases.add_dataset(store, a_dataset())
    with pytest.raises(WrongUseError, match="'small'"):
        cases.dataset_named(store, "smal")


@pytest.mark.statement("X-01")
def test_that_the_plan_is_sealed_and_excluded_trials_have_their_reason(
    store: Store,
) -> None:
    run = a_run(store, some_trials(4, excluded=1))
    counts = runs.status_counts(store, run)
    assert counts == {Status.PENDING: 3, Status.EXCLUDED: 1}
    scored = trials.scored_trials(store, run)
    assert [s.score.reason for s in scored] == ["", "", "", "no_gt"]
    with pytest.raises(StoreError, match="cannot grow"), store.transaction():
        store.execute(
            "INSERT INTO trial (run_id, item, patient, image, view, finding,"
            " condition, condition_params, repeat, model)"
            " VALUES (?, 'new', '', '', '', '', '', '[]', 0, 'm')",
            (run,),
        )
    with pytest.raises(StoreError, match="cannot be removed"), store.transaction():
        store.execute("DELETE FROM trial")
    assert sum(runs.status_counts(store, run).values()) == 4


def test_that_the_settings_of_a_run_come_back(store: Store) -> None:
    run = a_run(store, some_trials())
    assert runs.run_spec(store, run) == a_spec()
    assert runs.run_with_plan(store, "a" * 64) == run
    assert runs.run_with_plan(store, "b" * 64) is None


@pytest.mark.statement("X-01")
def test_that_a_status_can_only_be_the_copy_of_a_score(store: Store) -> None:
    run = a_run(store, some_trials())
    with pytest.raises(StoreError, match="copy of a score"), store.transaction():
        store.execute("UPDATE trial SET status = 'scored_correct'")
    assert runs.status_counts(store, run) == {Status.PENDING: 3}


def test_that_what_a_trial_asks_cannot_change(store: Store) -> None:
    a_run(store, some_trials())
    with pytest.raises(StoreError, match="cannot change"), store.transaction():
        store.execute("UPDATE trial SET finding = 'Edema'")


@pytest.mark.parametrize("table", APPEND_ONLY["ledger"])
@pytest.mark.parametrize("verb", ["UPDATE", "DELETE"])
def test_that_the_ledger_is_append_only(store: Store, table: str, verb: str) -> None:
    run = a_run(store, some_trials())
    trial_id = runs.trials_in(store, run, [Status.PENDING])[0].id
    settle(store, trial_id, answer(store, trial_id))
    column = store.rows(f"SELECT * FROM {table}")[0].keys()[-1]
    statement = (
        f"DELETE FROM {table}"
        if verb == "DELETE"
        else f"UPDATE {table} SET {column} = {column}"
    )
    with pytest.raises(StoreError, match="append-only"), store.transaction():
        store.execute(statement)


def test_that_a_reply_is_kept_byte_for_byte_and_found_by_its_request(
    store: Store,
) -> None:
    run = a_run(store, some_trials())
    trial_id = runs.trials_in(store, run, [Status.PENDING])[0].id
    reply_id = answer(store, trial_id)
    kept = trials.kept_reply(store, SHA, trial_id + 1)
    assert kept is not None
    assert kept.id == reply_id
    assert kept.raw == a_reply().raw
    assert trials.sent_request(store, SHA).images == {"png": b"\x89PNG exact bytes"}
    assert trials.kept_reply(store, "d" * 64, trial_id) is None


def test_that_a_refused_reply_answers_only_the_trial_that_bought_it(
    store: Store,
) -> None:
    run = a_run(store, some_trials())
    first, second, _ = runs.trials_in(store, run, [Status.PENDING])
    attempt = begin(store, first.id)
    with store.transaction():
        trials.keep_reply(store, attempt, SHA, a_reply(reusable=False))
    assert trials.kept_reply(store, SHA, first.id) is not None
    assert trials.kept_reply(store, SHA, second.id) is None


def test_that_an_attempt_without_an_end_is_an_orphan_until_closed(
    store: Store,
) -> None:
    run = a_run(store, some_trials())
    trial_id = runs.trials_in(store, run, [Status.PENDING])[0].id
    attempt = begin(store, trial_id)
    assert trials.orphans(store, run) == ((attempt, trial_id, "says-d4"),)
    with store.transaction():
        trials.close_orphan(store, attempt)
    assert trials.orphans(store, run) == ()
    counts = usage.ledger_counts(store, run)
    assert counts == {"attempts_orphan": 1, "cost_microusd": 0}


def test_that_failed_trials_can_be_reopened_and_their_verdicts_stay(
    store: Store,
) -> None:
    run = a_run(store, some_trials())
    ids = [t.id for t in runs.trials_in(store, run, [Status.PENDING])]
    with store.transaction():
        failed = Score(Status.PROVIDER_ERROR, "http_500")
        trials.settle(store, [(ids[0], Verdict(failed, "1"))])
    assert trials.reopen_failed(store, run) == 1
    assert runs.status_counts(store, run) == {Status.PENDING: 3}
    assert store.rows("SELECT reason FROM score")[0][0] == "http_500"


def test_that_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(StoreError, match="UNIQUE"), store.transaction():  # noqa: PT012
        store.execute("INSERT INTO blob VALUES ('x', x'00')")
        store.execute("INSERT INTO blob VALUES ('x', x'00')")
    assert store.rows("SELECT * FROM blob") == []


def test_that_named_numbers_of_a_verdict_come_back_exactly(store: Store) -> None:
    run = a_run(store, some_trials(2))
    first, second = (one.id for one in trials.scored_trials(store, run))
    measured = (("judge", 4.0), ("share", 0.1 + 0.2), ("Ähnlichkeit", -1e-300))
    score = Score(Status.SCORED_CORRECT, "", "Grippe", numbers=measured)
    reply = answer(store, first)
    with store.transaction():
        own = trials.reply_with_id(store, reply)
        trials.settle(store, [(first, Verdict(score, "1", "{}", "1", (own,)))])
    settle(store, second, answer(store, second, "d" * 64))
    kept = trials.scored_trials(store, run)
    assert kept[0].score == score
    assert kept[0].score.number("share") == 0.1 + 0.2
    assert kept[0].score.number("rubric") is None
    assert kept[1].score.numbers == ()


def test_that_the_replies_of_all_steps_stand_beside_their_answer(store: Store) -> None:
    run = a_run(store, some_trials(2))
    first, second = (one.id for one in trials.scored_trials(store, run))
    own, judged = answer(store, first), answer(store, first, "d" * 64)
    read = (
        trials.reply_with_id(store, own),
        replace(trials.reply_with_id(store, judged), step=Step("judge", "judge", 1)),
    )
    score = Score(Status.SCORED_CORRECT)
    with store.transaction():
        verdict = Verdict(score, "1", '{"words": "x"}', "1", read)
        trials.settle(store, [(first, verdict)])
    settle(store, second, answer(store, second, "e" * 64))
    assert steps.replies_read(store, first) == read
    assert steps.replies_read(store, second) == ()
    parsed = [one.parsed for one in trials.scored_trials(store, run)]
    assert parsed == ['{"words": "x"}', '{"cell": [3, 3]}']
    with pytest.raises(StoreError), store.transaction():
        store.execute("UPDATE parse_step SET step = 'other'")
