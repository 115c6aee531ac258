"""Questions drawn from relations."""

import pytest

from tests.helpers.heal_trials import ANATOMIES, image
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.plain import plain
from viewer.studies.grounded_vqa.params import (
    HallucinatedFrom,
    Params,
    Touching,
    read_params,
)
from viewer.studies.grounded_vqa.questions import (
    Benchmark,
    Kind,
    build,
    check_any,
    closed_text,
    open_text,
    pools,
)
from viewer.studies.grounded_vqa.relations import chart
from viewer.studies.grounded_vqa.templates import templates

PARAMS = Params(anatomies=ANATOMIES)
IMAGES = (
    image("a", [("Left lung", "Pneumonia"), ("Heart", "Cardiomegaly")]),
    image("b", [("Right lung", "Pneumonia"), ("Right lung", "Pleural effusion")]),
    image("c"),
    *(image(f"n{i}", [("Left lung", "Pleural effusion")]) for i in range(200)),
)
CHART = chart(IMAGES, PARAMS)


def _is_true(benchmark: Benchmark) -> None:
    for q in benchmark.questions:
        present = benchmark.chart.related(q.image)
        if q.closed:
            assert q.yes == (q.pair in present)
        else:
            assert q.labels == tuple(f for a, f in present if a == q.anatomy)
            assert (q.kind is Kind.NORMAL) == (q.labels == ())


@pytest.mark.statement("E002-03")
def test_that_every_answer_is_the_truth_of_its_image() -> None:
    benchmark = build(CHART, PARAMS, 7)
    any_pair = Params(anatomies=ANATOMIES, hallucinated_from=HallucinatedFrom.ANY)
    _is_true(build(chart(IMAGES[:3], any_pair), any_pair, 7))
    _is_true(benchmark)
    assert len({q.key for q in benchmark.questions}) == len(benchmark.questions)
    asked = [(q.image, q.kind, q.pair) for q in benchmark.questions]
    assert len(set(asked)) == len(asked)


@pytest.mark.statement("E002-03")
def test_that_an_image_has_two_to_five_questions_of_all_kinds() -> None:
    benchmark = build(CHART, PARAMS, 7)
    counts = [sum(q.image == i.key for q in benchmark.questions) for i in IMAGES]
    assert set(counts) == {2, 3, 4, 5}
    assert sum(benchmark.counts.values()) == len(benchmark.questions)
    shares = [benchmark.counts[kind] for kind in (Kind.ABNORMALITY, Kind.NORMAL)]
    assert abs(sum(shares) / len(benchmark.questions) - 0.3324) < 0.05
    assert min(benchmark.counts.values()) > 50


@pytest.mark.statement("E002-03")
def test_that_questions_depend_on_seed_and_image_alone() -> None:
    first, again = build(CHART, PARAMS, 7), build(CHART, PARAMS, 7)
    other = build(CHART, PARAMS, 8)
    fewer = build(chart(IMAGES[:20], PARAMS), PARAMS, 7)
    of_fewer = {q.image for q in fewer.questions}
    assert first.questions == again.questions
    assert first.questions != other.questions
    assert fewer.questions == tuple(q for q in first.questions if q.image in of_fewer)


@pytest.mark.statement("E002-03")
def test_that_hallucinated_pairs_occur_somewhere_unless_any_may() -> None:
    found = pools("a", CHART, PARAMS)
    any_pair = Params(anatomies=ANATOMIES, hallucinated_from=HallucinatedFrom.ANY)
    wider = pools("a", CHART, any_pair)
    assert found[Kind.HALLUCINATED] == (
        ("Left lung", "Pleural effusion"),
        ("Right lung", "Pleural effusion"),
        ("Right lung", "Pneumonia"),
    )
    assert len(wider[Kind.HALLUCINATED]) == 3 * 3 - 2
    assert found[Kind.ABNORMALITY] == (("Left lung", ""), ("Heart", ""))
    assert found[Kind.NORMAL] == (("Right lung", ""),)


def test_that_nothing_is_asked_about_a_pair_in_doubt() -> None:
    params = Params(anatomies=ANATOMIES, touching=Touching.LEFT_OUT)
    touched = image("t", boxes={"Pneumonia": [BoxPx(24, 5, 26, 7)]})
    found = chart((*IMAGES[:3], touched), params)
    as_published = chart((*IMAGES[:3], touched), PARAMS)
    asked = pools("t", found, params)
    assert ("Left lung", "Pneumonia") not in asked[Kind.HALLUCINATED]
    assert ("Left lung", "") not in asked[Kind.NORMAL]
    strict = pools("t", as_published, PARAMS)
    assert ("Left lung", "Pneumonia") in strict[Kind.HALLUCINATED]
    assert ("Left lung", "") in strict[Kind.NORMAL]


@pytest.mark.statement("E002-03", "E002-18")
def test_that_the_templates_are_the_paper_s_words() -> None:
    assert templates("closed") == (
        "Does {anatomy} have {disease}",
        "Is there {disease} present in {anatomy}",
        "Does {anatomy} suffer from {disease}?",
    )
    assert open_text("heart", 0) == "Are there any abnormalities in the heart?"
    assert open_text("Aorta", 1) == "List all abnormalities in the Aorta"
    assert open_text("right lower lung", 2) == (
        "Are there any abnormalities at the right lower lung?"
    )
    assert closed_text("Left lower lung", "Pneumonia", 2) == (
        "Does Left lower lung suffer from Pneumonia?"
    )


def test_that_an_image_with_too_few_questions_is_named() -> None:
    one = chart([image("a", anatomies=("Heart",))], Params(anatomies=("Heart",)))
    benchmark = build(one, Params(anatomies=("Heart",)), 1)
    none = chart([image("a", [], anatomies=("Heart",))], Params(anatomies=("Heart",)))
    assert [n.kind for n in benchmark.notices] == ["few_questions"]
    assert benchmark.notices[0].text == "Only 1 questions can be asked about it."
    assert benchmark.questions[0].kind is Kind.NORMAL
    with pytest.raises(WrongUseError, match="No question can be asked"):
        check_any(Benchmark((), none))
    check_any(benchmark)


@pytest.mark.statement("E002-01", "E002-02")
def test_that_the_preset_pins_every_resolution() -> None:
    params = read_params("heal2025", {})
    assert (params.iou_threshold, params.ioa_threshold) == (0.10, 0.5)
    assert params.threshold == 0.10
    assert any("threshold is not known" in w for w in params.warnings)
    assert any("Right upper lung" in w for w in params.warnings)
    named = read_params("heal2025", {"anatomies": ["Heart", "Aorta"]})
    assert len(named.warnings) == 1
    ioa = read_params("recommended", {"relation_rule": "ioa"})
    assert ioa.threshold == 0.5


@pytest.mark.parametrize(
    ("preset", "overrides", "words"),
    [
        ("heal", {}, "has no preset named 'heal'"),
        ("heal2025", {"most_questions": 1}, "at least 2 and at most 1 questions"),
        ("heal2025", {"extraction": "model"}, "contradict each other"),
        ("heal2025", {"extractor": "m"}, "contradict each other"),
        ("heal2025", {"feather": 2}, "The parameter feather cannot be 2"),
    ],
)
def test_that_bad_parameters_are_refused(
    preset: str, overrides: dict[str, object], words: str
) -> None:
    with pytest.raises(WrongUseError, match=words):
        read_params(preset, overrides)


def test_that_parameters_come_back_as_they_were_written() -> None:
    params = read_params("recommended", {"anatomies": ["Heart"], "feather": 0.03})
    assert read_params("heal2025", plain(params)) == params
