"""How far two readers agree on the criteria by which they judged the same cases.

Such as physicians who validate cases before they are used, some of them once more by a
second one (Chen 2026, 3.1; E004-04).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from viewer.metrics.agreement import Agreement, gwet_ac
from viewer.metrics.estimate import Estimate
from viewer.metrics.proportions import patient_interval
from viewer.metrics.rubric import weighted_kappa
from viewer.services.sessions.datasets import locked_cases
from viewer.services.sessions.ground import Ground, ground_of
from viewer.store import cases, readings
from viewer.store.database import Store, open_store

_Judged = dict[tuple[str, str], bool]
"""Whether a criterion is met, by case and what of it was judged."""
_LABELS = (False, True)


@dataclass(frozen=True)
class CriterionAgreement:
    """Agreement of two readers on whether a criterion is met.

    ``judged`` is what both judged by it, in ``cases`` cases. ``same`` is the share of
    equal verdicts, ``kappa`` Cohen's, ``ac`` Gwet's AC1; intervals are by patient.
    """

    criterion: str
    first: str
    second: str
    cases: int
    judged: int
    same: Estimate
    kappa: Estimate
    ac: Agreement


def criteria_agreement(store: Path, session: int) -> tuple[CriterionAgreement, ...]:
    """Return the agreement of every two readers who judged the same cases.

    They did the session's task or the one that does it again, on the same data set;
    withdrawn readers are left out. () for a task without criteria.
    """
    with open_store(store) as opened:
        first = ground_of(opened, session)
        if first.task is None or first.task.criteria is None:
            return ()
        dataset = cases.dataset_named(opened, first.session.dataset)
        by_criterion = _judged(opened, first, dataset.root_sha256)
    images = {image.key: image.patient for image in dataset.images}
    patients = {
        item.key: images[item.images[0]] if item.images else item.key
        for item in dataset.items
    }
    return tuple(
        _of_pair(criterion, pair, of, patients)
        for criterion, of in by_criterion.items()
        for pair in combinations(of, 2)
        if of[pair[0]].keys() & of[pair[1]].keys()
    )


def _judged(
    store: Store, first: Ground, root_sha256: str
) -> Mapping[str, Mapping[str, _Judged]]:
    """Return the verdicts of all readers by criterion, then by reader."""
    found: dict[str, dict[str, _Judged]] = defaultdict(lambda: defaultdict(dict))
    for ground in _grounds(store, first, root_sha256):
        if ground.task is None or ground.task.criteria is None:
            continue
        for case in locked_cases(store, ground):
            for criterion, what, met in ground.task.criteria(case):
                found[criterion][case.reader][case.item, what] = met
    return found


def _grounds(store: Store, first: Ground, root_sha256: str) -> Iterator[Ground]:
    """Yield the sessions of a task, and of the one that does it again."""
    for row in readings.task_sessions(store, first.session.dataset, root_sha256):
        ground = ground_of(store, row.id)
        task = ground.task if ground.study.name == first.study.name else None
        if task and first.task and task.first == first.task.first:
            yield ground


def _of_pair(
    criterion: str,
    pair: tuple[str, str],
    of: Mapping[str, _Judged],
    patients: Mapping[str, str],
) -> CriterionAgreement:
    one, two = (of[reader] for reader in pair)
    both = [key for key in one if key in two]
    first, second = ([judged[key] for key in both] for judged in (one, two))
    clusters = [patients[case] for case, _ in both]
    by_patient: dict[str, list[bool]] = defaultdict(list)
    for patient, a, b in zip(clusters, first, second, strict=True):
        by_patient[patient].append(a == b)
    same = by_patient.values()
    return CriterionAgreement(
        criterion,
        *pair,
        cases=len({case for case, _ in both}),
        judged=len(both),
        same=patient_interval([*map(sum, same)], [*map(len, same)], len(both)),
        kappa=weighted_kappa(first, second, _LABELS, clusters),
        ac=gwet_ac((first, second), _LABELS, clusters=clusters),
    )
