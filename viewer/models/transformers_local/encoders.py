"""Encoding of conversations as input tensors, left-padded to one length.

transformers' own processor is used whenever it can be loaded. Those of Qwen-VL and
SmolVLM require torchvision, for videos only, so without torchvision their tokenizer and
image processor are used separately.
"""

from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any, Final, Protocol

import jinja2

from viewer.domain.errors import ProviderError, RetryClass, WrongUseError
from viewer.models.transformers_local.conversation import (
    Turn,
    images_of,
    plain_prompt,
    without_system,
)
from viewer.models.transformers_local.files import ModelFiles, chat_template
from viewer.models.transformers_local.foreign import Foreign, transformers

_FOR_TRAINING: Final = ("labels",)
_TILED: Final = ("idefics3", "smolvlm")
_PADDED: Final = {"padding": True, "padding_side": "left"}

Tensors = MutableMapping[str, Any]
"""A model's inputs by name."""

Render = Callable[[list[list[Turn]]], object]


class Encoder(Protocol):
    """Encodes conversations as a model's inputs."""

    tokenizer: Foreign
    image_processor: Foreign

    def encode(self, conversations: list[list[Turn]]) -> Tensors:
        """Return a mapping of input names to tensors, one row per conversation."""
        ...


class ProcessorEncoder:
    """Encodes with a transformers processor."""

    def __init__(self, processor: Foreign, template: str | None) -> None:
        self._processor, self._template = processor, template
        self.tokenizer = processor.tokenizer
        self.image_processor = processor.image_processor

    def encode(self, conversations: list[list[Turn]]) -> Tensors:
        """Return a mapping of input names to tensors, one row per conversation."""
        if self._template is None:
            return _for_answers(self._encode_plain(conversations))
        inputs: Tensors = self._processor.apply_chat_template(
            _in_template(self._render, conversations),
            chat_template=self._template,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs=dict(_PADDED),
        )
        return _for_answers(inputs)

    def _render(self, conversations: list[list[Turn]]) -> None:
        self._processor.apply_chat_template(
            conversations, chat_template=self._template, add_generation_prompt=True
        )

    def _encode_plain(self, conversations: list[list[Turn]]) -> Tensors:
        images = [images_of(turns) for turns in conversations]
        mark = getattr(self._processor, "image_token", "<image>")
        texts = [
            mark * len(shown) + plain_prompt(turns)
            for shown, turns in zip(images, conversations, strict=True)
        ]
        shown = images if any(images) else None
        try:
            inputs = self._processor(text=texts, images=shown, **_PADDED)
        except ValueError as error:
            if shown is None:  # PaliGemma's own processor refuses it
                raise _needs_an_image() from error
            raise
        tensors: Tensors = inputs.convert_to_tensors("pt")
        return tensors


class QwenEncoder:
    """Encodes for Qwen-VL with separate tokenizer and image processor.

    Every image's position in the prompt gets one pad token for each merged patch, like
    the processor's output.
    """

    PAD = "<|image_pad|>"

    def __init__(
        self, tokenizer: Foreign, image_processor: Foreign, template: str
    ) -> None:
        self.tokenizer, self.image_processor = tokenizer, image_processor
        self._template = template

    def encode(self, conversations: list[list[Turn]]) -> Tensors:
        """Return a mapping of input names to tensors, one row per conversation."""
        images = [image for turns in conversations for image in images_of(turns)]
        seen = (
            self.image_processor(images=images, return_tensors="pt") if images else {}
        )
        patches = [int(grid.prod()) for grid in seen.get("image_grid_thw", ())]
        texts = self._expanded(_in_template(self._render, conversations), patches)
        inputs: Tensors = self.tokenizer(texts, return_tensors="pt", **_PADDED)
        inputs.pop("token_type_ids", None)
        pad = self.tokenizer.convert_tokens_to_ids(self.PAD)
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == pad).long()
        inputs.update(seen)
        return inputs

    def _render(self, conversations: list[list[Turn]]) -> list[str]:
        return [
            self.tokenizer.apply_chat_template(
                turns,
                chat_template=self._template,
                add_generation_prompt=True,
                tokenize=False,
            )
            for turns in conversations
        ]

    def _expanded(
        self, conversations: list[list[Turn]], patches: list[int]
    ) -> list[str]:
        merged = self.image_processor.merge_size**2
        counts = iter(patches)
        texts = []
        for text in self._render(conversations):
            first, *rest = text.split(self.PAD)
            texts.append(
                first + "".join(self.PAD * (next(counts) // merged) + r for r in rest)
            )
        return texts


def encoder_for(files: ModelFiles) -> Encoder:
    """Return the encoder of a model; raises if it cannot be created."""
    template = chat_template(files.folder)
    try:
        processor = transformers().AutoProcessor.from_pretrained(
            files.folder, local_files_only=True, trust_remote_code=False
        )
    except ImportError:
        return _apart(files, template)
    return ProcessorEncoder(processor, template)


def tokenizer_of(files: ModelFiles) -> Foreign:
    """Return a model's tokenizer alone."""
    return _auto(transformers().AutoTokenizer, files.folder)


def _apart(files: ModelFiles, template: str | None) -> Encoder:
    if template is None or not files.model_type.startswith(("qwen", *_TILED)):
        raise WrongUseError(
            f"The image processor of the model {files.name} needs torchvision, which "
            "is not installed.",
            "Install torchvision in the version that belongs to the installed torch.",
        )
    tokenizer = _auto(transformers().AutoTokenizer, files.folder)
    images = _auto(transformers().AutoImageProcessor, files.folder)
    if files.model_type.startswith("qwen"):
        return QwenEncoder(tokenizer, images, template)
    processor = transformers().Idefics3Processor(
        images, tokenizer, image_seq_len=_tokens_per_tile(files.config)
    )
    return ProcessorEncoder(processor, template)


def _auto(kind: Foreign, folder: Path) -> Foreign:
    return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def _tokens_per_tile(config: dict[str, Any]) -> int:
    vision = config["vision_config"]
    side = vision["image_size"] // vision["patch_size"] // config["scale_factor"]
    return int(side**2)


def _in_template(render: Render, conversations: list[list[Turn]]) -> list[list[Turn]]:
    """Return the conversations in the template's form: some have no system role."""
    try:
        render(conversations)
    except jinja2.TemplateError:
        return _without_system(render, conversations)
    return conversations


def _without_system(
    render: Render, conversations: list[list[Turn]]
) -> list[list[Turn]]:
    plainer = [without_system(turns) for turns in conversations]
    try:
        render(plainer)
    except jinja2.TemplateError as error:
        raise ProviderError(
            "The model's chat template does not accept this question.",
            "Choose another version of the model.",
            retry_class=RetryClass.STOP_RUN,
            reason="chat_template",
        ) from error
    return plainer


def _needs_an_image() -> ProviderError:
    return ProviderError(
        "This model cannot answer without an image.",
        "Use another model for questions without images.",
        retry_class=RetryClass.FAIL,
        reason="no_image",
    )


def _for_answers(inputs: Tensors) -> Tensors:
    for name in _FOR_TRAINING:
        inputs.pop(name, None)
    return inputs
