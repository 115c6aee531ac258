from dataclasses import replace
from math import log

import pytest

from tests.helpers.evidence_cases import reply
from tests.unit.studies.evidence_diagnosis.turns import asking, turn_of
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelReply, TokenLogprob
from viewer.domain.interpretability import Measured, SectionAttention, Spelled
from viewer.domain.result import Score
from viewer.domain.run import Step
from viewer.metrics.posterior import Estimator, from_counts
from viewer.studies.evidence_diagnosis.beliefs import (
    answer_place,
    numbers_of,
    posterior,
    posterior_of,
    rapt_numbers,
    rapt_of,
)
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.steps import Asking
from viewer.studies.evidence_diagnosis.study import STUDY

TRUTH = (0.6, 0.2, 0.15, 0.05)
"""What the model believes of the options, in the case's own order."""
ANSWER = Step("answer")


def believing(estimator: Estimator, **more: object) -> Params:
    return replace(Params(sensitivity=True, estimator=estimator), **more)  # type: ignore[arg-type]


def told(order: tuple[int, ...], *, texts: bool = False) -> ModelReply:
    """Return a reply that tells how likely each letter, or each option's text, is."""
    options = tuple(
        (Spelled("ABCD"[place] if not texts else "x", 3, log(TRUTH[option])),)
        for place, option in enumerate(order)
    )
    return replace(reply("A"), measured=Measured(options))


def order_of(params: Params, turned: int = 0) -> tuple[int, ...]:
    return asking(Task.FDX, params).order(turned)


@pytest.mark.statement("E004-17")
@pytest.mark.parametrize("estimator", [Estimator.LETTERS, Estimator.SEQUENCES])
def test_that_likelihoods_become_the_options_posterior(estimator: Estimator) -> None:
    params = believing(estimator)
    replies = [(ANSWER, told(order_of(params), texts=estimator != "letter_logprobs"))]
    found = posterior(asking(Task.FDX, params, replies))
    assert found is not None
    assert found.p == pytest.approx(TRUTH, abs=1e-12)
    assert found.estimator is estimator


@pytest.mark.statement("E004-17")
def test_that_every_order_is_turned_back_before_the_mean() -> None:
    params = believing(Estimator.PERMUTED)
    steps = [ANSWER, *(Step(f"turned {i}") for i in (1, 2, 3))]
    replies = [(s, told(order_of(params, i))) for i, s in enumerate(steps)]
    found = posterior(asking(Task.FDX, params, replies))
    assert found is not None
    assert found.p == pytest.approx(TRUTH, abs=1e-12)
    assert posterior(asking(Task.FDX, params, replies[:3])) is None
    silent = [*replies[:3], (steps[3], reply("A"))]
    assert posterior(asking(Task.FDX, params, silent)) is None


@pytest.mark.statement("E004-17")
def test_that_an_endpoints_likeliest_tokens_are_bounded() -> None:
    params = believing(Estimator.TOP_LOGPROBS)
    order = order_of(params)
    top = tuple(
        ("ABCD"[place], log(TRUTH[option])) for place, option in enumerate(order)
    )[:3]
    said = (
        TokenLogprob("The", -0.1, (("The", -0.1),)),
        TokenLogprob(" A", -0.5, top),
    )
    given = replace(reply("The A"), logprobs=said)
    found = posterior(asking(Task.FDX, params, [(ANSWER, given)]))
    assert found is not None
    for p, low, high in zip(TRUTH, found.low, found.high, strict=True):
        assert low - 1e-9 <= p <= high + 1e-9
    nothing = replace(reply("A"), logprobs=(TokenLogprob("A", -0.1),))
    assert posterior(asking(Task.FDX, params, [(ANSWER, nothing)])) is None
    assert posterior(asking(Task.FDX, params, [(ANSWER, reply("A"))])) is None


DISEASES = ("Vitamin D deficiency", "Hepatitis B", "Sarcoidosis", "Gout")


