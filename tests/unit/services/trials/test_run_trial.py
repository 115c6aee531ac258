"""The path of one trial, taken by hand without a store."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_dataset, quiz_in_catalog, quiz_spec, says
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile, RawReply, ReplyKind
from viewer.domain.run import Step, Trial
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import PreparedRequest, ask_model, run_trial
from viewer.store.trials import TrialReply, Verdict


@pytest.fixture
def context(tmp_path: Path) -> Iterator[RunContext]:
    with quiz_in_catalog():
        dataset = quiz_dataset(tmp_path / "pictures")
        model = says("knows", {"two": "C"}, tmp_path)
        judge = says("judges", {"two": "odd", "two|judge again": "4"}, tmp_path)
        yield RunContext(quiz_spec([model], judge), dataset)


def first_trial(context: RunContext) -> Trial:
    return context.study.plan(context.dataset, context.spec)[0]


def taken(
    context: RunContext, replies: tuple[TrialReply, ...] = ()
) -> tuple[list[str], Verdict]:
    """Return the models that a trial is asked of after some replies, and its verdict.

    Every question is prepared in a thread of its own.
    """
    path, asked = run_trial(context, first_trial(context), replies), []
    try:
        stop = next(path)
        while True:
            assert isinstance(stop, ModelProfile)
            asked.append(stop.name)
            with ThreadPoolExecutor(1) as pool:
                made = pool.submit(next, path).result()
            assert isinstance(made, PreparedRequest)
            raw = ask_model(made.profile, made.request, made.outgoing)
            stop = path.send(TrialReply(raw, made.step))
    except StopIteration as end:
        return asked, end.value


def test_that_a_trial_goes_from_its_pixels_to_its_verdict(context: RunContext) -> None:
    asked, verdict = taken(context)
    assert asked == ["knows", "judges", "judges"]
    assert verdict.score.status is Status.SCORED_CORRECT
    assert verdict.score.number("judge") == 4
    steps = [one.step for one in verdict.replies]
    assert steps == [Step("answer"), Step("judge", "judge"), Step("judge", "judge", 1)]
    assert verdict.reply == verdict.replies[0]


def test_that_a_trial_goes_on_after_the_replies_it_has(context: RunContext) -> None:
    _, whole = taken(context)
    for n, left in ((1, ["judges", "judges"]), (2, ["judges"]), (3, [])):
        assert taken(context, whole.replies[:n]) == (left, whole)


def test_that_a_reply_nobody_can_read_ends_its_trial(context: RunContext) -> None:
    unreadable = TrialReply(
        RawReply(ReplyKind.CHAT_COMPLETION, b"<html>"), Step("answer")
    )
    asked, verdict = taken(context, (unreadable,))
    assert asked == []
    assert verdict.score.status is Status.PROVIDER_ERROR
    assert verdict.replies == (unreadable,)
