"""A tiny SAM and a tiny BERT of random weights, as folders that transformers loads."""

import string
from pathlib import Path

from viewer.models.transformers_local.foreign import Foreign, transformers

SIDE, _PATCH, _WIDTH = 64, 8, 16


def write_tiny_sam(folder: Path, seed: int = 0) -> Path:
    """Write model and processor into a folder and return it."""
    import torch

    hf = transformers()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = hf.SamModel(_config())
    model.save_pretrained(folder)
    low = SIDE // _PATCH * 4
    shown = hf.SamImageProcessorPil(
        size={"longest_edge": SIDE},
        pad_size={"height": SIDE, "width": SIDE},
        mask_size={"longest_edge": low},
        mask_pad_size={"height": low, "width": low},
    )
    hf.SamProcessor(shown).save_pretrained(folder)
    return folder


def _config() -> object:
    hf = transformers()
    same = {"image_size": SIDE, "patch_size": _PATCH}
    return hf.SamConfig(
        vision_config=hf.SamVisionConfig(
            hidden_size=32,
            output_channels=_WIDTH,
            num_hidden_layers=2,
            num_attention_heads=2,
            window_size=4,
            global_attn_indexes=[1],
            mlp_dim=64,
            num_pos_feats=_WIDTH // 2,
            **same,
        ),
        prompt_encoder_config=hf.SamPromptEncoderConfig(
            hidden_size=_WIDTH, mask_input_channels=4, **same
        ),
        mask_decoder_config=hf.SamMaskDecoderConfig(
            hidden_size=_WIDTH,
            mlp_dim=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            iou_head_hidden_dim=_WIDTH,
        ),
    )


_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS = (
    "which stain shows necrosis in the tile mitosis of a nucleus beside gland none "
    "these findings"
)
_SIGNS = string.ascii_lowercase + string.digits + string.punctuation
_POSITIONS = 256
"""Room for a question with its options, read letter by letter."""


def write_tiny_bert(folder: Path, seed: int = 0, *, head: bool = True) -> Path:
    """Write model and tokenizer into a folder and return it.

    Without ``head``, as most biomedical relatives are published.
    """
    import torch

    hf, words = transformers(), _words()
    config = hf.BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=_POSITIONS,
        initializer_range=0.5,
    )
    kind = hf.BertForNextSentencePrediction if head else hf.BertForMaskedLM
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kind(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def _words() -> Foreign:
    # A vocabulary that is trained breaks ties by chance: each process gets its own.
    pieces = (*_SPECIAL, *_SIGNS, *(f"##{sign}" for sign in _SIGNS), *_WORDS.split())
    known = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    return transformers().BertTokenizer(vocab=known)
