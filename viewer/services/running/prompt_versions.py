"""Every version of prompt and parameters used with a data set (E000-29)."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.counting import counted
from viewer.domain.run import RunSpec
from viewer.services.sessions import datasets
from viewer.services.trials.request_key import request_key
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs
from viewer.store.database import Store
from viewer.store.versions import AskedPrompt, prompts_asked
from viewer.studies.protocol import AskedVersion

_TEST: Final = "test"
_VALIDATION: Final = "val"
_MOST: Final = 4
"""Prompts that a sentence names."""
_NOT_TOLD: Final = frozenset(
    {"paper_replicates", "replicates", "prompts", "prompt_variants", "controls"}
)
"""Parameters that affect neither the question nor the verdict, that are part of the
prompt's hash, or that ask questions beside it."""


def versions_asked(
    store: Store, root_sha256: str, until: int | None = None
) -> tuple[AskedVersion, ...]:
    """Return the versions of planned runs on a data set's content.

    Single questions are not runs; the oldest version is first. Runs after ``until`` are
    left out, so that a report is the same whenever it is written.
    """
    asked = prompts_asked(store, root_sha256, until)
    return tuple(sorted(_versions(asked), key=lambda version: version.runs[0]))


def split_notice(store: Store, spec: RunSpec, dataset: Dataset) -> str:
    """Say how often a test split was asked with which prompts (E000-29).

    "" for any other data set. It names a validation split of the same kind, if there is
    one, to try prompts on.
    """
    if dataset.split != _TEST:
        return ""
    versions = versions_asked(store, dataset.root_sha256)
    new = _new_prompts(versions, spec, dataset) if versions else ()
    others = cases.datasets_of_split(store, dataset.format, _VALIDATION)
    asked = f"{counted(len(versions), 'version')} of prompt and parameters"
    so_far = f"asked with {asked} so far{_by_prompt(versions)}"
    never = "and no model has been asked about it yet"
    sentences = (
        f"The data set is a test split, {so_far if versions else never}.",
        f"It was not asked with {_few(new)} yet." if new else "",
        f"Try prompts on the validation split '{others[0]}'." if others else "",
    )
    return " ".join(filter(None, sentences))


def split_notice_of_run(store: Store, run: int) -> str:
    """Return :func:`split_notice` for a planned run, "" if nothing is left to ask."""
    if not runs.status_counts(store, run).get(Status.PENDING):
        return ""
    spec, dataset = runs.run_spec(store, run), datasets.dataset_of_run(store, run)
    return split_notice(store, spec, dataset)


def _by_prompt(versions: Sequence[AskedVersion]) -> str:
    """Return how often each prompt was used, the most frequent first."""
    in_runs, questions = dict[str, set[int]](), Counter[str]()
    for one in versions:
        name = _short(one.prompt, one.prompt_sha256)
        in_runs.setdefault(name, set()).update(one.runs)
        questions[name] += one.questions
    told = [
        f"{name} in {counted(len(in_runs[name]), 'run')} ({counted(n, 'question')})"
        for name, n in questions.most_common()
    ]
    return f": {_few(told)}" if told else ""


def _new_prompts(
    versions: Sequence[AskedVersion], spec: RunSpec, dataset: Dataset
) -> tuple[str, ...]:
    """Return the run's prompts that were never used with a data set."""
    known = {one.prompt_sha256 for one in versions}
    prompts = (
        (name, hashlib.sha256(text.encode()).hexdigest())
        for name, text in dict.fromkeys(RunContext(spec, dataset).prompts())
    )
    return tuple(_short(name, sha) for name, sha in prompts if sha not in known)


def _short(name: str, sha256: str) -> str:
    return f"{name} {sha256[:8]}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{', '.join(names[:_MOST])}{more}"


def _versions(asked: Sequence[AskedPrompt]) -> Iterator[AskedVersion]:
    ordered = sorted(asked, key=lambda one: (_name(one), one.run))
    for _, of_version in groupby(ordered, key=_name):
        same = tuple(of_version)
        first = same[0]
        yield AskedVersion(
            first.prompt_sha256,
            first.preset,
            _settings(first),
            tuple(one.run for one in same),
            first.created_at,
            sum(one.questions for one in same),
            first.prompt,
        )


def _name(one: AskedPrompt) -> str:
    return request_key({"prompt": one.prompt_sha256, "params": _settings(one)})


def _settings(one: AskedPrompt) -> dict[str, object]:
    return {k: v for k, v in one.params.items() if k not in _NOT_TOLD}
