import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import encoded, local_model
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelRequest
from viewer.domain.geometry import Affine, PointPx
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.answering import asking
from viewer.models.transformers_local.conversation import conversation, sent_sizes
from viewer.models.transformers_local.failures import named_answer_failures
from viewer.models.transformers_local.layouts import PatchLayout, layouts
from viewer.models.transformers_local.looking import check_eager, looking
from viewer.models.transformers_local.relevance import maps_of

ModelOf = Callable[[str], TransformersLocal]
ROWS, COLUMNS = 160, 200

GRIDS = {
    "llava": (4, 4),
    "gemma3": (4, 4),
    "idefics3": (8, 8),  # 2 × 2 tiles of 4 × 4
    "smolvlm": (4, 4),
    "paligemma": (4, 4),
    "qwen2_5_vl": (3, 4),  # 84 × 112 in merged patches of 28
    "qwen3_vl": (3, 3),  # 96 × 96 in merged patches of 32
}


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """Attention from one token of an answer to one image.

    ``values`` is (rows, columns), one number a patch, the mean over layers and heads;
    they sum to the share of attention that went to this image, at most 1. ``to_sent``
    maps patch coordinates (x in columns, y in rows) to pixels of the image as sent.
    """

    values: npt.NDArray[np.float64]
    to_sent: Affine


def attention_maps(
    adapter: TransformersLocal, request: ModelRequest, token: int
) -> tuple[AttentionMap, ...]:
    """Return where the model looked when it chose a token: one map for each image.

    The question is asked again, up to this token, and what the program's own hooks
    note is cut into the images' patches by the program's own layouts.
    """
    check_eager(adapter.options.attention)
    seed = adapter.options.seed + request.facts.repeat
    with adapter.alone() as engine, named_answer_failures(engine.files.name):
        plans = layouts(engine, sent_sizes(conversation(request)))
        with asking(engine, request, seed, _never) as asked, looking(engine) as looks:
            asked.answer(token + 1)
        ids = np.asarray(asked.prompt)
    row = looks.layers(token, len(ids)).mean(axis=0)
    places = np.flatnonzero(ids == engine.model.config.image_token_id)
    return tuple(
        AttentionMap(values, plan.to_sent)
        for values, plan in zip(maps_of(row[places], plans), plans, strict=True)
    )


def attention_map(
    adapter: TransformersLocal, request: ModelRequest, token: int
) -> AttentionMap:
    """Return the map of a question that shows one image."""
    (found,) = attention_maps(adapter, request, token)
    return found


def _never() -> bool:
    return False


def question(rows: int = ROWS, columns: int = COLUMNS) -> ModelRequest:
    pixels = np.random.default_rng(3).integers(0, 256, (rows, columns), dtype=np.uint8)
    return request(facts(), png=png_of(pixels))


@pytest.mark.parametrize("family", sorted(GRIDS))
def test_that_a_map_has_a_number_for_every_patch_and_covers_what_was_sent(
    family: str, model_of: ModelOf
) -> None:
    found = attention_map(model_of(family), question(), 1)
    rows, columns = GRIDS[family]
    assert found.values.shape == (rows, columns)
    assert found.values.min() >= 0
    assert 0 < found.values.sum() < 1
    corners = [found.to_sent.apply(PointPx(*at)) for at in ((0, 0), (columns, rows))]
    if family == "llava":  # the centre square
        assert corners == [PointPx(20, 0), PointPx(180, 160)]
    else:
        assert corners == [PointPx(0, 0), PointPx(COLUMNS, ROWS)]


@pytest.mark.parametrize("family", sorted(GRIDS))
@pytest.mark.parametrize("token", [0, 2])
def test_that_a_map_is_the_attention_that_transformers_tells(
    family: str, token: int, model_of: ModelOf
) -> None:
    import torch

    model = model_of(family)
    found = attention_map(model, question(), token)
    with model.alone() as loaded, torch.no_grad():
        inputs = encoded(loaded, conversation(question()))
        told = loaded.model.generate(
            **inputs,
            max_new_tokens=token + 1,
            do_sample=False,
            return_dict_in_generate=True,
            output_attentions=True,
        )
        ids, image = inputs["input_ids"][0], loaded.model.config.image_token_id
    layers = torch.stack([layer[0, :, -1] for layer in told.attentions[token]])
    row = layers.double().mean(dim=(0, 1)).cpu().numpy()
    on_image = row[np.flatnonzero(ids.cpu().numpy() == image)]
    assert found.values.sum() == pytest.approx(on_image.sum(), abs=1e-6)
    if family != "idefics3":  # whose tiles are put together
        assert found.values.ravel() == pytest.approx(on_image, abs=1e-6)
    assert row.sum() == pytest.approx(1, abs=1e-5)


