"""LobA whole, in models on this machine: locate, outline, answer with that lit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.heal_run import heal_dataset
from tests.helpers.tiny_study import plan_and_finish, tables_of
from tests.helpers.tiny_transformers import write_tiny_sam
from tests.helpers.tiny_vlm import EOS
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Mask
from viewer.metrics.regions import mask_of_boxes
from viewer.models.catalog import ADAPTERS, missing_dependency, reader_for
from viewer.models.transformers_local.foreign import transformers
from viewer.services.configuring.study_file import make_spec
from viewer.services.inspecting.trial_detail import trial_detail
from viewer.services.reporting.pack import write_pack
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.reporting.rescore import rescore_run
from viewer.store import cases, trials
from viewer.store.database import Store, open_store
from viewer.store.steps import kept_replies
from viewer.studies.grounded_vqa.items import area_of

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
SAYS = "Yes. The region is [100, 200, 600, 700]."
OVERRIDES: Mapping[str, object] = {
    "arms": ["plain", "contour", "crop", "loba"],
    "weights": ["1", "3"],
    "segmenter": "outlines",
}


def build_parrot(folder: Path, says: str, seed: int = 0) -> Path:
    """Save a model that answers ``says`` in one token; return its folder.

    Its vision tower is as random as any; its text layers add nothing to a token, so
    that what comes next hangs on the last token alone.
    """
    import torch

    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model, (processor,) = tiny_vlm.llava()
        words = processor.tokenizer
        words.add_tokens([transformers().AddedToken(says, normalized=False)])
        said = words.convert_tokens_to_ids(says)
        model.resize_token_embeddings(len(words), mean_resizing=False)
        text = model.model.language_model
        for layer in text.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        embedded, head = text.embed_tokens.weight, model.lm_head.weight
        embedded[:, 0], embedded[said, 0] = 5.0, -5.0
        head.zero_()
        head[said, 0], head[EOS, 0] = 9.0, -9.0
        tiny_vlm.save(folder, model, (processor,))
    return folder


@dataclass(frozen=True)
class Ran:
    """A run that ended, with every reply by (item, condition) and step."""

    store: Store
    folder: Path
    report: RunReport
    replies: Mapping[tuple[str, str], Mapping[str, ModelReply]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    folder = tmp_path_factory.mktemp("located")
    local = {"device": "cpu", "model": str(build_parrot(folder / "says", SAYS))}
    looks = ModelProfile(
        "looks",
        "transformers_local",
        {**local, "attention": "eager", "max_new_tokens": 4},
    )
    sam = {"device": "cpu", "model": str(write_tiny_sam(folder / "sam"))}
    outlines = ModelProfile("outlines", "segmenter", sam)
    with open_store(folder / "s.sqlite") as store:
        heal_dataset(store, folder, n=3)
        spec = make_spec(
            study="grounded_vqa",
            dataset="q",
            preset="heal2025",
            seed=0,
            repeats=1,
            models=(looks,),
            overrides=OVERRIDES,
            known={"outlines": outlines},
        )
        run = plan_and_finish(store, spec)
        kept = dict(replies_of(store, (looks, outlines)))
        yield Ran(store, folder, report_data(store, run), kept)


def replies_of(
    store: Store, models: tuple[ModelProfile, ...]
) -> Mapping[tuple[str, str], Mapping[str, ModelReply]]:
    looks, outlines = map(reader_for, models)
    found: dict[tuple[str, str], dict[str, ModelReply]] = {}
    for one in trials.scored_trials(store, 1):
        assert one.reply_id is not None
        of = found.setdefault((one.trial.item, one.trial.condition.name), {})
        for kept in kept_replies(store, one.id, one.reply_id):
            reader = outlines if kept.step.role else looks
            of[kept.step.name] = reader.read(kept.raw)
    return found


@pytest.mark.statement("E002-14", "E002-16")
def test_that_a_box_is_outlined_and_the_outline_lit_in_the_answer(ran: Ran) -> None:
    steps = {name: list(of) for (_, name), of in ran.replies.items()}
    passes = ["locate", "outline", "answer"]
    with_region = dict.fromkeys(("contour", "crop", "loba-1", "loba-3"), passes)
    assert steps == {"plain": ["answer"], **with_region}
    images = {i.key: i for i in cases.dataset_named(ran.store, "q").images}
    items = {i.key: i for i in cases.dataset_named(ran.store, "q").items}
    scores = {(r.item, r.condition): r.score for r in ran.report.results}
    for (key, condition), of in ran.replies.items():
        if condition == "plain":
            continue
        size = images[items[key].images[0]].size
        assert of["locate"].text == SAYS
        mask = of["outline"].mask
        assert mask is not None
        assert mask.size == size
        box = BoxPx(
            *(0.1 * size.columns, 0.2 * size.rows, 0.6 * size.columns, 0.7 * size.rows)
        )
        region = mask.array() if not mask.is_empty else mask_of_boxes((box,), size)
        area = area_of(items[key])
        assert area is not None
        both = int((region & area.array()).sum())
        total = int(region.sum() + area.array().sum())
        assert scores[key, condition].number("dice") == 2 * both / total


@pytest.mark.statement("E002-16")
def test_that_every_pass_of_a_trial_can_be_looked_at(ran: Ran) -> None:
    by_condition = {
        one.trial.condition.name: one.id for one in trials.scored_trials(ran.store, 1)
    }
    told = {
        name: trial_detail(ran.store.path, number)
        for name, number in by_condition.items()
    }
    for name in ("contour", "crop", "loba-1", "loba-3"):
        steps = told[name].steps
        assert [step.name for step in steps] == ["locate", "outline", "answer"]
        assert [step.model for step in steps] == ["looks", "outlines", "looks"]
        assert steps[0].images
        assert steps[2].images
        (box,) = steps[0].marked[0].boxes
        assert box.label == anatomy_of(ran.store, told[name].trial.item)
        outlined = ran.replies[told[name].trial.item, name]["outline"].mask
        assert steps[1].marked[0].png == steps[0].images[0]
        assert steps[1].marked[0].region == outlined
        assert steps[0].reply == steps[2].reply == SAYS
        assert told[name].is_marked
    assert len(told["crop"].steps[2].images) == 2
    lit = dict(told["loba-3"].steps[2].words)
    assert "weight 3 added as its logarithm, contrast 1.3" in lit["highlighted"]
    assert lit["vision attends to the region"].endswith("%")
    most = [part.rsplit(" ", 1) for part in lit["attends most to"].split(" · ")]
    assert most[0][0] == "image 1"
    assert len(most) == 12
    shares = [float(share.rstrip("%")) for _, share in most]
    assert 0 < sum(shares) <= 101
    assert "highlighted" not in dict(told["contour"].steps[2].words)
    sent = {name: told[name].steps[-1].images[0] for name in told}
    assert sent["contour"] != sent["plain"]
    assert sent["loba-3"] == sent["crop"] == sent["plain"]


@pytest.mark.statement("E002-14")
def test_that_what_is_lit_is_what_was_outlined(ran: Ran) -> None:
    sent: list[Any] = [
        trials.sent_request(ran.store, row["sha256"]).document
        for row in ran.store.rows("SELECT sha256 FROM request")
    ]
    lights = [document["highlight"] for document in sent if "highlight" in document]
    outlines = {
        of["outline"].mask
        for (_, name), of in ran.replies.items()
        if name.startswith("loba")
    }
    assert outlines
    shown = {Mask.of_array(light_of(light)) for light in lights}
    assert shown == outlines
    assert {light["weight"] for light in lights} == {1.0, 3.0}


def anatomy_of(store: Store, key: str) -> str:
    """Return the anatomy that a question asks about."""
    items = {item.key: item for item in cases.dataset_named(store, "q").items}
    return str(items[key].facts["anatomy"])


def light_of(light: Mapping[str, object]) -> np.ndarray:
    """Return the pixels of a request's highlight, (rows, columns)."""
    mask = light["mask"]
    assert isinstance(mask, dict)
    return Mask(SizePx(*mask["size"]), mask["counts"]).array()


