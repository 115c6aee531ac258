"""What an endpoint was found to do."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether an endpoint does something, as far as asking could tell."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One capability, the verdict and the sentence that says what was seen."""

    capability: str
    verdict: Verdict
    sentence: str


@dataclass(frozen=True)
class ProbeReport:
    """Everything found out about the endpoint of a model.

    ``endpoint`` is host:port; ``models`` the names that it listed, () where it
    listed none.
    """

    model: str
    endpoint: str
    rows: tuple[ProbeRow, ...]
    models: tuple[str, ...] = ()

    def verdict(self, capability: str) -> Verdict:
        """Return a capability's verdict, UNKNOWN for one that was not looked at."""
        found = (row.verdict for row in self.rows if row.capability == capability)
        return next(found, Verdict.UNKNOWN)

    @property
    def is_reachable(self) -> bool:
        """True where something answered there."""
        return self.verdict("reachable") is Verdict.YES
