"""Images that are made for readers: what they show, and that they go with their run."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from tests.helpers.task_stores import imported, phantom
from tests.unit.services.exporting.test_export_item_bundle import members_of, quiet
from viewer.domain.errors import CancelledError, UnreadableInputError, WrongUseError
from viewer.domain.figure import RateFigure
from viewer.domain.form_values import Values
from viewer.domain.geometry import BoxPx
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.reading import SessionId, Task
from viewer.imaging.png import decode_png
from viewer.readers.pixels import load_pixels
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.housekeeping.delete import Kind, Target, delete, preview_deletion
from viewer.services.inspecting.answers import images_of
from viewer.services.inspecting.runs import run_table
from viewer.services.readings import cases, recording
from viewer.services.readings.redrawing import redraw_missing
from viewer.services.readings.sealing import seal_session
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import open_task, task_offer
from viewer.services.reporting.figures import run_figures
from viewer.services.reporting.report_run import manifest_of_report, report_data
from viewer.services.running.batch_form import dataset_names
from viewer.settings import Settings
from viewer.store import cases as store_cases
from viewer.store import consents, readings, trials, withdrawing
from viewer.store.database import Store, open_store
from viewer.writers.verify.main import verify

WANTED = TaskWanted("grounded_vqa", "edited_images", "people", run=1)
VISUAL = ("vpt", "vpt-sham-same")
PASSED: Values = {"replaced": "yes", "plausible": "yes"}
REJECTED: Values = {"replaced": "yes", "plausible": "no"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of the visual test, whose images nobody has reviewed."""
    folder = phantom(tmp_path_factory.mktemp("made") / "chests", "grounded_vqa", 8)
    return imported(folder, "vindr")


@pytest.fixture
def store(settings: Settings, asked: Path) -> Path:
    shutil.copy(asked, settings.store)
    return settings.store


def edits(store: Store) -> dict[str, str]:
    """Return a request of each edited image that any model was asked about."""
    return {
        one.trial.item: one.request_sha256
        for one in trials.scored_trials(store, 1)
        if one.trial.condition.name in VISUAL and one.score.status != "excluded"
    }


def planned(store: Path, session: SessionId) -> Iterator[tuple[str, Task]]:
    """Yield a session's cases with the edits that the reader is not told."""
    with open_store(store) as opened:
        names = [task.item for task in readings.tasks_of(opened, session)]
    yield from zip(names, cases.queue(store, session), strict=True)


@pytest.mark.statement("E002-10")
def test_that_a_reader_sees_each_edited_image_as_it_was_sent(store: Path) -> None:
    session = open_task(store, WANTED, "Ada")
    with open_store(store) as opened:
        requests = edits(opened)
        sent = {
            name: decode_png(images_of(trials.sent_request(opened, sha256))[-1])
            for name, sha256 in requests.items()
        }
    shown = dict(planned(store, session))
    assert shown.keys() == sent.keys()
    assert len(shown) == task_offer(store, WANTED).cases > 4
    for name, task in shown.items():
        edited, original = task.exhibits
        assert [edited.exhibit.title, original.exhibit.title] == ["Edited", "Original"]
        assert edited.image == task.image
        assert original.image is not None
        pixels = load_pixels(task.image).values
        assert np.array_equal(np.squeeze(pixels), sent[name].pixels)
        assert not np.array_equal(pixels, load_pixels(original.image).values)


def test_that_nothing_tells_what_was_pasted(store: Path) -> None:
    session = open_task(store, WANTED, "Ada")
    with open_store(store) as opened:
        dataset = store_cases.dataset_named(opened, "people")
    findings = {str(item.facts["finding"]) for item in dataset.items} - {""}
    for name, task in planned(store, session):
        key, donor = name.split("|")
        asked = next(item for item in dataset.items if item.key == key)
        told = repr(task)
        assert task.finding == asked.facts["anatomy"]
        for secret in (*findings, *VISUAL, "sham", "donor", donor, key):
            assert secret not in told, secret


def test_that_drawing_can_be_stopped_and_leaves_nothing(
    store: Path, settings: Settings
) -> None:
    stop = Event()

    def stop_at_third(done: int, _: int) -> None:
        if done == 3:
            stop.set()

    with pytest.raises(CancelledError, match="Drawing was stopped"):
        open_task(store, WANTED, "Ada", progress=stop_at_third, stop=stop)
    assert not list((settings.home / "sessions").rglob("*"))
    with open_store(store) as opened:
        assert readings.session_rows(opened) == ()
    first = open_task(store, WANTED, "Ada")
    files = sorted((settings.home / "sessions").rglob("*.png"))
    stop.clear()
    with pytest.raises(CancelledError):
        open_task(store, WANTED, "Ben", progress=stop_at_third, stop=stop)
    # Those of another session stay.
    assert sorted((settings.home / "sessions").rglob("*.png")) == files
    assert redraw_missing(store, first) == 0


