"""How long a folder of 10,000 files takes to its first image, and how long the list of
100,000 cases takes to be filtered, sorted and walked; printed, never asserted.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from threading import Event

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from tests.helpers.small_datasets import grey
from viewer.domain.case import ImageHeader, ImageRef, ReadingState, View
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers import folders
from viewer.services.viewing.open_case import open_cases
from viewer.ui.panels.read.case_browser import CaseBrowser
from viewer.ui.panels.read.case_listing import COLUMNS, ColumnChoice, Entries
from viewer.ui.panels.read.hanging import CaseRows, Stack, StudyRows

FILES, FOLDERS, CASES = 10_000, 100, 100_000
SHARE_S = 0.02
"""What listing a folder of a share takes."""


def _ms(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begin)


def _cpu_ms(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return 1000 * (time.process_time() - begin)


@pytest.fixture(scope="module")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many")
    one = make_dicom(root / "one.dcm", grey(), PatientID="p", Modality="CT")
    content = one.read_bytes()
    one.unlink()
    for n in range(FILES):
        folder = root / f"series{n % FOLDERS}"
        folder.mkdir(exist_ok=True)
        (folder / f"{n}.dcm").write_bytes(content)
    return root


@pytest.mark.parametrize("share", [False, True], ids=["disk", "share"])
def test_the_first_image_of_many_files(
    many_files: Path, share: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = folders._entries

    def slowly(folder: Path) -> list[object]:
        time.sleep(SHARE_S)
        return listed(folder)  # type: ignore[return-value]

    if share:
        monkeypatch.setattr(folders, "_entries", slowly)
    all_of_them = _ms(lambda: list(folders.list_files([many_files])))
    first = [_ms(lambda: next(open_cases([many_files], Event()))) for _ in range(5)]
    print(
        f"\n{FILES:,} files in {FOLDERS} folders: first image found after "
        f"{median(first):.0f} ms; listing all takes {all_of_them:.0f} ms"
    )


def _cases() -> Iterator[CaseRows]:
    """Yield patients with a film each, in an order that no column has."""
    geometry = ImageGeometry(SizePx(4, 6))
    views = (View.FRONTAL, View.LATERAL, View.UNKNOWN)
    for n in range(CASES):
        name = f"patient{n * 7919 % CASES:06}"
        ref, view = ImageRef(Path(f"{name}.dcm")), views[n % 3]
        header = ImageHeader(ref, geometry, 1, "DX", view, name, "s", "s")
        day = f"{2000 + n % 25}{1 + n % 12:02}{1 + n % 28:02}"
        stack = Stack(name, "DX", (header,), name)
        study = StudyRows("s", day, (stack,), day, "1200")
        yield CaseRows(name, name, (study,))


def test_filtering_sorting_and_walking_many_cases(qtbot: QtBot) -> None:
    browser = CaseBrowser()
    qtbot.addWidget(browser)
    browser.resize(330, 900)
    browser.show()
    entries, cases = Entries(), tuple(_cases())
    made = _ms(lambda: entries.of(cases))
    listed = _ms(lambda: browser.show_cases(cases, entries.of(cases)))
    tree = browser.tree
    tree.show_states({f"patient{n:06}": ReadingState.DONE for n in range(0, CASES, 3)})
    print(f"\n{CASES:,} cases: entries {made:.0f} ms, listed {listed:.0f} ms")
    for column in COLUMNS:
        took = []
        for descending in (False, True, False, True):
            choice = ColumnChoice(sorted_by=column.title, descending=descending)
            took.append(_ms(partial(tree.show_columns, choice)))
            QApplication.processEvents()
        print(f"  by {column.title.lower()}: " + ", ".join(f"{t:.0f}" for t in took))
    print(f"  first jump {_ms(lambda: browser.step(CASES // 2)):.0f} ms", end="")
    print(f", the next {_ms(lambda: browser.step(1)):.0f} ms", end="")
    print(f", by study {_ms(lambda: browser.step_study(1)):.0f} ms")
    ref = cases[CASES // 3].studies[0].stacks[0].images[0].ref
    print(f"  first look for an image {_ms(lambda: browser.choose(ref)):.0f} ms")
    for text in ("p", "pa", "patient00", "patient00 dx", "patient001 lateral", ""):
        took_ms = _cpu_ms(partial(browser.filter.setText, text))
        painted_ms = _cpu_ms(QApplication.processEvents)
        print(f"  filter {text!r}: {took_ms:.1f} ms, painted {painted_ms:.1f} ms (CPU)")
