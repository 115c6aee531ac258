"""Agreement of readers on the same misses, and adjudication."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.domain.form import Part
from viewer.domain.reading import SessionId, SessionKind
from viewer.metrics.agreement import Agreement, cohen_kappa, gwet_ac, percent_agreement
from viewer.services.readings import order
from viewer.services.readings.reviewing import KINDS
from viewer.services.readings.verdicts import (
    TrialVerdicts,
    scope_of,
    trials_to_adjudicate,
    verdicts_of,
)
from viewer.services.sessions.ground import (
    continued,
    form_text,
    ground_of,
    reader_name,
)
from viewer.services.sessions.standings import standings_of
from viewer.store import cases, readings, runs
from viewer.store.database import Store, open_store
from viewer.store.readings import NewSession, PlannedTask


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two readers on the kind of the misses that both locked.

    Intervals are by patient.
    """

    first: str
    second: str
    kappa: Agreement
    ac1: Agreement
    percent: Agreement

    @property
    def cases(self) -> int:
        """The number of misses that both locked."""
        return self.percent.units


@dataclass(frozen=True)
class Dispute:
    """A miss on which readers disagree, without its model.

    ``verdicts`` are the kinds by reader; ``session`` is one in which it was reviewed.
    """

    task: PlannedTask
    session: int
    verdicts: Mapping[str, str]


def agreement(store: Path, run: int) -> tuple[PairAgreement, ...]:
    """Return the agreement of every two readers of a run, κ with all four kinds."""
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        verdicts = _all(opened, run)
        images = cases.dataset_of_run(opened, run).images
    patients = {image.key: image.patient for image in images}
    names = tuple(dict.fromkeys(name for one in verdicts for name in one.by_reader))
    return tuple(_pair(verdicts, patients, *pair) for pair in combinations(names, 2))


def _pair(
    rated: tuple[TrialVerdicts, ...],
    patients: Mapping[str, str],
    first: str,
    second: str,
) -> PairAgreement:
    both = [one for one in rated if {first, second} <= set(one.by_reader)]
    one, other = ([of.by_reader[name] for of in both] for name in (first, second))
    labels, of = tuple(KINDS), [patients[one.task.image] for one in both]
    return PairAgreement(
        first,
        second,
        cohen_kappa(one, other, labels, clusters=of),
        gwet_ac((one, other), labels, clusters=of),
        percent_agreement(one, other, labels, of),
    )


def adjudication_queue(store: Path, run: int) -> tuple[Dispute, ...]:
    """Return the misses on which readers of a run disagree, without a decision yet."""
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        return disputes_of(opened, run)


def disputes_of(store: Store, run: int) -> tuple[Dispute, ...]:
    """Return the misses on which readers of a run disagree, without a decision yet."""
    return tuple(
        Dispute(
            one.task,
            one.session,
            {name: KINDS[key] for name, key in one.by_reader.items()},
        )
        for one in _all(store, run)
        if one.disputed
    )


def _all(store: Store, run: int) -> tuple[TrialVerdicts, ...]:
    by_scope = verdicts_of(store, run)
    return tuple(one for verdicts in by_scope.values() for one in verdicts)


def open_adjudication(
    store: Path,
    run: int,
    reader: str,
    *,
    telemetry: bool = False,
    returning: bool = False,
) -> SessionId:
    """Open the disagreements of a run's readers to another reader, still blinded.

    The others' verdicts are shown without names. An unfinished adjudication is
    continued. ``returning`` says that the reader is the one who has read under this
    name.

    Raises
    ------
    NameTakenError
        If somebody has read under this name, and is not said to be ``returning``.
    WrongUseError
        If nothing is disputed, or the reader took part in a dispute.
    """
    name = reader_name(reader)
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        begun = _begun(opened, run, name)
        if begun is not None:
            return continued(opened, begun, telemetry=telemetry)
        return _opened(opened, run, name, telemetry=telemetry, returning=returning)


def _begun(store: Store, run: int, name: str) -> SessionId | None:
    for row in readings.session_rows(store, run=run)[::-1]:
        own = row.kind is SessionKind.ADJUDICATION and row.reader == name
        if own and not row.withdrawn and _is_waiting(store, run, row.id):
            return row.id
    return None


def _is_waiting(store: Store, run: int, session: SessionId) -> bool:
    """Tell whether an adjudication has a case to decide on which readers differ."""
    differing = trials_to_adjudicate(store, run)
    reviewed = readings.reviewed_trials(store, session)
    return any(
        reviewed[position].trial in differing
        for position, one in enumerate(standings_of(store, ground_of(store, session)))
        if not one.complete or one.unresolved
    )


def _opened(
    store: Store, run: int, name: str, *, telemetry: bool, returning: bool
) -> SessionId:
    disputes = disputes_of(store, run)
    if not disputes:
        raise WrongUseError(
            f"The readers of run {run} do not disagree.",
            "Two readers must first review the same cases.",
        )
    if any(name in dispute.verdicts for dispute in disputes):
        raise WrongUseError(
            f"{name} is one of the readers who disagree.", "Let somebody else decide."
        )
    # One scope at a time: what is left is opened once this is done.
    first = ground_of(store, disputes[0].session)
    tasks = [
        dispute.task
        for dispute in disputes
        if scope_of(ground_of(store, dispute.session)) == scope_of(first)
    ]
    form = replace(
        first.form,
        title="Adjudication",
        shown=first.form.shown | {Part.OTHER_READERS},
    )
    new = NewSession(
        kind=SessionKind.ADJUDICATION,
        reader=name,
        dataset=first.session.dataset_id,
        work=first.session.work,
        form=form_text(form),
        spec=replace(first.spec, telemetry=telemetry).as_json(),
        tasks=order.mixed(tasks, first.spec.seed, name),
        run=run,
        returning=returning,
    )
    return readings.create_session(store, new)
