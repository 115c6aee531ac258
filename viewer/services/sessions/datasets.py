"""What readers locked counts in its data set, beside what a file brought."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from viewer.domain.case import Dataset
from viewer.domain.form_values import Values
from viewer.domain.item import item_of
from viewer.services.sessions.file_readers import names_in_results
from viewer.services.sessions.ground import (
    TRAINING,
    Ground,
    ground_of,
    material_of,
)
from viewer.services.sessions.standings import standings_of
from viewer.store import cases, readings
from viewer.store.database import Store
from viewer.store.readings import PlannedTask, ReviewedTrial
from viewer.studies.reading_tasks import CaseRead, Entry


def with_readings(store: Store, dataset: Dataset) -> Dataset:
    """Return a data set whose items have what readers locked, in their references.

    Entries follow those of files, in the order in which their sessions were opened. A
    reader whose name a file has too is called by another one, unless it is the same.
    """
    entries: dict[str, list[Entry]] = defaultdict(list)
    items = {item.key: item for item in dataset.items}
    for name, entry in _entries(store, dataset):
        entries[item_of(items, name).key].append(entry)
    if not entries:
        return dataset
    extended = tuple(
        replace(item, reference=_extended(item.reference, entries.get(item.key, ())))
        for item in dataset.items
    )
    return replace(dataset, items=extended)


def _extended(
    reference: Mapping[str, object], entries: Sequence[Entry]
) -> dict[str, object]:
    lists: dict[str, list[object]] = {}
    for name, entry in entries:
        before = reference.get(name, [])
        lists.setdefault(name, list(before) if isinstance(before, list) else [])
        lists[name].append(entry)
    return {**reference, **lists}


def _entries(store: Store, dataset: Dataset) -> Iterator[tuple[str, Entry]]:
    rows = readings.task_sessions(store, dataset.name, dataset.root_sha256)
    called = names_in_results(store, dataset) if rows else {}
    for row in rows:
        ground = ground_of(store, row.id)
        # What was sealed elsewhere counts there.
        if (task := ground.task) is None or ground.spec.seal is not None:
            continue
        for case in locked_cases(store, ground):
            own = replace(case, reader=called.get(case.reader, case.reader))
            for entry in task.entries(own):
                yield case.item, entry


def locked_cases(store: Store, ground: Ground) -> Iterator[CaseRead]:
    """Yield a session's locked cases by item, then in the order they were planned."""
    tasks = readings.tasks_of(store, ground.session.id)
    standings = standings_of(store, ground)
    reviewed = readings.reviewed_trials(store, ground.session.id)
    done = [
        i
        for i, one in enumerate(standings)
        if one.complete and not one.unresolved and tasks[i].view != TRAINING
    ]
    for i in sorted(done, key=lambda i: (tasks[i].item, i)):
        yield _read(ground, tasks[i], standings[i].values, reviewed.get(i))


def _read(
    ground: Ground, task: PlannedTask, values: Values, trial: ReviewedTrial | None
) -> CaseRead:
    return CaseRead(
        reader=ground.session.reader,
        panel=ground.spec.panel,
        item=task.item,
        material=material_of(task),
        values=values,
        model=trial.model if trial else "",
        repeat=trial.repeat if trial else 0,
    )


def dataset_of_run(store: Store, run: int) -> Dataset:
    """Return the data set of a run, with what readers locked."""
    return with_readings(store, cases.dataset_of_run(store, run))


def dataset_named(store: Store, name: str) -> Dataset:
    """Return a data set by name, with what readers locked; an unknown one raises."""
    return with_readings(store, cases.dataset_named(store, name))
