import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import encoded, local_model
from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import ModelReply, ModelRequest
from viewer.domain.geometry import Affine, SizePx
from viewer.domain.interpretability import (
    ContrastSpace,
    Highlight,
    Measures,
    WeightForm,
    letter_spellings,
)
from viewer.domain.reference import Mask
from viewer.models.transformers_local import highlight, windows
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.answering import ask
from viewer.models.transformers_local.conversation import conversation
from viewer.models.transformers_local.highlight import region_of
from viewer.models.transformers_local.views import View

ModelOf = Callable[[str], TransformersLocal]
ROWS, COLUMNS = 160, 200
LETTERS = letter_spellings("ABCD")
FAMILIES = (
    "llava",
    "gemma3",
    "idefics3",
    "smolvlm",
    "paligemma",
    "qwen2_5_vl",
    "qwen3_vl",
)


def region() -> npt.NDArray[np.bool_]:
    mask = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    mask[30:110, 60:130] = True
    return mask


def plain() -> ModelRequest:
    shape = (ROWS, COLUMNS)
    pixels = np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)
    return request(facts(), png=png_of(pixels))


def highlighted(
    mask: npt.NDArray[np.bool_] | None = None, **settings: object
) -> ModelRequest:
    chosen = Mask.of_array(region() if mask is None else mask)
    light = Highlight(chosen, **settings)  # type: ignore[arg-type]
    return replace(plain(), highlight=light)


def answer(model: TransformersLocal, asked: ModelRequest) -> ModelReply:
    return model.read(model.generate(asked))


@pytest.mark.statement("E002-14")
@pytest.mark.parametrize("family", FAMILIES)
def test_that_weight_one_without_contrast_is_the_plain_model_token_for_token(
    family: str, model_of: ModelOf
) -> None:
    model = model_of(family)
    before = answer(model, plain())
    lit = answer(model, highlighted(weight=1.0, contrast=1.0))
    assert lit.text == before.text
    assert lit.logprobs == before.logprobs
    assert len(before.logprobs) > 1
    heavy = answer(model, highlighted(weight=4.0, contrast=1.0))
    assert heavy.logprobs != before.logprobs
    zero = answer(model, highlighted(weight=0.0, form=WeightForm.LINEAR, contrast=1.0))
    assert zero.logprobs == before.logprobs


@pytest.mark.statement("E002-14", "E002-17")
@pytest.mark.parametrize("family", FAMILIES)
def test_that_attention_to_the_region_rises_with_the_weight(
    family: str, model_of: ModelOf
) -> None:
    model = model_of(family)
    told = [
        answer(model, highlighted(weight=weight, contrast=1.0)).measured
        for weight in (0.5, 1.0, 2.0, 3.0, 4.0)
    ]
    drawn = np.array([t.region for t in told if t is not None])
    assert drawn.shape == (5, 2)
    assert (np.diff(drawn, axis=0) > 0).all()
    assert drawn.min() > 0
    assert drawn.max() < 1


def halves() -> tuple[npt.NDArray[np.bool_], list[ModelRequest]]:
    """Return a region, and a dark image without and with it lit."""
    mask = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    mask[50:90, 70:110] = True
    dark = np.full((ROWS, COLUMNS), 40, dtype=np.uint8)
    lit = np.where(mask, np.uint8(255), dark)
    return mask, [request(facts(), png=png_of(p)) for p in (dark, lit)]


@pytest.mark.statement("E002-14")
@pytest.mark.parametrize("family", [f for f in FAMILIES if "qwen" not in f])
def test_that_the_highlighted_patches_are_those_whose_pixels_lie_in_the_region(
    family: str, model_of: ModelOf
) -> None:
    import torch

    model = model_of(family)
    mask, pair = halves()
    light = highlighted(mask, least_cover=0.0).highlight
    assert light is not None
    with model.alone() as loaded, torch.no_grad():
        sizes = [SizePx(ROWS, COLUMNS)]
        region = region_of(loaded, sizes, light)
        seen = [loaded.encoder.encode([conversation(asked)]) for asked in pair]
    shape = seen[0]["pixel_values"].shape
    pixels = [s["pixel_values"].reshape(-1, *shape[-3:]) for s in seen]
    patches = [p.unfold(2, 14, 14).unfold(3, 14, 14) for p in pixels]
    change = (patches[1] - patches[0]).abs().amax(dim=(1, 4, 5))
    strong = (change > 0.6 * change.max()).flatten(1).numpy()
    some = (change > 0).flatten(1).numpy()
    chosen = np.stack(region.patches)
    assert chosen.shape == strong.shape
    assert (chosen | ~strong).all()  # whatever changed much is chosen
    assert (some | ~chosen).all()  # whatever is chosen changed
    assert chosen.any(axis=1).sum() > 0
    assert not chosen.all(axis=1).any()
    assert region.own == (True,) * len(chosen)


