"""Replies of any model to a study's questions: what is used, and why not the rest."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.bundled_run import bundled_run
from tests.helpers.quiz_study import quiz_in_catalog, quiz_spec, registered, says
from tests.helpers.study_samples import SAMPLES, item_run
from tests.helpers.tiny_study import finish, plan_and_finish
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.run import RunStatus
from viewer.services.exporting.export_replies import export_replies
from viewer.services.exporting.export_requests import (
    export_run_requests,
    export_study_requests,
)
from viewer.services.importing.import_replies import (
    PlannedReplies,
    RepliesSource,
    match_reply_files,
    plan_replies,
)
from viewer.services.reporting.records import records
from viewer.services.reporting.report_run import report_data
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.settings import Settings
from viewer.store import cases, runs, trials
from viewer.store.database import Store, open_store

Rows = Sequence[Mapping[str, object]]


def _written(path: Path, rows: Rows) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def store(settings: Settings) -> Iterable[Store]:
    with open_store(settings.store) as opened:
        yield opened


def _imported(
    store: Store, settings: Settings, path: Path, run: int, **said: object
) -> PlannedReplies:
    source = RepliesSource((path,), like=run, **said)  # type: ignore[arg-type]
    planned = plan_replies(store, settings, source)
    finish(store, planned.run)
    return planned


@pytest.mark.parametrize("study", sorted(set(SAMPLES) - {"quiz"}))
def test_that_replies_of_a_run_make_a_run_with_the_same_records(
    store: Store, settings: Settings, tmp_path: Path, study: str
) -> None:
    run = item_run(store, tmp_path / "sample", study)
    path = tmp_path / "replies.jsonl"
    written = export_replies(store, run, path)
    assert written.trials
    again = _imported(store, settings, path, run).run
    assert again != run
    assert _told(store, run) == _told(store, again)


def _told(store: Store, run: int) -> list[dict[str, object]]:
    """Return what is told of a run's trials, but for what names the run itself."""
    own = {"request_sha256", "reply_id"}
    rows = records(store, run, replies=True).records()
    return [{k: repr(v) for k, v in row.items() if k not in own} for row in rows]


