import pytest

from viewer.services.configuring.money import dollars
from viewer.services.running.spending import Budget, ceiling_sentence, may_have_cost


def test_that_what_is_in_flight_counts_with_the_most_it_can_cost() -> None:
    budget = Budget(ceiling=100, spent=10)
    budget.reserve(1, 50)
    assert budget.at_risk == 50
    assert budget.fits(40)
    assert not budget.fits(41)
    assert not budget.fits(30, besides=11)


def test_that_a_known_cost_takes_the_place_of_the_most() -> None:
    budget = Budget(ceiling=100)
    budget.reserve(1, 80)
    budget.pay(1, 3)
    assert (budget.spent, budget.at_risk) == (3, 0)
    assert budget.fits(97)


def test_that_a_cost_nobody_tells_stays_the_most_it_can_be() -> None:
    budget = Budget(ceiling=100)
    budget.reserve(1, 80)
    budget.pay(1, None)
    assert budget.spent == 80
    assert not budget.fits(21)


def test_that_a_refused_question_costs_nothing() -> None:
    budget = Budget(ceiling=100)
    budget.reserve(1, 80)
    budget.release(1)
    assert (budget.spent, budget.at_risk) == (0, 0)


def test_that_a_free_question_always_fits_and_no_ceiling_holds_nothing_back() -> None:
    assert Budget(ceiling=10, spent=10).fits(0)
    assert Budget(None, spent=10**12).fits(10**12)


@pytest.mark.parametrize(
    ("reason", "status", "may"),
    [
        ("http_429", 429, False),
        ("http_500", 500, False),
        ("unreachable", None, False),
        ("no_key", None, False),
        ("timeout", None, True),
        ("connection", None, True),
        ("too_large", None, True),
    ],
)
def test_that_only_an_answer_that_may_have_been_given_may_have_cost(
    reason: str, status: int | None, may: bool
) -> None:
    assert may_have_cost(reason, status) is may


def test_that_the_sentence_tells_ceiling_spending_and_the_way_on() -> None:
    said = ceiling_sentence(Budget(5_000_000, 4_980_000), "gpt", 53_000)
    assert "$5.00 is reached: up to $4.98" in said
    assert "gpt may cost up to $0.05" in said
    assert "--ceiling" in said
    assert dollars(2_500) == "$0.0025"
    assert dollars(0) == "$0.00"
