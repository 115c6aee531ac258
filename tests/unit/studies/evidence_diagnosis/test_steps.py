from dataclasses import replace

import pytest

from tests.helpers.evidence_cases import CHINESE, ENGLISH, reply
from tests.unit.studies.evidence_diagnosis.turns import (
    FakeSources,
    asking,
    dataset_of,
    turn_of,
)
from viewer.domain.answer import ChoiceAnswer, RankedAnswer, Status, Unparsed
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import (
    ImagePart,
    ModelProfile,
    TextPart,
    TokenLogprob,
)
from viewer.domain.item import Item
from viewer.domain.plain import plain
from viewer.domain.run import RunSpec, Step
from viewer.metrics.posterior import Estimator
from viewer.studies.evidence_diagnosis.beliefs import posterior
from viewer.studies.evidence_diagnosis.params import (
    Arm,
    Params,
    RandomText,
    Task,
)
from viewer.studies.evidence_diagnosis.plan import conditions, plan, showings
from viewer.studies.evidence_diagnosis.request import question
from viewer.studies.evidence_diagnosis.showing import Showing, showing_of
from viewer.studies.evidence_diagnosis.study import STUDY

LIST = reply("1. Lymphoma\n2. Sarcoidosis")
ODD = reply("Score: 7\nRationale: Ha.")
GOOD = reply("Score: 4\nRationale: Near.")
DDX, FINAL = Step("differential"), Step("final")
JUDGE, AGAIN = Step("judge", "judge"), Step("judge", "judge", 1)
JUDGED = Params(tasks=("ddx", "fdx", "open_fdx"), judge="j")


def spec_of(params: Params, limit: int | None = None, repeats: int = 1) -> RunSpec:
    model = ModelProfile("model", "scripted", {"answer": "A"})
    stored = plain(params)
    return RunSpec(
        *("evidence_diagnosis", "cases", "medsyn2026", 5, repeats, (model,)),
        params=stored,
        limit=limit,
    )


@pytest.mark.statement("E004-06", "E004-09")
def test_that_a_differential_is_asked_judged_and_judged_once_more() -> None:
    steps = [
        asking(Task.DDX, JUDGED, replies).next_step()
        for replies in (
            [],
            [(DDX, LIST)],
            [(DDX, LIST), (JUDGE, ODD)],
            [(DDX, LIST), (JUDGE, ODD), (AGAIN, ODD)],
            [(DDX, LIST), (JUDGE, GOOD)],
            [(DDX, reply(""))],
        )
    ]
    assert steps == [DDX, JUDGE, AGAIN, None, None, None]
    unjudged = asking(Task.DDX, Params(), [(DDX, LIST)])
    assert unjudged.next_step() is None
    assert unjudged.judged() is None


@pytest.mark.statement("E004-08", "E004-09")
def test_that_an_open_diagnosis_is_asked_after_the_models_own_list() -> None:
    told = reply("Sarcoidosis")
    steps = [
        asking(Task.OPEN_FDX, JUDGED, replies).next_step()
        for replies in (
            [],
            [(DDX, LIST)],
            [(DDX, LIST), (FINAL, told)],
            [(DDX, LIST), (FINAL, reply("Gout\nAsthma"))],
            [(DDX, LIST), (FINAL, told), (JUDGE, reply("Score: 5\nRationale: Yes."))],
        )
    ]
    assert steps == [DDX, FINAL, JUDGE, None, None]
    done = asking(Task.OPEN_FDX, JUDGED, [(DDX, LIST), (FINAL, told)])
    assert done.words() == RankedAnswer(("Sarcoidosis",))


@pytest.mark.statement("E004-17")
@pytest.mark.parametrize(
    ("params", "asked"),
    [
        (Params(), [Step("answer")]),
        (
            Params(sensitivity=True, estimator=Estimator.MONTE_CARLO, draws=3),
            [Step("answer"), Step("answer", again=1), Step("answer", again=2)],
        ),
        (
            Params(sensitivity=True, estimator=Estimator.PERMUTED),
            [Step("answer"), *(Step(f"turned {i}") for i in (1, 2, 3))],
        ),
    ],
)
def test_that_an_estimator_asks_as_often_as_it_must(
    params: Params, asked: list[Step]
) -> None:
    replies = [(step, reply("A")) for step in asked]
    for n, step in enumerate([*asked, None]):
        assert asking(Task.FDX, params, replies[:n]).next_step() == step


