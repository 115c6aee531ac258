import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.predictions.saliency import read_saliency, saliency_files

NAME = "patient64741_study1_view1_frontal_Pleural Effusion_map.pkl"


def written(folder: Path, value: object, name: str = NAME) -> Path:
    path = folder / name
    path.write_bytes(pickle.dumps(value))
    return path


def whole(**changes: object) -> dict[str, object]:
    rng = np.random.default_rng(0)
    return {
        "map": rng.random((1, 1, 10, 10), dtype=np.float32),
        "cxr_dims": (390, 320),
        "prob": 0.25,
        "task": "Pleural Effusion",
        "gt": 1,
        **changes,
    }


def test_that_a_map_is_read_with_its_image_finding_and_size(tmp_path: Path) -> None:
    value = whole()
    saliency = read_saliency(written(tmp_path, value))
    assert saliency.image == "patient64741_study1_view1_frontal"
    assert saliency.finding == "Pleural Effusion"
    assert saliency.size == SizePx(rows=320, columns=390)
    assert saliency.probability == 0.25
    np.testing.assert_array_equal(saliency.values, value["map"][0, 0])  # type: ignore[index]


def test_that_tensors_are_read_and_the_salient_pixel_is_torchs(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    found = torch.rand(1, 1, 7, 9)
    value = whole(map=found, prob=torch.tensor([0.5]), cxr_img=torch.zeros(3, 20, 20))
    saliency = read_saliency(written(tmp_path, value))
    wide = torch.nn.functional.interpolate(
        found.double(), size=(320, 390), mode="bilinear", align_corners=False
    )
    y, x = divmod(int(wide.argmax()), 390)
    assert saliency.most_salient_pixel == (x, y)
    assert saliency.probability == 0.5


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, 2], "is not a dictionary"),
        ({}, "no array 'map'"),
        (whole(map=[[1.0]]), "no array 'map'"),
        (whole(map=np.zeros((0, 3))), "no array 'map'"),
        (whole(map=np.zeros((2, 3, 3))), "more than one map"),
        (whole(map=np.full((3, 3), np.nan)), "infinite or undefined"),
        (whole(cxr_dims=(10,)), "width and height"),
        (whole(cxr_dims=("a", 3)), "width and height"),
        (whole(cxr_dims=(0, 3)), "width and height"),
        (whole(cxr_dims=(1e9, 3)), "width and height"),
        (whole(cxr_dims=None), "width and height"),
    ],
)
def test_that_a_pickle_without_a_map_says_what_is_wrong(
    tmp_path: Path, value: object, said: str
) -> None:
    with pytest.raises(UnreadableInputError) as caught:
        read_saliency(written(tmp_path, value))
    assert said in caught.value.what


@pytest.mark.parametrize("name", ["a.pkl", "_map.pkl", "image_map.pkl", "x_y_map.txt"])
def test_that_a_file_of_another_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableInputError, match="is not named"):
        read_saliency(written(tmp_path, whole(), name))


class _Runs:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (self.command,)


@pytest.mark.statement("E000-01")
def test_that_a_map_that_would_run_code_runs_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    path = written(tmp_path, whole(gt=_Runs(f"touch {trace}")))
    with pytest.raises(UnreadableInputError, match="nothing in it was run"):
        read_saliency(path)
    assert not trace.exists()


def test_that_folders_are_searched_and_an_empty_one_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="no saliency maps"):
        saliency_files([tmp_path])
    (tmp_path / "below").mkdir()
    names = ["below/b_Edema_map.pkl", "a_Edema_map.pkl", "note.txt"]
    for name in names:
        (tmp_path / name).touch()
    found = saliency_files([tmp_path, tmp_path / "note.txt"])
    assert [f.name for f in found] == ["a_Edema_map.pkl", "b_Edema_map.pkl", "note.txt"]


def test_that_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="does not exist"):
        read_saliency(tmp_path / NAME)
