"""The one check of a connected model: does it see, and are its answers read right."""

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Final

from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.model_check import ModelCheck
from viewer.domain.probe import Verdict
from viewer.models.batching import at_once
from viewer.models.catalog import endpoint_of
from viewer.models.coordinates.conventions import convention_named
from viewer.models.endpoint import LOCAL_ONLY, Allowance
from viewer.models.prices import may_cost, most_microusd, price_of
from viewer.services.calibrating.calibrate import Progress, as_asked, ask_patiently
from viewer.services.calibrating.fit import Heard, fits
from viewer.services.calibrating.marker_images import Marker, markers
from viewer.services.calibrating.questions import NEUTRAL, question
from viewer.services.configuring.money import dollars
from viewer.services.configuring.served_files import files_of
from viewer.services.privacy.made_questions import BeforeSending, with_consent
from viewer.store.database import open_store
from viewer.store.model_checks import add_check
from viewer.store.reply_rows import utc_now

_GRID: Final = "grid"
_FIRST, _MOVED = markers()[0], markers()[4]
"""Two images with the same mark at different places: the same question about each."""
_QUESTIONS: Final = 5


@dataclass(frozen=True)
class _Answer:
    """A reply about a marker, and the seconds that it took."""

    heard: Heard
    reply: ModelReply
    seconds: float


@dataclass(frozen=True)
class _Asking:
    """Asks the questions of one check, and keeps the answers."""

    profile: ModelProfile
    allowance: Allowance
    before_sending: BeforeSending | None
    progress: Progress | None
    answers: list[_Answer] = field(default_factory=list)

    def ask(self, marker: Marker, wording: str) -> None:
        """Ask one question, and tell that it was answered."""
        begun = time.monotonic()
        reply = ask_patiently(
            as_asked(self.profile),
            question(marker, wording),
            self.allowance,
            self.before_sending,
            self.progress
            and functools.partial(self.progress, len(self.answers), _QUESTIONS),
        )
        taken = time.monotonic() - begun
        self.answers.append(_Answer(Heard(marker, wording, reply.text), reply, taken))
        if self.progress is not None:
            self.progress(len(self.answers), _QUESTIONS, "")


def check_model(
    profile: ModelProfile,
    allowance: Allowance = LOCAL_ONLY,
    before_sending: BeforeSending | None = None,
    *,
    progress: Progress | None = None,
) -> ModelCheck:
    """Ask a model three to five questions about images with a known mark.

    The same question about two images and again about the first, in the words of the
    profile's convention; if that finds no mark, in neutral words too.

    Parameters
    ----------
    profile : ModelProfile
        The model; without a ``convention`` it is asked for cells of a grid.
    allowance : Allowance
        Which remote servers may be asked.
    before_sending : callable or None
        Called with every question before it is sent.
    progress : callable or None
        Called after every answer.

    Raises
    ------
    ProviderError
        If the model cannot be asked.
    PrivacyError
        For an endpoint that may not be asked.
    """
    named = convention_named(str(profile.settings.get("convention") or _GRID)).name
    files = files_of(profile)
    asking = _Asking(profile, allowance, before_sending, progress)
    answers = asking.answers
    for marker in (_FIRST, _MOVED, _FIRST):
        asking.ask(marker, named)
    convention = _convention(profile, answers, named)
    if not convention:
        for marker in (_FIRST, _MOVED):
            asking.ask(marker, NEUTRAL)
        convention = _convention(profile, answers[3:], named)
    return ModelCheck(
        model=profile.name,
        at=utc_now(),
        sees=Verdict.YES if convention else _blind(answers),
        convention=convention,
        named=named,
        seconds=median(answer.seconds for answer in answers),
        cost_microusd=_cost(profile, answers),
        repeats=answers[0].reply.text == answers[2].reply.text,
        answered_as=answers[0].reply.model_returned,
        digest=files.digest if files else "",
    )


def check_with_consent(
    store_path: Path,
    profile: ModelProfile,
    *,
    progress: Progress | None = None,
    check: Callable[[], None] | None = None,
) -> ModelCheck:
    """Check a model whose endpoint has consent, and keep the result in the store.

    ``check`` is called before every question; an exception in it ends the questions,
    and nothing is kept.
    """
    ask = functools.partial(check_model, profile, progress=progress)
    found = with_consent(store_path, profile, ask, check)
    with open_store(store_path) as store:
        add_check(store, profile, found)
    return found


def _convention(profile: ModelProfile, answers: Sequence[_Answer], named: str) -> str:
    """Return the convention that finds every mark, the named one if it does."""
    view = profile.settings.get("provider_view")
    heard = [answer.heard for answer in answers]
    found = [
        fit.convention
        for fit in fits(heard, str(view) if view else None)
        if fit.near == fit.asked
    ]
    return named if named in found else next(iter(found), "")


def _blind(answers: Sequence[_Answer]) -> Verdict:
    """Tell whether the same question about another image has the same answer."""
    told: dict[str, set[str]] = {}
    for answer in answers:
        told.setdefault(answer.heard.wording, set()).add(answer.reply.text)
    same = all(len(texts) == 1 for texts in told.values())
    return Verdict.NO if same else Verdict.UNKNOWN


def _cost(profile: ModelProfile, answers: Sequence[_Answer]) -> int | None:
    price = price_of(at_once(profile))
    costs = [price.of(answer.reply.usage) for answer in answers] if price else []
    known = [cost for cost in costs if cost is not None]
    return round(mean(known)) if known and len(known) == len(answers) else None


def warning_before(profile: ModelProfile) -> str:
    """Say where a check sends questions and what it may cost, "" if neither."""
    profile = at_once(profile)  # as a check asks, whatever its setting
    endpoint = endpoint_of(profile)
    sends = endpoint is not None and not endpoint.is_here
    if endpoint is None or not (sends or may_cost(profile)):
        return ""
    where = f" to {endpoint.host}" if sends else ""
    if price_of(profile) is None:
        cost = "What that costs is not known."
    else:
        each = (question(marker, NEUTRAL) for marker in (_FIRST, _MOVED))
        most = _QUESTIONS * max(most_microusd(profile, one) for one in each)
        cost = f"They cost {dollars(most)} at most."
    return f"Up to {_QUESTIONS} short questions about made images go{where}. {cost}"