@pytest.mark.statement("E004-17")
def test_that_answers_are_drawn_where_a_model_tells_no_probabilities() -> None:
    params = Params(sensitivity=True, draw_where_untold=True, draws=3)
    replies = [(Step("answer", again=i), reply("Sarcoidosis")) for i in range(3)]
    assert asking(Task.FDX, params, replies[:1]).next_step() == Step("answer", again=1)
    drawn = asking(Task.FDX, params, replies)
    assert drawn.next_step() is None
    found = posterior(drawn)
    assert found is not None
    assert (found.counts, found.estimator) == ((3, 0, 0, 0), Estimator.MONTE_CARLO)
    told = replace(reply("A"), logprobs=(TokenLogprob("A", -0.1, (("A", -0.1),)),))
    endpoint = replace(params, estimator=Estimator.TOP_LOGPROBS)
    assert asking(Task.FDX, endpoint, [(Step("answer"), told)]).next_step() is None
    assert len(STUDY.longest(dataset_of(ENGLISH), params)) == 3
    plain = replace(params, draw_where_untold=False)
    assert asking(Task.FDX, plain, replies[:1]).next_step() is None


def test_that_each_turn_shows_another_option_first() -> None:
    params = Params(sensitivity=True, estimator=Estimator.PERMUTED)
    sources = FakeSources(dataset_of(ENGLISH))
    turn = turn_of(Task.FDX, [(Step("answer"), reply("A"))])
    texts = []
    for step in (Step("answer"), *(Step(f"turned {i}") for i in (1, 2, 3))):
        asked = question(turn, step, sources, params)
        part = asked.messages[-1].parts[-1]
        assert isinstance(part, TextPart)
        texts.append(part.text.split("\nA. ")[1].splitlines()[0])
    assert sorted(texts) == sorted(ENGLISH.options)


@pytest.mark.statement("E004-02", "E004-12")
def test_that_a_plan_has_every_task_and_showing_of_every_case() -> None:
    params = Params(
        tasks=("ddx", "fdx"),
        arms=("raw", "expert", "refined"),
        differential_arms=("raw", "expert"),
    )
    trials = plan(dataset_of(ENGLISH, CHINESE), spec_of(params, repeats=2))
    assert len(trials) == 2 * (2 + 3) * 2
    ddx = {t.condition.name for t in trials if t.finding == "ddx"}
    assert ddx == {"raw", "expert"}
    assert {t.view for t in trials} == {"en", "zh"}
    assert {t.condition for t in trials} <= set(conditions(params, 5))
    only = plan(dataset_of(ENGLISH, CHINESE), spec_of(Params(languages=("zh",))))
    assert {t.patient for t in only} == {"case-2"}
    assert len(plan(dataset_of(ENGLISH, CHINESE), spec_of(Params(), limit=1))) == 2


@pytest.mark.statement("E004-17", "E004-18")
def test_that_what_a_case_does_not_have_is_not_left_out() -> None:
    params = Params(sensitivity=True, arms=("raw", "refined"), cyclic_orders=True)
    names = [s.name for s in showings(Task.FDX, CHINESE.types, params)]
    assert len(names) == len(set(names)) == 2 + 3 + 1 + 4 + 1 + 4
    assert "raw without X-ray" in names
    assert "refined expert without Laboratory" in names
    assert "raw turned 3" in names
    assert not any("CT" in name for name in names)


@pytest.mark.statement("E004-23", "E004-26")
def test_that_a_missing_image_excludes_its_case_where_it_is_shown() -> None:
    params = Params(tasks=("fdx",), arms=("raw", "expert"))
    trials = plan(dataset_of(ENGLISH, CHINESE, missing=["ct2"]), spec_of(params))
    excluded = {(t.item, t.condition.name): t.exclusion for t in trials}
    assert excluded == {
        ("case-1|fdx", "raw"): "missing_file",
        ("case-1|fdx", "expert"): "",
        ("case-2|fdx", "raw"): "",
        ("case-2|fdx", "expert"): "",
    }


