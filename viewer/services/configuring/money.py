"""Formatting of money; imports little, so that the window starts fast."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from viewer.domain.run import RunSpent

DOLLAR: Final = 1_000_000
"""Micro-dollars in a dollar."""


def dollars(microusd: int) -> str:
    """Return an amount in dollars to the cent, or finer if it is less than one."""
    is_small = 0 < microusd < DOLLAR // 100
    return f"${microusd / DOLLAR:.4f}" if is_small else f"${microusd / DOLLAR:.2f}"


def spent_words(event: "RunSpent") -> str:
    """Return the cost of a run and its ceiling: ``$0.42 of $5.00``."""
    ceiling = "" if event.ceiling is None else f" of {dollars(event.ceiling)}"
    return f"{dollars(event.spent)}{ceiling}"
