"""The result of the one check of a connected model."""

from dataclasses import dataclass

from viewer.domain.probe import Verdict


@dataclass(frozen=True)
class ModelCheck:
    """What a model did with a few questions about images with a known mark.

    ``at`` is the time, UTC, ISO 8601. ``sees``: YES if it found the marks, NO if images
    change nothing. ``convention`` is the coordinate convention in which its answers are
    right, "" for none, and ``named`` that of its settings. ``seconds`` is the median of
    its answers, ``cost_microusd`` their mean in micro-dollars, None if unknown.
    ``repeats``: the same question had the same answer. ``answered_as`` is the name that
    the server gave the model, "" for none, and ``digest`` the hash by which the server
    knows the model's files, "" where it tells none.
    """

    model: str
    at: str
    sees: Verdict
    convention: str
    named: str
    seconds: float
    cost_microusd: int | None
    repeats: bool
    answered_as: str = ""
    digest: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether its answers are read right with the settings it has."""
        return self.sees is Verdict.YES and self.convention == self.named
