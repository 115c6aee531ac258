"""A person's own prompts: every one may be replaced, and a bad one is refused."""

import re
from pathlib import Path

import pytest

from tests.helpers.study_samples import STUDIES, item_run
from tests.helpers.tiny_study import D4, a_spec, finish, planned
from viewer.domain.errors import WrongUseError
from viewer.domain.plain import plain
from viewer.services.configuring.own_prompts import prompts_of
from viewer.services.inspecting.answers import text_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, trials
from viewer.store.database import Store, open_store
from viewer.studies.catalog import OURS, study_named
from viewer.studies.prompts import BUILT_IN, OwnPrompts, Prompt, fill

studies = pytest.mark.parametrize("study", sorted(OURS))
_MARK = re.compile(r"\[own (\w+)\]")


def own_text(prompt: Prompt) -> str:
    """Return a text that tells which prompt it stands for, with every placeholder."""
    places = " ".join(f"{{{place}}}" for place in prompt.places)
    return f"[own {prompt.name}] {places}".strip()


def own_texts(study: str) -> dict[str, str]:
    return {n: own_text(one) for n, one in prompts_of(study).known.items()}


def sent(store: Store) -> list[str]:
    """Return every text of every message that was sent."""
    requests = (
        trials.sent_request(store, row["sha256"])
        for row in store.rows("SELECT sha256 FROM request")
    )
    return [text for request in requests for _, text in text_of(request)]


@studies
def test_that_every_built_in_prompt_has_the_placeholders_that_it_needs(
    study: str,
) -> None:
    for prompt in prompts_of(study).known.values():
        prompt.check(prompt.text)
        assert prompt.use
        assert prompt.source


@studies
def test_that_the_built_in_texts_are_no_texts_of_a_persons_own(study: str) -> None:
    texts = {n: one.text for n, one in prompts_of(study).known.items()}
    found = study_named(study)
    params = found.read_params(found.presets()[0], {"prompts": texts})
    assert params == found.read_params(found.presets()[0], {})


@studies
def test_that_own_prompts_come_back_from_json(study: str) -> None:
    found, texts = study_named(study), own_texts(study)
    params = found.read_params(found.presets()[0], {"prompts": texts})
    assert plain(params)["prompts"] == texts
    assert found.read_params(found.presets()[0], plain(params)) == params
    assert hash(params) == hash(found.read_params(found.presets()[0], plain(params)))


@pytest.mark.parametrize("study", STUDIES)
def test_that_a_run_asks_in_own_words_alone(study: str, tmp_path: Path) -> None:
    """But for what is filled in, and the parts of a case, which have no prompt."""
    own = own_texts(study)
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path / "d", study, {"prompts": own})
        texts = sent(store)
        spec = runs.run_spec(store, run)
        context = RunContext(spec, cases.dataset_of_run(store, run))
    asked = {name for text in texts for name in _MARK.findall(text)}
    for _, template in context.prompts():
        assert _MARK.search(template)
    for prompt in prompts_of(study).known.values():
        opening = prompt.text.split("{")[0].strip()
        assert len(opening) < 20 or not any(opening in text for text in texts)
    assert asked >= ASKED[study]
    assert not any("{" in text and "own" in text for text in texts)


ASKED = {
    "evidence_diagnosis": {
        "overread_ddx_v1_system",
        "overread_ddx_v1_en",
        "overread_fdx_v1_system",
        "overread_fdx_v1_en",
        "overread_open_fdx_v1_en",
        "medsyn2026_refinement_system",
        "medsyn2026_refinement_reminder",
        "medsyn2026_ddx_judge",
        "medsyn2026_fdx_judge",
        "medsyn2026_ddx_judge_examples",
    },
    "grounded_vqa": {"system", "closed_1", "open_1", "locate", "extract_labels"},
    "pathology_mcq": {"system", "llava", "text_only"},
    "question_set": {
        *("system", "choice", "yes_no", "number", "text", "cell", "point", "box"),
        *("boxes", "guess", "options_only", "judge"),
    },
    "rubric_reading": {"system", "task", "boxes"},
}


def test_that_a_grid_is_asked_about_in_own_words(tmp_path: Path) -> None:
    own = {
        "gosai2025_system": "You see a {view} film.",
        "gosai2025_user": "Where is the {finding}?",
    }
    with open_store(tmp_path / "s.sqlite") as store:
        params = {"grids": [8], "prompts": own}
        finish(store, planned(store, tmp_path / "d", a_spec([D4], params=params), 1))
        assert sent(store) == ["You see a frontal film.", "Where is the Edema?"]


def test_that_no_system_message_is_sent_where_it_has_no_words(tmp_path: Path) -> None:
    own = {"gosai2025_system": "", "gosai2025_user": "Where is {condition}?"}
    with open_store(tmp_path / "s.sqlite") as store:
        params = {"grids": [8], "prompts": own}
        finish(store, planned(store, tmp_path / "d", a_spec([D4], params=params), 1))
        assert sent(store) == ["Where is Edema?"]


GOSAI = "The prompt 'gosai2025_user'"
ALLOWED = "Allowed placeholders: {condition}, {finding} and {view}."


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        (
            {"gosai2025_user": "Where is it?"},
            f"{GOSAI} lacks the placeholder {{condition}} or {{finding}}. {ALLOWED}",
        ),
        (
            {"gosai2025_user": "Where is {condition} in {image}?"},
            f"{GOSAI} has the unknown placeholder {{image}}. {ALLOWED}",
        ),
        (
            {"gosai_user": "Where is {condition}?"},
            "There is no prompt named 'gosai_user'. Did you mean 'gosai2025_user'?",
        ),
        ({"gosai2025_user": 5}, f"{GOSAI} must be a text."),
        (["Where?"], "'prompts' must be a table."),
    ],
)
def test_that_a_prompt_of_no_use_is_refused(prompts: object, said: str) -> None:
    study = study_named("grid_localization")
    with pytest.raises(WrongUseError, match=re.escape(said)):
        study.read_params("gosai2025", {"prompts": prompts})


def test_that_braces_that_are_no_placeholder_are_text() -> None:
    text = 'Answer as {"cell": "D4"} about {condition}, f(x) = {0}.'
    prompts_of("grid_localization").named("gosai2025_user").check(text)
    filled = fill(text, {"condition": "Edema {view}", "view": "frontal"})
    assert filled == 'Answer as {"cell": "D4"} about Edema {view}, f(x) = {0}.'


def test_that_own_prompts_are_equal_in_any_order() -> None:
    one, other = OwnPrompts({"a": "1", "b": "2"}), OwnPrompts({"b": "2", "a": "1"})
    assert (one, hash(one)) == (other, hash(other))
    assert one != BUILT_IN
    assert repr(OwnPrompts({"a": "1"})) == "FrozenMapping({'a': '1'})"