def test_that_a_reply_to_a_prompt_variant_is_the_variants(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    texts = {"short": {"closed_1": "Is there {disease} in the {anatomy}?"}}
    study, overrides = "grounded_vqa", {"prompt_variants": texts}
    run = item_run(store, tmp_path / "sample", study, overrides)
    path = tmp_path / "replies.jsonl"
    export_replies(store, run, path)
    rows = [
        {"item": row["item"], "condition": row["condition"], "reply": reply}
        for row in _lines(path)
        for reply in ("No" if "short" in str(row["condition"]) else "Yes",)
    ]
    again = _imported(store, settings, _written(path, rows), run, names=("lab",)).run
    assert {
        ("short" in one.trial.condition.name, one.score.answer)
        for one in trials.scored_trials(store, again)
        if one.score.answer in {"Yes", "No"}
    } == {(False, "Yes"), (True, "No")}


def test_that_all_steps_of_a_trial_and_of_its_judge_are_taken_from_the_file(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    with quiz_in_catalog():
        run = _quiz(store, tmp_path)
        path = tmp_path / "replies.jsonl"
        written = export_replies(store, run, path)
        assert (written.replies, written.trials) == (6, 3)
        rows = _lines(path)
        assert {row.get("role", "") for row in rows} == {"", "judge"}
        better = [{**r, "reply": "1"} if r.get("role") else r for r in rows]
        planned = _imported(store, settings, _written(path, better), run)
        spec = runs.run_spec(store, planned.run)
        assert [one.adapter for one in (*spec.models, *spec.helpers)] == [
            "imported"
        ] * 2
        assert _judged(store, planned.run) == [1.0, 1.0, 1.0]


def test_that_questions_after_a_reply_are_exported_once_it_is_imported(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    with quiz_in_catalog():
        run = _quiz(store, tmp_path)
        first = export_run_requests(store, run, tmp_path / "first")
        assert (first.requests, first.trials) == (3, 3)
        asked = _lines(tmp_path / "first" / "requests.jsonl")
        assert {row["step"] for row in asked} == {"answer"}
        answers = [{**_key(row), "reply": "A", "model": "mine"} for row in asked]
        judged = [{**_key(asked[0]), "step": "judge", "role": "judge", "reply": "4"}]
        judged[0]["model"] = "mine"
        path = _written(tmp_path / "answers.jsonl", [*answers, *judged])
        planned = _imported(store, settings, path, run)
        counts = runs.run_summary(store, planned.run).counts
        assert counts[Status.PROVIDER_ERROR] == 2, "two are not judged"
        then = export_run_requests(
            store, planned.run, tmp_path / "then", following=True
        )
        assert then.requests == 2
        rows = _lines(tmp_path / "then" / "requests.jsonl")
        assert {(row["step"], row["role"]) for row in rows} == {("judge", "judge")}
        assert all("A" in json.dumps(row["messages"]) for row in rows)
        more = [{**_key(r), "role": "judge", "reply": "2"} for r in rows]
        later = _written(
            tmp_path / "later.jsonl", [{**m, "model": "mine"} for m in more]
        )
        source = RepliesSource((path, later), like=run)
        done = plan_replies(store, settings, source)
        finish(store, done.run)
        assert runs.run_summary(store, done.run).status is RunStatus.FINISHED
        assert _judged(store, done.run) == [2.0, 2.0, 4.0]


def _judged(store: Store, run: int) -> list[float]:
    found = records(store, run)["judge"]
    return sorted(float(one) for one in found if one == one)  # NaN is not itself


def _key(row: Mapping[str, object]) -> dict[str, object]:
    return {name: row[name] for name in ("item", "condition", "repeat", "step")}


def _quiz(store: Store, folder: Path) -> int:
    registered(store, folder / "pictures")
    model = says("knows", {"two": "C", "one": "A", "none": "B"}, folder)
    judge = says("judges", dict.fromkeys(("two", "one", "none"), "5"), folder)
    return plan_and_finish(store, quiz_spec([model], judge))


def test_that_what_cannot_be_used_is_told_and_the_rest_is_scored(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    run = item_run(store, tmp_path / "sample", "pathology_mcq")
    dataset = cases.dataset_of_run(store, run)
    names, keys = Pseudonyms(dataset, ()), [item.key for item in dataset.items]
    rows: list[dict[str, object]] = [
        {"item": keys[0], "condition": "plain", "reply": "(B)"},
        {"item": names.items[keys[1]], "condition": "plain", "reply": "(A)"},
        {"item": keys[0], "condition": "plain", "reply": "(C)"},
        {"item": keys[0], "reply": "(C)"},
        {"item": keys[0], "condition": "blurred", "reply": "(C)"},
        {"item": "nobody", "condition": "plain", "reply": "(C)"},
        {"item": keys[1], "condition": "plain", "repeat": 7, "reply": "(C)"},
        {"item": keys[1], "condition": "plain"},
    ]
    path = _written(tmp_path / "mine.jsonl", rows)
    source = RepliesSource((path,), like=run, names=("mine",))
    _, matched = match_reply_files(store, settings, source)
    asked = len({t.trial.item for t in runs.trials_in(store, run, tuple(Status))})
    assert matched.sentence == (
        f"2 replies for 2 of {asked} items; {asked - 2} items have none"
    )
    conditions = "plain, text_only, noise"
    unsaid = f"their condition is not stated, and this run asks under {conditions}"
    otherwise = "is not asked under this condition or repeat"
    assert matched.unused == (
        "Line 8 of 'mine.jsonl' is not used: it has no reply",
        f"1 reply not used: {keys[0]} plain is answered already",
        f"1 reply not used: {unsaid}",
        f"1 reply not used: {keys[0]} blurred {otherwise}",
        "1 reply not used: nobody is not an item of this run",
        f"1 reply not used: {keys[1]} plain 7 {otherwise}",
    )
    planned = _imported(store, settings, path, run, names=("mine",))
    found = records(store, planned.run)
    said = {
        (item, condition): (status, reason)
        for item, condition, status, reason in found.each(
            "item", "condition", "status", "reason"
        )
    }
    assert said[keys[0], "plain"][0] in {Status.SCORED_CORRECT, Status.SCORED_WRONG}
    missing = Status.PROVIDER_ERROR, "not_recorded"
    assert said[keys[0], "text_only"] == missing


def test_that_samples_without_names_are_counted_as_the_lines_of_the_questions(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    run = item_run(store, tmp_path / "sample", "pathology_mcq")
    export_run_requests(store, run, tmp_path / "pack")
    asked = _lines(tmp_path / "pack" / "requests.jsonl")
    rows = [
        {"doc_id": n, "target": "A", "filtered_resps": [f"({'AB'[n % 2]})"]}
        for n in range(len(asked) + 1)
    ]
    path = _written(tmp_path / "samples_pathology.jsonl", rows)
    source = RepliesSource((path,), like=run, names=("vlm",))
    _, matched = match_reply_files(store, settings, source)
    dataset = cases.dataset_of_run(store, run)
    names = Pseudonyms(dataset, ())
    assert [
        (names.item(one.item, ""), one.condition, one.repeat) for one in matched.replies
    ] == [(row["item"], row["condition"], str(row["repeat"])) for row in asked]
    last = f"1 reply not used: {len(asked)} is not an item of this run"
    assert matched.unused == (last,)


def test_that_it_must_be_known_who_replied_to_what(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    run = item_run(store, tmp_path / "sample", "pathology_mcq")
    key = cases.dataset_of_run(store, run).items[0].key
    row = {"item": key, "condition": "plain", "reply": "(A)"}
    path = _written(tmp_path / "a.jsonl", [row])
    source = RepliesSource((path,), like=run)

    def refused(source: RepliesSource, words: str) -> None:
        with pytest.raises(WrongUseError, match=words):
            match_reply_files(store, settings, source)

    refused(source, "does not name the model of 1 of its 1 replies")
    refused(replace(source, like=None, names=("mine",)), "not stated which questions")
    refused(replace(source, model="other"), "has no model 'other'")
    _written(path, [{**row, "model": name} for name in ("a", "b")])
    refused(replace(source, names=("mine",)), "has several models: a, b")
    assert len(match_reply_files(store, settings, source)[1].replies) == 2
    one = replace(source, model="b", names=("org/mine 2",))
    spec, matched = match_reply_files(store, settings, one)
    assert [model.name for model in spec.models] == ["org-mine-2"]
    assert [reply.model for reply in matched.replies] == ["org-mine-2"]
    _written(path, [{**row, "item": "nobody", "model": "a"}])
    refused(source, "No reply in 'a.jsonl' answers a question of this run. 1 reply not")


def test_that_a_model_of_a_paper_is_refused_where_the_study_compares_none(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    run = item_run(store, tmp_path / "sample", "pathology_mcq")
    path = tmp_path / "replies.jsonl"
    export_replies(store, run, path)
    with pytest.raises(WrongUseError, match="compares no model with GPT-5") as caught:
        _imported(store, settings, path, run, paper_models={"": "GPT-5"})
    assert caught.value.how == "Leave out --paper-model."


@pytest.mark.statement("E000-31")
def test_that_imported_models_are_compared_by_the_claims_of_a_paper(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    run = bundled_run(store, tmp_path / "grid", n=2)
    items = dict.fromkeys(records(store, run)["item"])
    rows = [{"item": item, "reply": "D4", "condition": "grid=8"} for item in items]
    files = tuple(_written(tmp_path / f"{n}.jsonl", rows) for n in ("new", "old"))
    source = RepliesSource(
        files,
        like=run,
        names=("org/new", "old"),
        paper_models={"org/new": "GPT-5", "old": "GPT-4"},
    )
    planned = plan_replies(store, settings, source)
    finish(store, planned.run)
    assert [one.name for one in runs.run_spec(store, planned.run).models] == [
        *("org-new", "old"),
    ]
    tables = {one.name: one for one in report_data(store, planned.run).data.tables}
    claims = [row for row in tables["claims"].records() if "points" in row["claim"]]
    assert claims
    assert not [row for row in claims if "did not ask" in str(row["this_run"])]

    def refused(told: RepliesSource) -> tuple[str, str]:
        with pytest.raises(WrongUseError) as caught:
            match_reply_files(store, settings, told)
        return caught.value.what, caught.value.how

    assert refused(replace(source, paper_models={"": "GPT-5"})) == (
        "Several models are imported: org-new, old.",
        'Name the one that counts as GPT-5: --paper-model "org-new=GPT-5".',
    )
    assert refused(replace(source, paper_models={"x": "GPT-5"})) == (
        "No model 'x' is imported, which would count as GPT-5.",
        "Choose one of org-new, old.",
    )
    assert refused(replace(source, names=("a", "b", "c"))) == (
        "There are 3 names for 2 files.",
        "Give one name for all files, or one for each in their order.",
    )


def test_that_a_study_file_need_not_name_who_will_answer(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    item_run(store, tmp_path / "sample", "pathology_mcq")
    study = tmp_path / "study.toml"
    study.write_text('study = "pathology_mcq"\ndataset = "sample"\n')
    pack = tmp_path / "pack"
    written = export_study_requests(store, settings, study, pack)
    asked = _lines(pack / "requests.jsonl")
    assert written.sentence == (
        f"{len(asked)} questions of {len(asked)} trials with {written.images} images "
        f"in {pack}"
    )
    rows = [{**_key(row), "reply": "(A)", "model": "mine"} for row in asked]
    path = _written(tmp_path / "mine.jsonl", rows)
    planned = plan_replies(store, settings, RepliesSource((path,), study=study))
    finish(store, planned.run)
    assert planned.matched.answered == planned.matched.items
    summary = runs.run_summary(store, planned.run)
    assert (summary.models, summary.status) == (("mine",), RunStatus.FINISHED)
    assert Status.PROVIDER_ERROR not in summary.counts


def test_that_a_restricted_data_set_is_told_before_its_images_are_passed_on(
    store: Store, tmp_path: Path
) -> None:
    run = item_run(store, tmp_path / "sample", "pathology_mcq")
    dataset = cases.dataset_of_run(store, run)
    cases.add_dataset(store, dataset, restricted=True)
    written = export_run_requests(store, run, tmp_path / "pack")
    told = "'sample' is restricted: its images stay on this machine."
    assert written.notices == (told,)
