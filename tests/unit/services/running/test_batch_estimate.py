from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.helpers.tiny_study import (
    SERVER,
    UNIFORM,
    a_form,
    a_spec,
    finish,
    planned,
    write_images,
)
from viewer.domain.exchange import ModelProfile
from viewer.models.prices import PRICES_DATE
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_estimate import duration, estimate
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.store.runs import run_summaries


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path, tmp_path / "s.sqlite")


def test_that_the_estimate_counts_what_a_plan_would_hold(settings: Settings) -> None:
    with open_store(settings.store) as opened:
        folder = write_images(settings.home / "d", 5)
        Image.new("L", (100, 120)).save(folder / "unknown.png")
        mask = Image.new("L", (100, 120), 255)
        mask.save(folder / "unknown.Edema.png")
        import_dataset(opened, "folder", folder, "tiny")
    found = estimate(settings.store, a_form(), settings)
    assert (found.requests, found.already_answered, found.models) == (40, 0, 2)
    assert found.cost_microusd == 0
    assert "40 trials of 5 items" in found.sentence
    assert "8 more trials are planned as excluded" in found.sentence
    assert "Not asked, because no image of these views" in found.sentence
    assert "Pneumothorax" in found.sentence
    with open_store(settings.store) as opened:
        assert run_summaries(opened, include_adhoc=True) == ()


def test_that_a_plan_that_asks_nothing_says_why(settings: Settings) -> None:
    folder = write_images(settings.home / "d", 1)
    for path in sorted(folder.iterdir()):
        path.rename(folder / path.name.replace("_frontal", ""))
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", folder, "tiny")
    found = estimate(settings.store, a_form(), settings)
    assert found.requests == 0
    assert "nothing to ask: all 8 trials are excluded. The image does not say" in (
        found.sentence
    )


def test_that_what_was_answered_is_not_counted_again(settings: Settings) -> None:
    with open_store(settings.store) as opened:
        finish(opened, planned(opened, settings.home / "d", a_spec([UNIFORM])))
    form = a_form(models=("uniform",), seed=0, repeats=1, params={"grids": [8]})
    found = estimate(settings.store, form, settings)
    assert (found.requests, found.already_answered) == (4, 4)
    assert "4 of them are already answered and" in found.sentence


@pytest.mark.parametrize("models", [("far",), ("far", "mine"), ("far", "uniform")])
def test_that_an_unknown_price_is_said_and_is_no_part_of_a_sum(
    settings: Settings, models: tuple[str, ...]
) -> None:
    far = SERVER.replace('"mine"', '"far"').replace("http://127.0.0.1:9", "https://a.b")
    far = "\n".join(line for line in far.splitlines() if "price" not in line)
    settings.models_file.write_text(SERVER + far)
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    found = estimate(settings.store, a_form(models=models), settings)
    assert found.cost_microusd is None
    assert "The cost of far is not known: add price_in" in found.sentence
    assert "None of these models has a price" not in found.sentence
    assert "Cost" not in found.sentence
    assert ("for the other models." in found.sentence) is ("mine" in models)


def test_that_the_cost_of_a_priced_model_is_unknown_before_its_first_reply(
    settings: Settings,
) -> None:
    settings.models_file.write_text(SERVER)
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    found = estimate(settings.store, a_form(models=("mine",)), settings)
    assert found.cost_microusd is None
    assert found.seconds is None
    assert "Cost and time are not known until the first answers." in found.sentence
    # 8 questions of 1024 tokens out at $2, and what is sent, dearest way of counting
    assert 8 * 1024 * 2 < found.most_microusd < 8 * (1024 * 2 + 30_000 * 0.15)
    assert f"At most ${found.most_microusd / 1e6:.2f}." in found.sentence


def test_that_answers_in_batches_are_said_to_take_a_day(settings: Settings) -> None:
    settings.models_file.write_text(f'{SERVER}answers = "batch"\n')
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    found = estimate(settings.store, a_form(models=("mine", "uniform")), settings)
    assert "Answers of mine come as a batch, within a day." in found.sentence
    assert "Cost is not known until the first answers." in found.sentence


