"""Studies that steer a model's attention under some of their conditions."""

from typing import Final, Protocol, runtime_checkable

from viewer.domain.run import Condition

NO_ATTENTION: Final = "no_attention"
"""Why a trial is excluded whose model gives no access to its attention."""


@runtime_checkable
class SteersAttention(Protocol):
    """What a study has besides that highlights regions in a model's attention.

    A model that gives no access to it is asked nothing under such a condition, not even
    a first pass that would come to nothing.
    """

    def steers_attention(self, condition: Condition) -> bool:
        """Tell whether a condition is only for models whose attention is accessible."""
        ...
