"""The pictures of the documentation: the real window over the demo collection.

``python -m tests.helpers.screenshots docs/images`` draws them anew, without a display,
each in the dark and in the light theme.
"""

import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtCore import QBuffer, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from tests.helpers.task_stores import overread
from tests.helpers.window_story import found, tick
from viewer import app
from viewer.domain.case import View
from viewer.domain.reading import Task
from viewer.services.asking.preview import previews_of_question
from viewer.services.commands import AskCommand
from viewer.services.readings.cases import queue
from viewer.services.readings.task_choice import tasks_to_do
from viewer.services.readings.task_readings import open_task
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.run_batch import run_batch
from viewer.services.running.stopping import Stop
from viewer.services.synthetic.demo import NAME
from viewer.services.synthetic.demo_run import register_demo, run_demo_spec
from viewer.settings import HOME_VARIABLE, Settings, read_settings
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.dialogs.consent import ConsentDialog
from viewer.ui.dialogs.prompt_editor import PromptEditor
from viewer.ui.panels.asking.ask_panel import AskChoice
from viewer.ui.window.main_window import MainWindow
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.ui.workspaces.read import ReadWorkspace
from viewer.ui.workspaces.review import ReviewWorkspace

_SIZE: Final = (1200, 760)
_TALL: Final = (1200, 900)
"""Of Measure, whose chart needs the room."""
_COLOURS: Final = 256
"""A palette makes a picture a third of its size."""
_STEP_MS, _STEPS, _SETTLED_MS = 50, 1200, 600
_FINDING: Final = "Lung Lesion"
_PROMPT: Final = "In which cell is the {finding} most prominent? One cell only."
_MODELS: Final = ("asymmetry", "frequent_cell", "uniform")
_ELSEWHERE: Final = """\
[[model]]
name = "example"
adapter = "openai_api"
base_url = "https://api.example.org/v1"
model = "name-of-the-model"
"""
Picture = tuple[str, QWidget]


def draw_all(folder: Path) -> None:
    """Write every picture into a folder, as NAME-dark.png and NAME-light.png."""
    with tempfile.TemporaryDirectory() as home:
        os.environ[HOME_VARIABLE] = home
        settings = read_settings()
        _prepare(settings)
        window = _open(settings)
        for name, widget in _pictures(window, settings):
            for theme in ("dark", "light"):
                QTest.qWait(_SETTLED_MS)
                _keep(widget, folder / f"{name}-{theme}.png")
                window.context.actions["view.theme"].trigger()
        window.close()


def _prepare(settings: Settings) -> None:
    with open_store(settings.store) as store:
        register_demo(store, settings.home, lambda _done, _all: None)
    settings.models_file.write_text(_ELSEWHERE, encoding="utf-8")


def _open(settings: Settings) -> MainWindow:
    app.make_application()
    window = app.build_window(settings)
    app.furnish(window)
    window.resize(*_SIZE)
    window.show()
    read = found(window, ReadWorkspace)
    demo = settings.home / "demo"
    window.open_paths([demo / "radiograph", demo / "phantom"])
    _wait(lambda: read.lightbox.active.shown is not None and not read._opening.running)
    window.context.actions["overlays.reference"].trigger()
    window.context.actions["overlays.answers"].trigger()
    return window


def _pictures(window: MainWindow, settings: Settings) -> Iterator[Picture]:
    _ask(window)
    yield "read", window
    yield "consent", (dialog := _consent(window, settings))
    dialog.close()
    yield "batch", (page := _batch(window))
    yield "prompts", (editor := _editor(page))
    editor.close()
    page.close()
    _run_demo(settings)
    window.resize(*_TALL)
    yield "measure", _measure(window)
    window.resize(*_SIZE)
    yield "review", _review(window)
    yield "task", _task(window, settings)


def _ask(window: MainWindow) -> None:
    """Ask the baselines about the finding of the radiograph."""
    read = found(window, ReadWorkspace)
    read.ask.set_choice(AskChoice(_FINDING, _MODELS))
    _wait(read.ask.ask.isEnabled)
    read.ask.ask.click()
    _wait(lambda: len(read.lightbox.view.answer_items) == len(_MODELS))


