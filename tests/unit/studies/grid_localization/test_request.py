import hashlib
from dataclasses import replace

import pytest

from tests.unit.studies.grid_localization.asking import RAMP, FakeSources, turn_of
from tests.unit.studies.grid_localization.cases import block, condition, dataset, image
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ImagePart, TextPart
from viewer.domain.reference import Mask
from viewer.domain.run import Step, Trial
from viewer.imaging.png import decode_png, encode_png
from viewer.studies.grid_localization.params import Params, read_params
from viewer.studies.grid_localization.study import STUDY
from viewer.studies.steps import Question

PARAMS = read_params("gosai2025", {})
MASKS = {"Pleural Effusion": Mask.of_array(block(0, 8, 0, 8))}
DATA = dataset(image("i", MASKS), image("j", MASKS))
SYSTEM = (
    "You are an expert chest radiologist specializing in analyzing lateral chest "
    "X-rays. Your task is to precisely localize abnormalities using a grid overlay."
)
USER = (
    "This is a gridded lateral view of a chest X-ray. The abnormality ‘Pleural "
    "Effusion’ is confirmed to be present in this image. Your task:\n"
    "1. Identify the single grid cell where this abnormality - ‘Pleural Effusion’ is "
    "the MOST prominent.\n"
    "2. Provide only the grid coordinate for this most representative cell. A grid "
    "coordinate is defined as a letter followed by a number. If the abnormality spans "
    "multiple cells, choose the cell that is most representative.\n"
    "3. Do not include any explanations or additional text in your response."
)


def trial(view: str = "lateral", repeat: int = 0) -> Trial:
    finding = "Pleural Effusion"
    return Trial(f"i|{finding}", "p", "i", view, finding, condition(8), repeat, "model")


def asked(
    of: Trial, params: Params = PARAMS, *, needs_counts: bool = False, seed: int = 0
) -> Question:
    sources = FakeSources(DATA, needs_counts=needs_counts, seed=seed)
    return STUDY.question(turn_of(of, DATA), Step("answer"), sources, params)


def sent(question: Question) -> bytes:
    part = question.messages[-1].parts[0]
    assert isinstance(part, ImagePart)
    return part.png


def prompt(view: str) -> tuple[str, str]:
    (found,) = STUDY.prompts(read_params("gosai2025", {"views": [view]}))
    return found


@pytest.mark.statement("E000-12", "E000-13")
def test_that_the_prompt_is_the_papers_word_for_word() -> None:
    request = asked(trial())
    system, user = request.messages
    assert (system.role, user.role) == ("system", "user")
    assert system.parts == (TextPart(SYSTEM),)
    image, text = user.parts
    assert isinstance(image, ImagePart)
    assert image.png == encode_png(STUDY.places(PARAMS).gridded(RAMP, condition(8)))
    assert text == TextPart(USER)


def test_that_the_prompts_hash_is_that_of_its_templates() -> None:
    request = asked(trial("frontal"))
    name, body = prompt("frontal")
    assert name == "gosai2025"
    assert "{view}" in body
    assert "‘{condition}’" in body
    assert (request.prompt, request.template) == (name, body)


def test_that_the_image_sent_is_the_plain_raster_with_the_grid_on_it() -> None:
    question = asked(trial())
    assert question.facts is not None
    plain = question.facts.plain.pixels
    assert plain.shape == (256, 256)
    pixels = decode_png(sent(question)).pixels
    assert pixels.shape == (256, 256, 3)
    changed = (pixels != plain[:, :, None]).any(axis=2)
    assert 0.03 < changed.mean() < 0.3
    digest = hashlib.sha256(plain.tobytes()).hexdigest()
    assert question.facts.plain_sha256 == digest


def test_that_each_condition_has_its_own_bytes_and_each_call_the_same() -> None:
    finer = replace(trial(), condition=condition(16))
    assert sent(asked(trial())) == sent(asked(trial()))
    assert sent(asked(trial())) != sent(asked(finer))
    larger = read_params("gosai2025", {"render_scale": 2})
    assert decode_png(sent(asked(trial(), larger))).pixels.shape == (512, 512, 3)


def test_that_facts_carry_what_baselines_may_know() -> None:
    facts = asked(trial(repeat=3), seed=7).facts
    assert facts is not None
    assert (facts.rows, facts.columns, facts.letters) == (8, 8, "row")
    assert (facts.item, facts.condition) == ("i|Pleural Effusion", "grid=8")
    assert (facts.seed, facts.repeat, facts.view) == (7, 3, "lateral")
    assert facts.reference_counts is None
    counted = asked(trial(), needs_counts=True).facts
    assert counted is not None
    assert counted.reference_counts is not None
    assert [len(row) for row in counted.reference_counts] == [8] * 8


@pytest.mark.statement("E000-03")
def test_that_the_prompt_may_call_a_view_otherwise() -> None:
    params = read_params("gosai2025", {"lateral_label": "left lateral"})
    request = asked(trial(), params)
    text = request.messages[0].parts[0]
    assert isinstance(text, TextPart)
    assert "analyzing left lateral chest X-rays" in text.text


def test_that_what_is_no_radiograph_is_not_called_one() -> None:
    request = asked(trial("other"))
    texts = [p.text for m in request.messages for p in m.parts if hasattr(p, "text")]
    words = "\n".join(texts)
    assert "{" not in words
    assert not {"chest", "X-ray", "other"} & set(words.replace("-rays", "-ray").split())
    paper = USER.replace(
        "gridded lateral view of a chest X-ray", "gridded medical image"
    )
    assert texts[1] == paper
    name, body = prompt("other")
    assert name == "any_image"
    assert (request.prompt, request.template) == (name, body)


@pytest.mark.statement("E000-13")
def test_that_the_papers_prompt_keeps_its_hash() -> None:
    digest = hashlib.sha256(prompt("lateral")[1].encode()).hexdigest()
    assert digest == (
        "e56e35f61b453821d217508e2ab465b581e0a6051bc6dafbbcbb33ce0fe169b1"
    )


def test_that_an_unknown_view_is_never_guessed() -> None:
    with pytest.raises(WrongUseError, match="not known"):
        asked(trial("unknown"))
