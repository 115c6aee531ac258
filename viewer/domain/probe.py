"""Results of probing an endpoint."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether an endpoint supports something, as far as the probe could tell."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One capability, its verdict, and a sentence on what was observed."""

    capability: str
    verdict: Verdict
    sentence: str


@dataclass(frozen=True)
class ProbeReport:
    """All results of probing a model's endpoint.

    ``endpoint`` is host:port; ``models`` are the names that it listed, empty if none.
    """

    model: str
    endpoint: str
    rows: tuple[ProbeRow, ...]
    models: tuple[str, ...] = ()

    def verdict(self, capability: str) -> Verdict:
        """Return the verdict on a capability, UNKNOWN if it was not probed."""
        found = (row.verdict for row in self.rows if row.capability == capability)
        return next(found, Verdict.UNKNOWN)

    @property
    def is_reachable(self) -> bool:
        """Whether the endpoint answered at all."""
        return self.verdict("reachable") is Verdict.YES
