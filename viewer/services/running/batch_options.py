"""How a batch asks."""

from dataclasses import dataclass

from viewer.domain.run import OrphanPolicy
from viewer.services.running.scheduler import MOST_ELSEWHERE


@dataclass(frozen=True)
class BatchOptions:
    """Options of a batch that do not affect answers.

    ``concurrency`` is the maximum of questions in flight, 0 for few to this machine and
    more to servers, as far as they accept them; ``orphans`` overrides each model's
    policy; ``retry_failed`` asks trials again that ended as provider_error.
    """

    concurrency: int = 0
    orphans: OrphanPolicy | None = None
    retry_failed: bool = False

    @property
    def most(self) -> int:
        """The maximum of questions in flight to all endpoints together."""
        return self.concurrency or MOST_ELSEWHERE
