"""Studies steer attention: a box is outlined, the answer given with it highlighted."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import quiz_study, tiny_vlm
from tests.helpers.quiz_study import Params, Quiz, quiz_spec, registered
from tests.helpers.tiny_study import plan_and_finish, tables_of
from tests.helpers.tiny_transformers import write_tiny_sam
from viewer.domain.answer import AnyAnswer, ChoiceAnswer, Unparsed
from viewer.domain.exchange import BoxPrompt, ModelProfile, ModelReply
from viewer.domain.geometry import Affine, BoxPx
from viewer.domain.interpretability import (
    Choices,
    Highlight,
    ImageRelevance,
    Measured,
    Measures,
    QueryPosition,
    Relevance,
    Section,
    letter_spellings,
)
from viewer.domain.reference import Mask
from viewer.domain.result import Score
from viewer.domain.run import Step
from viewer.metrics.posterior import from_letters
from viewer.metrics.rapt import rapt
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.services.inspecting.trial_detail import (
    highlight_words,
    measured_words,
    trial_detail,
)
from viewer.services.reporting.report_run import report_data
from viewer.services.reporting.rescore import rescore_run
from viewer.store import trials
from viewer.store.database import Store, open_store
from viewer.studies.steps import Question, Sources, Turn

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
OPTIONS = "round, oval, a film, nothing else"


class Lit(Quiz):
    """The quiz, its answer given with what a segmenter outlined highlighted."""

    def roles(self, params: Params) -> Mapping[str, str]:
        return {"segmenter": params.judge}

    def next_step(self, turn: Turn, params: Params) -> Step | None:  # noqa: ARG002
        if turn.item.images and not turn.so_far:
            return Step("outline", "segmenter")
        return None if turn.replies() else Step("answer")

    def question(
        self, turn: Turn, step: Step, sources: Sources, params: Params
    ) -> Question:
        if step.role:
            raster = sources.raster(turn.item.images[0])
            box = BoxPx(4.0, 3.0, 26.0, 17.0)
            return Question((), "outline", "", boxes=BoxPrompt(raster, (box,)))
        plain = super().question(turn, step, sources, params)
        outlined = turn.reply_to("outline")
        if not sources.interpretable or sources.why_no_attention or outlined is None:
            return replace(plain, choices=Choices("Which?", tuple(OPTIONS.split(", "))))
        assert outlined.mask is not None
        mask = outlined.mask
        if mask.is_empty:
            mask = Mask.of_array(np.ones((20, 30), dtype=np.bool_))
        wishes = Measures(
            letter_spellings("ABC"),
            (Section("options", OPTIONS),),
            QueryPosition.LAST_PROMPT,
        )
        return replace(plain, highlight=Highlight(mask), measures=wishes)

    def parse(self, turn: Turn, params: Params) -> AnyAnswer | Unparsed:  # noqa: ARG002
        return ChoiceAnswer(0, "letter")

    def score(self, turn: Turn, answer: AnyAnswer | Unparsed, params: Params) -> Score:
        reply = turn.replies()[-1]
        found = super().score(replace(turn, so_far=turn.so_far[-1:]), answer, params)
        if reply.measured is None or reply.measured.attention is None:
            return found
        told = {s.text: s.logprob for o in reply.measured.options for s in o}
        attention = reply.measured.attention
        ratios = rapt(attention.per_token, attention.places)
        numbers = (
            ("p_a", from_letters(told, "ABC").p[0]),
            ("rapt_image", float(ratios["image"].mean())),
            ("region", float(np.mean(reply.measured.region))),
            ("latency_ms", float(reply.latency_ms)),
            ("peak_bytes", float(reply.peak_memory_bytes or 0)),
        )
        return replace(found, numbers=numbers)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(quiz_study, "QUIZ", Lit(quiz_study.read_params, {"own": "Own"}))
    with quiz_study.quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as opened:
        registered(opened, tmp_path / "pictures")
        yield opened


@pytest.fixture
def segmenter(tmp_path: Path) -> ModelProfile:
    folder = str(write_tiny_sam(tmp_path / "sam"))
    return ModelProfile("outlines", "segmenter", {"model": folder, "device": "cpu"})


@pytest.mark.statement("E002-14", "E002-16", "E004-16", "E004-17")
def test_that_a_region_is_outlined_then_lit_and_what_is_measured_is_scored(
    store: Store, segmenter: ModelProfile, tmp_path: Path
) -> None:
    folder = str(tiny_vlm.build("llava", tmp_path / "llava"))
    values = {
        "model": folder,
        "device": "cpu",
        "attention": "eager",
        "max_new_tokens": 3,
    }
    model = ModelProfile("looks", "transformers_local", values)
    run = plan_and_finish(store, quiz_spec([model], segmenter))
    data = report_data(store, run)
    by_item = {one.item: one.score for one in data.results}
    for item in ("one", "two"):
        numbers = dict(by_item[item].numbers)
        assert 0 < numbers["p_a"] < 1
        assert 0 < numbers["region"] <= 1
        assert numbers["rapt_image"] > 0
        assert numbers["latency_ms"] > 0
        assert numbers["peak_bytes"] > 1e6
    assert by_item["none"].numbers == ()  # no image, so nothing to outline
    before = tables_of(store, run)
    assert rescore_run(store, run).changed == 0
    assert tables_of(store, run) == before
    asked = [
        trials.sent_request(store, row[0]).document
        for row in store.rows("SELECT sha256 FROM request")
    ]
    assert_told(store)
    lit = [document for document in asked if "highlight" in document]
    assert len(lit) == 2
    assert all("last_prompt" in str(document["measures"]) for document in lit)
    outlined = [document for document in asked if "boxes" in str(document)]
    assert len(outlined) == 2


def test_that_a_closed_model_is_asked_without(
    store: Store, segmenter: ModelProfile
) -> None:
    model = ModelProfile("says", "scripted", {"answer": "A"})
    run = plan_and_finish(store, quiz_spec([model], segmenter))
    results = [r for r in report_data(store, run).results if r.score.answer]
    assert len(results) == 3
    sent = [trials.sent_request(store, r.request_sha256).document for r in results]
    assert not any({"highlight", "measures"} & set(document) for document in sent)
    assert [str(document["facts"]).count("Which?") for document in sent] == [1] * 3


def assert_told(store: Store) -> None:
    """Assert that a trial tells what was highlighted and measured, in words."""
    scored = {one.trial.item: one for one in trials.scored_trials(store, 1)}
    told = dict(trial_detail(store.path, scored["one"].id).words)
    assert "of image 1, weight 3 added as its logarithm, contrast 1.3" in str(
        told["highlighted"]
    )
    assert told["says next"].startswith("A ")
    assert "image " in told["attends to"]
    assert "options " in told["attends to"]
    assert told["vision attends to the region"].endswith("%")
    outlined, lit = trial_detail(store.path, scored["one"].id).steps
    assert outlined.images == ()
    (beside,) = outlined.marked
    assert beside.png == lit.images[0]
    assert beside.region is not None
    assert lit.marked[0].region == beside.region
    plain = dict(trial_detail(store.path, scored["none"].id).words)
    assert not {"highlighted", "says next", "attends to"} & set(plain)


def test_that_a_model_may_be_measured_little() -> None:
    mask = Mask.of_array(np.eye(4, dtype=np.bool_))
    light = {
        "mask": {"size": [4, 4], "counts": mask.counts},
        "image": 1,
        "weight": 2.0,
        "form": "linear",
        "contrast": 1.0,
    }
    (line,) = highlight_words({"highlight": light})
    assert line == (
        "highlighted",
        "25.0% of image 2, weight 2 added as itself, no contrast",
    )
    assert highlight_words({}) == ()
    assert measured_words(ModelReply("A")) == ()
    assert measured_words(ModelReply("A", measured=Measured())) == ()


@pytest.mark.statement("E002-17")
def test_that_the_parts_of_a_prompt_that_drew_most_are_told_in_their_order() -> None:
    shown = ImageRelevance(((0.1, 0.2), (0.05, 0.05)), Affine(1, 0, 0, 0, 1, 0))
    words = tuple((f" w{i}", 0.01 + 0.001 * i) for i in range(20))
    measured = Measured(relevance=Relevance((shown,), (*words, ("\n", 0.2))))
    (line,) = measured_words(ModelReply("A", measured=measured))
    speaker, said = line
    parts = said.split(" · ")
    assert speaker == "attends most to"
    assert len(parts) == 12
    assert parts[0] == "image 1 40.0%"
    assert parts[-1] == "'\\n' 20.0%"
    assert parts[1:-1] == [f"w{i} {0.01 + 0.001 * i:.1%}" for i in range(10, 20)]
