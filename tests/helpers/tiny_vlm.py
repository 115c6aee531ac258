"""Vision-language models of seven families, a megabyte each, with random weights.

Each is built from a configuration, with a tokenizer of its own, and saved the way its
real relatives are published; the architecture is the real one, the answers are noise.
Other sizes of its text and vision parts may be given, up to those that are published.
"""

import importlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from viewer.domain.exchange import ModelProfile
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.conversation import Turn
from viewer.models.transformers_local.engine import Engine
from viewer.models.transformers_local.foreign import Foreign, transformers

PAD, BOS, EOS = 0, 1, 2
_SPECIAL: Final = ("<pad>", "<bos>", "<eos>", "<unk>")
_NAMED: Final = dict(
    zip(("pad_token", "bos_token", "eos_token", "unk_token"), _SPECIAL, strict=True)
)
_CORPUS: Final = (
    '{"box_2d": [10, 20, 300, 400], "label": "nodule"}',
    "left upper lobe yes no A B C D finding grid cell chest radiograph",
)


def tokenizer(*special: str, **settings: object) -> Foreign:
    """Return a fast tokenizer that keeps each of ``special`` as one token."""
    tk: Foreign = importlib.import_module("tokenizers")
    words = tk.Tokenizer(tk.models.BPE())
    words.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = tk.decoders.ByteLevel()
    trainer = tk.trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=tk.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[*_SPECIAL, *special],
        show_progress=False,
    )
    words.train_from_iterator([line for line in _CORPUS for _ in range(50)], trainer)
    return transformers().PreTrainedTokenizerFast(
        tokenizer_object=words,
        **_NAMED,
        additional_special_tokens=list(special),
        padding_side="left",
        **settings,
    )


_TEXT: Final = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_VISION: Final = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "patch_size": 14,
}
_TEMPLATE: Final = (
    "{% for m in messages %}<bos>{{ m['role'] }}: {% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}IMAGE{% else %}{{ c['text'] }}{% endif %}"
    "{% endfor %}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)

Parts = tuple[Foreign, tuple[Foreign, ...]]
"""A model, and what is saved beside it: a processor, or its pieces."""
Sizes = Mapping[str, Any]
NONE: Final[Sizes] = MappingProxyType({})


def build(family: str, folder: Path, seed: int = 0) -> Path:
    """Save the tiny model of a family in a folder that is made; return the folder."""
    import torch

    torch.set_num_threads(1)  # models so small are slower with more
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        save(folder, *FAMILIES[family]())
    if family == "smolvlm":  # what its own processor would have saved
        settings = {"image_seq_len": 16, "processor_class": "SmolVLMProcessor"}
        (folder / "processor_config.json").write_text(json.dumps(settings))
    return folder


def save(folder: Path, model: Foreign, pieces: tuple[Foreign, ...]) -> None:
    """Save a model and what belongs to it in a folder that is made."""
    model.generation_config.eos_token_id = EOS
    model.generation_config.pad_token_id = PAD
    model.save_pretrained(folder)
    for piece in pieces:
        piece.save_pretrained(folder)


def template(image: str) -> str:
    """Return a chat template that writes ``image`` where an image stands."""
    return _TEMPLATE.replace("IMAGE", image)


def llava(text: Sizes = NONE, vision: Sizes = NONE) -> Parts:
    """LLaVA: CLIP, 56 px in 4 × 4 patches, cropped square."""
    hf = transformers()
    words = tokenizer("<image>")
    image = words.convert_tokens_to_ids("<image>")
    seen = {**_VISION, "image_size": 56, **vision}
    side = seen["image_size"]
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(projection_dim=seen["hidden_size"], **seen),
        text_config=hf.LlamaConfig(**_text(words, text)),
        image_token_index=image,
        image_token_id=image,
        image_seq_length=_patches(seen),
        vision_feature_layer=-1,
    )
    processor = hf.LlavaProcessor(
        hf.CLIPImageProcessor(size={"shortest_edge": side}, crop_size=side),
        words,
        patch_size=seen["patch_size"],
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template("<image>"),
    )
    return hf.LlavaForConditionalGeneration(config), (processor,)


