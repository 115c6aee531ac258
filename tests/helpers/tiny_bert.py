"""A tiny BERT of random weights, with a head for next sentences, as a folder."""

import string
from pathlib import Path

from viewer.models.transformers_local.foreign import Foreign, transformers

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
