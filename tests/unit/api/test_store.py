"""The Python interface, on a few small synthetic radiographs."""

import dataclasses
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.helpers.tiny_study import write_images
from viewer import api
from viewer.domain.answer import BoxesAnswer, MaskAnswer, PlacedAnswer, PointAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.reference import Mask
from viewer.services.inspecting.runs import run_table

D4 = {"name": "says-d4", "adapter": "scripted", "answer": "D4"}
HEAVY = (
    *("PIL", "PySide6", "click", "jinja2", "matplotlib", "msgspec", "numpy", "pandas"),
    *("pydicom", "rich", "scipy", "sqlite3", "sqlite_utils", "viewer.terminal"),
)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("images") / "tiny", 4)


@pytest.fixture
def store(tmp_path: Path, images: Path) -> Iterator[api.Store]:
    with api.open_store(tmp_path / "s.sqlite") as opened:
        opened.import_dataset("folder", images)
        yield opened


def planned(store: api.Store, *models: object, **more: object) -> api.Run:
    return store.plan(
        "grid_localization",
        "tiny",
        [*models] or [D4, "uniform"],  # type: ignore[list-item]
        params={"grids": [8]},
        **more,  # type: ignore[arg-type]
    )


def asked(store: api.Store) -> api.Run:
    return store.run(planned(store), progress=None)