def gemma3(text: Sizes = NONE, vision: Sizes = NONE, pooled: int = 2) -> Parts:
    """Gemma 3 (MedGemma): SigLIP, the image stretched, its patches pooled."""
    import torch

    hf = transformers()
    names = {
        "image_token": "<image_soft_token>",
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
    }
    words = tokenizer(*names.values(), extra_special_tokens=names)
    ids = {key: words.convert_tokens_to_ids(name) for key, name in names.items()}
    seen = {**_VISION, "image_size": 112, **vision}
    side, tokens = seen["image_size"], _patches(seen) // pooled**2
    sizes = {"head_dim": 16, "sliding_window": 512, **text}
    config = hf.Gemma3Config(
        text_config=hf.Gemma3TextConfig(**_text(words, sizes)),
        vision_config=hf.SiglipVisionConfig(vision_use_head=False, **seen),
        mm_tokens_per_image=tokens,
        boi_token_index=ids["boi_token"],
        eoi_token_index=ids["eoi_token"],
        image_token_index=ids["image_token"],
        image_token_id=ids["image_token"],
    )
    model = hf.Gemma3ForConditionalGeneration(config)
    weight = model.model.multi_modal_projector.mm_input_projection_weight
    torch.nn.init.normal_(weight, std=0.05)  # zeros: the image would have no effect
    processor = hf.Gemma3Processor(
        hf.Gemma3ImageProcessor(size={"height": side, "width": side}),
        words,
        image_seq_length=tokens,
        chat_template=template("<start_of_image>"),
    )
    return model, (processor,)


def idefics3(text: Sizes = NONE, vision: Sizes = NONE, scale: int = 2) -> Parts:
    """Idefics3: SigLIP, the whole image and its four tiles in as many tokens each."""
    hf = transformers()
    words = tokenizer(*_idefics_tokens())
    seen = {**_VISION, "image_size": 112, **vision}
    side = seen["image_size"]
    config = hf.Idefics3Config(
        vision_config=seen,
        text_config=hf.LlamaConfig(**_text(words, text)),
        scale_factor=scale,
        pad_token_id=PAD,
        image_token_id=words.convert_tokens_to_ids("<image>"),
    )
    processor = hf.Idefics3Processor(
        hf.Idefics3ImageProcessor(
            size={"longest_edge": 2 * side}, max_image_size={"longest_edge": side}
        ),
        words,
        image_seq_len=_patches(seen) // scale**2,
        chat_template=template("<image>"),
    )
    return hf.Idefics3ForConditionalGeneration(config), (processor,)


def smolvlm(text: Sizes = NONE, vision: Sizes = NONE, scale: int = 2) -> Parts:
    """SmolVLM: as Idefics3, in one piece, saved without the video processor."""
    hf = transformers()
    names = {
        "image_token": "<image>",
        "fake_image_token": "<fake_token_around_image>",
        "global_image_token": "<global-img>",
        "end_of_utterance_token": "<end_of_utterance>",
    }
    words = tokenizer(*_idefics_tokens(), extra_special_tokens=names)
    words.chat_template = template("<image>")
    seen = {**_VISION, "image_size": 112, **vision}
    side = seen["image_size"]
    config = hf.SmolVLMConfig(
        vision_config=seen,
        text_config=hf.LlamaConfig(**_text(words, text)),
        scale_factor=scale,
        pad_token_id=PAD,
        image_token_id=words.convert_tokens_to_ids("<image>"),
    )
    images = hf.SmolVLMImageProcessor(
        size={"longest_edge": side},
        max_image_size={"longest_edge": side},
        do_image_splitting=False,
    )
    return hf.SmolVLMForConditionalGeneration(config), (words, images)


def _idefics_tokens() -> list[str]:
    tiles = [f"<row_{r}_col_{c}>" for r in range(1, 7) for c in range(1, 7)]
    named = ["<fake_token_around_image>", "<image>", "<global-img>"]
    return [*named, "<end_of_utterance>", *tiles]