def _consent(window: MainWindow, settings: Settings) -> ConsentDialog:
    shown = found(window, ReadWorkspace).lightbox.active.shown
    assert shown is not None
    asked = AskCommand(shown.ref, _FINDING, ("example",), view=View.FRONTAL)
    (preview,) = previews_of_question(settings.store, settings.models_file, asked)
    dialog = ConsentDialog(preview, window)
    dialog.show()
    return dialog


def _batch(window: MainWindow) -> BatchDialog:
    window.context.actions["file.batch"].trigger()
    _wait(lambda: window.findChild(BatchDialog) is not None)
    page = found(window, BatchDialog)
    _wait(lambda: page.dataset.name == NAME and page.models.count())
    tick(page.models, *_MODELS)
    _wait(page.start.isEnabled)
    return page


def _editor(page: BatchDialog) -> PromptEditor:
    """Open the prompts and reword the task."""
    page.prompts.click()
    editor = found(page, PromptEditor)
    editor.names.setCurrentRow(1)
    editor.text.setPlainText(_PROMPT)
    _wait(editor.case.text)
    return editor


def _run_demo(settings: Settings) -> None:
    with open_store(settings.store) as store:
        for _ in run_batch(store, run_demo_spec(store), BatchOptions(), Stop()):
            pass


def _measure(window: MainWindow) -> MainWindow:
    measure = found(window, MeasureWorkspace)
    window.enter(Place.MEASURE)
    measure.refresh()
    _wait(lambda: measure.runs.selected is not None)
    _wait(lambda: measure.results.table.shown.rowCount() and measure.film.model.trials)
    _wait(lambda: measure.results.chart._plot is not None)
    window.grab()  # what is seen for the first time wants its thumbnails
    QTest.qWait(5 * _SETTLED_MS)
    return window


def _review(window: MainWindow) -> MainWindow:
    review = found(window, ReviewWorkspace)
    window.enter(Place.REVIEW)
    _wait(review.start.review.isEnabled)
    review.start.reader.setText("Reader A")
    review.start.review.click()
    _wait(lambda: review.page.ready)
    return window


def _task(window: MainWindow, settings: Settings) -> MainWindow:
    """Grade an output of a run over synthetic radiographs."""
    folder, store = settings.home / "chest", ("--store", settings.store)
    study = "rubric_reading"
    overread("phantom", "--study", study, "--n", 2, "--out", folder)
    overread("import", "report-studies", folder, "--name", "chest", *store)
    file = folder / "study.toml"
    named = re.sub("(?m)^dataset = .*", 'dataset = "chest"', file.read_text("utf-8"))
    file.write_text(named, encoding="utf-8")
    overread("run", file, *store)
    review = found(window, ReviewWorkspace)
    wanted = tasks_to_do(settings.store)[0].wanted
    session = open_task(settings.store, wanted, "Reader A")
    tasks = queue(settings.store, session)
    boxed = next(
        task.position
        for task in tasks
        if "process" in task.asked and _boxes_a_part(task)
    )
    review.page.left.emit()
    review.open_session(session)
    _wait(lambda: review.page.ready)
    review.page.show_case(boxed)
    _wait(lambda: review.page.ready)
    for level in (Qt.Key.Key_4, Qt.Key.Key_3):
        QTest.keyClick(review.page.image, level)
    return window


def _boxes_a_part(task: Task) -> bool:
    boxes = task.exhibits[0].exhibit.boxes
    return bool(boxes) and boxes[0].label != "whole image"


def _wait(condition: Callable[[], object]) -> None:
    """Keep the window running until something is true."""
    for _ in range(_STEPS):
        if condition():
            return
        QTest.qWait(_STEP_MS)
    raise TimeoutError(condition)


def _keep(widget: QWidget, path: Path) -> None:
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    widget.grab().save(buffer, "PNG")
    picture = Image.open(io.BytesIO(buffer.data().data())).convert("RGB")
    few = picture.quantize(_COLOURS, kmeans=8, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]))
