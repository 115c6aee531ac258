"""A run's remaining budget: the ceiling is checked before a question is sent.

Questions in flight count with their maximum cost, and so, permanently, does an attempt
that may have been billed although its token count never arrived.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.models.batching import ANEW, CANCELLED, EXPIRED, REJECTED, UNSENT
from viewer.models.prices import is_unpriced, most_tokens, png_size, price_of
from viewer.services.configuring.money import dollars
from viewer.store import spending, trials
from viewer.store.database import Store

NOT_ALLOWED: Final = "not_allowed"
"""The reason of a question that was kept on this machine at the last moment."""
_NOT_ASKED: Final = frozenset(
    {
        *("unreachable", "no_key", "certificate", "not_tls", "proxy", "not_recorded"),
        NOT_ALLOWED,
        *(ANEW, EXPIRED, CANCELLED, REJECTED, UNSENT),
    }
)
"""Ends of an attempt before anything was asked, and so paid for."""


class Budget:
    """The budget of one batch; used only by the coordinator's thread.

    Parameters
    ----------
    ceiling : int or None
        The most the run may cost, in micro-dollars; None for no ceiling.
    spent : int
        Upper bound of the cost so far.
    """

    def __init__(self, ceiling: int | None = None, spent: int = 0) -> None:
        self.ceiling, self.spent = ceiling, spent
        self._at_risk: dict[int, int] = {}

    @property
    def at_risk(self) -> int:
        """The maximum cost of the questions in flight."""
        return sum(self._at_risk.values())

    def fits(self, most: int, besides: int = 0) -> bool:
        """Tell whether a question fits, also if ``besides`` is spent before it."""
        if self.ceiling is None or most == 0:
            return True
        return self.spent + self.at_risk + besides + most <= self.ceiling

    def reserve(self, attempt: int, most: int) -> None:
        """Reserve the maximum cost of a question when it is sent."""
        self._at_risk[attempt] = most

    def pay(self, attempt: int, cost: int | None) -> None:
        """Charge the cost of an attempt; None charges its maximum cost."""
        most = self._at_risk.pop(attempt, 0)
        self.spent += most if cost is None else cost

    def release(self, attempt: int) -> None:
        """Release the reservation of an attempt that cost nothing."""
        self._at_risk.pop(attempt, None)


def may_have_cost(reason: str, http_status: int | None) -> bool:
    """Tell whether a failed attempt may have been billed.

    Providers do not bill replies with an error status. A reply that broke off or timed
    out may have been completed.
    """
    return http_status is None and reason not in _NOT_ASKED


def budget_of_run(
    store: Store,
    run: int,
    profiles: Mapping[str, ModelProfile],
    helpers: Sequence[ModelProfile] = (),
) -> Budget:
    """Return a run's budget with an upper bound of its cost so far.

    An attempt without a reply may also have gone to any of the ``helpers``.

    Raises
    ------
    WrongUseError
        If there is a ceiling and a remote model without a price.
    """
    ceiling = spending.ceiling_of_run(store, run)
    if ceiling is not None:
        check_prices(profiles.values())
    known = spending.spent_microusd(store, run)
    unknown = sum(
        max(
            most_of_stored(store, profile, attempt.request_sha256)
            # The ledger does not say which model of a trial an attempt went to.
            for profile in (profiles[attempt.model], *helpers)
        )
        for attempt in spending.unpriced_attempts(store, run)
        # As may_have_cost: the query has left out ends with an HTTP status.
        if attempt.reason not in _NOT_ASKED
    )
    return Budget(ceiling, known + unknown)


def check_prices(profiles: Iterable[ModelProfile]) -> None:
    """Raise WrongUseError if a remote model has no price to enforce a ceiling with."""
    for profile in profiles:
        if is_unpriced(profile):
            raise WrongUseError(
                f"A ceiling needs the price of '{profile.name}', which is not known.",
                "Add price_in and price_out, in dollars per million tokens, to the "
                "model.",
            )


def most_of_stored(store: Store, profile: ModelProfile, sha256: str) -> int:
    """Return the maximum cost of a request in the ledger."""
    price = price_of(profile)
    if price is None:
        return 0
    request = trials.sent_request(store, sha256)
    messages = request.document["messages"]
    assert isinstance(messages, list)  # noqa: S101 - request_document wrote it
    texts = [p["text"] for m in messages for p in m["parts"] if "text" in p]
    sizes = [png_size(png) for png in request.images.values()]
    form = len(json.dumps(request.document.get("answer_schema")).encode())
    return price.of(most_tokens(profile, texts, sizes, len(messages), form)) or 0


def ceiling_sentence(budget: Budget, model: str, most: int) -> str:
    """Say that a run pauses because the next question might go beyond its ceiling."""
    ceiling = budget.ceiling or 0
    return (
        f"The ceiling of {dollars(ceiling)} is reached: up to {dollars(budget.spent)} "
        f"is spent, and the next question to {model} may cost up to {dollars(most)}. "
        "The run is paused; continue with a higher --ceiling."
    )
