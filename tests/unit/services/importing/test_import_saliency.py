import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.mask_files import SALIENCY_IMAGE, write_map
from viewer.cli import run_command_line
from viewer.domain.errors import WrongUseError
from viewer.services.importing.import_saliency import import_saliency


def test_that_maps_become_arrays_and_points(tmp_path: Path) -> None:
    for finding, peak in {"Edema": (2, 5), "Lung Lesion": (7, 0)}.items():
        write_map(tmp_path / "maps", finding, peak)
    told: list[tuple[int, int]] = []
    out = tmp_path / "out"
    converted = import_saliency([tmp_path / "maps"], out, lambda *n: told.append(n))
    assert told == [(1, 2), (2, 2)]
    assert converted.refused == ()
    assert [p.name for p in converted.written] == [
        f"{SALIENCY_IMAGE}_Edema.npz",
        f"{SALIENCY_IMAGE}_Lung Lesion.npz",
    ]
    with np.load(converted.written[0], allow_pickle=False) as held:
        assert held["map"][2, 5] == 1
        assert held["size"].tolist() == [80, 160]
        assert held["probability"] == 0.75
    points = json.loads((out / "points.json").read_text())[SALIENCY_IMAGE]
    x, y = points["Edema"][0]
    assert (x // 20, y // 10) == (5, 2)
    assert points["Lung Lesion"] == [[0, 75]]


def test_that_a_finding_told_twice_is_refused(tmp_path: Path) -> None:
    for folder in ("gradcam", "ig"):
        write_map(tmp_path / folder, "Edema", (1, 1))
    with pytest.raises(WrongUseError, match="Two files contain the map of Edema"):
        import_saliency([tmp_path], tmp_path / "out")


def test_that_the_command_converts_what_it_can_and_names_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write_map(tmp_path, "Edema", (1, 1))
    bad = tmp_path / f"{SALIENCY_IMAGE}_Atelectasis_map.pkl"
    trace = tmp_path / "it-ran"
    bad.write_bytes(f"cos\nsystem\n(S'touch {trace}'\ntR.".encode())
    command = ["import-saliency", str(good), "--out", str(tmp_path / "o"), "--json"]
    assert run_command_line(command) == 0
    assert len(json.loads(capsys.readouterr().out)["written"]) == 1
    command = ["import-saliency", str(bad), str(good), "--out", str(tmp_path / "o")]
    assert run_command_line(command) == 2
    said = capsys.readouterr()
    assert "1 maps in" in said.out
    assert "tries to run code; nothing in it was run" in said.err
    assert not trace.exists()
