import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.helpers.proof_params import always
from viewer.cli import run_command_line
from viewer.domain.errors import ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
    TextPart,
)
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.places import Place
from viewer.models.coordinates.conventions import CONVENTIONS, convention_named
from viewer.models.coordinates.frame import Frame
from viewer.models.coordinates.marks import Kind
from viewer.models.prices import png_size
from viewer.models.provider_view import provider_view_named
from viewer.models.reading import plain_reply, read_reply
from viewer.services.calibrating.calibrate import (
    Calibration,
    calibrate,
    calibration_as_json,
    fit_rows,
)
from viewer.services.calibrating.fit import Y_FIRST, Heard, fits
from viewer.services.calibrating.marker_images import Marker, draw, markers
from viewer.services.calibrating.questions import NEUTRAL, WORDINGS, question

_MODULE = "viewer.services.calibrating.calibrate"

PROFILE = ModelProfile("speaker", "scripted", {"answer": ""})
Speaking = Callable[..., Calibration]
Listening = Callable[[Callable[[Marker, int], str]], Calibration]


class SpeaksOneConvention:
    """Writes the marker's box through `Convention.write`, whatever it is asked.

    ``view`` is what it sees of an image; ``noise_px`` moves every edge by up to so
    much, and ``words`` are put around the answer.
    """

    def __init__(
        self, convention: str, view: str = "none", noise_px: float = 0, words: str = ""
    ) -> None:
        self._convention = convention_named(convention)
        self._view, self._words = provider_view_named(view), words
        self._noise_px, self._dice = noise_px, Random(0)

    def identity(self, repeat: int) -> ModelIdentity:
        """Return no more than a name."""
        return ModelIdentity({}, self._convention.name, str(repeat))

    def generate(self, request: ModelRequest) -> RawReply:
        """Answer with the box that the condition names."""
        sent = png_size(request.images[0].png)
        grid = Grid(request.facts.rows, request.facts.columns)
        frame = replace(Frame.of_sent(sent, self._view.seen(sent)), grid=grid)
        told = request.facts.condition.partition("@")[2].split(",")
        noise = (self._dice.uniform(-self._noise_px, self._noise_px) for _ in told)
        box = BoxPx(*(float(n) + off for n, off in zip(told, noise, strict=True)))
        place = Place(self._shape(box), request.facts.finding)
        return plain_reply(self._words + self._convention.write([place], frame))

    def _shape(self, box: BoxPx) -> BoxPx | PointPx:
        if Kind.BOX in self._convention.kinds:
            return box
        return PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)

    def read(self, raw: RawReply) -> ModelReply:
        """Read a reply."""
        return read_reply(raw)


class Speaks(SpeaksOneConvention):
    """Says what a function of the marker and of the question's number returns."""

    def __init__(self, words: Callable[[Marker, int], str]) -> None:
        super().__init__("grid")
        self._say, self._asked = words, 0

    def generate(self, request: ModelRequest) -> RawReply:
        number = int(request.facts.item.removeprefix("marker"))
        marker = next(m for m in markers() if m.number == number)
        self._asked += 1
        return plain_reply(self._say(marker, self._asked))


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Listening:
    """Return a function that calibrates a model that says what it is told to."""

    def calibrated(words: Callable[[Marker, int], str]) -> Calibration:
        speaker = Speaks(words)
        monkeypatch.setattr(f"{_MODULE}.adapter_for", lambda *_: speaker)
        return calibrate(PROFILE, wordings=["xyxy_1000"])

    return calibrated


@pytest.fixture
def speaking(monkeypatch: pytest.MonkeyPatch) -> Speaking:
    """Return a function that calibrates a model that speaks one convention."""

    def calibrated(
        convention: str, *, profile: ModelProfile = PROFILE, **how: object
    ) -> Calibration:
        speaker = SpeaksOneConvention(convention, **how)  # type: ignore[arg-type]
        monkeypatch.setattr(f"{_MODULE}.adapter_for", lambda *_: speaker)
        return calibrate(profile, wordings=[convention])

    return calibrated