def test_that_deleted_images_are_drawn_again(store: Path, settings: Settings) -> None:
    session = open_task(store, WANTED, "Ada")
    files = sorted((settings.home / "sessions").rglob("*.png"))
    before = [path.read_bytes() for path in files]
    for path in files[:2]:
        path.unlink()
    told: list[tuple[int, int]] = []
    stop = Event()

    def stop_after_one(done: int, every: int) -> None:
        told.append((done, every))
        stop.set()

    with pytest.raises(CancelledError):
        redraw_missing(store, session, progress=stop_after_one, stop=stop)
    assert told == [(1, 2)]
    assert redraw_missing(store, session) == 1  # what was drawn is kept
    assert [path.read_bytes() for path in files] == before


def test_that_an_image_that_would_be_drawn_differently_is_not_replaced(
    store: Path, settings: Settings
) -> None:
    session = open_task(store, WANTED, "Ada")
    for path in (settings.home / "sessions").rglob("*.png"):
        path.unlink()
    with open_store(store) as opened:
        for image in store_cases.dataset_named(opened, "people").images:
            bars = (BoxPx(2, 3, 22, 13),)
            sha256 = pixels_sha256(load_pixels(image.ref))
            review = PixelReview(sha256, ReviewDecision.BLACKED_OUT, bars)
            consents.add_review(opened, review)
    with pytest.raises(WrongUseError, match="would be drawn differently now"):
        redraw_missing(store, session)


def test_that_readers_share_the_images_and_may_go_on(
    store: Path, settings: Settings
) -> None:
    drawn: list[tuple[int, int]] = []
    first = open_task(
        store, WANTED, "Ada", progress=lambda n, of: drawn.append((n, of))
    )
    files = sorted((settings.home / "sessions").rglob("*.png"))
    count = len(cases.queue(store, first))
    assert drawn == [(n, count) for n in range(1, count + 1)]
    second = open_task(store, WANTED, "Ben")
    assert sorted((settings.home / "sessions").rglob("*.png")) == files
    assert open_task(store, WANTED, "Ada") == first
    images = [{t.image for t in cases.queue(store, s)} for s in (first, second)]
    assert images[0] == images[1]
    assert len(files) == len(images[0])


def test_that_a_drawn_sample_has_only_its_own_images(
    store: Path, settings: Settings
) -> None:
    wanted = TaskWanted("grounded_vqa", "edited_images", "people", run=1, limit=2)
    session = open_task(store, wanted, "Ada")
    assert len(cases.queue(store, session)) == 2
    assert len(list((settings.home / "sessions").rglob("*.png"))) == 2


def test_that_no_list_offers_them(store: Path) -> None:
    open_task(store, WANTED, "Ada")
    assert set(dataset_names(store)) == {"images", "people"}
    with open_store(store) as opened:
        names = [one.name for one in store_cases.dataset_summaries(opened)]
    assert names == ["images", "people"]


def test_that_black_bars_are_on_the_edited_image_too(store: Path) -> None:
    with open_store(store) as opened:
        dataset = store_cases.dataset_named(opened, "people")
        for image in dataset.images:
            sha256 = pixels_sha256(load_pixels(image.ref))
            bar = (BoxPx(2, 3, 22, 13),)
            review = PixelReview(sha256, ReviewDecision.BLACKED_OUT, bar)
            consents.add_review(opened, review)
    session = open_task(store, WANTED, "Ada")
    for task in cases.queue(store, session):
        assert np.ptp(load_pixels(task.image).values[3:13, 2:22]) == 0


def test_that_an_image_that_is_gone_is_told_before_anything_is_opened(
    store: Path,
) -> None:
    with open_store(store) as opened, opened.transaction():
        opened.execute("UPDATE image SET path = '/nowhere/' || key")
    with pytest.raises(UnreadableInputError):
        open_task(store, WANTED, "Ada")
    with open_store(store) as opened:
        assert readings.session_rows(opened) == ()


def test_that_a_session_with_them_is_not_sealed(store: Path, tmp_path: Path) -> None:
    session = open_task(store, WANTED, "Ada")
    with pytest.raises(WrongUseError, match="made of several patients' images"):
        seal_session(store, session, tmp_path / "ada.overread-session")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [Kind.RUN, Kind.MODEL, Kind.DATASET, Kind.CASE])
