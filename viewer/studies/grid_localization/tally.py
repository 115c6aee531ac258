"""How many trials ended how (X-01); every trial is counted exactly once."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.result import Outcome, TrialResult


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of trials; ``k`` are hits, ``partial`` misses that touch the mask."""

    planned: int = 0
    scored: int = 0
    failed: int = 0
    refused: int = 0
    unparsed: int = 0
    excluded: int = 0
    pending: int = 0
    k: int = 0
    partial: int = 0

    @property
    def settled(self) -> int:
        """Trials in the denominator of the primary rate."""
        return self.planned - self.excluded - self.pending

    def __add__(self, other: "Tally") -> "Tally":
        names = self.__dataclass_fields__
        return Tally(*(getattr(self, name) + getattr(other, name) for name in names))


def tally(results: Iterable[TrialResult]) -> Tally:
    """Count trials by their status."""
    kept = list(results)
    n = Counter(result.score.status for result in kept)
    return Tally(
        planned=len(kept),
        scored=n[Status.SCORED_CORRECT] + n[Status.SCORED_WRONG],
        failed=n[Status.PROVIDER_ERROR],
        refused=n[Status.REFUSED],
        unparsed=sum(n[status] for status in UNREADABLE),
        excluded=n[Status.EXCLUDED],
        pending=n[Status.PENDING],
        k=n[Status.SCORED_CORRECT],
        partial=sum(r.score.outcome is Outcome.PARTIAL for r in kept),
    )


def is_settled(result: TrialResult) -> bool:
    """Tell whether a trial counts in the denominator of the primary rate."""
    return result.score.status not in {Status.EXCLUDED, Status.PENDING}