@pytest.mark.parametrize(
    ("name", "noise_px"),
    [*((name, 3.0) for name in CONVENTIONS), ("grid", 0.0), ("xyxy_1000", 0.0)],
)
def test_that_calibration_names_the_convention_of_a_scripted_model(
    name: str, noise_px: float, speaking: Speaking
) -> None:
    found = speaking(name, noise_px=noise_px)
    best = found.best
    assert best is not None
    assert best.convention == name
    assert best.confidence > 0.5
    assert (best.read, best.asked) == (8, 8)
    assert best.median_px <= best.worst_px <= best.resolution_px + noise_px * 1.5
    assert not best.swapped
    expected = "y first" if name in Y_FIRST else "cell" if name == "grid" else "x first"
    assert next(iter(found.axis_order)) == expected
    assert sum(found.scale.values()) == pytest.approx(1)


@pytest.mark.parametrize("view", ["qwen2_5", "gemini", "gemma3"])
def test_that_the_resizing_behind_pixels_is_found_too(
    view: str, speaking: Speaking
) -> None:
    best = speaking("qwen2_5_vl", view=view).best
    assert best is not None
    assert (best.convention, best.provider_view) == ("qwen2_5_vl", view)
    assert best.worst_px < 2


def test_that_a_view_named_in_the_profile_is_the_only_one_tried(
    speaking: Speaking,
) -> None:
    profile = ModelProfile(
        "speaker", "scripted", {"answer": "", "provider_view": "none"}
    )
    best = speaking("qwen2_5_vl", view="gemini", profile=profile).closest
    assert best is not None
    assert best.provider_view == "none"
    assert best.median_px > 10
    assert best.scale == pytest.approx((1.0, 1.0), abs=0.5)
    assert best.scale != pytest.approx((1.0, 1.0), abs=0.02)


def test_that_axes_written_the_other_way_round_are_told() -> None:
    heard = []
    for marker in markers():
        box, rows, columns = marker.box, marker.size.rows, marker.size.columns
        numbers = [
            round(1000 * part)
            for part in (
                box.y0 / rows,
                box.x0 / columns,
                box.y1 / rows,
                box.x1 / columns,
            )
        ]
        text = json.dumps([{"bbox_2d": numbers, "label": marker.name}])
        heard.append(Heard(marker, NEUTRAL, text))
    found = fits(heard, "none")
    assert found[0].swapped
    told = Calibration("m", 8, found, {}, {}, None)
    assert "are swapped" in told.sentence


def test_that_a_profile_that_says_another_convention_is_told(
    speaking: Speaking,
) -> None:
    profile = ModelProfile(
        "speaker", "scripted", {"answer": "", "convention": "gemini"}
    )
    found = speaking("qwen3_vl", profile=profile)
    assert 'write convention = "qwen3_vl" instead' in found.sentence


def test_that_replies_without_any_place_fit_nothing() -> None:
    profile = ModelProfile("mute", "scripted", {"answer": "I see noise."})
    found = calibrate(profile, wordings=["gemini"])
    assert found.best is None
    assert "No convention finds a location in any of the 16 replies" in found.sentence
    assert calibration_as_json(found)["convention"] is None


def test_that_a_model_that_does_not_find_the_markers_is_told() -> None:
    found = calibrate(ModelProfile("uniform", "uniform"), wordings=["grid"])
    assert found.best is None
    assert found.closest is not None
    assert found.closest.convention == "grid"
    assert "does not find the markers well" in found.sentence


