from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.requests import request
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.interpretability import Highlight, Measures
from viewer.domain.reference import Mask
from viewer.models.catalog import ADAPTERS
from viewer.models.interpretability import (
    check_interpretable,
    is_interpretable,
    why_no_attention,
)

LIGHT = Highlight(Mask.of_array(np.ones((2, 2), dtype=np.bool_)))
PLAIN = request()
WISHES = [replace(PLAIN, highlight=LIGHT), replace(PLAIN, measures=Measures())]


@pytest.mark.statement("E002-15", "E004-16")
@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_that_only_models_that_give_access_are_asked_for_their_attention(
    name: str,
) -> None:
    spec, profile = ADAPTERS[name], ModelProfile("m", name)
    check_interpretable(spec, profile, PLAIN)
    for wish in WISHES:
        if spec.interpretable:
            check_interpretable(spec, profile, wish)
        else:
            with pytest.raises(WrongUseError, match="gives no access"):
                check_interpretable(spec, profile, wish)
    assert spec.interpretable == (name == "transformers_local")


def test_that_a_script_takes_wishes_where_it_says_so() -> None:
    spec = ADAPTERS["scripted"]
    said = ModelProfile("m", "scripted", {"answer": "A", "interpretable": True})
    for wish in WISHES:
        check_interpretable(spec, said, wish)
    assert is_interpretable(spec, said)
    assert not is_interpretable(spec, ModelProfile("m", "scripted", {"answer": "A"}))


@pytest.mark.statement("E004-16")
@pytest.mark.parametrize(
    ("adapter", "settings", "said"),
    [
        ("transformers_local", {"attention": "eager"}, ""),
        ("transformers_local", {"attention": "sdpa"}, 'attention = "eager"'),
        ("transformers_local", {}, 'attention = "eager"'),
        ("openai_api", {}, "openai_api gives no access"),
        ("gguf_local", {"attention": "eager"}, "gguf_local gives no access"),
    ],
)
def test_that_a_model_whose_attention_cannot_be_measured_says_why(
    adapter: str, settings: dict[str, object], said: str
) -> None:
    reason = why_no_attention(ADAPTERS[adapter], ModelProfile("m", adapter, settings))
    assert said in reason
    assert bool(reason) == bool(said)
