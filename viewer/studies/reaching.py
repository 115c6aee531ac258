"""Studies that reach inside a model under some of their conditions."""

from typing import Final, Protocol, runtime_checkable

from viewer.domain.run import Condition

OUT_OF_REACH: Final = "out_of_reach"
"""Why a trial is excluded whose model cannot be reached inside."""


@runtime_checkable
class ReachesInside(Protocol):
    """What a study has besides that highlights regions inside a model.

    A model that cannot be reached is asked nothing under such a condition, not even a
    first pass that would come to nothing.
    """

    def only_inside(self, condition: Condition) -> bool:
        """Tell whether a condition is only for models that can be reached inside."""
        ...
