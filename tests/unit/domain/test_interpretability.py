from typing import Any

import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.interpretability import (
    Highlight,
    Measures,
    QueryPosition,
    Section,
    SectionAttention,
    WeightForm,
    letter_spellings,
)
from viewer.domain.reference import Mask
from viewer.metrics.rapt import rapt, weighted_sum

REGION = Mask.of_array(np.eye(4, dtype=np.bool_))


def test_that_a_highlight_contrasts_unless_gamma_is_one() -> None:
    light = Highlight(REGION)
    assert (light.weight, light.contrast) == (3.0, 1.3)
    assert light.contrasts
    assert not Highlight(REGION, contrast=1.0).contrasts
    assert Highlight(REGION, contrast=0.0).contrasts


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"weight": 0.0}, "multiply"),
        ({"weight": -1.0}, "multiply"),
        ({"weight": float("nan")}, "multiply"),
        ({"contrast": -0.1}, "contrast is below 0"),
        ({"contrast": float("nan")}, "contrast is below 0"),
        ({"least_cover": 1.1}, "minimum cover"),
    ],
)
def test_that_a_highlight_out_of_range_is_refused(
    settings: dict[str, float], said: str
) -> None:
    with pytest.raises(WrongUseError, match=said):
        Highlight(REGION, **settings)  # type: ignore[arg-type]


def test_that_a_linear_weight_may_be_nothing_or_less() -> None:
    lowered = Highlight(REGION, weight=-1.0, form=WeightForm.LINEAR)
    assert lowered.weight == -1.0


def test_that_an_empty_region_is_refused() -> None:
    empty = Mask.of_array(np.zeros((3, 3), dtype=np.bool_))
    assert empty.size == SizePx(3, 3)
    with pytest.raises(WrongUseError, match="empty"):
        Highlight(empty)


@pytest.mark.parametrize(
    "wishes", [{"relevance": True}, {"sections": (Section("stem", "What?"),)}]
)
def test_that_attention_is_measured_only_of_somebody(wishes: dict[str, Any]) -> None:
    with pytest.raises(WrongUseError, match="no attention is requested"):
        Measures(**wishes)
    assert Measures(**wishes, attention=QueryPosition.GENERATED).answer


def test_that_letters_are_spelled_as_models_write_them() -> None:
    assert letter_spellings("AB") == (("A", " A", "(A"), ("B", " B", "(B"))
    assert letter_spellings("A", ("",)) == (("A",),)


@pytest.mark.statement("E004-16")
def test_that_sections_alone_tell_the_same_relative_attention() -> None:
    rng = np.random.default_rng(1)
    rows = rng.random((3, 9))
    rows /= rows.sum(axis=1, keepdims=True)
    sections = {"image": (0, 4, 5), "text": (), "stem": (1, 2, 3, 6, 7, 8)}
    sums = tuple(
        tuple(float(row[list(of)].sum()) for of in sections.values()) for row in rows
    )
    told = SectionAttention(tuple(sections), (3, 0, 6), sums)
    assert told.places == {"image": range(3), "text": range(3, 3), "stem": range(3, 9)}
    assert told.per_token.shape == (3, 9)
    expected, found = rapt(rows, sections), rapt(told.per_token, told.places)
    for name in sections:
        assert found[name] == pytest.approx(expected[name], abs=1e-12, nan_ok=True)
    assert weighted_sum(found, told.places) == pytest.approx(np.ones(3), abs=1e-12)


@pytest.mark.parametrize(
    ("tokens", "sums"), [((1,), ((0.5, 0.5),)), ((1, 2), ((0.5, 0.5), (1.0,)))]
)
def test_that_every_section_has_its_tokens_and_its_sum_in_every_layer(
    tokens: tuple[int, ...], sums: tuple[tuple[float, ...], ...]
) -> None:
    with pytest.raises(ValueError, match="do not go together"):
        SectionAttention(("image", "text"), tokens, sums)