def test_that_a_patch_is_where_its_pixels_are(model_of: ModelOf) -> None:
    import torch

    model = model_of("qwen2_5_vl")
    dark = np.zeros((84, 112), dtype=np.uint8)
    lit = dark.copy()
    lit[30:54, 90:110] = 255
    layout = attention_map(model, request(facts(), png=png_of(dark)), 0)
    with model.alone() as loaded, torch.no_grad():
        seen = [
            loaded.encoder.encode([conversation(request(facts(), png=png_of(p)))])
            for p in (dark, lit)
        ]
        merged = [
            s["pixel_values"].reshape(-1, 4, s["pixel_values"].shape[-1]) for s in seen
        ]
        changed = (merged[0] != merged[1]).flatten(1).any(dim=1).numpy()
    cells = [divmod(i, layout.values.shape[1]) for i in np.flatnonzero(changed)]
    assert cells == [(1, 3)]
    corner = layout.to_sent.apply(PointPx(3, 1))
    assert (corner.x, corner.y) == (84, 28)


def test_that_the_tiles_of_an_image_are_put_where_they_were_cut() -> None:
    layout = PatchLayout(4, 6, Affine.identity(), tiles=(2, 3))
    assert layout.tokens == (2 * 3 + 1) * 4
    fine = np.arange(24, dtype=np.float64).reshape(4, 6)
    tiles = [
        fine[2 * r : 2 * r + 2, 2 * c : 2 * c + 2] for r in range(2) for c in range(3)
    ]
    whole = np.zeros((2, 2))
    per_token = np.concatenate([part.ravel() for part in (*tiles, whole)])
    assert np.array_equal(layout.grid(per_token), fine)
    whole[0, 1] = 6.0
    per_token = np.concatenate([part.ravel() for part in (*tiles, whole)])
    shared = layout.grid(per_token) - fine
    assert shared[:2, 3:] == pytest.approx(1.0)
    assert shared.sum() == pytest.approx(6.0)


def test_that_a_layer_with_a_window_has_not_looked_before_it(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "gemma3"
    shutil.copytree(folder_of("gemma3"), folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["text_config"]["sliding_window"] = 16
    path.write_text(json.dumps(config))
    model = local_model(folder, attention="eager", max_new_tokens=6)
    short = request(facts(), text="?", png=question().images[0].png)
    with model.alone() as loaded:
        ids = loaded.encoder.encode([conversation(short)])["input_ids"][0].numpy()
        image = np.flatnonzero(ids == loaded.model.config.image_token_id)
    for token in (0, 1, 4):
        seen = attention_map(model, short, token).values.ravel() > 0
        newest = len(ids) + token - 1  # the place of the token before
        assert np.array_equal(seen, image > newest - 16)
        assert not seen.all()


def test_that_two_images_have_a_map_each(model_of: ModelOf) -> None:
    one, other = question(), question(140, 112)
    both = ModelRequest((*one.messages, *other.messages), one.facts, one.prompt_sha256)
    maps = attention_maps(model_of("qwen2_5_vl"), both, 0)
    assert [m.values.shape for m in maps] == [(3, 4), (4, 3)]
    assert sum(m.values.sum() for m in maps) < 1


def test_that_what_cannot_be_looked_at_is_told(
    folder_of: Callable[[str], Path],
) -> None:
    with pytest.raises(WrongUseError, match="eager"):
        attention_map(local_model(folder_of("llava")), question(), 0)


def test_that_a_family_without_a_known_layout_is_told(
    monkeypatch: pytest.MonkeyPatch, model_of: ModelOf
) -> None:
    from viewer.models.transformers_local import layouts

    monkeypatch.setattr(layouts, "_FAMILIES", {})
    with pytest.raises(WrongUseError, match="llava"):
        attention_map(model_of("llava"), question(), 0)


def test_that_every_family_is_looked_at() -> None:
    assert set(GRIDS) == set(tiny_vlm.FAMILIES)