@pytest.mark.statement("E004-17")
@pytest.mark.parametrize(
    ("texts", "place"),
    [
        (("B",), 0),
        ((" (", "C", ")", " Sarcoidosis"), 1),
        (("Answer", ":", " **", "D", "**"), 3),
        (("A", " patient", " with", " fever", ".", " The", " answer", " is", " C"), 8),
        (("A", " patient", ".", " The", " answer", " is", " A", "."), 6),
        (("A", "cute", " cyst", ".", " Answer", ":", " A"), 6),
        (("Vitamin", " D", " is", " low", ".", " Answer", ":", " B"), 7),
        (("Vitamin", " D", " is", " low", ".", " Answer", ":", " D"), 7),
        (("Not", " B", ".", " The", " answer", " is", " A"), 6),
        (("(", "C", ")", " fits", ",", " so", " (", "C", ")"), 1),
        (("\u0120The", "\u0120answer", "\u0120is", "\u0120C"), 3),
        (("The", " answer", " is", " Hepatitis", " B"), None),
        (("Hep", "atitis", " B"), None),
        (("B", ".", " Hepatitis", " B"), 0),
        (("Sar", "coid", "osis"), None),
        (("(", "A", ")", " or", " (", "B", ")"), None),
        (("I", " cannot", " tell"), None),
        (("E",), None),
        ((), None),
    ],
)
def test_that_the_token_that_states_the_answer_is_found(
    texts: tuple[str, ...], place: int | None
) -> None:
    order = (1, 0, 3, 2)
    shown = tuple(DISEASES[order.index(option)] for option in range(4))
    tokens = tuple(TokenLogprob(text, -1.0) for text in texts)
    said = "".join(texts).replace("\u0120", " ")
    assert answer_place(replace(reply(said), logprobs=tokens), shown, order) == place


def test_that_tokens_of_another_answer_than_the_text_state_nothing() -> None:
    given = replace(reply("The answer is B"), logprobs=(TokenLogprob("A", -1.0),))
    assert answer_place(given, DISEASES, (0, 1, 2, 3)) is None


@pytest.mark.statement("E004-17")
def test_that_drawn_answers_are_counted_by_option() -> None:
    params = believing(Estimator.MONTE_CARLO, draws=4)
    words = ("Sarcoidosis", "Sarcoidosis", "Lymphoma", "no idea")
    replies = [(Step("answer", again=i), reply(text)) for i, text in enumerate(words)]
    found = posterior(asking(Task.FDX, params, replies))
    assert found is not None
    assert found.counts == (2, 0, 1, 0)
    unread = [(ANSWER, reply("no idea"))]
    assert posterior(asking(Task.FDX, params, unread)) is None


def test_that_nothing_is_told_where_nothing_is_wished_or_known() -> None:
    silent = [(ANSWER, reply("A"))]
    assert posterior(asking(Task.FDX, Params(), silent)) is None
    assert posterior(asking(Task.FDX, believing(Estimator.LETTERS), silent)) is None
    assert numbers_of(None) == ()


def test_that_a_posterior_is_kept_among_a_verdicts_numbers() -> None:
    drawn = from_counts((3, 0, 1, 0))
    score = Score(Status.SCORED_WRONG, numbers=numbers_of(drawn))
    assert posterior_of(score, Estimator.MONTE_CARLO) == drawn
    params = believing(Estimator.LETTERS)
    turn = turn_of(Task.FDX, [(ANSWER, told(order_of(params)))])
    verdict = STUDY.score(turn, STUDY.parse(turn, params), params)
    kept = posterior_of(verdict, Estimator.LETTERS)
    assert kept == posterior(Asking(turn, params))
    assert posterior_of(Score(Status.SCORED_WRONG), Estimator.LETTERS) is None


@pytest.mark.statement("E004-16")
def test_that_attention_is_kept_layer_by_layer_and_adds_up_to_one() -> None:
    names = ("image", "text", "special", "stem", "options")
    tokens = (3, 4, 0, 1, 2)
    sums = ((0.6, 0.1, 0.0, 0.1, 0.2), (0.1, 0.5, 0.0, 0.2, 0.2))
    attention = SectionAttention(names, tokens, sums)
    given = replace(reply("A"), measured=Measured(attention=attention))
    found = rapt_of(Score(Status.SCORED_WRONG, numbers=rapt_numbers(given)))
    assert {name for name, _, _ in found} == {*names, "weighted_sum"} - {"special"}
    by = {(name, layer): value for name, layer, value in found}
    wholes = [by.pop(("weighted_sum", layer)) for layer in (0, 1)]
    assert wholes == pytest.approx([1.0, 1.0], abs=1e-12)
    assert by["image", 0] == pytest.approx(0.6 / 3 * 10, abs=1e-12)
    for layer in (0, 1):
        weights = dict(zip(names, tokens, strict=True))
        whole = sum(v * weights[n] / 10 for (n, at), v in by.items() if at == layer)
        assert whole == pytest.approx(1.0, abs=1e-12)
    assert rapt_numbers(reply("A")) == ()
    turn = turn_of(Task.FDX, [(ANSWER, given)])
    params = Params(rapt=True)
    verdict = STUDY.score(turn, STUDY.parse(turn, params), params)
    assert verdict.number("rapt_image_1") == pytest.approx(1 / 3, abs=1e-12)