def test_that_importing_it_loads_no_heavy_library() -> None:
    code = (
        "import sys, viewer.api\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_that_all_it_gives_is_frozen_and_all_it_offers_is_documented() -> None:
    for name in api.__all__:
        offered = getattr(api, name)
        assert offered.__doc__, name
        if dataclasses.is_dataclass(offered):
            assert getattr(offered, "__dataclass_params__").frozen, name  # noqa: B009
        for member, value in inspect.getmembers(offered, inspect.isfunction):
            if not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"


def test_that_a_new_store_is_empty_and_knows_the_models_of_the_program(
    tmp_path: Path,
) -> None:
    with api.open_store(tmp_path / "new" / "s.sqlite") as store:
        assert (store.runs(), store.datasets()) == ((), ())
        known = {model.name: model for model in store.models()}
        assert known["asymmetry"].ready
        assert known["asymmetry"].host == ""
        with pytest.raises(api.WrongUseError, match=r"There is no run yet\."):
            store.run("last")
    with pytest.raises(api.StoreError):
        api.open_store(Path(__file__))


def test_that_the_store_of_the_person_is_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OVERREAD_STORE", str(tmp_path / "mine.sqlite"))
    with api.open_store() as store:
        assert store.path == tmp_path / "mine.sqlite"


def test_that_a_data_set_is_found_out_and_told(
    store: api.Store, images: Path, tmp_path: Path
) -> None:
    again = store.import_dataset("auto", str(images), "again", view="frontal")
    assert (again.format, again.images, again.items) == ("folder", 4, 4)
    assert [one.name for one in store.datasets()] == ["tiny", "again"]
    broken = write_images(tmp_path / "broken", 2)
    (broken / "patient00009_frontal.png").write_bytes(b"no image")
    told = store.import_dataset("folder", broken)
    assert told.notices == len(store.notices("broken")) == 1
    assert "patient00009_frontal" in store.notices("broken")[0]
    with pytest.raises(api.WrongUseError, match="Choose frontal, lateral, other"):
        store.import_dataset("folder", images, view="sideways")


def test_that_a_plan_is_a_run_that_is_asked_once(store: api.Store) -> None:
    run = planned(store)
    assert (run.status, run.planned, run.models) == (
        "unfinished", 8, ("says-d4", "uniform"),
    )  # fmt: skip
    assert planned(store) == run
    heard: list[api.Progress] = []
    done = store.run(run, progress=heard.append)
    assert done.finished
    assert sum(done.counts.values()) == done.planned
    assert [one.trial is not None for one in heard].count(True) == 8
    assert [one.done for one in heard] == sorted(one.done for one in heard)
    assert heard[-1].ended
    assert heard[-1].done == heard[-1].planned == 8
    assert store.run(done.id, progress=None) == done
    other = planned(store, new=True)
    assert other.id == run.id + 1
    settled = [one.trial for one in store.follow(other) if one.trial]
    assert all(trial.reused for trial in settled)
    assert store.runs() == (done, store.runs()[-1])


def test_that_a_loop_that_is_left_keeps_what_was_asked(store: api.Store) -> None:
    run = planned(store)
    seen = []
    for step in store.follow(run, concurrency=1):
        if step.trial:
            seen.append(step.trial.trial)
        if len(seen) == 2:
            break
    (now,) = store.runs()
    assert now.status == "unfinished"
    rest = [one.trial.trial for one in store.follow("last") if one.trial]
    assert sorted({*seen, *rest}) == list(range(1, 9))
    assert len(rest) < 8 - len(seen) + 1


def test_that_progress_is_a_bar_of_text(
    store: api.Store,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store.run(planned(store))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "Run 1 [####################] 8 of 8"
    assert len(err.splitlines()) == 8
    warned = api.Progress(1, 4, 8, warning="It stopped.\x1b[2J", spent_usd=0.5)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    api.text_bar(warned)
    first, second = capsys.readouterr().err.split("\n")
    assert first == r"It stopped.\x1b[2J"
    assert second == "\r\x1b[KRun 1 [##########..........] 4 of 8, 0.50 $"


def test_that_a_study_file_is_planned_as_the_command_line_does(
    store: api.Store, tmp_path: Path
) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'study = "grid_localization"\ndataset = "tiny"\nmodels = ["uniform"]\n'
        "[params]\ngrids = [8]\n"
    )
    run = store.plan_file(path, limit=2)
    assert (run.planned, run.models) == (2, ("uniform",))
    assert store.plan_file(path, models=["asymmetry"]).models == ("asymmetry",)
    with pytest.raises(api.UnreadableInputError, match="cannot be read"):
        store.plan_file(tmp_path / "none.toml")


def test_that_a_plan_may_ask_in_words_of_ones_own(store: api.Store) -> None:
    words = "Where is the {finding} on this {view} film? Answer with the cell alone."
    usual = store.run(planned(store, D4), progress=None)
    own = planned(store, D4, prompts={"gosai2025_user": words})
    assert own.id != usual.id
    store.run(own, progress=None)
    hashes = [set(store.records(run).prompt_sha256) for run in (usual, own)]
    assert not hashes[0] & hashes[1]
    with pytest.raises(api.WrongUseError, match="gosai2025_use"):
        planned(store, D4, prompts={"gosai2025_use": words})


def test_that_records_have_the_rate_as_the_mean_of_correct(store: api.Store) -> None:
    run = asked(store)
    records = store.records(run)
    assert len(records) == run.planned
    assert str(records.dtypes["correct"]) == "boolean"
    assert set(records.model[records.reply == "D4"]) == {"says-d4"}
    rates = store.table(run).dataframe()
    whole = rates[(rates.finding == "(micro)") & (rates.view == "all")]
    for model, rate in zip(whole.model, whole.hit_rate, strict=True):
        assert records.correct[records.model == model].mean() == rate


def test_that_dtypes_do_not_hang_on_what_was_asked(store: api.Store) -> None:
    run = planned(store)
    before = store.records(run)
    assert before.correct.isna().all()
    store.run(run, progress=None)
    after = store.records(run)
    assert list(before.dtypes.items()) == list(after.dtypes.items())


def test_that_without_pandas_it_says_how_to_get_it(
    store: api.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planned(store)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(api.MissingDependencyError) as caught:
        store.records(run)
    assert str(caught.value) == "DataFrames need pandas. Install it: pip install pandas"
    assert store.table(run, "items").csv().startswith("item,patient,image,")


def test_that_a_table_is_the_report_s_in_every_form(store: api.Store) -> None:
    run = asked(store)
    assert store.tables(run)[:2] == ("items", "results")
    table = store.table(run, "results")
    expected = run_table(store.path, run.id)
    assert (table.columns, table.rows) == (expected.header, expected.rows)
    assert pd.read_csv(pd.io.common.StringIO(table.csv())).equals(table.dataframe())
    assert r"\toprule" in table.latex()
    assert table.html() == table._repr_html_()
    assert "<table>" in table.html()
    assert "8 × 8" in table.html()
    items = store.table(run, "items")
    assert items.latex().count(r"\\") == 1 + run.planned
    with pytest.raises(api.WrongUseError, match="has no table 'none'"):
        store.table(run, "none")


def test_that_figures_are_drawn_by_name(store: api.Store, tmp_path: Path) -> None:
    run = asked(store)
    names = store.figures(run)
    assert {"fig2_hit_rates_8", "hit_rate_grid_8", "mask_areas_grid_8"} <= {*names}
    for name in ("fig2_hit_rates_8", "hit_rate_grid_8"):
        figure = store.figure(run, name)
        assert figure.title
        assert "<svg" in figure._repr_svg_()
        assert figure.save(tmp_path / f"{name}.svg").read_text("utf-8") == figure.svg
    with pytest.raises(api.WrongUseError, match="has no figure 'none'"):
        store.figure(run, "none")


def test_that_a_report_is_written(store: api.Store, tmp_path: Path) -> None:
    files = store.report(asked(store), tmp_path / "report")
    assert {path.name for path in files} > {"items.csv", "results.csv", "report.html"}


def test_that_a_run_shows_itself_and_escapes_what_it_was_called(
    store: api.Store,
) -> None:
    shown = planned(store, {**D4, "name": "<b>bold"})._repr_html_()
    assert "&lt;b&gt;bold" in shown
    assert "4: 4 pending" in shown


def test_that_one_image_is_asked_about(
    store: api.Store, images: Path, tmp_path: Path
) -> None:
    image = images / "patient00000_frontal.png"
    answer = store.ask(image, "Edema", model="asymmetry")
    assert (answer.image, answer.kind, answer.view) == (image, "cell", "frontal")
    assert answer.correct is (answer.status == "scored_correct")
    assert answer.reply == answer.cell
    assert answer.reference_cells
    (box,) = answer.boxes
    assert (box.x1 - box.x0, box.y1 - box.y0) == (12.5, 12.5)
    assert box.y0 >= 10  # of 120 rows the middle 100 are sent
    with Image.open(answer.save(tmp_path / "o.png")) as picture:
        assert picture.size[0] == picture.size[1] > 256
    assert answer._repr_png_() == (tmp_path / "o.png").read_bytes()
    assert "data:image/png;base64," in answer._repr_html_()
    assert store.runs() == ()
    assert store.runs(single_questions=True)[-1].id == answer.run


def test_that_an_image_without_a_reference_is_answered_and_not_judged(
    store: api.Store, tmp_path: Path
) -> None:
    Image.new("L", (64, 80), 90).save(tmp_path / "x.png")
    with pytest.raises(api.WrongUseError, match="does not say which view"):
        store.ask(tmp_path / "x.png", "Edema")
    answer = store.ask(tmp_path / "x.png", "Edema", grid="4x8", view="lateral")
    assert (answer.status, answer.correct, answer.outcome) == ("excluded", None, "")
    assert answer.reference_cells == ()
    assert answer.boxes[0].x1 - answer.boxes[0].x0 == 8


MASK = np.zeros((120, 100), dtype=np.bool_)
MASK[20:60, 30:50] = True
PLACES: dict[str, PlacedAnswer] = {
    "point": PointAnswer(PointPx(40.0, 30.5)),
    "boxes": BoxesAnswer((BoxPx(10, 20, 40, 60), BoxPx(0, 0, 9, 9)), (0.9, 0.1)),
    "mask": MaskAnswer(Mask.of_array(MASK)),
}


@pytest.mark.parametrize("kind", PLACES)
def test_that_places_are_told_in_native_pixels(
    kind: str, store: api.Store, images: Path
) -> None:
    store.home.mkdir(exist_ok=True)
    said = answer_as_json(PLACES[kind])
    (store.home / "models.toml").write_text(
        f'[[model]]\nname = "m"\nadapter = "scripted"\nanswer = {said!r}\n'
        'convention = "native"\n'
    )
    answer = store.ask(images / "patient00000_frontal.png", "Edema", model="m")
    assert answer.kind == kind
    assert answer.cell
    assert answer.png
    if kind == "point":
        assert answer.point == api.Point(40.0, 30.5)
        assert (answer.boxes, answer.iou) == ((), None)
    elif kind == "boxes":
        assert answer.boxes == (
            api.Box(10, 20, 40, 60, 0.9),
            api.Box(0, 0, 9, 9, 0.1),
        )
        assert answer.iou is not None
    else:
        assert answer.mask is not None
        assert np.array_equal(answer.mask, MASK)


def test_that_predictions_made_elsewhere_become_a_run(
    store: api.Store, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    rows = [f"patient{i:05d}_frontal,Edema,40,50" for i in range(3)]
    path.write_text("\n".join(["file,finding,x,y", *rows]))
    run = store.import_predictions(
        path,
        "mine",
        dataset="tiny",
        columns={"file": "image"},
        coordinates="native",
        progress=None,
    )
    assert run.models == ("mine",)
    assert (run.planned, run.counts["unparsed"]) == (4, 1)
    same = store.import_predictions(
        path,
        "other",
        like=run,
        columns={"file": "image"},
        coordinates="native",
        progress=None,
    )
    assert same.counts == run.counts
    with pytest.raises(api.WrongUseError, match="kind of coordinates 'feet'"):
        store.import_predictions(path, "mine", dataset="tiny", coordinates="feet")


def test_that_what_is_unknown_is_said_in_two_sentences(store: api.Store) -> None:
    with pytest.raises(api.WrongUseError, match=r"There is no run 7 in this store\."):
        store.records(7)
    with pytest.raises(api.WrongUseError, match="No model is named 'nobody'"):
        planned(store, "nobody")
    with pytest.raises(api.WrongUseError, match=r"The plan names no model\."):
        store.plan("grid_localization", "tiny", [])
    with pytest.raises(api.WrongUseError, match="No data set is named 'none'"):
        store.plan("grid_localization", "none", ["uniform"])
    with pytest.raises(api.WrongUseError, match="The policy 'forget' is not known"):
        store.run(planned(store), orphans="forget")


def test_that_phantoms_are_made_by_name(tmp_path: Path) -> None:
    folder = api.phantom(tmp_path / "tiles", 2, study="pathology_mcq", size=(128, 128))
    with api.open_store(tmp_path / "s.sqlite") as store:
        assert store.import_dataset("pathmmu", folder).items > 0
    with pytest.raises(api.WrongUseError, match="There is no generated collection"):
        api.phantom(tmp_path / "none", study="none")


def test_that_replies_given_elsewhere_are_scored_and_go_out_again(
    store: api.Store, tmp_path: Path
) -> None:
    run = store.run(planned(store, "uniform"), progress=None)
    requests = store.export_requests(run, tmp_path / "questions")
    asked = [json.loads(line) for line in requests.read_text("utf-8").splitlines()]
    assert len(asked) == run.planned
    keys = ("item", "condition", "repeat", "step")
    rows = [{**{k: one[k] for k in keys}, "reply": "D4"} for one in asked]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    mine = store.import_replies(path, like=run, name="mine", progress=None)
    assert mine.models == ("mine",)
    assert set(store.records(mine).answer) == {"D4"}
    out = store.export_replies(mine, tmp_path / "out.csv")
    again = store.import_replies([out], like=run, progress=None)
    assert store.table(again).rows == store.table(mine).rows
    assert not list((tmp_path / "then").glob("*"))
    left = store.export_requests(mine, tmp_path / "then", following=True)
    assert left.read_text("utf-8") == "", "there is a reply to each"
