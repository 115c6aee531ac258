"""What a running batch tells of its spending and of how much it asks."""

from collections.abc import Iterator

from viewer.domain.run import LimitChanged, RunSpent, TrialDone
from viewer.services.running.ledger import Settled
from viewer.services.running.scheduler import Flights
from viewer.services.running.spending import Purse


class Telling:
    """Compares what was told last with what is; says each change once."""

    def __init__(self, run: int, purse: Purse, flights: Flights) -> None:
        self._run, self._purse, self._flights = run, purse, flights
        self._spent = 0
        self._limits: dict[str, tuple[int, float | None]] = {}

    def news(self) -> Iterator[RunSpent | LimitChanged]:
        """Return what changed since this was asked last."""
        purse = self._purse
        if purse.spent != self._spent:
            self._spent = purse.spent
            yield RunSpent(self._run, purse.spent, purse.at_risk, purse.ceiling)
        for endpoint, limit in self._flights.limits.items():
            now = limit.window, limit.per_s
            if self._limits.get(endpoint) != now:
                self._limits[endpoint] = now
                yield LimitChanged(self._run, endpoint, *now)


def trial_done(run: int, settled: Settled) -> TrialDone:
    """Return that a trial of a run is settled."""
    trial = settled.stored.trial
    return TrialDone(
        run=run,
        trial=settled.stored.id,
        item=trial.item,
        condition=trial.condition.name,
        repeat=trial.repeat,
        model=trial.model,
        score=settled.score,
        request_sha256=settled.request_sha256,
        reused=settled.reused,
        latency_ms=settled.latency_ms,
    )
