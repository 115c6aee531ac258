from math import isnan, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.metrics.sensitivity import (
    cross_modal,
    lin_concordance,
    nmse,
    unweighted_mean,
)

PAIRS = st.lists(
    st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), max_size=12
)


@pytest.mark.statement("E004-19")
def test_that_the_error_of_the_specification_is_exact() -> None:
    found = cross_modal((0.1, 0.5, 0.0), (0.2, 0.4, 0.3))
    assert found.nmse == pytest.approx(0.3793103448, abs=5e-11)
    assert found.swapped == pytest.approx(0.11 / 0.26, abs=1e-12)
    assert (found.above, found.below, found.tied, found.cases) == (1, 2, 0, 3)


@given(PAIRS)
@pytest.mark.statement("E004-19")
def test_that_counts_and_errors_are_those_added_up_one_by_one(
    pairs: list[tuple[float, float]],
) -> None:
    image, text = [x for x, _ in pairs], [y for _, y in pairs]
    found = cross_modal(image, text)
    assert found.above == sum(x - y >= 1e-9 for x, y in pairs)
    assert found.below == sum(y - x >= 1e-9 for x, y in pairs)
    assert found.tied == sum(abs(x - y) < 1e-9 for x, y in pairs)
    power = sum(y * y for y in text)
    if power > 0:
        error = sum((x - y) ** 2 for x, y in pairs) / power
        assert found.nmse == pytest.approx(error, rel=1e-12)
    else:
        assert isnan(found.nmse)


@given(PAIRS, st.floats(1.1, 10.0))
@pytest.mark.statement("E004-17", "E004-19")
def test_that_the_error_does_not_depend_on_the_logarithms_base(
    pairs: list[tuple[float, float]], base: float
) -> None:
    image, text = [x for x, _ in pairs], [y for _, y in pairs]
    unit = 1 / log(base)
    scaled = cross_modal([x * unit for x in image], [y * unit for y in text]).nmse
    plain = cross_modal(image, text).nmse
    assert scaled == pytest.approx(plain, rel=1e-12, nan_ok=True)


@given(PAIRS)
def test_that_concordance_is_that_of_lins_formula(
    pairs: list[tuple[float, float]],
) -> None:
    x, y = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    found = lin_concordance(x, y)
    if len(pairs) < 2 or x.var() + y.var() + (x.mean() - y.mean()) ** 2 == 0:
        assert isnan(found) or found == pytest.approx(0.0, abs=1e-12)
        return
    covariance = float(np.cov(x, y, bias=True)[0, 1])
    below = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    assert found == pytest.approx(2 * covariance / below, abs=1e-12)


@pytest.mark.statement("E004-19")
def test_that_images_that_move_nothing_have_an_error_of_one() -> None:
    found = cross_modal((0.0, 0.0), (0.3, 0.4))
    assert found.nmse == 1.0
    assert isnan(found.swapped)


def test_that_a_case_without_one_modality_is_counted_apart() -> None:
    found = cross_modal((0.1, nan, 0.2), (0.1, 0.3, nan))
    assert (found.missing, found.tied, found.cases) == (2, 1, 1)
    assert isnan(cross_modal((), ()).nmse)
    assert isnan(cross_modal((), ()).concordance)


def test_that_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="two modalities"):
        cross_modal((0.1,), (0.1, 0.2))


@pytest.mark.statement("E004-19")
def test_that_the_mean_over_kinds_of_evidence_is_unweighted() -> None:
    qwen = (1.15, 0.90, 0.73, 1.00, 0.85, 1.23)
    assert round(unweighted_mean(qwen), 2) == 0.98
    assert unweighted_mean((0.5, nan)) == 0.5
    assert isnan(unweighted_mean((nan,)))
    assert nmse((1, 2), (1, 2)) == 0.0