def test_that_other_data_and_languages_without_cases_are_told() -> None:
    chinese = spec_of(Params(languages=("zh",)))
    with pytest.raises(WrongUseError, match="has no case in"):
        plan(dataset_of(ENGLISH), chinese)
    dataset = dataset_of(ENGLISH)
    other = replace(dataset, items=(Item("x", "p", facts={"language": "en"}),))
    with pytest.raises(WrongUseError, match="'x' is not a case with"):
        plan(other, spec_of(Params()))


@pytest.mark.statement("E004-02", "E004-22")
def test_that_a_question_holds_the_images_in_their_order() -> None:
    sources = FakeSources(dataset_of(ENGLISH))
    asked = question(turn_of(Task.FDX), Step("answer"), sources, Params())
    assert sources.read == list(ENGLISH.images)
    assert [m.role for m in asked.messages] == ["system", "user"]
    kinds = [isinstance(p, ImagePart) for p in asked.messages[1].parts]
    assert sum(kinds) == 5
    assert (asked.prompt, asked.measures) == ("overread_fdx_v1_en", None)
    assert "{case}" in asked.template


@pytest.mark.statement("E004-14")
@pytest.mark.parametrize(
    ("tokens", "mode", "note"),
    [
        (True, RandomText.TOKENS, ""),
        (False, RandomText.TOKENS, "random words replaced random tokens of its own"),
        (True, RandomText.WORDS, "random words replaced random tokens of its own"),
    ],
)
def test_that_random_text_is_the_models_own_tokens_or_noted(
    tokens: bool, mode: RandomText, note: str
) -> None:
    sources = FakeSources(dataset_of(ENGLISH), tokens=tokens)
    turn = turn_of(Task.FDX, showing=showing_of(Arm.RANDOM_TEXT))
    asked = question(turn, Step("answer"), sources, Params(random_text=mode))
    first = asked.messages[1].parts[0]
    assert isinstance(first, TextPart)
    words = len(ENGLISH.history.split())
    own = first.text == "Medical history:\n" + " ".join(["tok"] * words)
    assert own == (not note)
    assert "cough" not in first.text
    assert (asked.prompt, asked.note) == ("overread_fdx_v1_en", note)
    assert asked == question(turn, Step("answer"), sources, Params(random_text=mode))


@pytest.mark.statement("E004-16", "E004-17")
def test_that_a_model_on_this_machine_is_asked_for_attention_and_likelihoods() -> None:
    local = FakeSources(dataset_of(ENGLISH), interpretable=True)
    params = Params(sensitivity=True, rapt=True)
    asked = question(turn_of(Task.FDX), Step("answer"), local, params)
    assert asked.measures is not None
    assert asked.measures.spellings[1] == ("B", " B", "(B")
    assert [s.name for s in asked.measures.sections] == ["stem", "options"]
    assert asked.measures.attention is not None
    texts = Params(sensitivity=True, estimator=Estimator.SEQUENCES)
    told = question(turn_of(Task.FDX), Step("answer"), local, texts).measures
    assert told is not None
    assert sorted(s for option in told.spellings for s in option) == sorted(
        ENGLISH.options
    )
    assert told.attention is None
    blind = FakeSources(
        dataset_of(ENGLISH), interpretable=True, why_no_attention="Not eager."
    )
    unseen = question(turn_of(Task.FDX), Step("answer"), blind, Params(rapt=True))
    assert unseen.measures is None
    drawn = Params(sensitivity=True, estimator=Estimator.MONTE_CARLO)
    plain = question(turn_of(Task.FDX), Step("answer"), local, drawn)
    assert plain.measures is None


