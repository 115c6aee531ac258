"""A study's questions answered by other code, and brought back: the same tables.

Every study with a generated collection is tried, whichever there are.
"""

import csv
import hashlib
import io
import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from viewer.cli import run_command_line
from viewer.domain.geometry import SizePx
from viewer.services.reporting.report_run import checked_report, report_files
from viewer.services.synthetic.kits import Kit, next_commands
from viewer.services.synthetic.phantoms import PHANTOMS
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.store import cases
from viewer.store.database import open_store

_N, _SIZE = 3, SizePx(128, 128)
_BUILT_IN = '{}models = ["asymmetry", "uniform"]\n'
_OF_THE_RUN = frozenset({"request_sha256", "first_at"})
"""Columns of a run itself: a request's hash names its model, a run has its time."""
_TABLES = {
    ("rubric_reading", "study.toml"): {"table_1.csv", "table_3.csv", "agreement.csv"},
    ("rubric_reading", "curation.toml"): {"candidates.csv", "proposed.csv"},
}
"""Tables of grades and of proposed tasks, which need more than the replies."""
_LONG = {
    ("grid_localization", None),
    ("rubric_reading", "study.toml"),
    ("evidence_diagnosis", "study.toml"),
}
"""What takes long, and is asked in one step or by a judge, as others are as well."""
_NAMES_ITS_CASE = "medsyn2026_extraction"
"""The prompt that has the name of its case in its text."""


def _overread(*words: object, store: Path) -> None:
    assert run_command_line([*map(str, words), "--store", str(store)]) == 0, words


def _registered(study: str, kit: Kit | None, folder: Path, store: Path) -> Path:
    """Import a collection as it says itself; return its study file."""
    then = next_commands(kit, folder) if kit else PHANTOMS[study].then(folder)
    for command in then:
        words = shlex.split(command)[1:]
        if words[0] == "import" and kit and not kit.draws_questions:
            words += ["--name", kit.dataset(folder)]
        if words[0] in {"import", "questions"}:
            _overread(*words, store=store)
    if kit:
        return folder / kit.file
    file = folder / "study.toml"
    said = f'study = "{study}"\ndataset = "{folder.name}"\n'
    file.write_text(_BUILT_IN.format(said))
    return file


def _files(store: Path) -> Mapping[str, bytes]:
    with open_store(store) as opened:
        return report_files(checked_report(opened, 1))


def _table(data: bytes) -> bytes | list[dict[str, str]]:
    """Return a table's bytes, or its rows where it tells of the run itself."""
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    if not rows or not _OF_THE_RUN & rows[0].keys():
        return data
    return [{k: v for k, v in row.items() if k not in _OF_THE_RUN} for row in rows]


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _place(row: Mapping[str, object]) -> tuple[object, ...]:
    return row["item"], row["condition"], str(row["repeat"]), row["step"]


def _uses(study: str) -> tuple[Kit | None, ...]:
    """Return what a study's collection is for, its further uses after the first."""
    kit = PHANTOMS[study].kit
    return (kit, *kit.besides) if kit else (None,)


@pytest.mark.parametrize(
    ("study", "kit"),
    [
        pytest.param(
            study,
            kit,
            id=f"{study}-{kit.file}" if kit else study,
            marks=pytest.mark.proof if (study, kit and kit.file) in _LONG else [],
        )
        for study in PHANTOMS
        for kit in _uses(study)
    ],
)
def test_that_replies_given_elsewhere_give_the_same_tables(
    study: str, kit: Kit | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, here, there = tmp_path / "made", tmp_path / "a.db", tmp_path / "b.db"
    kind = PHANTOMS[study]
    kind.write(
        folder,
        _N,
        0,
        min(_SIZE, kind.size, key=lambda size: size.rows),
        lambda *_: None,
    )
    file = _registered(study, kit, folder, here)
    _overread("run", file, store=here)
    pack, replies = tmp_path / "pack", tmp_path / "replies.jsonl"
    _overread("export", "requests", "last", "--out", pack, store=here)
    _overread("export", "replies", "last", "--out", replies, store=here)
    asked, answered = _lines(pack / "requests.jsonl"), _lines(replies)
    assert asked
    assert set(map(_place, asked)) <= set(map(_place, answered)), "the same names"
    _check_pack(pack, asked, here)
    again = tmp_path / "again"
    _overread("export", "requests", file, "--out", again, store=here)
    name = "requests.jsonl"
    assert (again / name).read_bytes() == (pack / name).read_bytes()

    _registered(study, kit, folder, there)
    capsys.readouterr()
    _overread("import-replies", replies, "--study", file, store=there)
    items = len({row["item"] for row in answered})
    told = capsys.readouterr().err.splitlines()
    assert told[0] == (f"{len(answered)} replies for {items} of {items} items.")
    before, after = _files(here), _files(there)
    assert before.keys() == after.keys()
    assert _TABLES.get((study, file.name), set()) <= before.keys()
    for name, data in before.items():
        if name.endswith(".csv"):
            assert _table(data) == _table(after[name]), name
        elif name != "report.html":  # which names the models' files
            assert data == after[name], name


def _check_pack(pack: Path, asked: list[dict[str, object]], store: Path) -> None:
    """Check that images are those sent, and that nothing names a patient."""
    with open_store(store) as opened:
        sent = {str(row["sha256"]) for row in opened.rows("SELECT sha256 FROM blob")}
        dataset = cases.dataset_of_run(opened, 1)
    there = {path.name for path in (pack / "images").glob("*.png")}
    named = {Path(str(name)).name for row in asked for name in row["images"]}  # type: ignore[attr-defined]
    assert there == named
    for name in there:
        data = (pack / "images" / name).read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        assert sha256 in sent
        assert sha256.startswith(name.removesuffix(".png"))
    said = (
        {**row, "messages": []} if row["prompt"] == _NAMES_ITS_CASE else row
        for row in asked
    )
    text = "".join(json.dumps(row, ensure_ascii=False) for row in said)
    people = {image.patient for image in dataset.images}
    people |= {item.patient for item in dataset.items}
    keys = {image.key for image in dataset.images}
    keys |= {item.key for item in dataset.items}
    assert [name for name in people | keys if name in text] == []
    for row in asked:
        assert not {"gold", "target", "reference", "patient", "image"} & row.keys()
    items = {str(row["item"]) for row in asked}
    names = Pseudonyms(dataset, ())
    known = {*names.items.values(), *names.images.values()}
    assert all(item.partition("|")[0] in known for item in items)
