"""A tiny vision model for llama.cpp, written from seeded arrays; it knows nothing.

A LLaVA: a two-layer llama, a two-layer CLIP, an MLP between them, about 1 MB. Its
vocabulary is the 256 bytes and the cell names A1 to J10. Two directions are built
into its embeddings so that it answers like a model that follows the instruction:
after the colon that ends the prompt a cell is likely, after a cell the end. Which
cell depends on the image and the random weights.
"""

from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
)
CELL_LETTERS, CELL_NUMBERS = "ABCDEFGHIJ", 10

_WIDTH, _FEED_FORWARD, _LAYERS, _HEADS, _KV_HEADS = 64, 128, 2, 4, 2
_EYE_WIDTH, _PATCH, _SIDE = 64, 14, 112
_PULL = 4.0
_RESIDUAL_SD = 0.15  # what layers add must not drown what embeddings say

_Array = npt.NDArray[np.float32]


def write_tiny_model(
    folder: Path, seed: int = 1, template: str = CHAT_TEMPLATE
) -> tuple[Path, Path]:
    """Write ``llm.gguf`` and ``mmproj.gguf`` into a folder and return their paths.

    A base model has no chat template, "".
    """
    rng = np.random.default_rng(seed)
    llm, eye = folder / "llm.gguf", folder / "mmproj.gguf"
    _write_llm(llm, rng, template)
    _write_eye(eye, rng)
    return llm, eye


def vocabulary() -> tuple[list[str], list[str]]:
    """Return the tokens and the merges of a byte-level BPE, written by hand."""
    tokens = [*SPECIALS, *_byte_letters()]
    merges: list[str] = []
    for number in range(1, CELL_NUMBERS + 1):
        head, tail = str(number)[:-1], str(number)[-1]
        for letter in CELL_LETTERS:
            merges.append(f"{letter}{head} {tail}")
            tokens.append(f"{letter}{number}")
    return tokens, merges


def _byte_letters() -> list[str]:
    """Return GPT-2's printable stand-in for each byte, in byte order."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(b if b in printable else next(others)) for b in range(256)]


def _normal(rng: np.random.Generator, *shape: int, sd: float = 0.2) -> _Array:
    return rng.normal(0.0, sd, shape).astype(np.float32)


def _write_llm(path: Path, rng: np.random.Generator, template: str) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    tokens, merges = vocabulary()
    _describe_llm(writer, tokens, merges)
    if template:
        writer.add_chat_template(template)
    embedding, output = _steered_embeddings(rng, tokens)
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", np.ones(_WIDTH, np.float32))
    writer.add_tensor("output.weight", output)
    narrow = _WIDTH // _HEADS * _KV_HEADS
    shapes = {
        "attn_q": (_WIDTH, _WIDTH),
        "attn_k": (narrow, _WIDTH),
        "attn_v": (narrow, _WIDTH),
        "attn_output": (_WIDTH, _WIDTH),
        "ffn_gate": (_FEED_FORWARD, _WIDTH),
        "ffn_up": (_FEED_FORWARD, _WIDTH),
        "ffn_down": (_WIDTH, _FEED_FORWARD),
    }
    for layer in range(_LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(_WIDTH, np.float32))
        for name, shape in shapes.items():
            sd = _RESIDUAL_SD if name in ("attn_output", "ffn_down") else 0.2
            writer.add_tensor(f"blk.{layer}.{name}.weight", _normal(rng, *shape, sd=sd))
    _finish(writer)


def _describe_llm(
    writer: gguf.GGUFWriter, tokens: list[str], merges: list[str]
) -> None:
    writer.add_name("tiny")
    writer.add_context_length(2048)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(_LAYERS)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([control if t in SPECIALS else normal for t in tokens])
    writer.add_token_merges(merges)
    writer.add_pad_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(3)


def _steered_embeddings(
    rng: np.random.Generator, tokens: list[str]
) -> tuple[_Array, _Array]:
    """Return (tokens, width) input and output embeddings with the two directions."""
    embedding, output = (_normal(rng, len(tokens), _WIDTH) for _ in range(2))
    both, _ = np.linalg.qr(rng.normal(size=(_WIDTH, 2)))
    asked, answered = both.T.astype(np.float32)
    colon, cells = tokens.index(":"), slice(len(SPECIALS) + 256, None)
    embedding[colon] += 2 * _PULL * (asked - answered)
    embedding[cells] += 4 * _PULL * answered
    output[cells] += _PULL * asked
    output[SPECIALS.index("<eos>")] += _PULL * answered
    return embedding, output


def _write_eye(path: Path, rng: np.random.Generator) -> None:
    writer = gguf.GGUFWriter(path, "clip")
    _describe_eye(writer)
    width = _EYE_WIDTH
    positions = (_SIDE // _PATCH) ** 2 + 1
    writer.add_tensor("v.class_embd", _normal(rng, width))
    patch = _normal(rng, width, 3, _PATCH, _PATCH, sd=0.05)
    writer.add_tensor("v.patch_embd.weight", patch)
    writer.add_tensor("v.position_embd.weight", _normal(rng, positions, width))
    for norm in ("v.pre_ln", "v.post_ln"):
        _add_norm(writer, norm, width)
    for layer in range(_LAYERS):
        block = f"v.blk.{layer}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            _add_linear(writer, rng, block + name, width, width)
        for name in ("ln1", "ln2"):
            _add_norm(writer, block + name, width)
        _add_linear(writer, rng, block + "ffn_up", _FEED_FORWARD, width)
        _add_linear(writer, rng, block + "ffn_down", width, _FEED_FORWARD)
    _add_linear(writer, rng, "mm.0", _WIDTH, width)
    _add_linear(writer, rng, "mm.2", _WIDTH, _WIDTH)
    _finish(writer)


def _describe_eye(writer: gguf.GGUFWriter) -> None:
    writer.add_type("mmproj")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_bool("clip.has_text_encoder", False)
    writer.add_bool("clip.has_llava_projector", True)
    writer.add_string("clip.projector_type", "mlp")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    numbers = {
        "image_size": _SIDE,
        "patch_size": _PATCH,
        "embedding_length": _EYE_WIDTH,
        "feed_forward_length": _FEED_FORWARD,
        "projection_dim": _WIDTH,
        "block_count": _LAYERS,
        "attention.head_count": _HEADS,
    }
    for name, value in numbers.items():
        writer.add_uint32(f"clip.vision.{name}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
    writer.add_bool("clip.use_gelu", True)


def _add_norm(writer: gguf.GGUFWriter, name: str, width: int) -> None:
    writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    writer.add_tensor(f"{name}.bias", np.zeros(width, np.float32))


def _add_linear(
    writer: gguf.GGUFWriter,
    rng: np.random.Generator,
    name: str,
    rows: int,
    columns: int,
) -> None:
    writer.add_tensor(f"{name}.weight", _normal(rng, rows, columns))
    writer.add_tensor(f"{name}.bias", np.zeros(rows, np.float32))


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