@pytest.mark.statement("E004-09", "E004-21")
def test_that_the_judge_sees_the_list_and_the_diagnosis_and_no_image() -> None:
    sources = FakeSources(dataset_of(ENGLISH))
    turn = turn_of(Task.DDX, [(DDX, LIST)])
    asked = question(turn, JUDGE, sources, JUDGED)
    part = asked.messages[0].parts[0]
    assert isinstance(part, TextPart)
    assert "1) Final confirmed diagnosis: Sarcoidosis" in part.text
    assert "1. Lymphoma\n2. Sarcoidosis" in part.text
    assert sources.read == []
    final = turn_of(Task.OPEN_FDX, [(DDX, LIST), (FINAL, reply("Gout"))])
    second = question(final, JUDGE, sources, JUDGED)
    assert second.prompt == "medsyn2026_fdx_judge"
    assert STUDY.roles(JUDGED) == {"judge": "j"}
    assert STUDY.roles(Params()) == {}


@pytest.mark.statement("E004-06", "E004-08")
def test_that_the_study_scores_what_the_replies_say() -> None:
    right = turn_of(Task.DDX, [(DDX, LIST), (JUDGE, GOOD)])
    answer = STUDY.parse(right, JUDGED)
    found = STUDY.score(right, answer, JUDGED)
    assert (found.status, found.number("judge")) == (Status.SCORED_CORRECT, 4.0)
    alone = STUDY.score(right, answer, Params())
    assert (alone.status, alone.reason) == (Status.EXCLUDED, "not_judged")
    empty = turn_of(Task.DDX, [(DDX, reply(""))])
    nothing = STUDY.parse(empty, Params())
    assert nothing == Unparsed(Status.UNPARSED, "empty")
    assert STUDY.score(empty, nothing, Params()).reason == "empty"
    chosen = turn_of(Task.FDX, [(Step("answer"), reply("Sarcoidosis"))])
    assert STUDY.parse(chosen, Params()) == ChoiceAnswer(0, "text")
    assert STUDY.score(chosen, ChoiceAnswer(0), Params()).status is (
        Status.SCORED_CORRECT
    )


def test_that_the_settings_say_what_a_reader_must_know() -> None:
    assert "No judge is named" in STUDY.notices(Params())[0]
    words = Params(judge="j", arms=("raw", "random_text"), random_text=RandomText.WORDS)
    assert STUDY.notices(words) == (
        "Random text has the same number of words; its number of tokens may differ.",
    )
    assert STUDY.notices(Params(tasks=("fdx",))) == ()
    (needed,) = STUDY.notices(Params(tasks=("fdx",), rapt=True))
    assert 'attention = "eager"' in needed


@pytest.mark.statement("E004-22")
def test_that_every_prompt_is_listed_with_its_text() -> None:
    params = Params(
        tasks=("ddx", "fdx", "open_fdx"), arms=("raw", "refined"), judge="j"
    )
    listed = dict(STUDY.prompts(params))
    assert set(listed) == {
        *(
            f"overread_{x}_v1_{y}"
            for x in ("ddx", "fdx", "open_fdx")
            for y in ("en", "zh")
        ),
        *("medsyn2026_refinement_en", "medsyn2026_refinement_zh"),
        *("medsyn2026_ddx_judge", "medsyn2026_fdx_judge"),
    }
    refined = listed["medsyn2026_refinement_en"]
    assert refined.startswith("system:\nYou are an expert clinician")
    assert refined.endswith("in your diagnostic reasoning.")
    sources = FakeSources(dataset_of(ENGLISH))
    for arm in (Arm.RAW, Arm.REFINED):
        turn = turn_of(Task.FDX, showing=showing_of(arm))
        asked = question(turn, Step("answer"), sources, params)
        assert listed[asked.prompt] == asked.template


def test_that_the_longest_question_has_all_text_and_images() -> None:
    longest = STUDY.longest(dataset_of(ENGLISH, CHINESE), JUDGED)
    assert [one.role for one in longest] == ["", "", "judge", "judge"]
    assert len(longest[0].images) == 5
    assert all(e.finding in longest[0].text for e in ENGLISH.evidence)
    drawn = Params(sensitivity=True, estimator=Estimator.MONTE_CARLO, draws=7)
    assert len(STUDY.longest(dataset_of(ENGLISH), drawn)) == 7
    assert Showing().turned(0) == Showing()
