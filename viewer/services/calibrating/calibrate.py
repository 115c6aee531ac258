"""Calibration: which coordinate convention a model answers in, and how exactly.

A model is asked where a coloured marker is, in generated images, with neutral wording
and that of each convention. Nothing is chosen for a profile: the result says what fits
and how certain that is.
"""

import functools
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import ModelProfile, ModelReply, ModelRequest
from viewer.domain.plain import plain
from viewer.domain.run import server_loads_words
from viewer.models.catalog import adapter_for, endpoint_of
from viewer.models.coordinates.conventions import convention_named
from viewer.models.endpoint import LOCAL_ONLY, Allowance
from viewer.models.loaded import Loadable
from viewer.models.loaded import Progress as LoadProgress
from viewer.models.retry import retry_pause
from viewer.services.calibrating.fit import Fit, Heard, fits, shares
from viewer.services.calibrating.marker_images import markers
from viewer.services.calibrating.questions import NEUTRAL, WORDINGS, question
from viewer.services.privacy.made_questions import BeforeSending, put, with_consent

Progress = Callable[[int, int, str], None]
"""Called with the number of questions answered, of all, and what is awaited, if any."""
_ATTEMPTS: Final = 4
_SURE: Final = 0.5


@dataclass(frozen=True)
class Calibration:
    """The result of a calibration.

    ``fits`` are the conventions that can parse any reply, best first; ``axis_order``
    and ``scale`` the confidence in each, over all conventions, if any of them holds.
    """

    model: str
    asked: int
    fits: tuple[Fit, ...]
    axis_order: Mapping[str, float]
    scale: Mapping[str, float]
    named: str | None

    @property
    def closest(self) -> Fit | None:
        """The convention with the smallest error, None if no reply could be parsed."""
        return self.fits[0] if self.fits else None

    @property
    def best(self) -> Fit | None:
        """The convention that fits, None if none finds most of the markers."""
        closest = self.closest
        return closest if closest is not None and closest.holds else None

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        best, closest = self.best, self.closest
        if closest is None:
            return (
                f"No convention finds a location in any of the {self.asked} replies of "
                f"'{self.model}'."
            )
        if best is None:
            return _none_fits(closest)
        return " ".join(s for s in (_found(best), _doubt(best), _differs(self)) if s)


def _found(best: Fit) -> str:
    return (
        f"{best.convention} fits best ({best.confidence:.0%}): {best.read} of"
        f" {best.asked} markers read, {best.median_px:.1f} px off at the median and"
        f" {best.worst_px:.1f} at worst."
    )


def _none_fits(closest: Fit) -> str:
    reason = (
        "Its axes are swapped compared with this convention."
        if closest.swapped
        else "The model does not find the markers well, or uses several conventions."
    )
    return (
        f"No convention fits. {closest.convention} comes closest: it reads"
        f" {closest.read} of {closest.asked} replies, {closest.near} of them where the"
        f" marker is, and is {closest.median_px:.1f} px off at the median. {reason}"
    )


def _doubt(best: Fit) -> str:
    if best.confidence < _SURE:
        return "This is uncertain: another convention fits nearly as well."
    return ""


def _differs(found: Calibration) -> str:
    best = found.best
    if best is None or found.named in {None, best.convention}:
        return ""
    return (
        f"The profile says {found.named}; write convention ="
        f' "{best.convention}" instead.'
    )


def calibrate(
    profile: ModelProfile,
    allowance: Allowance = LOCAL_ONLY,
    before_sending: BeforeSending | None = None,
    *,
    wordings: Sequence[str] = (),
    progress: Progress | None = None,
) -> Calibration:
    """Ask a model about every marker and return which convention fits.

    Parameters
    ----------
    profile : ModelProfile
        The model; its own ``convention`` is only compared with what is found.
    allowance : Allowance
        Which remote servers may be asked.
    before_sending : callable or None
        Called with every question before it is sent.
    wordings : sequence of str
        Conventions whose wording is used besides the neutral one; by default that of
        the profile, or all if it names none.
    progress : callable or None
        Called after every answer.

    Raises
    ------
    ProviderError
        If the model cannot be asked.
    PrivacyError
        For an endpoint that may not be asked.
    """
    named = profile.settings.get("convention")
    words = _wordings(wordings or ([str(named)] if named else ()))
    asked = as_asked(profile)
    questions = [(marker, word) for word in words for marker in markers()]
    heard: list[Heard] = []
    for done, (marker, word) in enumerate(questions, 1):
        told = progress and functools.partial(progress, done - 1, len(questions))
        request = question(marker, word)
        reply = ask_patiently(asked, request, allowance, before_sending, told)
        heard.append(Heard(marker, word, reply.text))
        if progress is not None:
            progress(done, len(questions), "")
    view = profile.settings.get("provider_view")
    found = fits(heard, str(view) if view else None)
    return Calibration(
        model=profile.name,
        asked=len(heard),
        fits=found,
        axis_order=shares(found, "axis order"),
        scale=shares(found, "scale"),
        named=str(named) if named else None,
    )


