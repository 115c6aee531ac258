"""The bundle holds, and no byte of it changes unseen (M-23)."""

import csv
import io
import json
import random
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.helpers.bundled_run import CANARIES, bundled_run
from tests.helpers.five_answers import ask_five
from tests.helpers.tiny_study import FEW_RESAMPLES, a_spec, finish, planned
from viewer.cli import run_command_line
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import report_data
from viewer.store.database import open_store
from viewer.writers.bundle import bundle_bytes
from viewer.writers.tables import csv_bytes
from viewer.writers.verify import recompute
from viewer.writers.verify.archive import BundleError
from viewer.writers.verify.main import verify


def quiet(_sentence: str) -> None:
    """Tell nobody."""


WORKED_OUT = [
    *("items", "results", "recommended", "replicates", "replicate_agreement"),
    *("mask_modes", "mask_mode_items", "mask_areas", "coverage_thresholds"),
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, bytes]:
    """Return a store's path, its run and the run's bundle."""
    folder = tmp_path_factory.mktemp(CANARIES[0])
    with open_store(folder / "s.sqlite") as store:
        run = bundled_run(store, folder, grids=[8, 4])
        return folder / "s.sqlite", run, run_bundle(store, run)


def members_of(data: bytes) -> dict[str, bytes]:
    """Return a bundle's files by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forged(data: bytes, name: str, old: bytes, new: bytes) -> bytes:
    """Return a bundle with a file changed once and every hash made good again."""
    members = members_of(data)
    assert old in members[name]
    members[name] = members[name].replace(old, new, 1)
    manifest = json.loads(members.pop("manifest.json"))
    del manifest["manifest_sha256"]
    return bundle_bytes(members, manifest)


def test_that_a_bundle_holds_and_every_table_was_worked_out_again(
    stored: tuple[Path, int, bytes],
) -> None:
    found = verify(stored[2], quiet)
    assert found.wrong == []
    done = "\n".join(found.done)
    members = members_of(stored[2])
    names = json.loads(members["manifest.json"])["recomputed_tables"]
    assert names == WORKED_OUT
    for name in names:
        rows = list(csv.reader(io.StringIO(members[f"tables/{name}.csv"].decode())))
        assert f"tables/{name}.csv: {len(rows) - 1} rows computed again." in done


def test_that_a_long_reply_with_line_breaks_is_a_cell_like_any_other(
    tmp_path: Path,
) -> None:
    said = 'A thought.\r\nAnother,\n"quoted" one.\n' * 5_000
    model = ModelProfile("talks", "scripted", {"answer": f"{said}The cell is D4."})
    with open_store(tmp_path / "s.sqlite") as store:
        run = planned(
            store,
            tmp_path / "d",
            a_spec([model], params={"grids": [8], **FEW_RESAMPLES}),
            2,
        )
        finish(store, run)
        assert verify(run_bundle(store, run), quiet).wrong == []


def test_that_several_processes_draw_the_same(
    stored: tuple[Path, int, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recompute, "_FEW", 0)
    assert verify(stored[2], quiet).wrong == []


@pytest.mark.parametrize(
    ("name", "frame"), [("results", "items"), ("mask_modes", "absent")]
)
def test_that_a_table_of_other_trials_is_told(
    name: str, frame: str, stored: tuple[Path, int, bytes]
) -> None:
    members = members_of(stored[2])
    specs = json.loads(members["specs.json"])
    spec = next(one for one in specs if one["name"] == name)
    spec["frame"] = frame
    new = json.dumps(specs).encode()
    wrong = verify(forged(stored[2], "specs.json", members["specs.json"], new), quiet)
    sentence = f"specs.json: {name} is not specified as this program does it."
    assert sentence in wrong.wrong


@pytest.mark.parametrize(
    "params",
    [
        {"mask_mode": "exact", "fit_mode": "letterbox", "letters": "column"},
        {"fit_mode": "resize_crop", "parser_mode": "lenient", "outside_crop": "miss"},
        {"fit_mode": "stretch", "parser_mode": "paper", "absent_findings": True},
    ],
    ids=["exact", "resized", "stretched"],
)
def test_that_every_way_of_sending_and_reading_is_verified(
    params: dict[str, object], tmp_path: Path
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        data = run_bundle(store, bundled_run(store, tmp_path, n=3, **params))
    assert verify(data, quiet).wrong == []
    assert ("tables/absent.csv" in members_of(data)) == ("absent_findings" in params)


def test_that_points_boxes_masks_and_maps_are_put_into_their_cells_again(
    tmp_path: Path,
) -> None:
    asked = ask_five(tmp_path / "s.sqlite", tmp_path, SizePx(250, 200))
    with open_store(tmp_path / "s.sqlite") as store:
        data = run_bundle(store, asked.run)
    found = verify(data, quiet)
    assert found.wrong == []
    assert any("the stored pixels of 4 places." in one for one in found.done)
    assert any(one.startswith("tables/geometry.csv: 5 rows") for one in found.done)
    moved = json.loads(members_of(data)["trials.jsonl"].splitlines()[1])["parsed"]
    assert moved.startswith('{"type": "point"')
    elsewhere = json.dumps(json.dumps({"type": "point", "point": [3.0, 30.0]}))
    spoilt = forged(
        data, "trials.jsonl", json.dumps(moved).encode(), elsewhere.encode()
    )
    wrong = verify(spoilt, quiet).wrong
    assert wrong[0].endswith("the answer is G4, but A1.")
    assert any(one.startswith("tables/items.csv, row") for one in wrong)


def test_that_the_results_are_those_of_the_report(
    stored: tuple[Path, int, bytes],
) -> None:
    path, run, data = stored
    with open_store(path) as store:
        tables = {t.name: t for t in report_data(store, run).data.tables}
    members = members_of(data)
    for name in ("results", "recommended", "mask_modes"):
        wanted = csv_bytes(tables[name].header, tables[name].rows)
        assert members[f"tables/{name}.csv"] == wanted


def test_that_a_manifest_that_departs_from_its_schema_is_told(
    stored: tuple[Path, int, bytes],
) -> None:
    members = members_of(stored[2])
    manifest = json.loads(members.pop("manifest.json"))
    del manifest["manifest_sha256"]
    spoilt = bundle_bytes(members, {**manifest, "pixels": True})
    assert verify(spoilt, quiet).wrong == ["manifest.json.pixels is not False."]
    assert manifest["exclusions"] == {}
    assert set(manifest["files"]) == {*members}


def test_that_patients_with_several_images_are_drawn_as_one(
    stored: tuple[Path, int, bytes],
) -> None:
    members = members_of(stored[2])
    text = members["tables/recommended.csv"].decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    edema = [row for row in rows if row["finding"] == "Edema"]
    assert any(int(row["n"]) > 2 * int(row["patients"]) > 2 for row in edema)


def test_that_the_same_run_gives_the_same_bytes(
    stored: tuple[Path, int, bytes],
) -> None:
    with open_store(stored[0]) as store:
        assert run_bundle(store, stored[1]) == stored[2]


def flipped(data: bytes, seed: int) -> tuple[int, bytes]:
    """Return a place and the data with one bit of it changed."""
    rng = random.Random(seed)
    place = rng.randrange(len(data))
    spoilt = bytearray(data)
    spoilt[place] ^= 1 << rng.randrange(8)
    return place, bytes(spoilt)


@pytest.mark.parametrize("n", [100, pytest.param(10_000, marks=pytest.mark.proof)])
def test_that_no_flipped_bit_anywhere_goes_unseen(
    n: int, stored: tuple[Path, int, bytes]
) -> None:
    for seed in range(n):
        place, spoilt = flipped(stored[2], seed)
        with suppress(BundleError):  # which is told as well
            assert verify(spoilt, quiet).wrong != [], f"byte {place}"


def test_that_a_flipped_byte_of_each_file_is_told_by_the_file_s_name(
    stored: tuple[Path, int, bytes],
) -> None:
    members = members_of(stored[2])
    manifest = json.loads(members.pop("manifest.json"))
    for name, content in members.items():
        if not content:
            continue
        spoilt = {**members, name: bytes([content[0] ^ 1]) + content[1:]}
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as out:
            out.writestr("manifest.json", json.dumps(manifest))
            for other, data in spoilt.items():
                out.writestr(other, data)
        wrong = verify(archive.getvalue(), quiet).wrong
        assert f"{name} differs from its hash in the manifest." in wrong


def test_that_a_forged_number_with_good_hashes_is_told_by_table_and_row(
    stored: tuple[Path, int, bytes],
) -> None:
    data, places = stored[2], {}
    for table in (
        *("results", "recommended", "mask_modes", "items"),
        *("mask_areas", "coverage_thresholds"),
    ):
        name = f"tables/{table}.csv"
        rows = members_of(data)[name].decode().splitlines()
        line = next(i for i, row in enumerate(rows) if i and "says-d4" in row)
        cells = next(csv.reader([rows[line]]))
        place = next(i for i in range(4, len(cells)) if cells[i].startswith("0."))
        last = cells[place]
        cells[place] = last[:-1] + ("1" if last[-1] != "1" else "2")
        new = csv_bytes(cells, []).strip()
        data = forged(data, name, rows[line].encode(), new)
        places[f"{name}, row {line + 1} "] = rows[0].split(",")[place]
    wrong = verify(data, quiet).wrong
    told = {one.partition("(")[0]: one for one in wrong}
    assert len(wrong) == len(places)
    for where, column in places.items():
        assert column in told[where]


def test_that_a_forged_reply_or_reference_with_good_hashes_is_told(
    stored: tuple[Path, int, bytes],
) -> None:
    reply = forged(
        stored[2], "replies.jsonl", b'\\"text\\": \\"D4\\"', rb"\"text\": \"A1\""
    )
    wrong = verify(reply, quiet).wrong
    assert "differs from its hash" in wrong[0]
    assert "the reply says A1" in wrong[1]
    members = members_of(stored[2])
    images = json.loads(members["references.json"])
    first = next(m for i in images.values() for m in i["masks"].values())
    old = json.dumps(first["counts"]).encode()
    other = next(
        m["counts"]
        for i in images.values()
        for m in i["masks"].values()
        if m["counts"] != first["counts"]
    )
    mask = forged(stored[2], "references.json", old, json.dumps(other).encode())
    assert verify(mask, quiet).wrong != []


def test_that_a_reading_that_a_worded_reply_does_not_name_is_told(
    stored: tuple[Path, int, bytes],
) -> None:
    old = rb"""{\"cell\": [4, 4], \"tier\": \"marked\"}"""
    new = rb"""{\"cell\": [4, 0], \"tier\": \"marked\"}"""
    wrong = verify(forged(stored[2], "trials.jsonl", old, new), quiet).wrong
    assert "the stored answer is E1, which the reply does not name" in wrong[0]


def test_that_nothing_of_patients_files_or_folders_is_in_it(
    stored: tuple[Path, int, bytes],
) -> None:
    folder = str(stored[0].parent)
    for name, content in members_of(stored[2]).items():
        text = content.decode().casefold()
        for word in (*CANARIES, folder, "answers.json", ".png"):
            assert word.casefold() not in text, f"{word} in {name}"
    raw = stored[2].lower()
    assert not any(word.lower().encode() in raw for word in CANARIES)


def test_that_verify_py_needs_nothing_but_python(
    stored: tuple[Path, int, bytes], tmp_path: Path
) -> None:
    bundle, script = tmp_path / "bundle.zip", tmp_path / "verify.py"
    bundle.write_bytes(stored[2])
    script.write_bytes(members_of(stored[2])["verify.py"])
    words = [sys.executable, "-I", "-S", str(script)]
    good = subprocess.run([*words, str(bundle)], capture_output=True, text=True)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.endswith("VERIFIED: bundle.zip is consistent.\n")
    bundle.write_bytes(flipped(stored[2], 5)[1])
    bad = subprocess.run([*words, str(bundle)], capture_output=True, text=True)
    assert (bad.returncode, bad.stderr) == (1, "")
    for arguments in ([], [str(tmp_path / "none.zip")], [str(script)]):
        wrong = subprocess.run([*words, *arguments], capture_output=True, text=True)
        assert (wrong.returncode, wrong.stderr) == (2, "")
        assert wrong.stdout.count("\n") == 1


def test_that_the_command_line_exports_and_verifies(
    stored: tuple[Path, int, bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "run.zip"
    store = ["--store", str(stored[0])]
    words = ["export", "bundle", str(stored[1]), "--out", str(out), *store]
    assert run_command_line(words) == 0
    assert out.read_bytes() == stored[2]
    assert run_command_line(["verify", str(out)]) == 0
    assert "VERIFIED: run.zip is consistent." in capsys.readouterr().out
    script = tmp_path / "verify.py"
    assert run_command_line(["export", "verifier", "--out", str(script)]) == 0
    assert script.read_bytes() == members_of(stored[2])["verify.py"]
    out.write_bytes(stored[2][:-1])
    assert run_command_line(["verify", str(out)]) == 1
    assert run_command_line(["verify", str(tmp_path / "none.zip")]) == 2


def test_that_the_page_asks_the_network_for_nothing(
    stored: tuple[Path, int, bytes],
) -> None:
    page = members_of(stored[2])["index.html"].decode()
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "src=" not in page.replace("default-src", "").replace("style-src", "")