@pytest.mark.statement("E002-14")
@pytest.mark.parametrize("family", ["qwen2_5_vl", "qwen3_vl"])
def test_that_windows_are_highlighted_where_the_region_went(
    family: str, model_of: ModelOf
) -> None:
    import torch

    model = model_of(family)
    mask, pair = halves()
    light = highlighted(mask, least_cover=0.0).highlight
    assert light is not None
    seen: list[npt.NDArray[np.float32]] = []
    with model.alone() as loaded, torch.no_grad():
        region = region_of(loaded, [SizePx(ROWS, COLUMNS)], light)
        tower = windows.tower_of(loaded)
        assert tower is not None
        order = windows.in_sequence(region.patches, list(region.shown), tower)
        hook = tower.blocks[0].register_forward_pre_hook(
            lambda _module, states: seen.append(states[0].cpu().numpy())
        )
        for asked in pair:
            loaded.model(**encoded(loaded, conversation(asked)))
        hook.remove()
    change = np.abs(seen[1] - seen[0]).max(axis=1)
    chosen = np.concatenate(region.patches)[order]
    assert sorted(order) == list(range(len(change)))
    assert 0 < chosen.sum() < len(chosen) / 2
    assert (chosen | ~(change > 0.6 * change.max())).all()
    assert ((change > 0) | ~chosen).all()


@pytest.mark.statement("E002-14")
@pytest.mark.parametrize("family", FAMILIES)
def test_that_a_highlight_leaves_no_trace(family: str, model_of: ModelOf) -> None:
    model = model_of(family)

    def inside() -> list[tuple[str, dict[str, object]]]:
        with model.alone() as loaded:
            return [
                (
                    name,
                    {
                        key: dict(value) if isinstance(value, dict) else value
                        for key, value in vars(module).items()
                        if key != "rope_deltas"  # of the newest answer, whichever
                    },
                )
                for name, module in loaded.model.named_modules()
            ]

    def settings() -> tuple[dict[str, object], str, list[str]]:
        with model.alone() as loaded:
            config = loaded.model.config
            return (
                config.to_dict(),
                config._attn_implementation,
                sorted(ALL_ATTENTION_FUNCTIONS),
            )

    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    first = model.generate(plain())
    before, kept = inside(), settings()
    model.generate(highlighted(weight=4.0))
    after = inside()
    assert [name for name, _ in before] == [name for name, _ in after]
    for (name, one), (_, other) in zip(before, after, strict=True):
        assert one.keys() == other.keys(), name
        same = [k for k in one if one[k] is other[k] or one[k] == other[k]]
        assert same == list(one), name
    assert settings() == kept
    assert model.generate(plain()).body == first.body


@pytest.mark.statement("E002-14")
@pytest.mark.parametrize("space", list(ContrastSpace))
@pytest.mark.parametrize("family", ["llava", "gemma3", "idefics3"])
def test_that_the_contrast_is_that_of_prompt_highlighter(
    family: str, space: ContrastSpace, model_of: ModelOf
) -> None:
    model = model_of(family)

    def told(gamma: float) -> npt.NDArray[np.float64]:
        asked = highlighted(weight=4.0, space=space, contrast=gamma)
        wishes = Measures(LETTERS, answer=False)
        measured = answer(model, replace(asked, measures=wishes)).measured
        assert measured is not None
        return np.array([option[0].logprob for option in measured.options])

    def whole(gamma: float) -> npt.NDArray[np.float64]:
        """Return log-probabilities of every token, noted one by one."""
        import torch

        from viewer.models.transformers_local.answering import asking

        asked = highlighted(weight=4.0, space=space, contrast=gamma)
        with model.alone() as loaded, torch.no_grad():
            size = len(loaded.encoder.tokenizer)
            with asking(loaded, asked, 0, lambda: False) as ready:
                (noted,) = ready.say((), [list(range(size))])
        return np.array([noted[token] for token in range(size)])

    lit, dim = whole(1.0), whole(0.0)
    assert not np.allclose(lit, dim)
    gamma = 2.5
    if space is ContrastSpace.LOG:
        mixed = dim + gamma * (lit - dim)
    else:
        chances = np.exp(dim) + gamma * (np.exp(lit) - np.exp(dim))
        with np.errstate(divide="ignore"):
            mixed = np.log(np.maximum(chances, 0.0))
    expected = mixed - np.logaddexp.reduce(mixed)
    found = whole(gamma)
    there = np.isfinite(expected)
    assert found[there] == pytest.approx(expected[there], abs=2e-4)
    assert (found[~there] < -15).all()
    assert told(0.0) == pytest.approx(plainly(model), abs=1e-5)


def plainly(model: TransformersLocal) -> npt.NDArray[np.float64]:
    asked = replace(plain(), measures=Measures(LETTERS, answer=False))
    measured = answer(model, asked).measured
    assert measured is not None
    return np.array([option[0].logprob for option in measured.options])


