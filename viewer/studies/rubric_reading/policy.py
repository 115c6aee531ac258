"""Which images of a study a model is shown (E001-07)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.report_study import StudyImage


class InputPolicy(StrEnum):
    """How many images a model is shown."""

    ALL_VIEWS = "all_views"
    """All views of the study; of a temporal task, of the prior as well."""
    SINGLE_VIEW = "single_view"
    """One PA image, else one AP; of a temporal task, one of the prior as well."""


NO_PRIOR: Final = "no_prior"
PRIOR_TOO_OLD: Final = "prior_too_old"
NO_FRONTAL: Final = "no_frontal"
NO_IMAGE: Final = "no_image"
_FRONTAL: Final = ("PA", "AP", "FRONTAL")
"""Frontal views, the preferred first; the last for who does not say which."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The images shown, in order, and the rule applied, in words.

    ``reason`` is why none can be shown, "" if they are.
    """

    images: tuple[StudyImage, ...]
    rule: str
    reason: str = ""


def shown(
    images: Sequence[StudyImage],
    policy: InputPolicy,
    *,
    temporal: bool,
    prior_days: int | None = None,
    max_prior_days: int = 0,
) -> Shown:
    """Return the images of a study that a model is shown.

    ``prior_days`` is the age of the prior, None if it is unknown; it matters to a
    temporal task only, where ``max_prior_days`` is not 0. The prior's images stand
    after the study's own.
    """
    current = [image for image in images if not image.prior]
    before = [image for image in images if image.prior] if temporal else []
    reason = _reason(current, before, temporal, prior_days, max_prior_days)
    if reason:
        return Shown((), _rule(policy, temporal, current, before), reason)
    if policy is InputPolicy.ALL_VIEWS:
        return Shown((*current, *before), _rule(policy, temporal, current, before))
    chosen = [_one(current), *([_one(before)] if temporal else [])]
    found = tuple(image for image in chosen if image is not None)
    rule = _rule(policy, temporal, found[:1], found[1:])
    if len(found) < len(chosen):
        return Shown((), rule, NO_FRONTAL)
    return Shown(found, rule)


def _reason(
    current: Sequence[StudyImage],
    before: Sequence[StudyImage],
    temporal: bool,
    prior_days: int | None,
    max_prior_days: int,
) -> str:
    if not current:
        return NO_IMAGE
    if not temporal:
        return ""
    if not before:
        return NO_PRIOR
    if max_prior_days and (prior_days is None or prior_days > max_prior_days):
        return PRIOR_TOO_OLD
    return ""


def _one(images: Sequence[StudyImage]) -> StudyImage | None:
    """Return the first PA image, else the first AP, else the first frontal one."""
    for view in _FRONTAL:
        for image in images:
            if image.view.upper() == view:
                return image
    return None


def _rule(
    policy: InputPolicy,
    temporal: bool,
    current: Sequence[StudyImage],
    before: Sequence[StudyImage],
) -> str:
    """Return the recorded words for what was shown."""
    words = f"{policy}: {_views(current)}"
    return f"{words}; prior: {_views(before)}" if temporal else words


def _views(images: Sequence[StudyImage]) -> str:
    return " ".join(image.view for image in images) or "none"
