"""Two models' trials side by side, and declarations made beforehand."""

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from viewer.domain.run import Trial
from viewer.store.database import Row, Store, utc_now
from viewer.store.runs import trial_of_row

_IMAGES: Final = re.compile(rb'"image_sha256": "([^"]*)"')


class TrialLine(NamedTuple):
    """One trial with its verdict, lean enough for comparisons of 100,000.

    Missing values are "" or None. ``parsed`` is the answer as JSON.
    """

    id: int
    item: str
    condition: str
    repeat: int
    patient: str
    image: str
    view: str
    finding: str
    status: str
    answer: str
    outcome: str
    request_sha256: str
    scorer_version: str
    parser_version: str
    parsed: str
    reply_id: int | None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A family of comparisons as it was declared: findings × pairs of models."""

    id: int
    dataset_sha256: str
    study: str
    findings: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    metric: str
    test: str
    alpha: float
    declared_at: str


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt as hashed; requests refer to it by ``sha256``."""

    sha256: str
    name: str
    body: str


class RequestSent(NamedTuple):
    """The parts of a request: its prompt, and the hashes of its images."""

    prompt_sha256: str
    images: tuple[str, ...]


_REQUESTS: Final = "SELECT sha256, prompt_sha256, document FROM request"
_AT_ONCE: Final = 500
"""Requests that one query reads."""


def models_of_run(store: Store, run: int) -> tuple[str, ...]:
    """Return the models of a run's trials, in the order planned."""
    rows = store.rows(
        "SELECT model FROM trial WHERE run_id = ? GROUP BY model ORDER BY min(id)",
        (run,),
    )
    return tuple(row[0] for row in rows)


def findings_of_run(store: Store, run: int) -> tuple[str, ...]:
    """Return the findings of a run's trials, in the order planned."""
    rows = store.rows(
        "SELECT finding FROM trial WHERE run_id = ? GROUP BY finding ORDER BY min(id)",
        (run,),
    )
    return tuple(row[0] for row in rows)


def dataset_id_of_run(store: Store, run: int) -> tuple[int, str]:
    """Return the row id and the content's hash of a run's data set."""
    row = store.rows(
        "SELECT d.id, d.root_sha256 FROM dataset d JOIN run r ON r.dataset_id = d.id"
        " WHERE r.id = ?",
        (run,),
    )[0]
    return int(row[0]), str(row[1])


def study_version(store: Store, run: int) -> str:
    """Return the version of the study that planned a run."""
    return str(store.rows("SELECT study_version FROM run WHERE id = ?", (run,))[0][0])


def requests_sent(store: Store, sha256s: Iterable[str]) -> Mapping[str, RequestSent]:
    """Return the content of requests by key, without unknown ones."""
    wanted = list(dict.fromkeys(sha256s))
    requests: dict[str, RequestSent] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = store.rows(
            f"{_REQUESTS} WHERE sha256 IN ({marks})",
            some,
        )
        requests |= {row[0]: RequestSent(row[1], _images_of(row[2])) for row in rows}
    return requests


def _images_of(document: bytes) -> tuple[str, ...]:
    return tuple(m.decode() for m in _IMAGES.findall(zlib.decompress(document)))


def document_sent(store: Store, request_sha256: str) -> Mapping[str, object]:
    """Return the document that a request's key hashes; {} if it is unknown."""
    rows = store.rows(f"{_REQUESTS} WHERE sha256 = ?", (request_sha256,))
    return dict(json.loads(zlib.decompress(rows[0]["document"]))) if rows else {}


def prompts_named(store: Store, sha256s: Iterable[str]) -> tuple[PromptText, ...]:
    """Return some prompts, in the order given, without unknown ones."""
    found = (
        store.rows("SELECT sha256, name, body FROM prompt WHERE sha256 = ?", (sha256,))
        for sha256 in dict.fromkeys(sha256s)
    )
    return tuple(PromptText(*row) for rows in found for row in rows)


