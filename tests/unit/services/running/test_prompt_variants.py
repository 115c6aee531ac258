"""Variants of the prompts are conditions of one run, held against its own prompts."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.bundled_run import bundled_run
from tests.helpers.proof_params import always
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.study_samples import item_run
from tests.helpers.tiny_study import (
    D4,
    a_form,
    a_spec,
    finish,
    plan_and_finish,
    planned,
    server_profile,
)
from viewer.cli import run_command_line
from viewer.domain.answer import Status
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.report import Table
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import RunSpec
from viewer.domain.study_words import PLACING
from viewer.metrics.pairing import mcnemar
from viewer.results.evaluate import evaluate
from viewer.services.configuring.study_file import read_study_file
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import report_data
from viewer.services.running.batch_estimate import estimate
from viewer.services.running.batch_form import read_study, spec_of, write_study
from viewer.services.trials.run_context import RunContext
from viewer.settings import Settings
from viewer.store import cases, runs, trials
from viewer.store.database import Store, open_store
from viewer.studies.variants import VARIANTS, variants_frame, variants_spec
from viewer.writers.verify.main import verify

SHORT = {"short": {"gosai2025_user": "Where is the {finding}?"}}
OF_ITEMS = {
    "evidence_diagnosis": {"overread_fdx_v1_en": "{case} {options} Which?"},
    "grounded_vqa": {"closed_1": "Is there {disease} in the {anatomy}?"},
    "pathology_mcq": {"llava": "{question} {options} Letter?"},
}


def with_short(**others: object) -> dict[str, object]:
    return {"grids": [8, 4], "prompt_variants": SHORT, **others}


def texts_of(store: Store, run: int) -> Counter[tuple[str, str]]:
    """Count the last words of each trial's question, by its condition."""
    found = Counter[tuple[str, str]]()
    for one in trials.scored_trials(store, run):
        document = trials.sent_request(store, one.request_sha256).document
        messages = json.loads(json.dumps(document))["messages"]
        words = str(messages[-1]["parts"][-1]["text"]).split("\n", maxsplit=1)[0]
        found[one.trial.condition.name, words] += 1
    return found


def table_of(store: Store, run: int, name: str = VARIANTS) -> Table:
    tables = {table.name: table for table in report_data(store, run).data.tables}
    return tables[name]