@pytest.mark.parametrize("name", always({"grid", "xyxy_1000"}, CONVENTIONS))
def test_that_a_model_that_always_says_the_centre_fits_no_convention(
    name: str, listening: Listening
) -> None:
    found = listening(lambda marker, _: _in_words(name, marker.size, _middle(marker)))
    told = calibration_as_json(found)
    assert (told["convention"], told["confidence"]) == (None, 0.0)
    assert (told["axis_order"], told["scale"]) == ({}, {})
    assert isinstance(told["median_px"], float)
    assert told["median_px"] > 100
    assert "No convention fits" in found.sentence
    assert {row["confidence"] for row in fit_rows(found)} == {"does not fit"}
    assert {fit["confidence"] for fit in told["fits"]} == {None}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("first", "second"),
    [("gemini", "qwen3_vl"), ("qwen3_vl", "qwen2_5_vl"), ("paligemma", "florence2")],
)
def test_that_a_model_that_mixes_two_conventions_fits_neither(
    first: str, second: str, listening: Listening
) -> None:
    found = listening(
        lambda marker, n: _in_words((first, second)[n % 2], marker.size, marker.box)
    )
    assert found.best is None
    assert found.closest is not None
    assert 2 * found.closest.near <= found.closest.asked
    assert "uses several conventions" in found.sentence


def test_that_one_slip_into_another_convention_is_forgiven(
    listening: Listening,
) -> None:
    found = listening(
        lambda marker, n: _in_words(
            "qwen3_vl" if n % 8 == 3 else "gemini", marker.size, marker.box
        )
    )
    assert found.best is not None
    best = found.best
    assert (best.convention, best.near, best.asked) == ("gemini", 7, 8)


def test_that_numbers_without_sense_fit_nothing(listening: Listening) -> None:
    dice = Random(5)
    found = listening(lambda *_: str([dice.randrange(2000) for _ in range(4)]))
    assert found.best is None
    assert calibration_as_json(found)["convention"] is None
    assert "instead" not in found.sentence


def test_that_errors_are_told_in_pixels_of_the_image_sent(
    listening: Listening,
) -> None:
    found = listening(
        lambda marker, _: CONVENTIONS["claude"].write(
            [Place(_moved(marker.box, 7.0), marker.name)], Frame.of_sent(marker.size)
        )
    )
    told = calibration_as_json(found)
    assert told["convention"] == "claude"
    assert told["median_px"] == pytest.approx(7, abs=0.51)
    assert told["worst_px"] == pytest.approx(7, abs=0.51)


def _moved(box: BoxPx, off: float) -> BoxPx:
    return BoxPx(box.x0 + off, box.y0, box.x1 + off, box.y1)


def _middle(marker: Marker) -> BoxPx:
    width, height = marker.size.columns, marker.size.rows
    return BoxPx(width * 0.45, height * 0.45, width * 0.55, height * 0.55)


def _in_words(name: str, size: SizePx, box: BoxPx) -> str:
    """Return a box as a model of a convention would write it, or its middle."""
    convention = CONVENTIONS[name]
    middle = PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    shape = box if Kind.BOX in convention.kinds else middle
    return convention.write([Place(shape, "x")], Frame.of_sent(size))


def test_that_a_profile_without_a_convention_is_asked_in_every_wording() -> None:
    told: list[tuple[int, int, str]] = []
    profile = ModelProfile("mute", "scripted", {"answer": "no"})
    found = calibrate(profile, progress=lambda *pair: told.append(pair))
    assert found.asked == 8 * len(WORDINGS)
    assert told[-1] == (found.asked, found.asked, "")
    assert set(WORDINGS) == {NEUTRAL, *CONVENTIONS}


def test_that_an_unknown_convention_is_refused() -> None:
    with pytest.raises(WrongUseError, match="unknown"):
        calibrate(PROFILE, wordings=["latin"])


