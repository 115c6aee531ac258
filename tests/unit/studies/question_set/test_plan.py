"""What is asked under each condition, and what is left out."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.helpers.item_datasets import question_set_dataset
from tests.helpers.tiny_study import prepare_trial
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, TextPart
from viewer.domain.run import RunSpec, Trial
from viewer.imaging.png import decode_png
from viewer.services.configuring.study_file import make_spec
from viewer.services.trials.run_context import RunContext
from viewer.studies.question_set.arms import option_order, other_images
from viewer.studies.question_set.params import Arm
from viewer.studies.question_set.questions import asked_of
from viewer.studies.question_set.study import STUDY

MODEL = ModelProfile("m", "scripted", {"answer": "A"})
JUDGE = ModelProfile("judge", "scripted", {"answer": "Yes"})


def a_spec(**params: object) -> RunSpec:
    return make_spec(
        study="question_set",
        dataset="questions",
        preset="controls",
        seed=3,
        repeats=1,
        models=[MODEL],
        overrides={"judge": "judge", **params},
        known={"judge": JUDGE},
    )


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return question_set_dataset(tmp_path_factory.mktemp("d"))


def planned(dataset: Dataset, **params: object) -> tuple[Trial, ...]:
    return STUDY.plan(dataset, a_spec(**params))


def sent(dataset: Dataset, item: str, arm: Arm) -> tuple[str, Sequence[bytes]]:
    """Return the words and the images of what is sent of an item under a condition."""
    context = RunContext(a_spec(), dataset)
    trials = context.study.plan(dataset, context.spec)
    trial = next(t for t in trials if (t.item, t.condition.name) == (item, arm))
    request = prepare_trial(context, trial).request
    (message,) = request.messages
    text = next(part.text for part in message.parts if isinstance(part, TextPart))
    return text, [image.png for image in request.images]


def test_that_options_are_asked_about_only_where_there_are_any(
    dataset: Dataset,
) -> None:
    arms = {
        (one.view, arm): sum(
            (t.view, t.condition.name) == (one.view, arm) for t in planned(dataset)
        )
        for one in planned(dataset)
        for arm in Arm
    }
    of_options = {Arm.OPTIONS_ONLY, Arm.SHUFFLED_OPTIONS}
    for (kind, arm), n in arms.items():
        assert bool(n) is (kind == "choice" or arm not in of_options)


def test_that_each_condition_shows_what_it_says(dataset: Dataset) -> None:
    text, (own,) = sent(dataset, "q0-choice", Arm.IMAGE)
    assert text.startswith("Which finding is it, 0?\n\nA) finding 0\nB) finding 1")
    assert sent(dataset, "q0-choice", Arm.NO_IMAGE) == (text, [])
    guess, images = sent(dataset, "q0-choice", Arm.GUESS)
    assert guess == f"There is no image with this question. Guess the answer.\n\n{text}"
    assert not images
    same, (noise,) = sent(dataset, "q0-choice", Arm.NOISE)
    assert same == text
    assert decode_png(noise).size == decode_png(own).size
    assert noise != own
    same, (other,) = sent(dataset, "q0-choice", Arm.OTHER_IMAGE)
    assert same == text
    others = {sent(dataset, f"q{i}-choice", Arm.IMAGE)[1][0] for i in range(1, 5)}
    assert other in others
    only, images = sent(dataset, "q0-choice", Arm.OPTIONS_ONLY)
    assert "Which finding" not in only
    assert "A) finding 0\n" in only
    assert not images
    shuffled, images = sent(dataset, "q0-choice", Arm.SHUFFLED_OPTIONS)
    assert images == [own]
    assert shuffled != text
    assert sorted(shuffled.replace(")", "").split()) == sorted(
        text.replace(")", "").split()
    )


def test_that_shuffled_options_are_judged_in_their_own_order(dataset: Dataset) -> None:
    trial = next(
        t for t in planned(dataset) if t.condition.name == Arm.SHUFFLED_OPTIONS
    )
    asked = asked_of(next(i for i in dataset.items if i.key == trial.item))
    order = option_order(asked, trial.condition)
    assert sorted(order) == [0, 1, 2, 3] != list(order)
    again = replace(asked, options=("one", "two"))
    assert option_order(again, trial.condition) == (1, 0)


def test_that_a_grid_is_drawn_on_the_image_and_named_in_the_words(
    dataset: Dataset,
) -> None:
    item = next(i for i in dataset.items if i.facts["answer_kind"] == "cell")
    text, (gridded,) = sent(dataset, item.key, Arm.IMAGE)
    assert "4 rows and 4 columns, from A1 to D4" in text
    plain = f"{item.key.partition('-')[0]}-choice"
    assert sent(dataset, plain, Arm.IMAGE)[1][0] != gridded


def test_that_everybody_is_shown_another_patient_s_images_each_once(
    dataset: Dataset,
) -> None:
    asked = {item.key: asked_of(item) for item in dataset.items}
    given = other_images(asked.values(), 1)
    assert sorted(given.values()) == sorted(given)
    for key, other in given.items():
        assert asked[key].patient != asked[other].patient
    assert other_images(asked.values(), 2) != given
    alone = [replace(one, patient="p") for one in asked.values()]
    assert set(other_images(alone, 1).values()) == {""}


def test_that_what_cannot_be_shown_is_left_out_with_its_reason(
    dataset: Dataset,
) -> None:
    first, *others = dataset.images
    gone = replace(first, defects={"*": "missing_file"})
    item, *items = dataset.items
    bare = replace(item, key="bare", images=(), patient="nobody")
    bad = replace(dataset, images=(gone, *others), items=(bare, item, *items))
    why = {(t.item, t.condition.name): t.exclusion for t in planned(bad)}
    assert why["bare", Arm.IMAGE] == why["bare", Arm.NOISE] == "no_image"
    assert why["bare", Arm.NO_IMAGE] == ""
    assert why[item.key, Arm.OTHER_IMAGE] == "missing_file"
    assert why[item.key, Arm.GUESS] == ""
    place = next(i for i in items if i.facts["answer_kind"] == "point")
    hidden = replace(place, images=item.images)
    bad = replace(bad, items=(hidden,))
    why = {(t.item, t.condition.name): t.exclusion for t in planned(bad)}
    assert set(why.values()) == {"missing_file"}
    lone = replace(dataset, items=(item,))
    assert planned(lone, arms=["other_image"])[0].exclusion == "no_other_patient"


def test_that_what_cannot_be_asked_at_all_is_a_sentence(dataset: Dataset) -> None:
    with pytest.raises(WrongUseError, match="names no judge"):
        planned(dataset, judge="")
    with pytest.raises(WrongUseError, match="has no question of a question set"):
        planned(replace(dataset, items=()))
    yes_no = [i for i in dataset.items if i.facts["answer_kind"] == "yes_no"]
    with pytest.raises(WrongUseError, match="No question has options"):
        planned(replace(dataset, items=tuple(yes_no)), arms=["options_only"])
    with pytest.raises(WrongUseError, match="is not of a question set"):
        asked_of(replace(yes_no[0], facts={}))


def test_that_the_data_set_s_words_come_first_and_a_person_s_before_them(
    dataset: Dataset,
) -> None:
    item = dataset.items[0]
    own = replace(item, facts={**item.facts, "prompt": "Now: {question} {options}"})
    changed = replace(dataset, items=(own, *dataset.items[1:]))
    assert sent(changed, item.key, Arm.IMAGE)[0].startswith("Now: Which finding")
    context = RunContext(a_spec(), changed)
    prompts = dict(context.prompts())
    assert prompts["choice_of_the_data_set"] == "Now: {question} {options}"
    assert prompts["choice_of_the_data_set_guess"].endswith("Now: {question} {options}")
    assert "judge" in prompts
    texts = {"choice": "Mine: {question} {options}"}
    mine = RunContext(a_spec(prompts=texts), changed)
    assert dict(mine.prompts())["choice"] == texts["choice"]


def test_that_the_study_tells_its_own_words_for_every_kind() -> None:
    params = STUDY.read_params("image_only", {})
    assert [name for name, _ in STUDY.prompts(params)][:2] == ["choice", "yes_no"]
    assert STUDY.roles(params) == {}
