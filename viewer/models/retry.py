"""How long to wait before asking again."""

import random
from typing import Final

from viewer.domain.errors import ProviderError

MAX_ATTEMPTS: Final = 6
"""Attempts after which a trial ends as provider_error."""

SHORTEST_S: Final = 0.5
LONGEST_S: Final = 60.0
LONGEST_ASKED_S: Final = 3600.0
"""A provider's own wish is honoured up to an hour."""
_SPREAD_S: Final = 0.05


def retry_pause(attempt: int, error: ProviderError, rng: random.Random) -> float:
    """Return the seconds to wait after a failed attempt.

    Full jitter: any time up to 0.5 s, doubled with every attempt, at most 60 s. If the
    provider says how long, that long, plus up to 50 ms of jitter.

    Parameters
    ----------
    attempt : int
        Attempts made so far, 1 after the first.
    error : ProviderError
        The error of the last attempt.
    rng : random.Random
        The source of the jitter.
    """
    if error.retry_after_s is not None:
        asked = min(max(error.retry_after_s, 0.0), LONGEST_ASKED_S)
        return asked + rng.uniform(0.0, _SPREAD_S)
    doublings = min(max(attempt, 1) - 1, 16)
    return rng.uniform(0.0, min(LONGEST_S, SHORTEST_S * 2**doublings))