def test_that_a_passing_failure_is_asked_again_and_a_lasting_one_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speaker = SpeaksOneConvention("gemini")
    failures = [RetryClass.RETRY, RetryClass.RETRY, RetryClass.FAIL]

    class Stumbles(SpeaksOneConvention):
        def generate(self, request: ModelRequest) -> RawReply:
            if failures:
                raise ProviderError("No.", retry_class=failures.pop(0), reason="no")
            return speaker.generate(request)

    monkeypatch.setattr(f"{_MODULE}.retry_pause", lambda *_: 0.0)
    monkeypatch.setattr(
        f"{_MODULE}.adapter_for",
        lambda *_: Stumbles("gemini"),
    )
    with pytest.raises(ProviderError):
        calibrate(PROFILE, wordings=["gemini"])
    assert failures == []
    assert calibrate(PROFILE, wordings=["gemini"]).best is not None


def test_that_every_marker_is_drawn_where_it_is_said_to_be() -> None:
    for marker in markers():
        pixels = draw(marker).pixels.astype(int)
        colored = np.ptp(pixels, axis=2) > 60
        rows, columns = np.flatnonzero(colored.any(1)), np.flatnonzero(colored.any(0))
        box = BoxPx(columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
        assert box == marker.box
        assert pixels.shape[:2] == (marker.size.rows, marker.size.columns)
    assert len({marker.size for marker in markers()}) == 8


def test_that_markers_tell_axes_and_sides_apart() -> None:
    for marker in markers():
        size, box = marker.size, marker.box
        side = min(size.rows, size.columns)
        assert box.x0 >= (size.columns - side) / 2
        assert box.x1 <= (size.columns + side) / 2
        assert box.y0 >= (size.rows - side) / 2
        assert box.y1 <= (size.rows + side) / 2


def test_that_a_question_asks_in_words_and_draws_a_grid_only_for_cells() -> None:
    marker = markers()[0]
    plain, gridded = question(marker, NEUTRAL), question(marker, "grid")
    assert plain.images[0].png != gridded.images[0].png
    assert "red square" in str(plain.messages)
    for wording in WORDINGS:
        asked = question(marker, wording).messages[0].parts[1]
        assert isinstance(asked, TextPart)
        assert "red square" in asked.text
        assert "{condition}" not in asked.text


def test_that_the_conventions_said_to_be_y_first_are() -> None:
    frame = Frame.of_sent(SizePx(1000, 1000))
    box = Place(BoxPx(100, 300, 200, 400), "x")
    for name, convention in CONVENTIONS.items():
        if name in {"grid", "molmo", "kosmos2"}:
            continue
        text = convention.write([box], frame)
        digits = "".join(c if c.isdigit() else " " for c in text.split("box_2d")[-1])
        numbers = [int(n) for n in digits.split() if int(n) > 2]
        first, second = numbers[:2]
        assert (first > second) == (name in Y_FIRST), name


def test_that_a_scripted_model_can_be_calibrated_from_a_file(tmp_path: Path) -> None:
    frame_of = Frame.of_sent
    answers = {
        f"marker{m.number}": CONVENTIONS["internvl"].write(
            [Place(m.box, m.name)], frame_of(m.size)
        )
        for m in markers()
    }
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(answers))
    profile = ModelProfile("written", "scripted", {"answers_file": str(path)})
    found = calibrate(profile, wordings=["internvl"])
    assert calibration_as_json(found)["convention"] == "internvl"
    assert fit_rows(found)[0]["markers read"] == "8 / 8"


def test_that_the_command_prints_the_convention_as_json(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    answers = {
        f"marker{m.number}": CONVENTIONS["gemini"].write(
            [Place(m.box, m.name)], Frame.of_sent(m.size)
        )
        for m in markers()
    }
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    (tmp_path / "models.toml").write_text(
        '[[model]]\nname = "written"\nadapter = "scripted"\n'
        'answers_file = "answers.json"\n'
    )
    store = str(tmp_path / "s.sqlite")
    words = ["calibrate", "written", "--convention", "gemini", "--store", store]
    assert run_command_line([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["convention"], told["asked"]) == ("gemini", 16)
    assert told["axis_order"]["y first"] > 0.5
    assert run_command_line(words) == 0
    assert "gemini fits best" in capsys.readouterr().out
    assert run_command_line(["calibrate", "nobody", "--store", store]) == 2
