from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from tests.helpers.requests import png_of, request
from viewer.domain.exchange import ModelProfile, Usage
from viewer.domain.geometry import SizePx
from viewer.models.batching import at_once
from viewer.models.prices import (
    OPENAI_PRICES,
    PRICES_DATE,
    Price,
    image_tokens,
    is_priced,
    is_unpriced,
    may_cost,
    most_microusd,
    most_of_request,
    png_size,
    price_of,
)
from viewer.models.provider_view import PROVIDER_VIEWS

SETTINGS = {"base_url": "http://127.0.0.1:1/v1", "model": "tiny"}
PROFILE = ModelProfile("mine", "openai_api", SETTINGS)


def priced(**settings: object) -> ModelProfile:
    return ModelProfile("mine", "openai_api", {**SETTINGS, **settings})


def test_that_a_profiles_own_price_comes_before_the_table() -> None:
    own = priced(server="openai", model="gpt-4o", price_in=1, price_out=2)
    assert price_of(own) == Price(1, 2)


def test_that_a_price_of_the_table_carries_its_date() -> None:
    found = price_of(priced(server="openai", model="gpt-4o-2024-11-20"))
    assert found == Price(2_500_000, 10_000_000, PRICES_DATE)


def test_that_no_price_is_guessed_for_a_model_or_server_nobody_named() -> None:
    assert price_of(PROFILE) is None
    assert price_of(priced(server="openai", model="gpt-99")) is None
    assert price_of(priced(server="vllm", model="gpt-4o")) is None
    assert price_of(ModelProfile("uniform", "uniform")) is None


def test_that_the_table_says_of_what_day_its_prices_are() -> None:
    assert date.fromisoformat(PRICES_DATE).isoformat() == PRICES_DATE
    assert {price.date for price in OPENAI_PRICES.values()} == {PRICES_DATE}


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        ({"server": "openai", "model": "gpt-5-mini"}, True),
        ({"server": "openai", "model": "gpt-99"}, False),
        ({"base_url": "https://api.example.org/v1"}, False),
        ({"base_url": "https://api.example.org/v1", "price_in": 1}, False),
        ({"base_url": "https://a.example/v1", "price_in": 1, "price_out": 1}, True),
    ],
)
def test_that_a_price_nobody_says_is_unknown_and_never_nothing(
    settings: dict[str, object], *, known: bool
) -> None:
    values = {"model": "m", **settings}
    profile = ModelProfile("far", "openai_api", values)
    assert (price_of(profile) is not None) is known
    assert is_unpriced(profile) is not known
    assert is_priced(profile) is known
    assert may_cost(profile)


def test_that_a_model_on_this_machine_costs_nothing_and_so_does_a_free_one() -> None:
    free = priced(base_url="https://a.example/v1", price_in=0, price_out=0)
    for profile in (PROFILE, ModelProfile("uniform", "uniform"), free):
        assert not is_unpriced(profile)
        assert not may_cost(profile)
    assert price_of(free) == Price(0, 0)


def test_that_output_never_costs_less_than_input_in_the_table() -> None:
    assert all(0 < p.tokens_in <= p.tokens_out for p in OPENAI_PRICES.values())


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(85, 2), 233),  # 85 · 2.5 + 2 · 10 = 232.5, half up
        (Usage(0, 0), 0),
        (Usage(None, 2), None),
        (Usage(85, None), None),
    ],
)
def test_that_a_cost_is_whole_micro_dollars_or_not_known(
    usage: Usage, cost: int | None
) -> None:
    assert Price(2_500_000, 10_000_000).of(usage) == cost


def test_that_the_most_a_question_can_have_covers_every_byte_and_the_longest_answer() -> (  # noqa: E501 - the sentence
    None
):
    asked = request(text="Wo ist der Erguß?")
    texts = ("You are an expert chest radiologist.", "Wo ist der Erguß?")
    most = most_of_request(priced(max_tokens=77), asked)
    assert most.tokens_out == 77
    assert most.tokens_in is not None
    said = sum(len(text.encode()) for text in texts)
    assert most.tokens_in > said + image_tokens(SizePx(32, 32))


def test_that_the_longer_name_of_the_longest_answer_wins() -> None:
    most = most_of_request(priced(max_completion_tokens=9), request())
    assert most.tokens_out == 9


def test_that_more_images_cost_more() -> None:
    one = request()
    twice = replace(one, messages=(*one.messages, *one.messages))
    profile = priced(price_in=1_000_000, price_out=0)
    assert most_microusd(profile, twice) > 1.9 * most_microusd(profile, one)
    assert most_microusd(PROFILE, one) == 0


@pytest.mark.parametrize("side", [1, 256, 512, 1024, 3000])
def test_that_an_unknown_count_is_bounded_by_the_dearest_known_one(side: int) -> None:
    bound = image_tokens(SizePx(side, 2 * side))
    for view in PROVIDER_VIEWS.values():
        assert bound >= (view.tokens(SizePx(side, 2 * side)) or 0)
    assert image_tokens(SizePx(side, 2 * side), "gemini") == bound


def test_that_a_known_provider_view_counts_by_its_own_formula() -> None:
    assert image_tokens(SizePx(512, 512), "openai_low") == 85
    assert image_tokens(SizePx(2828, 2320), "openai_high") == 765


def test_that_the_size_of_a_png_is_read_off_its_header() -> None:
    png = png_of(np.zeros((7, 300), np.uint8))
    assert png_size(png) == SizePx(7, 300)


def test_that_answers_in_a_batch_cost_half_unless_the_profile_says_otherwise() -> None:
    listed = {"server": "openai", "model": "gpt-5", "answers": "batch"}
    assert price_of(priced(**listed)) == Price(625_000, 5_000_000, PRICES_DATE)
    own = {"price_in": 3, "price_out": 10, "answers": "batch"}
    assert price_of(priced(**own)) == Price(2, 5)
    assert price_of(priced(**own, batch_rate=0.1)) == Price(1, 1)
    assert price_of(priced(**own, batch_rate=1.0)) == Price(3, 10)
    assert price_of(at_once(priced(**own))) == Price(3, 10)
    assert price_of(priced(answers="batch")) is None
