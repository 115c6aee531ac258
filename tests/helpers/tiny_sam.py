"""A tiny SAM of random weights, as a folder that transformers loads."""

from pathlib import Path

from viewer.models.transformers_local.foreign import transformers

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
