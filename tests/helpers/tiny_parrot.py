"""A tiny LLaVA that says one thing whatever it is asked, so that a box can be read."""

from pathlib import Path

from tests.helpers import tiny_vlm
from tests.helpers.tiny_tokenizer import EOS
from viewer.models.transformers_local.foreign import transformers


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
