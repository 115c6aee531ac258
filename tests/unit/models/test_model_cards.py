"""The table of known models: sources, profiles, and the replies that it documents."""

from dataclasses import replace
from datetime import date

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.places import ReplyStatus
from viewer.models import fitting
from viewer.models.catalog import profile_from_table
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.frame import Frame
from viewer.models.fitting import Machine, best_fit, fit_in_words, this_machine
from viewer.models.model_cards import (
    PRECISIONS,
    ModelCard,
    card_named,
    card_of,
    model_cards,
    read_cards,
)
from viewer.models.paper_presets import PRESETS
from viewer.services.configuring.known_cards import known_fits

_CARDS = model_cards()
_GIB = 1 << 30

TABLE = """
[page.p]
address = "https://example.org/card"
read = 2026-11-27

[family.f]
licence = { value = "MIT", page = "p", quote = "license: mit" }
access = "unknown"
view = "unknown"
convention = { value = "gemini", page = "p", quote = "y first" }
context = { value = 4096, page = "p", quote = "4096 tokens" }
reply = "unknown"
note = "unknown"
example = "unknown"

[[model]]
name = "m"
title = "M"
family = "f"
parameters = "unknown"
ask = { adapter = "openai_api", server = "vllm", model = "o/m" }
"""


@pytest.mark.parametrize("card", _CARDS, ids=lambda card: card.name)
def test_that_every_fact_has_address_quote_and_date(card: ModelCard) -> None:
    for name, fact in card.facts.items():
        if fact is not None:
            assert fact.address.startswith("https://"), name
            assert len(fact.quote) >= 3, name
            assert date(2026, 1, 1) <= fact.read <= date(2030, 1, 1), name


@pytest.mark.parametrize("card", _CARDS, ids=lambda card: card.name)
def test_that_a_profile_has_what_is_known_and_nothing_else(card: ModelCard) -> None:
    settings = profile_from_table(card.table()).settings
    for name, key in (("convention", "convention"), ("view", "provider_view")):
        fact = card.facts[name]
        assert settings.get(key) == (fact and fact.value)
    longest = settings.get("max_new_tokens" if card.is_local else "max_tokens")
    if card.reply is None:
        assert longest in {256, 1024}  # the adapters' own
    else:
        assert longest == min(card.reply.value, 1024 if card.is_local else 8192)


def test_that_every_model_of_the_papers_that_sees_images_is_known() -> None:
    unseen = {p.table["model"] for p in PRESETS if "text only" in p.title}
    asked = {str(p.table["model"]) for p in PRESETS} - {str(one) for one in unseen}
    assert [name for name in asked if card_of(name) is None] == []
    assert card_named("google/medgemma-4b-it").papers == ("Banerjee 2025",)


def test_that_the_models_in_use_are_known() -> None:
    names = {card.name for card in _CARDS}
    assert names >= {
        *("medgemma-4b", "medgemma-27b", "medgemma-1.5-4b", "gemma-3-4b"),
        *("qwen2.5-vl-7b", "qwen3-vl-8b", "llava-med-1.5-7b", "internvl3-78b"),
        *("smolvlm-2b", "paligemma2-3b-mix-448", "chexagent-2-3b", "maira-2"),
        *("gpt-5", "gemini-2.5-pro", "claude-opus-4.5"),
    }


_READ: dict[str, list[tuple[float, ...]]] = {
    # By the formulas of the pages named in the table, for an image of 1000 x 1000.
    "medgemma-1.5-4b": [(3, 800, 471, 840), (22, 400, 73, 600)],
    "qwen2.5-vl-7b": [(139, 768, 315, 954), (366, 679, 536, 849)],
    "qwen3-vl-8b": [(139, 768, 315, 954), (366, 679, 536, 849)],
    "paligemma2-3b-mix-448": [(250, 250, 750, 750)],
    "maira-2": [(555, 455, 705, 565)],
    "deepseek-vl2": [(580 / 0.999, 270 / 0.999, 1000, 900 / 0.999)],
    "gemini-2.5-pro": [(508, 376), (609, 287)],
    "claude-opus-4.5": [(537.5, 760)],
    # These only describe what they see, and nothing of it may become a place.
    "medgemma-4b": [],
    "gemma-3-4b": [],
    "smolvlm-2b": [],
    "gpt-5": [],
}
_SEEN: dict[str, Frame] = {
    # Their pages say how large the image was.
    "claude-opus-4.5": Frame.of_sent(SizePx(1520, 1075), SizePx(1307, 924)),
}


@pytest.mark.parametrize("name", _READ)
def test_that_the_documented_replies_are_read(name: str) -> None:
    card = card_named(name)
    assert card.example is not None
    convention = card.convention.value if card.convention else "grid"
    frame = _SEEN.get(name, Frame.of_sent(SizePx(1000, 1000)))
    reading = CONVENTIONS[convention].read(card.example.value, frame)
    found = [_numbers(place.shape) for place in reading.places]
    assert found == [pytest.approx(numbers) for numbers in _READ[name]]
    assert (reading.status is ReplyStatus.OK) is bool(found)


def test_that_no_documented_reply_is_left_unread() -> None:
    families = {card.example.value for card in _CARDS if card.example}
    assert families == {str(card_named(n).example.value) for n in _READ}  # type: ignore[union-attr]