def test_that_every_item_is_asked_with_the_runs_prompts_and_with_each_variant(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = planned(store, tmp_path / "d", a_spec([D4], params=with_short()), 2)
        finish(store, run)
        asked = texts_of(store, run)
        context = RunContext(
            runs.run_spec(store, run), cases.dataset_of_run(store, run)
        )
    paper = "This is a gridded frontal view of a chest X-ray. The abnormality"
    assert {(name, words[:64]): n for (name, words), n in asked.items()} == {
        ("grid=8", paper): 2,
        ("grid=8 prompt=short", "Where is the Edema?"): 2,
        ("grid=4", paper): 2,
        ("grid=4 prompt=short", "Where is the Edema?"): 2,
    }
    assert len(dict.fromkeys(context.prompts())) == 2


def test_that_a_study_reports_its_own_prompts_and_lists_every_trial(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        params = with_short()
        run = planned(store, tmp_path / "d", a_spec([D4], params=params), 2)
        finish(store, run)
        assert len(table_of(store, run, "items").rows) == 8
        results = list(table_of(store, run, "results").records())
        assert {row["condition"] for row in results} == {"grid=8", "grid=4"}
        alone = plan_and_finish(store, a_spec([D4], params={"grids": [8, 4]}))
        assert results == list(table_of(store, alone, "results").records())
        report = report_data(store, run).data
        assert report.sections[0].title == "Prompt variants"
        assert "McNemar" in report.sections[0].text
        said = PLACING.called("condition", "grid=8 prompt=short")
        assert said == "8 × 8 grid, prompt short"


def test_that_gains_and_losses_are_those_of_the_trials(tmp_path: Path) -> None:
    with (
        ScriptedServer(Script(answer_by_hash=True, cells=4)) as server,
        open_store(tmp_path / "s.sqlite") as store,
    ):
        model = server_profile(server.base_url)
        spec = a_spec([model], params={"grids": [4], "prompt_variants": SHORT})
        run = planned(store, tmp_path / "d", spec, 12)
        finish(store, run)
        right: dict[str, dict[str, bool]] = {}
        for one in trials.scored_trials(store, run):
            hit = one.score.status is Status.SCORED_CORRECT
            right.setdefault(one.trial.item, {})[one.trial.condition.name] = hit
        rows = {row["variant"]: row for row in table_of(store, run).records()}
    changes = Counter(
        (one["grid=4"], one["grid=4 prompt=short"]) for one in right.values()
    )
    gained, lost = changes[False, True], changes[True, False]
    short = rows["short"]
    assert gained + lost > 0
    assert (short["gained"], short["lost"], short["n_pairs"]) == (gained, lost, 12)
    assert short["difference"] == pytest.approx((gained - lost) / 12)
    assert short["difference_p"] == pytest.approx(mcnemar(gained, lost).p_value)
    assert rows["base"]["difference_p"] is None


def a_result(patient: int, condition: str, *, right: bool) -> TrialResult:
    status = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
    key, score = f"p{patient}", Score(status)
    return TrialResult(key, key, key, "frontal", "Edema", condition, 0, "m", score)


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (5, 0), (9, 2), (1, 7)])
def test_that_the_test_is_mcnemars_where_every_patient_has_one_trial(
    gained: int, lost: int
) -> None:
    verdicts = [(False, True)] * gained + [(True, False)] * lost
    verdicts += [(True, True)] * 4 + [(False, False)] * 3
    results = [
        a_result(i, name, right=right)
        for i, pair in enumerate(verdicts)
        for name, right in zip(("grid=8", "grid=8 prompt=a"), pair, strict=True)
    ]
    table = evaluate(variants_spec(PLACING), {VARIANTS: variants_frame(results)})
    own, row, *_ = table.records()
    assert (own["variant"], own["gained"], own["n_pairs"]) == ("base", 0, 0)
    assert (row["gained"], row["lost"], row["n_pairs"]) == (gained, lost, len(verdicts))
    expected = mcnemar(gained, lost).p_value
    assert row["difference_p"] == pytest.approx(
        1.0 if gained == lost == 0 else expected
    )


def test_that_a_variant_whose_requests_all_failed_is_not_compared() -> None:
    results = [
        one
        for i in range(4)
        for one in (
            a_result(i, "grid=8", right=True),
            replace(
                a_result(i, "grid=8 prompt=a", right=False),
                score=Score(Status.PROVIDER_ERROR),
            ),
        )
    ]
    table = evaluate(variants_spec(PLACING), {VARIANTS: variants_frame(results)})
    _, row, *_ = table.records()
    assert (row["variant"], row["n_failed"], row["n_pairs"]) == ("a", 4, 0)
    assert (row["lost"], row["difference"]) == (0, None)


