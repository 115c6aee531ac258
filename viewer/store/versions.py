"""The prompts and settings with which a data set was asked about."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from viewer.store.database import Store


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """A prompt of a planned run: its name, the run's parameters, and the questions."""

    run: int
    created_at: str
    prompt_sha256: str
    prompt: str
    preset: str
    params: Mapping[str, object]
    questions: int


def prompts_asked(
    store: Store, root_sha256: str, until: int | None = None
) -> tuple[AskedPrompt, ...]:
    """Return each prompt of each planned run on a data set's content, oldest first.

    A run that asked nothing yet has none; runs after ``until`` are left out.
    """
    rows = store.rows(
        "SELECT r.id, r.created_at, r.spec, q.prompt_sha256, p.name, count(*) AS n"
        " FROM run r JOIN dataset d ON d.id = r.dataset_id"
        " JOIN trial t ON t.run_id = r.id JOIN request q ON q.sha256 = t.request_sha256"
        " JOIN prompt p ON p.sha256 = q.prompt_sha256"
        " WHERE d.root_sha256 = ? AND r.adhoc = 0 AND r.id <= ifnull(?, r.id)"
        " GROUP BY r.id, q.prompt_sha256 ORDER BY r.id, q.prompt_sha256",
        (root_sha256, until),
    )
    specs = {row["id"]: json.loads(row["spec"]) for row in rows}
    return tuple(
        AskedPrompt(
            row["id"],
            row["created_at"],
            row["prompt_sha256"],
            row["name"],
            specs[row["id"]]["preset"],
            specs[row["id"]]["params"],
            row["n"],
        )
        for row in rows
    )
