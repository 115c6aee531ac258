"""How long two runs on many items take to compare; printed, never asserted."""

import json
import random
import time
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.helpers.small_store import GRID_8, a_dataset, a_spec
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import Trial
from viewer.services.comparing.runs import compare, statistics_of
from viewer.services.comparing.sides import Side
from viewer.store import cases, runs
from viewer.store.database import Store, open_store, utc_now

ITEMS = 100_000


FINDINGS = ("Edema", "Atelectasis", "Consolidation", "Cardiomegaly", "Lung Lesion")
MODELS = ("first", "second")


def many_pairs(
    store: Store, items: int, rates: tuple[float, float] = (0.6, 0.5)
) -> int:
    """Keep a run of two models on ``items`` items, five of each image; return it.

    A patient has two images; each model has one request and one reply for each trial.
    """
    models = tuple(ModelProfile(name, "scripted", {"answer": "D4"}) for name in MODELS)
    spec = replace(a_spec(), models=models)
    trials = [_trial(i, model) for i in range(items) for model in MODELS]
    run = runs.create_run(
        store,
        spec,
        cases.add_dataset(store, a_dataset()),
        trials,
        study_version="1",
        scorer_version="1",
        plan_sha256="a" * 64,
    )
    rng, now = random.Random(0), utc_now()
    hits = np.random.default_rng(0).random((items, 2)) < np.array(rates)
    ids = [row[0] for row in store.rows("SELECT id FROM trial ORDER BY id")]
    numbers = range(1, len(ids) + 1)
    with store.transaction():
        store.execute_many(
            "INSERT INTO request (sha256, document, prompt_sha256) VALUES (?, ?, 'p')",
            [
                (f"{i:064x}", _document(trial))
                for i, trial in zip(numbers, trials, strict=True)
            ],
        )
        store.execute("INSERT INTO prompt VALUES ('p', 'prompt', 'Where is it?')")
        store.execute_many(
            "INSERT INTO attempt (id, trial_id, request_sha256, number, started_at)"
            " VALUES (?, ?, ?, 1, ?)",
            [
                (i, trial, f"{i:064x}", now)
                for i, trial in zip(numbers, ids, strict=True)
            ],
        )
        store.execute_many(
            "INSERT INTO reply (id, attempt_id, request_sha256, kind, body, headers,"
            " latency_ms, model_returned, reusable, received_at)"
            " VALUES (?, ?, ?, 'plain', ?, '{}', 5, '', 1, ?)",
            [(i, i, f"{i:064x}", zlib.compress(b"%d" % i, 1), now) for i in numbers],
        )
        answers = [
            ("D4", 1.0, "full") if hit else (f"A{rng.randint(1, 8)}", 0.0, "miss")
            for hit in hits.ravel().tolist()
        ]
        store.execute_many(
            "INSERT INTO parse (id, trial_id, reply_id, parser_version, answer,"
            " created_at) VALUES (?, ?, ?, '1', ?, ?)",
            [
                (i, trial, i, json.dumps({"cell": said[0], "tier": "exact"}), now)
                for i, trial, said in zip(numbers, ids, answers, strict=True)
            ],
        )
        store.execute_many(
            "INSERT INTO score (id, trial_id, parse_id, scorer_version, status, reason,"
            " answer, coverage, outcome, created_at)"
            " VALUES (?, ?, ?, '1', ?, '', ?, ?, ?, ?)",
            [
                (
                    i, trial, i,
                    "scored_correct" if said[2] == "full" else "scored_wrong",
                    *said, now,
                )
                for i, trial, said in zip(numbers, ids, answers, strict=True)
            ],
        )  # fmt: skip
        store.execute(
            "UPDATE trial SET score_id = (SELECT max(id) FROM score s WHERE"
            " s.trial_id = trial.id), request_sha256 = printf('%064x', id), status ="
            " (SELECT status FROM score s WHERE s.trial_id = trial.id)"
            " WHERE run_id = ?",
            (run,),
        )
    return run


def _trial(i: int, model: str) -> Trial:
    image = i // len(FINDINGS)
    finding = FINDINGS[i % len(FINDINGS)]
    return Trial(
        item=f"image{image:06d}|{finding}",
        patient=f"patient{image // 2:06d}",
        image=f"image{image:06d}",
        view="frontal",
        finding=finding,
        condition=GRID_8,
        repeat=0,
        model=model,
    )


def _document(trial: Trial) -> bytes:
    parts = [{"image_sha256": f"png of {trial.image}", "media_type": "image/png"}]
    text = [{"text": f"Where is the {trial.finding}? " * 20}]
    messages = [{"role": "user", "parts": parts + text}]
    body = {"messages": messages, "model": trial.model, "params": {"temperature": 0}}
    return zlib.compress(json.dumps(body, sort_keys=True).encode(), 1)


def test_comparison_of_a_hundred_thousand_items(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = many_pairs(store, ITEMS)
        start, busy = time.perf_counter(), time.process_time()
        found = compare(store, Side(run, MODELS[0]), Side(run, MODELS[1]))
        compared, busy = time.perf_counter(), time.process_time() - busy
        statistics = statistics_of(store, found)
        tested = time.perf_counter()
    assert len(found.pairing.scored) == ITEMS
    assert len(statistics.groups) == 7
    print(
        f"\n{compared - start:.2f} s ({busy:.2f} s of one core) to compare "
        f"{ITEMS:,} items and explain {len(found.flips):,} flips (budget 2 s), "
        f"then {tested - compared:.1f} s for intervals and permutations over "
        f"{found.groups[-1].patients:,} patients"
    )