def paligemma(text: Sizes = NONE, vision: Sizes = NONE) -> Parts:
    """PaliGemma: SigLIP, 56 px stretched, 4 × 4 patches; without a chat template."""
    hf = transformers()
    words = tokenizer("<image>", *(f"<loc{i:04d}>" for i in range(1024)))
    image = words.convert_tokens_to_ids("<image>")
    seen = {**_VISION, "image_size": 56, **vision}
    side = seen["image_size"]
    said = _text(words, {"head_dim": 16, **text})
    config = hf.PaliGemmaConfig(
        text_config=hf.GemmaConfig(**said),
        vision_config=hf.SiglipVisionConfig(
            vision_use_head=False, projection_dim=said["hidden_size"], **seen
        ),
        projection_dim=said["hidden_size"],
        image_token_index=image,
        image_token_id=image,
    )
    images = hf.SiglipImageProcessor(size={"height": side, "width": side})
    images.image_seq_length = _patches(seen)
    processor = hf.PaliGemmaProcessor(images, words)
    return hf.PaliGemmaForConditionalGeneration(config), (processor,)


def qwen2_5_vl(
    text: Sizes = NONE, vision: Sizes = NONE, pixels: int = 112 * 112
) -> Parts:
    """Qwen2.5-VL: patches of 14 px merged by two, as many as the image needs."""
    hf = transformers()
    words, ids = _qwen_words()
    config = hf.Qwen2_5_VLConfig(
        text_config=_text(words, {"rope_parameters": rope(2, 3, 3), **text}),
        vision_config={
            **_QWEN_VISION,
            "patch_size": 14,
            "fullatt_block_indexes": [1],
            "window_size": 56,
            **vision,
        },
        **ids,
    )
    model = hf.Qwen2_5_VLForConditionalGeneration(config)
    return model, (words, _qwen_images(14, pixels))


def qwen3_vl(
    text: Sizes = NONE, vision: Sizes = NONE, pixels: int = 112 * 112
) -> Parts:
    """Qwen3-VL: patches of 16 px merged by two, as many as the image needs."""
    hf = transformers()
    words, ids = _qwen_words()
    turns = {**rope(2, 3, 3), "mrope_interleaved": True}
    config = hf.Qwen3VLConfig(
        text_config=_text(words, {"rope_parameters": turns, "head_dim": 16, **text}),
        vision_config={
            **_QWEN_VISION,
            "patch_size": 16,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
            **vision,
        },
        **ids,
    )
    model = hf.Qwen3VLForConditionalGeneration(config)
    return model, (words, _qwen_images(16, pixels))


_QWEN_VISION: Final = {
    "depth": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_heads": 4,
    "out_hidden_size": 64,
    "spatial_merge_size": 2,
}


def rope(*sections: int) -> dict[str, Any]:
    """Return rotary positions for time, rows and columns, half a head's size in all."""
    return {
        "rope_type": "default",
        "mrope_section": list(sections),
        "rope_theta": 10000.0,
    }


def _text(words: Foreign, sizes: Sizes) -> dict[str, Any]:
    return {**_TEXT, "vocab_size": len(words), **sizes}


def _patches(vision: Sizes) -> int:
    return int((vision["image_size"] // vision["patch_size"]) ** 2)


def _qwen_words() -> tuple[Foreign, dict[str, int]]:
    names = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    words = tokenizer(*names.values(), "<|im_start|>", "<|im_end|>")
    words.chat_template = template("<|vision_start|><|image_pad|><|vision_end|>")
    return words, {k: words.convert_tokens_to_ids(name) for k, name in names.items()}


def _qwen_images(patch: int, pixels: int) -> Foreign:
    hf = transformers()
    return hf.Qwen2VLImageProcessor(
        patch_size=patch, merge_size=2, min_pixels=56 * 56, max_pixels=pixels
    )


FAMILIES: Final[dict[str, Callable[..., Parts]]] = {
    "llava": llava,
    "gemma3": gemma3,
    "idefics3": idefics3,
    "smolvlm": smolvlm,
    "paligemma": paligemma,
    "qwen2_5_vl": qwen2_5_vl,
    "qwen3_vl": qwen3_vl,
}


def local_model(folder: Path, **settings: object) -> TransformersLocal:
    """Return the model of a folder, with other settings.

    It runs on the CPU, or on the device that ``OVERREAD_TEST_DEVICE`` names.
    """
    device = os.environ.get("OVERREAD_TEST_DEVICE", "cpu")
    values = {"model": str(folder), "device": device, **settings}
    return TransformersLocal(ModelProfile("tiny", "transformers_local", values))


def encoded(engine: Engine, turns: list[Turn]) -> dict[str, Any]:
    """Return the inputs of one conversation, where the model is."""
    inputs = engine.encoder.encode([turns])
    return {name: value.to(engine.device) for name, value in inputs.items()}