@pytest.mark.parametrize(
    "study",
    always({"grid_localization", "pathology_mcq"}, ["grid_localization", *OF_ITEMS]),
)
def test_that_a_bundle_with_variants_verifies(study: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        if study in OF_ITEMS:
            own = {"prompt_variants": {"short": OF_ITEMS[study]}}
            run = item_run(store, tmp_path / "d", study, own, odd="???", says="(B)")
        else:
            run = bundled_run(store, tmp_path, 3, prompt_variants=SHORT)
        found = verify(run_bundle(store, run), lambda _: None)
    assert (found.wrong, found.left) == ([], [])
    assert any(one.startswith("tables/prompt_variants.csv: ") for one in found.done)


def test_that_a_variant_is_compared_with_the_runs_own_prompts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        spec = a_spec([D4], params=with_short(grids=[8]))
        finish(store, planned(store, tmp_path / "d", spec, 3))
    command = ["compare", "1", "1@short", "--store", str(path)]
    assert run_command_line([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (
        run_command_line(["compare", "1:says-d4", "1:says-d4@short", *command[3:]]) == 0
    )
    assert "says-d4@short (run 1)" in capsys.readouterr().out
    (prompts,) = told["prompts"]
    assert not prompts["same"]
    assert told["first"] != told["second"]
    assert run_command_line(["compare", "1", "1@long", *command[3:]]) == 2
    assert "It has: 1:says-d4, 1:says-d4@short." in capsys.readouterr().err


def from_file(folder: Path, prompts: str, study: str = "grid_localization") -> RunSpec:
    path = folder / "study.toml"
    path.write_text(
        f'study = "{study}"\ndataset = "tiny"\nmodels = ["uniform"]\n{prompts}'
    )
    return read_study_file(path, folder / "models.toml")


def test_that_a_study_file_brings_variants_in_tables_of_their_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "user.txt").write_text("Find {condition}.\n")
    prompts = (
        '[prompts]\ngosai2025_system = "Look."\n'
        '[prompts.variants.short]\ngosai2025_user = {file = "user.txt"}\n'
        '[prompts.variants.paper]\ngosai2025_system = "You are an expert."\n'
    )
    params = from_file(tmp_path, prompts).params
    assert params["prompts"] == {"gosai2025_system": "Look."}
    assert params["prompt_variants"] == {
        "short": {"gosai2025_user": "Find {condition}."},
        "paper": {"gosai2025_system": "You are an expert."},
    }
    settings = Settings(tmp_path, tmp_path / "s.sqlite")
    form = read_study(tmp_path / "study.toml", settings)
    write_study(form, tmp_path / "again.toml")
    assert "[prompts.variants.short]\n" in (tmp_path / "again.toml").read_text()
    assert spec_of(read_study(tmp_path / "again.toml", settings), settings) == spec_of(
        form, settings
    )


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        (
            '[prompts.variants.base]\ngosai2025_system = "x"\n',
            "A prompt variant cannot be named 'base'.",
        ),
        (
            '[prompts.variants."a b"]\ngosai2025_system = "x"\n',
            "A prompt variant cannot be named 'a b'.",
        ),
        (
            '[prompts.variants.short]\ngosai2025_user = "Where?"\n',
            (
                "The prompt 'gosai2025_user' lacks the placeholder {condition} or "
                "{finding}."
            ),
        ),
        (
            '[prompts.variants.short]\nuser = "Where?"\n',
            "There is no prompt named 'user'.",
        ),
        ("[prompts.variants.short]\n", "The prompt variant 'short' changes no text."),
        (
            '[prompts.variants]\nshort = "Where is {finding}?"\n',
            "'prompts.variants' in study.toml must be tables of texts.",
        ),
    ],
)
def test_that_a_variant_of_no_use_is_refused(
    tmp_path: Path, prompts: str, said: str
) -> None:
    with pytest.raises(OverreadError) as raised:
        from_file(tmp_path, prompts)
    assert raised.value.what == said


def test_that_a_study_that_readers_grade_takes_no_variants(tmp_path: Path) -> None:
    prompts = '[prompts.variants.short]\nsystem = "x"\n'
    with pytest.raises(WrongUseError, match="'rubric_reading' is graded by readers"):
        from_file(tmp_path, prompts, "rubric_reading")


def test_that_the_estimate_counts_variants_and_names_them(tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path / "s.sqlite")
    with open_store(settings.store) as store:
        planned(store, tmp_path / "d", a_spec([D4]), 2)
    form = replace(a_form(), params={"grids": ["8"]})
    once = estimate(settings.store, form, settings)
    varied = replace(form, params={"grids": ["8"], "prompt_variants": SHORT})
    twice = estimate(settings.store, varied, settings)
    assert twice.requests == 2 * once.requests
    assert "Each item is also asked with the prompt variant short." in twice.sentence
