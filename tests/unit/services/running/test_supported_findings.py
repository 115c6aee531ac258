from pathlib import Path

import pytest

from tests.helpers.tiny_study import D4, a_form, a_spec, finish, write_images
from viewer.domain.case import ImageRef, View
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunNote
from viewer.models.catalog import unlearned
from viewer.services.asking.ask import Question, plan_question
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import report_data
from viewer.services.running.batch_estimate import estimate
from viewer.services.running.plan_run import plan_run
from viewer.settings import Settings
from viewer.store import runs, trials
from viewer.store.database import Store, open_store

CARD = """
name = "two findings"
layer = "features"
[network]
factory = "tests.helpers.tiny_cnn:TinyNet"
weights = "net.safetensors"
[input]
side = 16
[classes]
Edema = 1
"Pleural Effusion" = 2
"""
SAYS = "was not trained on Lung Lesion, so 3 trial(s) are excluded"


def network(folder: Path, card: str = CARD) -> ModelProfile:
    path = folder / "card.toml"
    path.write_text(card)
    settings = {"card": str(path), "device": "cpu"}
    settings["trusted"] = "tests.helpers.tiny_cnn:TinyNet"
    return ModelProfile("net", "cnn_cam", settings)


def import_findings(store: Store, folder: Path, *findings: str) -> None:
    for finding in findings:
        write_images(folder, 3, finding)
    import_dataset(store, "folder", folder, "tiny")


def test_that_a_card_tells_what_its_network_learned(tmp_path: Path) -> None:
    profile = network(tmp_path)
    assert unlearned(profile, "pleural_effusion") is None
    why = unlearned(profile, "Lung Lesion")
    assert why is not None
    assert str(why) == (
        "The network 'two findings' was not trained on 'Lung Lesion'. Choose one "
        "of its findings: edema, pleural effusion."
    )
    assert unlearned(D4, "anything") is None
    with pytest.raises(UnreadableInputError, match="cannot be read"):
        unlearned(ModelProfile("n", "cnn_cam", {"card": str(tmp_path / "no")}), "x")


def test_that_the_estimate_says_what_a_model_cannot_be_asked_about(
    tmp_path: Path,
) -> None:
    settings = Settings(tmp_path, tmp_path / "s.sqlite")
    network(tmp_path)
    settings.models_file.write_text(
        '[[model]]\nname = "net"\nadapter = "cnn_cam"\ncard = "card.toml"\n'
    )
    with open_store(settings.store) as store:
        import_findings(store, tmp_path / "d", "Edema", "Lung Lesion")
    form = a_form(models=("net", "uniform"), repeats=1, params={"grids": ["8"]})
    found = estimate(settings.store, form, settings)
    assert found.requests == 9
    assert "3 more trials are planned as excluded." in found.sentence
    assert f"net {SAYS}." in found.sentence


def test_that_a_finding_no_network_learned_is_excluded_and_said_so(
    tmp_path: Path,
) -> None:
    pytest.importorskip("captum", reason="needs captum")
    from tests.helpers.tiny_cnn import write_tiny_network

    write_tiny_network(tmp_path)  # the weights
    with open_store(tmp_path / "s.sqlite") as store:
        import_findings(store, tmp_path / "d", "Edema", "Lung Lesion")
        run = plan_run(store, a_spec([network(tmp_path), D4]))
        assert runs.run_notes(store, run) == (RunNote("net", "not_learned", SAYS),)
        finish(store, run)
        ended = {
            (s.trial.model, s.trial.finding, s.score.status.value, s.score.reason)
            for s in trials.scored_trials(store, run)
            if s.score.reason
        }
        assert ended == {("net", "Lung Lesion", "excluded", "not_learned")}
        counts = runs.run_summary(store, run).counts
        assert counts["excluded"] == 3
        assert sum(counts.values()) == 12
        assert not {"provider_error", "pending"} & {*counts}
        sections = report_data(store, run).data.appendix
        (section,) = (s for s in sections if "was not trained on" in s.title)
        assert section.table is not None
        assert section.table.rows == (("net", "Lung Lesion", 3),)
        assert not [s for s in sections if s.title.startswith("Excluded")]


def test_that_a_model_that_learned_nothing_of_it_is_refused_before_the_run(
    tmp_path: Path,
) -> None:
    pytest.importorskip("captum", reason="needs captum")
    with open_store(tmp_path / "s.sqlite") as store:
        import_findings(store, tmp_path / "d", "Lung Lesion")
        with pytest.raises(WrongUseError, match="was not trained on 'Lung Lesion'"):
            plan_run(store, a_spec([network(tmp_path), D4]))
        image = ImageRef(tmp_path / "d" / "patient00000_frontal.png")
        asked = Question(image, "Lung Lesion", network(tmp_path), view=View.FRONTAL)
        with pytest.raises(
            WrongUseError, match="Choose one of its findings: edema, pleural effusion"
        ):
            plan_question(store, asked)
        assert runs.run_summaries(store, include_adhoc=True) == ()
