"""How often an edit turns Yes into No, with what an edit as such does taken off.

The perturbation tests of HEAL-MedVQA count answers that become No. A model that says No
to whatever was edited scores 100 % by them, so the same share among edits that change
nothing that matters, the shams, is subtracted item by item (E002-09 to E002-12, M-14).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from viewer.domain.answer import Unparsed, YesNoAnswer
from viewer.metrics.cluster_bootstrap import (
    ClusterEstimate,
    Resampling,
    cluster_bootstrap,
)
from viewer.metrics.estimate import Estimate
from viewer.metrics.permutation import PermutationTest, sign_flip
from viewer.metrics.proportions import wilson_estimate

Reply = YesNoAnswer | Unparsed


@dataclass(frozen=True, slots=True)
class Probed:
    """One true positive: what was answered to its edits, and to its shams."""

    key: str
    patient: str
    edits: tuple[Reply, ...]
    shams: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True)
class FlipRate:
    """A perturbation score as the paper has it.

    ``base`` true positives were there, of ``edits`` edits of them ``flipped`` were
    answered No and ``unread`` with neither, which counts as not flipped. ``items`` of
    the base have an edit. ``score`` is the share of edits.
    """

    base: int
    items: int
    edits: int
    flipped: int
    unread: int
    score: Estimate

    @property
    def excluded(self) -> int:
        """True positives without any valid edit."""
        return self.base - self.items


@dataclass(frozen=True, slots=True)
class ShamControlled:
    """Flips less sham flips over the ``items`` that have both.

    ``flip`` and ``sham`` are mean shares over these items, ``net`` their difference
    with patients drawn with all their items, ``test`` its sign-flip test by patient.
    """

    items: int
    flip: float
    sham: float
    net: ClusterEstimate
    test: PermutationTest


def flip_rate(tested: Sequence[Probed]) -> FlipRate:
    """Return the share of edits that were answered No (TPT and VPT scores)."""
    replies = [reply for one in tested for reply in one.edits]
    flipped = sum(_flipped(reply) for reply in replies)
    return FlipRate(
        base=len(tested),
        items=sum(bool(one.edits) for one in tested),
        edits=len(replies),
        flipped=flipped,
        unread=sum(isinstance(reply, Unparsed) for reply in replies),
        score=wilson_estimate(flipped, len(replies)),
    )


def sham_controlled(
    tested: Sequence[Probed], resampling: Resampling | None = None
) -> ShamControlled:
    """Return the net score; items without a sham or without an edit are left out."""
    both = [one for one in tested if one.edits and one.shams]
    gaps = {one.key: _share(one.edits) - _share(one.shams) for one in both}
    by_patient: dict[str, list[float]] = defaultdict(list)
    for one in both:
        by_patient[one.patient].append(gaps[one.key])
    clusters = [by_patient[patient] for patient in sorted(by_patient)]
    totals = np.array([[sum(cluster)] for cluster in clusters]).reshape(-1, 1)
    trials = np.array([[len(cluster)] for cluster in clusters]).reshape(-1, 1)
    return ShamControlled(
        items=len(both),
        flip=_mean(_share(one.edits) for one in both),
        sham=_mean(_share(one.shams) for one in both),
        net=cluster_bootstrap(totals, trials, resampling).micro,
        test=sign_flip([sum(cluster) for cluster in clusters]),
    )


def common(by_model: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the true positives that all models share (E002-12)."""
    sets = [frozenset(keys) for keys in by_model.values()]
    return frozenset.intersection(*sets) if sets else frozenset()


def restricted(tested: Iterable[Probed], keys: frozenset[str]) -> tuple[Probed, ...]:
    """Return the items of a common set, in their order."""
    return tuple(one for one in tested if one.key in keys)


def _flipped(reply: Reply) -> bool:
    return isinstance(reply, YesNoAnswer) and not reply.yes


def _share(replies: Sequence[Reply]) -> float:
    return sum(map(_flipped, replies)) / len(replies)


def _mean(shares: Iterable[float]) -> float:
    values = list(shares)
    return sum(values) / len(values) if values else nan
