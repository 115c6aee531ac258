"""A byte-level tokenizer of a few hundred tokens, trained where it is needed."""

import importlib
from typing import Final

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