def test_that_they_are_deleted_with_what_they_were_made_of(
    store: Path, settings: Settings, kind: Kind
) -> None:
    name = {Kind.RUN: "1", Kind.MODEL: "knows"}.get(kind, "people")
    settings.models_file.write_text(
        '[[model]]\nname = "knows"\nadapter = "scripted"\nanswer = "A"\n'
    )
    for reader in ("Ada", "Ben"):
        session = open_task(store, WANTED, reader)
    (edit, task), *_ = planned(store, session)
    folder = settings.home / "sessions"
    count = len(list(folder.rglob("*.png")))
    case = edit.rpartition("|")[2] if kind is Kind.CASE else ""  # the donor's image
    target = Target(kind, name, case)
    told = preview_deletion(settings, target)
    assert told == delete(settings, target)
    assert f"{count} images made for readers" in told.goes
    of_run = kind in {Kind.RUN, Kind.MODEL}
    assert any(line.endswith("data set") for line in told.goes) == (
        kind is Kind.DATASET
    )
    assert any(line == "1 image" for line in told.goes) == (kind is Kind.CASE)
    assert list(folder.rglob("*.png")) == []
    assert not task.image.path.exists()
    with open_store(store) as opened:
        assert not opened.rows("SELECT 1 FROM image WHERE key LIKE 'made %'")
        assert not opened.rows("SELECT 1 FROM dataset WHERE name LIKE 'made for%'")
        assert not opened.rows("PRAGMA foreign_key_check")
        if of_run:
            assert store_cases.dataset_named(opened, "people").images


@pytest.mark.statement("E002-10")
def test_that_what_a_reader_rejects_counts_at_once_and_until_withdrawn(
    store: Path,
) -> None:
    before = table_4(store)
    session = open_task(store, WANTED, "Dr CANARY Ada")
    rejected = set()
    for position, (edit, _) in enumerate(planned(store, session)):
        no = position % 3 == 0
        recording.lock(store, session, position, REJECTED if no else PASSED)
        rejected |= {edit} if no else set()
    with open_store(store) as opened:
        after, report = table_4(store), report_data(opened, 1)
        edits_of = {
            str(row["model"]): [
                one
                for one in report.results
                if (one.condition, one.model) == ("vpt", row["model"])
                and one.score.status != "excluded"
            ]
            for row in after
        }
        data = run_bundle(opened, 1)
    for old, row in zip(before, after, strict=True):
        own = edits_of[str(row["model"])]
        left = [one for one in own if one.item not in rejected]
        assert (old["n_rejected"], old["n_edits"]) == (0, len(own))
        assert row["n_rejected"] == len(own) - len(left)
        assert row["n_edits"] == len(left)
        assert row["n_flipped"] == sum(one.score.answer == "No" for one in left)
    assert any(row["n_rejected"] for row in after)
    assert verify(data, quiet).wrong == []
    assert not any(b"CANARY" in content for content in members_of(data).values())
    with open_store(store) as opened:
        withdrawing.withdraw(opened, session, "asked to")
    assert table_4(store) == before


def table_4(store: Path) -> list[dict[str, object]]:
    with open_store(store) as opened:
        tables = report_data(opened, 1).data.tables
    (table,) = (one for one in tables if one.name == "table_4_visual")
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def test_that_a_verdict_is_in_the_fingerprint_of_the_results(store: Path) -> None:
    def fingerprint() -> object:
        with open_store(store) as opened:
            manifest = manifest_of_report(opened, report_data(opened, 1), {})
        found = manifest["dataset"]
        assert isinstance(found, dict)
        return found["items_sha256"]

    hashes = [fingerprint()]
    session = open_task(store, WANTED, "Ada")
    for values in (PASSED, REJECTED):
        position = len(hashes) - 1
        recording.lock(store, session, position, values)
        hashes.append(fingerprint())
    assert len(set(hashes)) == 3


def test_that_figures_and_tables_that_were_open_are_made_anew(store: Path) -> None:
    def edits_shown() -> tuple[int, int]:
        figure = run_figures(store, 1).figures[0]
        assert isinstance(figure, RateFigure)
        panel = figure.panels[0]
        at = panel.groups.index("VPT")
        table = run_table(store, 1, "table_4_visual")
        column = table.header.index("n_edits")
        in_table = sum(int(str(row[column])) for row in table.rows)
        return sum(series.counts[at] for series in panel.series), in_table

    before = edits_shown()
    assert before[0] == before[1] > 0
    session = open_task(store, WANTED, "Ada")
    for position in range(len(cases.queue(store, session))):
        recording.lock(store, session, position, REJECTED)
    assert edits_shown() == (0, 0)