@pytest.mark.statement("E002-14")
def test_that_no_contrast_is_the_plain_answer_and_a_drawn_one_is_repeated(
    folder_of: Callable[[str], Path], model_of: ModelOf
) -> None:
    model = model_of("llava")
    assert answer(model, highlighted(contrast=0.0)).text == answer(model, plain()).text
    warm = local_model(
        folder_of("llava"), attention="eager", temperature=1.5, max_new_tokens=12
    )
    drawn = [answer(warm, highlighted(weight=4.0)).logprobs for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 1


@pytest.mark.parametrize("family", ["llava", "idefics3", "qwen2_5_vl"])
def test_that_scaled_attention_takes_a_highlight_but_tells_nothing_of_it(
    family: str, folder_of: Callable[[str], Path], model_of: ModelOf
) -> None:
    fast = local_model(folder_of(family), attention="sdpa", max_new_tokens=6)
    lit, same = (
        answer(one, highlighted(weight=4.0)) for one in (fast, model_of(family))
    )
    assert lit.text == same.text
    assert [t.logprob for t in lit.logprobs] == pytest.approx(
        [t.logprob for t in same.logprobs], abs=1e-4
    )
    assert lit.measured is not None
    assert lit.measured.region == ()


def test_that_a_region_smaller_than_a_patch_is_its_patch(model_of: ModelOf) -> None:
    mask = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    mask[101, 77] = True
    light = highlighted(mask).highlight
    assert light is not None
    with model_of("paligemma").alone() as loaded:
        region = region_of(loaded, [SizePx(ROWS, COLUMNS)], light)
    assert [np.flatnonzero(p).tolist() for p in region.patches] == [[2 * 4 + 1]]


def test_that_only_the_image_named_is_highlighted(model_of: ModelOf) -> None:
    one = highlighted(image=1)
    both = replace(one, messages=(*one.messages, *plain().messages))
    model = model_of("gemma3")
    assert answer(model, both).measured is not None
    assert both.highlight is not None
    with model.alone() as loaded:
        region = region_of(loaded, [SizePx(ROWS, COLUMNS)] * 2, both.highlight)
    assert [bool(p.any()) for p in region.patches] == [False, True]
    assert region.own == (False, True)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (highlighted(image=1), "shows only 1"),
        (highlighted(np.ones((4, 4), dtype=np.bool_)), "4 × 4 pixels"),
        (highlighted(np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) == 0), "cropped"),
    ],
)
def test_that_what_cannot_be_highlighted_ends_this_question_alone(
    asked: ModelRequest, said: str, model_of: ModelOf
) -> None:
    with pytest.raises(ProviderError, match=said) as caught:
        model_of("llava").generate(asked)
    assert caught.value.retry_class is RetryClass.FAIL
    assert caught.value.reason == "wish_refused"


def test_that_a_tower_that_is_not_known_or_cut_otherwise_is_told(
    monkeypatch: pytest.MonkeyPatch, model_of: ModelOf
) -> None:
    model = model_of("llava")
    monkeypatch.setattr(highlight, "views", other_views)
    with pytest.raises(ProviderError, match="unexpected patches"):
        model.generate(highlighted())
    monkeypatch.setattr(highlight, "_TOWER", re.compile("^no such layer$"))
    with pytest.raises(ProviderError, match="vision tower is not known"):
        model.generate(highlighted())


def other_views(_engine: object, sizes: list[SizePx]) -> list[list[View]]:
    affine = Affine(COLUMNS / 2, 0.0, 0.0, 0.0, ROWS / 2, 0.0)
    return [[View(2, 2, affine)] for _ in sizes]


def test_that_a_highlight_joins_the_mask_that_a_layer_has() -> None:
    torch = pytest.importorskip("torch")
    bias = torch.tensor([[[[0.0, 1.5, 0.0]]]])
    told = torch.tensor([[[[True, True, False]]]])
    joined = highlight._joined(told, bias)
    assert joined[0, 0, 0, :2].tolist() == [0.0, 1.5]
    assert joined[0, 0, 0, 2] == torch.finfo(torch.float32).min
    added = highlight._joined(torch.tensor([[[[0.0, -2.0, 1.0]]]]), bias)
    assert added[0, 0, 0].tolist() == [0.0, -0.5, 1.0]
    assert highlight._joined(None, bias) is bias


@pytest.mark.parametrize("family", ["llava", "qwen2_5_vl"])
def test_that_a_highlight_that_is_stopped_leaves_no_trace(
    family: str, model_of: ModelOf
) -> None:
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    model = model_of(family)

    def hooks() -> list[object]:
        """Return every hook; transformers itself keeps some of its own."""
        with model.alone() as loaded:
            return [
                hook
                for module in loaded.model.modules()
                for hook in (*module._forward_hooks, *module._forward_pre_hooks)
            ]

    first = model.generate(plain())
    names, before = sorted(ALL_ATTENTION_FUNCTIONS), hooks()
    with model.alone() as loaded, pytest.raises(ProviderError, match="stopped"):
        ask(loaded, highlighted(weight=4.0), 0, lambda: True)
    assert hooks() == before
    assert sorted(ALL_ATTENTION_FUNCTIONS) == names
    assert model.generate(plain()).body == first.body
