"""The page Batch…: a form, its estimate, study files, and the run it starts."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QListWidgetItem, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.forked import run_program
from tests.helpers.item_datasets import tiles_dataset
from tests.helpers.tiny_study import write_images
from viewer.domain.run import RunSpec, RunStatus
from viewer.services.configuring.form_field import FormField
from viewer.services.configuring.study_file import read_study_file
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.inspecting.runs import run_list
from viewer.services.running.batch_form import spec_of, write_study
from viewer.settings import Settings
from viewer.store.cases import add_dataset
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.dialogs.import_dataset import ImportDataset
from viewer.ui.widgets.field_editors import OneOf, SomeOf
from viewer.ui.widgets.params_form import ParamsForm
from viewer.ui.workspaces.measure import MeasureWorkspace

_N = 4


@pytest.fixture
def dialog(settings: Settings, tmp_path: Path, qtbot: QtBot) -> BatchDialog:
    with open_store(settings.store) as store:
        import_dataset(store, "folder", write_images(tmp_path / "images", _N), "tiny")
    made = BatchDialog(settings)
    qtbot.addWidget(made)
    made.reload()
    made.show()
    qtbot.waitUntil(lambda: made.models.count() > 0 and made.preset.count() > 0)
    return made


def _tick(dialog: BatchDialog, *names: str) -> None:
    for row in range(dialog.models.count()):
        item = dialog.models.item(row)
        on = item.text().partition(" ")[0] in names
        item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)


def test_that_the_button_names_what_it_sends(dialog: BatchDialog, qtbot: QtBot) -> None:
    assert dialog.form.models == ("asymmetry",), "a model is ticked from the start"
    _tick(dialog)
    qtbot.waitUntil(lambda: dialog.sentence.text() == "Choose at least one model.")
    assert not dialog.start.isEnabled()
    _tick(dialog, "asymmetry", "uniform")
    qtbot.waitUntil(dialog.start.isEnabled, timeout=10_000)
    assert dialog.start.text() == f"Run {2 * _N} trials"
    assert dialog.sentence.text().startswith(f"{2 * _N} trials of {_N} items")
    dialog.repeats.setValue(3)
    assert not dialog.start.isEnabled()
    qtbot.waitUntil(lambda: dialog.start.text() == f"Run {6 * _N} trials")


def test_that_a_study_in_words_says_where_models_for_it_come_from(
    dialog: BatchDialog, qtbot: QtBot
) -> None:
    place = dialog.study.findText("Pathology questions")
    dialog.study.setCurrentIndex(place)
    dialog.study.activated.emit(place)
    assert dialog.models.count() == 0, "baselines point, and answer no question"
    qtbot.waitUntil(lambda: "add one in Models" in dialog.sentence.text())
    assert not dialog.start.isEnabled()


def test_that_a_broken_study_of_another_package_is_greyed_and_says_why(
    settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "The study 'side' of package raises cannot be loaded."
    parts = "viewer.ui.dialogs.batch_parts.unusable_studies"
    monkeypatch.setattr(parts, lambda: {"side": why})
    dialog = BatchDialog(settings)
    qtbot.addWidget(dialog)
    dialog.reload()
    qtbot.waitUntil(lambda: dialog.study.count() > 0)
    row = dialog.study.findText("side – cannot be used")
    assert row == dialog.study.count() - 1
    assert dialog.study.itemData(row, Qt.ItemDataRole.ToolTipRole) == why
    index = dialog.study.model().index(row, 0)
    assert not dialog.study.model().flags(index) & Qt.ItemFlag.ItemIsEnabled
    assert dialog.study.model().flags(dialog.study.model().index(0, 0))


def test_that_start_hands_over_the_run_as_the_page_says(
    dialog: BatchDialog, settings: Settings, qtbot: QtBot
) -> None:
    _tick(dialog, "uniform")
    dialog.how.set_values({"grids": [8, "8x10"]})
    dialog.further.set_values({"letters": "column", "opacity": 0.5})
    dialog.seed.setValue(11)
    qtbot.waitUntil(dialog.start.isEnabled, timeout=10_000)
    with qtbot.waitSignal(dialog.start_wanted) as caught:
        QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    spec: RunSpec = caught.args[0]
    assert spec == spec_of(dialog.form, settings)
    assert (spec.seed, spec.params["grids"]) == (11, ["8", "8x10"])
    assert (spec.params["letters"], spec.params["opacity"]) == ("column", 0.5)
    assert dialog.isHidden()


def test_that_a_parameter_out_of_range_is_told_at_the_foot(
    dialog: BatchDialog, qtbot: QtBot
) -> None:
    _tick(dialog, "uniform")
    dialog.how.set_values({"grids": ["many"]})
    qtbot.waitUntil(lambda: "many" in dialog.sentence.text(), timeout=10_000)
    assert not dialog.start.isEnabled()


def test_that_the_page_speaks_of_settings_as_people_do(dialog: BatchDialog) -> None:
    assert dialog.study.currentText() == "Grid localization"
    assert dialog.preset.currentText() == "As published (Gosai 2025)"
    assert (dialog.form.study, dialog.form.preset) == ("grid_localization", "gosai2025")
    fit = dialog.further.editors["fit_mode"]
    assert isinstance(fit, QComboBox)
    assert (fit.currentText(), fit.value()) == ("crop, then resize", "crop_resize")
    labels = [label.text() for label in dialog.findChildren(QLabel)]
    assert "Line width, px" in labels
    assert not [text for text in labels if "_" in text], "a name of the code"


def test_that_nothing_to_ask_is_said_and_starts_nothing(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = write_images(tmp_path / "viewless", 1)
    for path in sorted(folder.iterdir()):
        path.rename(folder / path.name.replace("_frontal", ""))
    with open_store(settings.store) as store:
        import_dataset(store, "folder", folder, "viewless")
    dialog.dataset.choose("viewless")
    qtbot.waitUntil(lambda: dialog.start.text() == "Nothing to ask", timeout=10_000)
    assert not dialog.start.isEnabled()
    assert "the one trial is excluded" in dialog.sentence.text()


def test_that_labels_above_one_another_are_as_wide(
    dialog: BatchDialog, qtbot: QtBot
) -> None:
    def left() -> set[int]:
        return {
            editor.mapTo(dialog, editor.rect().topLeft()).x()
            for editor in (dialog.preset, dialog.seed, dialog.how.editors["grids"])
        }

    qtbot.waitUntil(lambda: len(left()) == 1)  # laid out with the next events
    assert len(left()) == 1


def test_that_one_click_varies_the_grid_and_says_what_that_asks(
    dialog: BatchDialog, settings: Settings, qtbot: QtBot
) -> None:
    _tick(dialog, "asymmetry")
    qtbot.waitUntil(dialog.start.isEnabled, timeout=10_000)
    (before,) = re.findall(r"([\d,]+) trial", dialog.start.text())
    dialog.vary.click()
    assert dialog.preset.name == "grid_ablation"
    assert not dialog.vary.isHidden()
    spec = spec_of(dialog.form, settings)
    assert spec.params["ablation"] == ["letters", "labels", "render_scale"]
    assert spec.params["grids"] == ["8", "16"]
    said = dialog.sentence.text
    qtbot.waitUntil(lambda: "asked in 34 ways" in said(), timeout=10_000)
    (after,) = re.findall(r"([\d,]+) trial", dialog.start.text())
    assert int(after.replace(",", "")) == 34 * int(before.replace(",", ""))
    dialog.how.set_values({"ablation": ["letters"], "grids": ["8"]})
    dialog.how.edited.emit()
    qtbot.waitUntil(lambda: "asked in 2 ways" in said(), timeout=10_000)
    dialog.study.choose("pathology_mcq")
    dialog.study.activated.emit(0)
    assert dialog.vary.isHidden()


def test_that_a_study_file_makes_the_round_trip(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _tick(dialog, "asymmetry", "frequent_cell")
    dialog.what.set_values({"findings": ["Edema"], "views": ["frontal"]})
    dialog.further.set_values({"side": 512, "colour": [0, 255, 0]})
    dialog.preset.choose("recommended")
    dialog.preset.activated.emit(1)
    assert dialog.form.ceiling_microusd is None
    assert dialog.ceiling.text() == "no ceiling"
    dialog.ceiling.setValue(4.350001)
    assert dialog.ceiling.text() == "$4.350001"
    dialog.ceiling.setValue(4.35)
    assert dialog.ceiling.text() == "$4.35"
    assert dialog.limit.text() == "all items"
    dialog.limit.setValue(5)
    path = tmp_path / "study.toml"
    wanted = spec_of(dialog.form, settings)
    assert (wanted.ceiling_microusd, wanted.limit) == (4_350_000, 5)
    dialog.write_to(path)
    qtbot.waitUntil(lambda: "Saved" in dialog.sentence.text(), timeout=10_000)
    assert read_study_file(path, settings.models_file) == wanted
    _tick(dialog)
    dialog.further.set_values({"side": 256})
    dialog.ceiling.setValue(0)
    dialog.read_from(path)
    qtbot.waitUntil(lambda: dialog.form.models == ("asymmetry", "frequent_cell"))
    assert spec_of(dialog.form, settings) == wanted


def test_that_a_file_that_is_no_study_is_told_at_the_foot(
    dialog: BatchDialog, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("this is = not [toml")
    dialog.read_from(path)
    before = dialog.form
    qtbot.waitUntil(lambda: "not valid TOML" in dialog.sentence.text())
    assert "bad.toml" in dialog.sentence.text()
    assert dialog.form == before


def test_that_without_a_data_set_the_page_says_how_to_get_one(
    settings: Settings, qtbot: QtBot
) -> None:
    dialog = BatchDialog(settings)
    qtbot.addWidget(dialog)
    dialog.reload()
    qtbot.waitUntil(lambda: "no data set yet" in dialog.sentence.text(), timeout=10_000)
    assert not dialog.start.isEnabled()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (FormField("b", "bool", default=False, help=""), True),
        (FormField("i", "int", 3, "", (), 1, 16), 9),
        (FormField("f", "float", 1.0, "", (), 0, 1), 0.25),
        (FormField("c", "choice", "x", "", ("x", "y")), "y"),
        (FormField("m", "choices", ("x",), "", ("x", "y")), ["x", "y"]),
        (FormField("l", "choices", (1, 2), ""), [3, "4x5"]),
        (FormField("t", "text", "frontal", ""), "PA"),
    ],
)
def test_that_only_what_was_changed_is_given_back(
    field: FormField, value: object, qtbot: QtBot
) -> None:
    form = ParamsForm()
    qtbot.addWidget(form)
    form.show_fields([field])
    assert form.changed() == {}
    with qtbot.waitSignal(form.edited):
        form.set_values({field.name: value})
    assert form.changed() == {field.name: value}


def test_that_what_two_models_were_asked_from_the_page_is_the_command_lines_run(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    bridge = WorkerBridge(settings.store)
    workspace = MeasureWorkspace(AppContext(settings, bridge))
    qtbot.addWidget(workspace)
    workspace.show()
    _tick(dialog, "uniform", "asymmetry")
    dialog.how.set_values({"grids": [8, "8x10"]})
    dialog.write_to(tmp_path / "study.toml")
    qtbot.waitUntil(lambda: "Saved" in dialog.sentence.text(), timeout=10_000)
    workspace.batches.start(spec_of(dialog.form, settings))
    qtbot.waitUntil(
        lambda: [r.status for r in run_list(settings.store)] == [RunStatus.FINISHED],
        timeout=60_000,
    )
    bridge.close()
    (run,) = run_list(settings.store)
    assert (run.n_planned, run.models) == (4 * _N, ("asymmetry", "uniform"))
    words = ("run", tmp_path / "study.toml", "--store", settings.store, "--json")
    said = run_program(*words)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["run"] == run.id
    assert run_list(settings.store) == (run,)


def test_that_a_batch_started_in_the_window_ends_as_a_selected_run(
    dialog: BatchDialog, settings: Settings, qtbot: QtBot
) -> None:
    bridge = WorkerBridge(settings.store)
    workspace = MeasureWorkspace(AppContext(settings, bridge))
    qtbot.addWidget(workspace)
    workspace.show()
    _tick(dialog, "uniform")
    dialog.start_wanted.connect(workspace.batches.start)
    qtbot.waitUntil(dialog.start.isEnabled, timeout=10_000)
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: (
            workspace.runs.selected is not None
            and workspace.runs.selected.status is RunStatus.FINISHED
            and len(workspace.film.model.trials) == _N
        ),
        timeout=60_000,
    )
    bridge.close()
    assert [run.status for run in run_list(settings.store)] == [RunStatus.FINISHED]


def test_that_a_data_set_registered_meanwhile_is_offered(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    page = BatchDialog(settings)
    qtbot.addWidget(page)
    page.reload()
    page.show()
    qtbot.waitUntil(lambda: page.models.count() > 0)
    assert page.form.dataset == ""
    assert page.bring.isVisible()
    with open_store(settings.store) as store:
        import_dataset(store, "folder", write_images(tmp_path / "images", _N), "late")
    page.look_again()
    qtbot.waitUntil(lambda: page.form.dataset == "late")
    assert not page.bring.isVisible()


def test_that_a_page_without_a_data_set_offers_to_import_one(
    settings: Settings, qtbot: QtBot
) -> None:
    bridge = WorkerBridge(settings.store)
    workspace = MeasureWorkspace(AppContext(settings, bridge))
    qtbot.addWidget(workspace)
    workspace.batches.open()
    page = workspace.findChild(BatchDialog)
    assert page is not None
    qtbot.waitUntil(page.bring.isVisible)
    qtbot.waitUntil(lambda: "There is no data set yet" in page.sentence.text())
    QTest.mouseClick(page.bring, Qt.MouseButton.LeftButton)
    found = workspace.window().findChild(QWidget, "file.import_dataset")
    assert isinstance(found, ImportDataset)
    assert found.isVisible()
    found.close()
    page.close()
    bridge.close()


BOXES = "image,finding,x,y,width,height,reader\n"


def test_that_the_rule_of_readers_is_chosen_among_those_of_the_data_set(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    rule = dialog.further.editors["reader_rule"]
    assert isinstance(rule, OneOf)
    assert [rule.itemData(i) for i in range(rule.count())] == ["any", "majority"]
    root = write_images(tmp_path / "boxed", 1)
    picture = next(root.rglob("*_frontal.png"))
    row = f"{picture.name},Edema,1,1,9,9,"
    (root / "boxes.csv").write_text(f"{BOXES}{row}Dr B\n{row}Dr A\n")
    with open_store(settings.store) as store:
        import_dataset(store, "csv-boxes", root, "boxed")
    dialog.reload()
    qtbot.waitUntil(lambda: dialog.dataset.findData("boxed") >= 0)
    dialog.further.set_values({"side": 512})
    dialog.dataset.choose("boxed")
    qtbot.waitUntil(lambda: "Dr A" in _rules(dialog))
    assert _rules(dialog) == ["any", "majority", "Dr A", "Dr B"]
    dialog.further.set_values({"reader_rule": "Dr B"})
    assert dialog.form.params == {"reader_rule": "Dr B", "side": 512}
    dialog.dataset.choose("tiny")
    qtbot.waitUntil(lambda: "Dr A" not in _rules(dialog))
    assert _rules(dialog) == ["any", "majority", "Dr B"], "what was chosen stays"
    assert dialog.form.params["reader_rule"] == "Dr B"


def test_that_a_data_set_with_none_of_the_preset_findings_is_asked_about_its_own(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    root = write_images(tmp_path / "boxed", 1)
    picture = next(root.rglob("*_frontal.png"))
    rows = "".join(f"{picture.name},{name},1,1,9,9,\n" for name in ("scar", "cyst"))
    (root / "boxes.csv").write_text(f"{BOXES}{rows}")
    with open_store(settings.store) as store:
        import_dataset(store, "csv-boxes", root, "boxed")
    preset = dialog.what.values()["findings"]
    dialog.reload()
    qtbot.waitUntil(lambda: dialog.dataset.findData("boxed") >= 0)
    dialog.dataset.choose("boxed")
    qtbot.waitUntil(lambda: "findings" in dialog.form.params)
    assert dialog.form.params["findings"] == ["cyst", "scar"]
    dialog.dataset.choose("tiny")
    qtbot.waitUntil(lambda: dialog.what.values()["findings"] == preset)


def test_that_findings_which_the_data_set_lacks_are_not_ticked(
    dialog: BatchDialog, qtbot: QtBot
) -> None:
    def item(text: str) -> QListWidgetItem:
        findings = dialog.what.editors["findings"]
        assert isinstance(findings, SomeOf)
        return next(one for one in findings._items() if one.text() == text)

    def ticked(text: str) -> bool:
        return item(text).checkState() is Qt.CheckState.Checked

    qtbot.waitUntil(lambda: not ticked("Pneumothorax"))
    assert ticked("Edema")
    assert "no reference" in item("Pneumothorax").toolTip()
    assert not item("Pneumothorax").flags() & Qt.ItemFlag.ItemIsEnabled
    assert "findings" not in dialog.form.params  # the preset's are all asked for
    item("Edema").setCheckState(Qt.CheckState.Unchecked)
    asked = dialog.form.params["findings"]
    assert isinstance(asked, list)
    assert "Edema" not in asked
    assert "Pneumothorax" in asked


def test_that_a_study_files_reader_is_shown_whoever_he_is(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "study.toml"
    _tick(dialog, "uniform")
    form = replace(dialog.form, params={"reader_rule": "Dr C"})
    write_study(form, path)
    dialog.read_from(path)
    qtbot.waitUntil(lambda: dialog.form.params.get("reader_rule") == "Dr C")
    assert read_study_file(path, settings.models_file).params["reader_rule"] == "Dr C"


def _rules(dialog: BatchDialog) -> list[str]:
    rule = dialog.further.editors["reader_rule"]
    assert isinstance(rule, OneOf)
    return [str(rule.itemData(i)) for i in range(rule.count())]


def _questions(settings: Settings, tmp_path: Path, name: str = "quiz") -> None:
    dataset = replace(tiles_dataset(tmp_path / name, 2), name=name)
    with open_store(settings.store) as store:
        add_dataset(store, dataset)


def _choose_study(dialog: BatchDialog, title: str) -> None:
    place = dialog.study.findText(title)
    dialog.study.setCurrentIndex(place)
    dialog.study.activated.emit(place)


def _offered(dialog: BatchDialog) -> dict[str, bool]:
    """Return what the list of data sets says, and whether it can be chosen."""
    box = dialog.dataset
    on = [box.model().flags(box.model().index(i, 0)) for i in range(box.count())]
    return {
        box.itemText(i): bool(on[i] & Qt.ItemFlag.ItemIsEnabled)
        for i in range(box.count())
    }


def test_that_data_sets_that_do_not_suit_a_study_are_grey_and_say_why(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _questions(settings, tmp_path)
    dialog.reload()
    qtbot.waitUntil(lambda: dialog.dataset.name == "quiz", timeout=10_000)
    assert dialog.study.currentText() == "Pathology questions", "the set chose it"
    assert dialog.form.preset in {
        dialog.preset.itemData(i) for i in range(dialog.preset.count())
    }
    why = "tiny – no multiple-choice questions about tiles"
    assert _offered(dialog) == {"quiz": True, why: False}
    _choose_study(dialog, "Grid localization")
    assert dialog.dataset.name == "tiny"
    assert list(_offered(dialog).values()) == [True, False]
    qtbot.waitUntil(dialog.restricted.isEnabled)
    assert dialog.restricted._dataset == "tiny"
    dialog.reload()
    qtbot.waitUntil(lambda: "offers" not in dialog._background_tasks)
    assert dialog.dataset.name == "tiny", "what was there before is not chosen again"


def test_that_a_study_no_data_set_suits_says_how_to_get_one(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _choose_study(dialog, "Graded tasks")
    assert dialog.form.dataset == ""
    assert dialog.dataset.placeholderText() == "none suits the study"
    assert dialog.bring.isVisible()
    qtbot.waitUntil(lambda: "No data set here has" in dialog.sentence.text())
    assert "Report studies or MIMIC-CXR-JPG" in dialog.sentence.text()
    assert "overread phantom --study" in dialog.sentence.text()
    _questions(settings, tmp_path)
    dialog.look_again()
    qtbot.waitUntil(lambda: dialog.form.dataset == "quiz", timeout=10_000)
    assert not dialog.bring.isVisible()


def test_that_a_study_file_of_another_study_brings_its_presets_and_models(
    dialog: BatchDialog, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "study.toml"
    write_study(replace(dialog.form, models=("uniform",)), path)
    _choose_study(dialog, "Pathology questions")
    assert dialog.models.count() == 0
    dialog.read_from(path)
    qtbot.waitUntil(lambda: dialog.form.models == ("uniform",))
    assert dialog.preset.currentText() == "As published (Gosai 2025)"
    assert dialog.models.count() > 1
    assert dialog.form.dataset == "tiny"


def test_that_the_page_opens_with_the_data_set_that_came_last(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    with open_store(settings.store) as store:
        import_dataset(store, "folder", write_images(tmp_path / "images", 1), "tiny")
    bridge = WorkerBridge(settings.store)
    workspace = MeasureWorkspace(AppContext(settings, bridge))
    qtbot.addWidget(workspace)
    workspace.batches.open()
    page = workspace.findChild(BatchDialog)
    assert page is not None
    qtbot.waitUntil(lambda: page.form.dataset == "tiny")
    page.seed.setValue(7)
    page.close()
    qtbot.waitUntil(lambda: workspace.findChild(BatchDialog) is None)
    _questions(settings, tmp_path)
    workspace.batches.open()
    again = workspace.findChild(BatchDialog)
    assert again is not None
    qtbot.waitUntil(lambda: again.form.dataset == "quiz")
    assert (again.study.currentText(), again.form.seed) == ("Pathology questions", 7)
    again.close()
    bridge.close()


def test_that_own_prompts_of_a_study_file_are_told_and_go_with_their_study(
    dialog: BatchDialog, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'study = "grid_localization"\ndataset = "tiny"\nmodels = ["uniform"]\n'
        '[prompts]\ngosai2025_user = "Where is {finding}?"\n'
    )
    dialog.read_from(path)
    told = "Custom prompts are used for gosai2025_user."
    qtbot.waitUntil(lambda: told in dialog.sentence.text(), timeout=10_000)
    own = {"gosai2025_user": "Where is {finding}?"}
    assert spec_of(dialog.form, settings).params["prompts"] == own
    dialog.study.choose("pathology_mcq")
    dialog.study.activated.emit(dialog.study.currentIndex())
    assert "prompts" not in dialog.form.params