def calibrate_with_consent(
    store_path: Path,
    profile: ModelProfile,
    *,
    wordings: Sequence[str] = (),
    progress: Progress | None = None,
    check: Callable[[], None] | None = None,
) -> Calibration:
    """Calibrate a model whose endpoint has consent; see `calibrate`.

    ``check`` is called before every question; an exception in it ends the calibration.
    """
    ask = functools.partial(calibrate, profile, wordings=wordings, progress=progress)
    return with_consent(store_path, profile, ask, check)


def load_first(
    profile: ModelProfile, progress: LoadProgress, cancelled: threading.Event
) -> None:
    """Load the model that a calibration will ask, if it is a local one.

    Raises
    ------
    LoadCancelledError
        Soon after ``cancelled`` was set.
    OverreadError
        If it cannot be loaded.
    """
    if endpoint_of(profile) is None:
        adapter = adapter_for(as_asked(profile))
        if isinstance(adapter, Loadable):
            adapter.load(progress, cancelled)


def _wordings(conventions: Sequence[str]) -> tuple[str, ...]:
    if not conventions:
        return tuple(WORDINGS)
    return NEUTRAL, *(convention_named(name).name for name in conventions)


def as_asked(profile: ModelProfile) -> ModelProfile:
    """Return a calibrated profile without the answer format that studies require."""
    settings = {k: v for k, v in profile.settings.items() if k != "structured"}
    return ModelProfile(profile.name, profile.adapter, settings)


def ask_patiently(
    profile: ModelProfile,
    request: ModelRequest,
    allowance: Allowance,
    before_sending: BeforeSending | None,
    tell: Callable[[str], None] | None = None,
) -> ModelReply:
    """Ask, repeating a few times after transient failures; other errors raise.

    A server that is loading its model is waited for, at most ten minutes, of which
    ``tell`` is told. ``before_sending`` is called each time, and an exception in it
    ends the asking.
    """

    def loading(waited_s: float) -> None:
        if tell is not None:
            tell(server_loads_words(profile.name, waited_s))

    adapter = adapter_for(profile, allowance)
    jitter = random.Random()  # noqa: S311 - pauses between retries only
    attempt = 1
    while True:
        try:
            raw = put(adapter, profile, request, before_sending, loading)
            return adapter.read(raw)
        except ProviderError as error:
            if (
                error.loading
                or error.retry_class is not RetryClass.RETRY
                or attempt == _ATTEMPTS
            ):
                raise
            time.sleep(retry_pause(attempt, error, jitter))
            attempt += 1


def calibration_as_json(found: Calibration) -> dict[str, object]:
    """Return the result of a calibration as plain JSON values."""
    best, closest = found.best, found.closest
    return {
        "model": found.model,
        "asked": found.asked,
        "convention": best.convention if best else None,
        "closest": closest.convention if closest else None,
        "confidence": best.confidence if best else 0.0,
        "median_px": closest.median_px if closest else None,
        "worst_px": closest.worst_px if closest else None,
        "sentence": found.sentence,
        "axis_order": dict(found.axis_order),
        "scale": dict(found.scale),
        "fits": [
            {**plain(fit), "confidence": fit.confidence if fit.holds else None}
            for fit in found.fits
        ],
    }


def fit_rows(found: Calibration) -> list[dict[str, object]]:
    """Return the conventions that parse any reply as rows of a table, best first.

    Only those that hold have a confidence: it compares conventions that fit, and means
    nothing for those that do not.
    """
    return [
        {
            "convention": fit.convention,
            "confidence": f"{fit.confidence:.1%}" if fit.holds else "does not fit",
            "markers read": f"{fit.read} / {fit.asked}",
            "found": fit.near,
            "median error (px)": f"{fit.median_px:.1f}",
            "worst (px)": f"{fit.worst_px:.1f}",
            "step (px)": f"{fit.resolution_px:.1f}",
            "seen as": fit.provider_view,
            "asked in words of": fit.wording,
        }
        for fit in found.fits
    ]
