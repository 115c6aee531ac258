"""What goes with a data set, a case, a run, a model or a reply that is deleted."""
# ruff: noqa: S608 - no word of these statements comes from outside

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.escapes import path_of, path_text
from viewer.store.cases import MADE, dataset_named
from viewer.store.database import Store
from viewer.store.runs import run_summary

_WITHIN: Final = "IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class DeletionScope:
    """What goes, by rows' ids; the rest follows from it.

    ``datasets`` go whole. Of ``shrinking`` only the ``images`` and ``items`` named go.
    ``trials`` lose their replies and become pending again. ``models`` are names, of
    which the checks go.
    """

    datasets: tuple[int, ...] = ()
    shrinking: tuple[int, ...] = ()
    images: tuple[int, ...] = ()
    items: tuple[int, ...] = ()
    runs: tuple[int, ...] = ()
    sessions: tuple[int, ...] = ()
    trials: tuple[int, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Names:
    """What the rows that go name, for the files kept of them.

    ``paths`` are image files that no other data set has, ``roots`` folders of data sets
    that go, ``models`` the settings of models of runs that go and of no other run.
    """

    paths: tuple[Path, ...] = ()
    roots: tuple[Path, ...] = ()
    models: tuple[str, ...] = ()


def of_dataset(store: Store, name: str) -> DeletionScope:
    """Return what goes with a data set: its runs, and questions about its images."""
    dataset_named(store, name)
    images = _ids(
        store,
        "SELECT i.id FROM image i JOIN dataset d ON d.id = i.dataset_id"
        " WHERE d.name = ?",
        name,
    )
    own = _ids(store, "SELECT id FROM dataset WHERE name = ?", name)
    datasets = tuple({*own, *_single_questions(store, images)})
    listed = json.dumps(datasets)
    inside = f"dataset_id {_WITHIN}"
    runs = _runs_on(store, datasets, name)
    scope = DeletionScope(
        datasets,
        images=_ids(store, f"SELECT id FROM image WHERE {inside}", listed),
        items=_ids(store, f"SELECT id FROM item WHERE {inside}", listed),
        runs=runs,
        sessions=_sessions(store, runs, datasets),
    )
    return _with_made(store, scope)


def of_case(store: Store, name: str, case: str) -> DeletionScope:
    """Return what goes with a case of a data set: a patient, an image or an item.

    Every run on the data set goes too, because a question about one case may have shown
    the image of another, as an example or in a control.
    """
    dataset_named(store, name)
    (row,) = store.rows("SELECT id FROM dataset WHERE name = ?", (name,))
    dataset = int(row["id"])
    key = (dataset, case)
    images = _ids(
        store,
        "SELECT id FROM image WHERE dataset_id = ?1 AND ?2 IN (patient, key)",
        *key,
    )
    items = _ids(
        store,
        "SELECT id FROM item q WHERE dataset_id = ?1 AND (?2 IN (patient, key) OR"
        " EXISTS (SELECT 1 FROM json_each(q.images) e JOIN image i ON i.key = e.value"
        "  WHERE i.dataset_id = ?1 AND i.id IN (SELECT value FROM json_each(?3))))",
        *key,
        json.dumps(images),
    )
    if not images and not items:
        raise WrongUseError(
            f"The data set '{name}' has no patient, image or item '{case}'.",
            f"overread cases --dataset {name} lists them.",
        )
    single = _single_questions(store, images)
    runs = _runs_on(store, (dataset, *single), name)
    scope = DeletionScope(
        single,
        (dataset,),
        (*images, *_ids(
            store, f"SELECT id FROM image WHERE dataset_id {_WITHIN}",
            json.dumps(single),
        )),
        items,
        runs,
        _sessions(store, runs, (dataset, *single)),
    )  # fmt: skip
    return _with_made(store, scope)


def cases_of_file(store: Store, path: Path) -> tuple[tuple[str, str], ...]:
    """Return the data sets with an image file, and its patient, or else its key, there.

    Single questions are left out where a registered data set has the file.
    """
    rows = store.rows(
        "SELECT DISTINCT d.name, ifnull(nullif(i.patient, ''), i.key) AS found, d.adhoc"
        " FROM image i JOIN dataset d ON d.id = i.dataset_id WHERE i.path = ?"
        " ORDER BY d.adhoc, d.id",
        (path_text(path),),
    )
    least = min((row["adhoc"] for row in rows), default=0)
    return tuple(
        (str(row["name"]), str(row["found"])) for row in rows if row["adhoc"] == least
    )


def of_run(store: Store, run: int) -> DeletionScope:
    """Return what goes with a run: its readers' sessions too."""
    run_summary(store, run)
    scope = DeletionScope(runs=(run,), sessions=_sessions(store, (run,), ()))
    return _with_made(store, scope)


def of_model(store: Store, model: str) -> DeletionScope:
    """Return what goes with a model: every run that asked it, and its checks."""
    runs = _ids(
        store,
        "SELECT r.id FROM run r, json_each(r.spec, '$.models') m"
        " WHERE m.value ->> 'name' = ?1 UNION SELECT r.id FROM run r,"
        " json_each(r.spec, '$.helpers') m WHERE m.value ->> 'name' = ?1",
        model,
    )
    sessions = _sessions(store, runs, ())
    scope = DeletionScope(runs=runs, sessions=sessions, models=(model,))
    return _with_made(store, scope)


def of_reply(store: Store, trial: int) -> DeletionScope:
    """Return what goes with the reply that answers a trial: every trial showing it."""
    trials = _ids(
        store,
        "SELECT p.trial_id FROM parse p WHERE p.reply_id IN"
        " (SELECT reply_id FROM parse WHERE trial_id = ?1 UNION SELECT r.id FROM reply"
        "  r JOIN attempt a ON a.id = r.attempt_id WHERE a.trial_id = ?1)"
        " UNION SELECT a.trial_id FROM attempt a JOIN reply r ON r.attempt_id = a.id"
        " WHERE a.trial_id = ?1",
        trial,
    )
    if not trials:
        raise WrongUseError(
            f"There is no reply to trial {trial} in this store.",
            "Name the number of a trial that was answered.",
        )
    return DeletionScope(trials=trials)


def _single_questions(store: Store, images: Iterable[int]) -> tuple[int, ...]:
    """Return the data sets of single questions about the files of some images."""
    return _ids(
        store,
        "SELECT DISTINCT q.id FROM dataset q JOIN image i ON i.dataset_id = q.id"
        " WHERE q.adhoc = 1 AND (i.path, i.frame) IN"
        f" (SELECT path, frame FROM image WHERE id {_WITHIN})",
        json.dumps(list(images)),
    )


def _runs_on(store: Store, datasets: Iterable[int], name: str) -> tuple[int, ...]:
    """Return the runs on data sets, and those that took their examples from one."""
    return _ids(
        store,
        f"SELECT id FROM run WHERE dataset_id {_WITHIN} OR EXISTS"
        " (SELECT 1 FROM json_tree(spec, '$.params') WHERE atom = ?)",
        json.dumps(list(datasets)),
        name,
    )


def _sessions(
    store: Store, runs: Iterable[int], datasets: Iterable[int]
) -> tuple[int, ...]:
    return _ids(
        store,
        f"SELECT id FROM reading_session WHERE run_id {_WITHIN}"
        f" OR dataset_id {_WITHIN} UNION SELECT k.session_id FROM reading_task k"
        f" JOIN trial t ON t.id = k.trial_id WHERE t.run_id {_WITHIN}",
        *(json.dumps(list(ids)) for ids in (runs, datasets, runs)),
    )


def _with_made(store: Store, scope: DeletionScope) -> DeletionScope:
    """Return what goes, with the images that were made for sessions that go.

    Only sessions with the same cases share them, which go together.
    """
    made = _ids(
        store,
        "SELECT DISTINCT d.id FROM dataset d JOIN reading_session s"
        f" ON s.spec ->> '$.made' = d.name WHERE d.format = '{MADE}'"
        f" AND s.id {_WITHIN}",
        json.dumps(scope.sessions),
    )
    images = f"SELECT id FROM image WHERE dataset_id {_WITHIN}"
    return replace(
        scope,
        datasets=(*scope.datasets, *made),
        images=(*scope.images, *_ids(store, images, json.dumps(made))),
    )


def made_for_readers(store: Store, scope: DeletionScope) -> Counter[str]:
    """Count images that go and were made for readers, and their data sets, by table."""
    rows = store.rows(
        "SELECT count(DISTINCT d.id) AS dataset, count(*) AS image FROM image i"
        f" JOIN dataset d ON d.id = i.dataset_id WHERE d.format = '{MADE}'"
        f" AND d.id {_WITHIN}",
        (json.dumps(scope.datasets),),
    )
    return Counter(dict(rows[0]))


def _ids(store: Store, sql: str, *parameters: object) -> tuple[int, ...]:
    return tuple(int(row[0]) for row in store.rows(sql, parameters))


def names_of(store: Store, scope: DeletionScope) -> Names:
    """Return what the rows that go name."""
    images, datasets, runs = (
        json.dumps(ids) for ids in (scope.images, scope.datasets, scope.runs)
    )
    paths = store.rows(
        f"SELECT DISTINCT path FROM image WHERE id {_WITHIN} AND path NOT IN"
        f" (SELECT path FROM image WHERE id NOT {_WITHIN})",
        (images, images),
    )
    roots = store.rows(
        f"SELECT root FROM dataset WHERE id {_WITHIN} AND root NOT IN"
        f" (SELECT root FROM dataset WHERE id NOT {_WITHIN})",
        (datasets, datasets),
    )
    settings = (
        "SELECT DISTINCT s.atom FROM run r, json_tree(r.spec) s"
        f" WHERE s.type = 'text' AND r.id {{}}{_WITHIN}"
    )
    models = store.rows(
        f"{settings.format('')} EXCEPT {settings.format('NOT ')}", (runs, runs)
    )
    return Names(
        tuple(path_of(row[0]) for row in paths),
        tuple(path_of(row[0]) for row in roots),
        tuple(str(row[0]) for row in models),
    )


def requests_of(store: Store, scope: DeletionScope) -> frozenset[str]:
    """Return the requests of the runs and trials that go."""
    rows = store.rows(
        "SELECT DISTINCT a.request_sha256 FROM attempt a JOIN trial t"
        f" ON t.id = a.trial_id WHERE t.run_id {_WITHIN} OR t.id {_WITHIN}",
        (json.dumps(scope.runs), json.dumps(scope.trials)),
    )
    return frozenset(str(row[0]) for row in rows)


def also_in(store: Store, scope: DeletionScope) -> dict[str, int]:
    """Return how many of the images that go other data sets hold, by their names."""
    images = json.dumps(scope.images)
    rows = store.rows(
        "SELECT d.name, count(*) AS n FROM image i"
        " JOIN dataset d ON d.id = i.dataset_id"
        f" WHERE d.adhoc = 0 AND i.id NOT {_WITHIN} AND i.sha256 IN"
        f" (SELECT sha256 FROM image WHERE id {_WITHIN}) GROUP BY d.name ORDER BY d.id",
        (images, images),
    )
    return {str(row["name"]): int(row["n"]) for row in rows}


def sent_from(store: Store, scope: DeletionScope) -> int:
    """Return how many requests of what goes left this machine; their record stays."""
    rows = store.rows(
        "SELECT count(*) FROM departure p JOIN attempt a ON a.id = p.attempt_id"
        f" JOIN trial t ON t.id = a.trial_id WHERE t.run_id {_WITHIN}"
        f" OR t.id {_WITHIN}",
        (json.dumps(scope.runs), json.dumps(scope.trials)),
    )
    return int(rows[0][0])
