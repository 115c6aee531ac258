"""The authors' script over whole samples, as the study reads and settles them."""

from collections.abc import Sequence

from viewer.studies.pathology_mcq.official import (
    DROPPED,
    OfficialResult,
    OfficialSample,
    official_code,
    settled,
)


def official_run(samples: Sequence[OfficialSample], seed: int = 42) -> OfficialResult:
    """Read samples in their order, with one stream of random numbers for them all."""
    return settled([(one, _code(one)) for one in samples], seed)


def _code(sample: OfficialSample) -> int:
    if sample.response is None:
        return DROPPED
    return official_code(sample.response, sample.options, sample.answer)