@pytest.mark.parametrize("card", _CARDS, ids=lambda card: card.name)
def test_that_each_has_a_documented_reply_or_where_one_was_looked_up(
    card: ModelCard,
) -> None:
    assert (card.example is None) is bool(card.looked)


def test_that_where_a_reply_was_looked_up_is_read_from_the_table() -> None:
    looked = 'example = "none documented"\nlooked = "the card"'
    (card,) = read_cards(TABLE.replace('example = "unknown"', looked))
    assert (card.example, card.looked) == (None, "the card")


def _numbers(shape: object) -> tuple[float, ...]:
    if isinstance(shape, PointPx):
        return shape.x, shape.y
    assert isinstance(shape, BoxPx)
    return shape.x0, shape.y0, shape.x1, shape.y1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('page = "p", quote = "y first"', 'page = "q", quote = "y first"', "no page"),
        ("https://example.org/card", "a book", "no page with an address"),
        ('quote = "y first"', 'quote = " "', "no quote"),
        ('value = "gemini"', 'value = "oracle"', "cannot be used"),
        ("value = 4096", 'value = "many"', "context of 'm'"),
        ('family = "f"', 'family = "g"', "not stated"),
        ('note = "unknown"\n', "", "The note of 'm'"),
        ("title =", "name_of =", "title"),
        ("[page.p]", "[page.p", "cannot be read"),
        (TABLE, TABLE + TABLE[TABLE.index("[[model]]") :], "two models"),
    ],
)
def test_that_a_wrong_table_is_refused_in_a_sentence(
    old: str, new: str, words: str
) -> None:
    (card,) = read_cards(TABLE)
    assert card.served() == {"convention": "gemini"}
    assert old in TABLE
    with pytest.raises(WrongUseError, match=words):
        read_cards(TABLE.replace(old, new))


def test_that_an_unknown_model_is_offered_calibration() -> None:
    with pytest.raises(WrongUseError, match="calibrate"):
        card_named("nobody/knows-me")


def test_that_memory_grows_with_precision_and_counts_the_weights() -> None:
    card = card_named("medgemma-4b")
    needs = [card.memory(precision) for precision in PRECISIONS]
    assert needs == sorted(needs, reverse=True)  # type: ignore[type-var]
    # 4.3e9 weights of 2 bytes; 8.2 GiB were measured for 8.0 GiB of such weights
    assert needs[0] == pytest.approx(8.01 * 1.08 * _GIB + (256 << 20), rel=0.01)


@pytest.mark.parametrize(
    ("gpu", "main", "words"),
    [
        (80, 64, "bfloat16 on the GPU"),
        (6, 64, "8bit on the GPU"),
        (3, 64, "4bit on the GPU"),
        (2, 64, "bfloat16 in main memory"),
        (None, 64, "bfloat16 in main memory"),
        (2, 4, "no: it needs"),
        (None, None, "no: it needs"),
    ],
)
def test_that_the_best_fitting_precision_is_offered(
    gpu: int | None, main: int | None, words: str
) -> None:
    machine = Machine(main and main * _GIB, gpu and gpu * _GIB)
    card = card_named("medgemma-4b")
    assert fit_in_words(card, machine).startswith(words)
    fit = best_fit(card, machine)
    settings = fit.settings() if fit else {}
    profile_from_table({**card.table(), **settings})
    if words.startswith(("8bit", "4bit")):
        assert settings == {"quantization": words[:4]}


def test_that_what_cannot_be_compared_is_said() -> None:
    machine = Machine(None, None)
    assert fit_in_words(card_named("gpt-5"), machine) == "runs at its provider"
    lacking = replace(card_named("medgemma-4b"), parameters=None)
    assert fit_in_words(lacking, machine) == "unknown"
    assert "unknown of main memory" in machine.in_words


def test_that_this_machine_is_measured() -> None:
    machine = this_machine()
    assert machine.main is not None
    assert machine.main > 0
    assert "GiB of main memory" in machine.in_words


def test_that_torch_is_asked_for_a_gpu_only_if_it_is_built_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[str]()

    def named(device: str) -> str:
        asked.append(device)
        return "cpu"

    monkeypatch.setattr(fitting, "device_named", named)
    monkeypatch.setattr(fitting, "find_spec", lambda _: object())
    for built, times in ("2.13.0+cpu", 0), ("2.13.0+cu130", 1), ("2.13.0", 2):
        monkeypatch.setattr(fitting, "version", {"torch": built}.__getitem__)
        assert this_machine().gpu is None
        assert asked == ["auto"] * times


def test_that_known_models_say_whether_they_fit_this_computer() -> None:
    large = {f.title: f for f in known_fits(Machine(400 << 30, 200 << 30))}
    small = {f.title: f for f in known_fits(Machine(12 << 30, 6 << 30))}
    none = {f.title: f for f in known_fits(Machine(1 << 20, None))}
    title = "Qwen3-VL 8B Instruct"
    assert large[title].words == "fits this graphics card as published, 18.4 GiB"
    assert large[title].settings == {"dtype": "bfloat16"}
    assert "fits this" in small["MedGemma 4B"].words
    assert none[title].words.startswith("too large now: ")
    assert none[title].settings == {}
    assert all("GPT" not in name for name in large)