def names_returned(store: Store, run: int, model: str) -> tuple[str, ...]:
    """Return every model name that an endpoint reported for a model of a run."""
    rows = store.rows(
        "SELECT DISTINCT r.model_returned FROM trial t JOIN parse p"
        " ON p.trial_id = t.id JOIN reply r ON r.id = p.reply_id"
        " WHERE t.run_id = ? AND t.model = ? AND r.model_returned <> '' ORDER BY 1",
        (run, model),
    )
    return tuple(row[0] for row in rows)


def trial_with_id(store: Store, trial_id: int) -> Trial:
    """Return a planned trial; an unknown id raises IndexError."""
    return trial_of_row(store.rows("SELECT * FROM trial WHERE id = ?", (trial_id,))[0])


def same_bytes(store: Store, first_reply: int, second_reply: int) -> bool:
    """Tell whether two stored replies have the same body."""
    rows = store.rows(
        "SELECT a.body = b.body FROM reply a, reply b WHERE a.id = ? AND b.id = ?",
        (first_reply, second_reply),
    )
    return bool(rows[0][0])


def first_verdict_at(store: Store, run: int) -> str | None:
    """Return when the first asked trial of a run was scored, None if none was."""
    rows = store.rows(
        "SELECT min(s.created_at) FROM score s JOIN trial t ON t.id = s.trial_id"
        " WHERE t.run_id = ? AND s.status <> 'excluded'",
        (run,),
    )
    return None if rows[0][0] is None else str(rows[0][0])


def declare(
    store: Store,
    *,
    dataset_sha256: str,
    study: str,
    findings: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    metric: str,
    test: str,
    alpha: float,
) -> Declaration:
    """Append a declared family; it can never be changed or withdrawn."""
    with store.transaction():
        number = store.execute(
            "INSERT INTO family (dataset_sha256, study, findings, pairs, metric, test,"
            " alpha, declared_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                dataset_sha256,
                study,
                json.dumps(list(findings), ensure_ascii=False),
                json.dumps([list(pair) for pair in pairs], ensure_ascii=False),
                metric,
                test,
                alpha,
                utc_now(),
            ),
        )
    return next(d for d in declarations(store, dataset_sha256) if d.id == number)


def declarations(store: Store, dataset_sha256: str) -> tuple[Declaration, ...]:
    """Return every family declared for a data set's content, oldest first."""
    rows = store.rows(
        "SELECT * FROM family WHERE dataset_sha256 = ? ORDER BY id", (dataset_sha256,)
    )
    return tuple(_declaration(row) for row in rows)


def _declaration(row: Row) -> Declaration:
    return Declaration(
        id=row["id"],
        dataset_sha256=row["dataset_sha256"],
        study=row["study"],
        findings=tuple(json.loads(row["findings"])),
        pairs=tuple((a, b) for a, b in json.loads(row["pairs"])),
        metric=row["metric"],
        test=row["test"],
        alpha=row["alpha"],
        declared_at=row["declared_at"],
    )


SideKey = tuple[int, str]
"""A run's number and one of its models."""


def first_look(store: Store, first: SideKey, second: SideKey) -> str:
    """Return when two sides were first compared, recording now if never before."""
    key = _key(first, second)
    known = _look(store, key)
    if known is None and store.writable:
        with store.transaction():
            store.execute(
                "INSERT OR IGNORE INTO comparison_look (first_run, first_model,"
                " second_run, second_model, looked_at) VALUES (?, ?, ?, ?, ?)",
                (*key, utc_now()),
            )
        # Read again: another process may have looked first, and its time counts.
        known = _look(store, key)
    return known or utc_now()


def known_look(store: Store, first: SideKey, second: SideKey) -> str | None:
    """Return when two sides were first compared, None if they never were."""
    return _look(store, _key(first, second))


def _key(first: SideKey, second: SideKey) -> tuple[object, ...]:
    # Sorted, so that a pair has one row whichever side is named first.
    return tuple(value for side in sorted((first, second)) for value in side)


def _look(store: Store, key: tuple[object, ...]) -> str | None:
    rows = store.rows(
        "SELECT looked_at FROM comparison_look WHERE first_run = ? AND first_model = ?"
        " AND second_run = ? AND second_model = ?",
        key,
    )
    return str(rows[0][0]) if rows else None
