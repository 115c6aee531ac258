import json
from pathlib import Path

import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import PointPx
from viewer.readers.datasets.human_points import human_points_below, read_human_points

A = "patient64741_study1_view1_frontal"


def write(folder: Path, content: object) -> Path:
    path = folder / "hb_salient_pt_test.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.statement("E000-01", "E000-23")
def test_that_points_are_read_by_image_and_finding(tmp_path: Path) -> None:
    tasks = {"Lung Opacity": [[3, 4.5], [1, 2]], "Edema": [7, 8], "Cardiomegaly": []}
    points = read_human_points(write(tmp_path, {A: tasks}))
    assert points[A] == {
        "Lung Opacity": (PointPx(3, 4.5), PointPx(1, 2)),
        "Edema": (PointPx(7, 8),),
        "Cardiomegaly": (),
    }


@pytest.mark.parametrize(
    "tasks",
    [[], {"Edema": 3}, {"Edema": [[1]]}, {"Edema": [["x", 1]]}, {"Edema": [[True, 1]]}],
)
def test_that_what_is_no_point_is_told_with_its_image(
    tmp_path: Path, tasks: object
) -> None:
    with pytest.raises(UnreadableInputError, match=A):
        read_human_points(write(tmp_path, {A: tasks}))


def test_that_a_folder_without_them_or_gone_has_none(tmp_path: Path) -> None:
    assert human_points_below(tmp_path / "gone") == {}
    assert human_points_below(tmp_path) == {}
    (tmp_path / "gt_segmentations_test.json").write_text("{}")
    assert human_points_below(tmp_path) == {}
    write(tmp_path, {A: {"Edema": [[1, 2]]}})
    assert human_points_below(tmp_path) == {A: {"Edema": (PointPx(1, 2),)}}
