"""Every version of prompt and parameters that a data set was asked with (E000-29)."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from viewer.services.trials.request_key import request_key
from viewer.store.database import Store
from viewer.store.versions import AskedPrompt, prompts_asked
from viewer.studies.protocol import AskedVersion

_ESTIMATES = frozenset({"paper_replicates", "replicates"})
"""Parameters that shape no question and no verdict."""


def versions_asked(
    store: Store, root_sha256: str, until: int | None = None
) -> tuple[AskedVersion, ...]:
    """Return the versions that planned runs asked a data set's content with.

    Single questions are no runs; the oldest version is first. Runs after ``until``
    are left out, so that a report says the same whenever it is written.
    """
    asked = prompts_asked(store, root_sha256, until)
    return tuple(sorted(_versions(asked), key=lambda version: version.runs[0]))


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
        )


def _name(one: AskedPrompt) -> str:
    return request_key({"prompt": one.prompt_sha256, "params": _settings(one)})


def _settings(one: AskedPrompt) -> dict[str, object]:
    return {k: v for k, v in one.params.items() if k not in _ESTIMATES}
