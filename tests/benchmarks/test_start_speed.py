"""What a start costs until the first image is painted: a file, and a folder of 1,000.

CPU time is that of all processes, for other work hardly changes it; only printed.
"""

from pathlib import Path
from statistics import median

import pytest

from tests.helpers.make_dicom import make_dicom
from tests.helpers.small_datasets import grey
from viewer.services.benchmarking.start import FirstImage, time_first_image
from viewer.services.worker.jobs import own_program

FILES, STARTS = 1_000, 7
SIZE = (500, 400)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of films of as many patients, alike but for their identifiers."""
    folder = tmp_path_factory.mktemp("start") / "films"
    folder.mkdir()
    for n in range(FILES):
        make_dicom(
            folder / f"{n:04}.dcm",
            grey(*SIZE),
            PatientID=f"p{n}",
            Modality="DX",
            StudyInstanceUID=f"1.2.3.{n}",
            SeriesInstanceUID=f"1.2.3.{n}.1",
            SOPInstanceUID=f"1.2.3.{n}.1.1",
        )
    return folder


def test_the_start_on_a_file_and_on_a_folder(
    films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    starts: dict[Path, list[FirstImage]] = {films / "0000.dcm": [], films: []}
    for n in range(STARTS):
        for path, measured in starts.items():
            home = tmp_path / f"{path.name}{n}"  # nothing is known of the folder yet
            home.mkdir()
            measured.append(time_first_image([*own_program(), str(path)], home))
    for path, measured in starts.items():
        cpu = median(one.cpu for one in measured if one.cpu is not None)
        seconds = median(one.seconds for one in measured)
        print(
            f"\n{path.name}: {1000 * cpu:.0f} ms CPU, {1000 * seconds:.0f} ms", end=""
        )
    print()