def test_that_a_bound_by_list_prices_tells_their_day(settings: Settings) -> None:
    listed = SERVER.replace('model = "tiny"', 'model = "gpt-4o"\nserver = "openai"')
    settings.models_file.write_text(listed.split("price_in")[0])
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    found = estimate(settings.store, a_form(models=("mine",)), settings)
    assert f"by list prices of {PRICES_DATE}." in found.sentence


def test_that_the_cost_is_that_of_earlier_replies(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.models_file.write_text(SERVER)
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    monkeypatch.setattr("viewer.store.usage.mean_cost", lambda *_: 2500.0)
    form = a_form(models=("mine", "uniform"), repeats=1)
    found = estimate(settings.store, form, settings)
    assert found.requests == 8
    assert found.cost_microusd == 4 * 2500
    assert "$0.01" in found.sentence


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (44, "44 seconds"),
        (50, "1 minute"),
        (840, "14 minutes"),
        (5400, "2 hours"),
    ],
)
def test_that_a_duration_is_as_coarse_as_an_estimate(
    seconds: float, words: str
) -> None:
    assert duration(seconds) == words


def test_that_the_time_follows_earlier_replies_and_what_is_in_flight(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.models_file.write_text(SERVER)
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    means = {"mine": 4000.0, "uniform": 0.0}
    monkeypatch.setattr("viewer.store.usage.mean_latency", lambda _, m: means[m])
    monkeypatch.setattr("viewer.store.usage.mean_cost", lambda *_: 460_000.0)
    form = a_form(models=("mine", "uniform"), repeats=100)
    found = estimate(settings.store, form, settings, concurrency=2)
    assert found.seconds == pytest.approx(400 * (4.0 / 2 + 0.04) + 400 * 0.04)
    assert "About $184.00 and 14 minutes, judging by earlier replies." in found.sentence
    assert found.sends


def test_that_the_mean_time_is_that_of_the_models_own_replies(
    settings: Settings,
) -> None:
    form = a_form(models=("uniform",), params={"grids": [8]})
    with open_store(settings.store) as opened:
        planned(opened, settings.home / "d", a_spec([UNIFORM]))
    before = estimate(settings.store, form, settings)
    assert before.seconds is None
    assert "Time is not known until the first answers." in before.sentence
    with open_store(settings.store) as opened:
        finish(opened, 1)
        rows = opened.rows("SELECT latency_ms FROM reply")
    each = sum(row[0] for row in rows) / len(rows) / 1000 / 4 + 0.04
    after = estimate(settings.store, form, settings)
    assert after.seconds == pytest.approx(8 * each)
    assert not after.sends


@pytest.mark.statement("E000-14")
def test_that_more_replicates_are_advised_for_a_model_that_draws(
    settings: Settings,
) -> None:
    settings.models_file.write_text(SERVER)
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    words = "Repeat 5 times: answers of mine are sampled and vary."
    said = {
        (preset, repeats): words
        in estimate(
            settings.store,
            a_form(models=("mine",), preset=preset, repeats=repeats),
            settings,
        ).sentence
        for preset in ("gosai2025", "recommended")
        for repeats in (1, 5)
    }
    assert said == {
        ("gosai2025", 1): False,
        ("gosai2025", 5): False,
        ("recommended", 1): True,
        ("recommended", 5): False,
    }


def test_that_models_of_places_are_said_to_get_no_grid(settings: Settings) -> None:
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(settings.home / "d", 2), "tiny")
    places = ModelProfile(
        "pointer", "scripted", {"answer": "x", "convention": "qwen3_vl"}
    )
    form = replace(a_form(), profiles=(places,))
    for models, params, told in (
        (("uniform",), {}, "each with one gridded image"),
        (("pointer",), {}, "each with one image without a grid"),
        (("pointer", "uniform"), {}, "one image, which has no grid for pointer"),
        (
            ("pointer",),
            {"grid_for_coordinates": True},
            "each with one gridded image",
        ),
    ):
        asked = replace(form, models=models, params={**form.params, **params})
        assert told in estimate(settings.store, asked, settings).sentence