@pytest.mark.statement("E002-13")
def test_that_table_6_adds_up_what_every_pass_took(ran: Ran) -> None:
    tables = {table.name: table for table in ran.report.data.tables}
    costs = tables["table_6_cost"]
    rows = [dict(zip(costs.header, row, strict=True)) for row in costs.rows]
    by_condition = {str(row["condition"]): row for row in rows}
    assert list(by_condition) == ["plain", "contour", "crop", "loba-1", "loba-3"]
    for name, row in by_condition.items():
        trials_of = [of for (_, c), of in ran.replies.items() if c == name]
        work = [sum(r.work_ms or 0 for r in of.values()) for of in trials_of]
        peaks = [r.peak_memory_bytes or 0 for of in trials_of for r in of.values()]
        assert row["n"] == len(work)
        assert row["seconds_per_100"] == pytest.approx(fmean(work) / 10)
        assert row["peak_mib"] == pytest.approx(max(peaks) / 2**20)
    outlined = [of["outline"] for of in ran.replies.values() if "outline" in of]
    assert all(reply.work_ms is not None for reply in outlined)


@pytest.mark.statement("E002-13", "E002-15", "E002-16")
def test_that_the_pack_has_every_table_of_the_regions(ran: Ran, tmp_path: Path) -> None:
    written = write_pack(ran.store, "heal2025", 1, tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in written}
    every = ("table_5_ablation", "table_6_cost", "table_8_weights", "attention")
    more = ("relative_gain", "passes", "figure_7_dice")
    assert {f"tables/{name}.csv" for name in (*every, *more)} <= names
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Time and memory of 100 items" in page
    assert "LobA-approximation" in page
    before = tables_of(ran.store, 1)
    assert rescore_run(ran.store, 1).changed == 0
    assert tables_of(ran.store, 1) == before
