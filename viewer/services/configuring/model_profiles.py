"""The user's own models: read, changed and restored in models.toml."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Final

from viewer.domain.errors import OverreadError, UnreadableInputError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.styles import MODEL_NAMES
from viewer.models.catalog import (
    COLOUR,
    adapters,
    builtin_profiles,
    profile_from_table,
)
from viewer.models.paper_presets import PRESETS
from viewer.models.protocol import AdapterSpec, Setting
from viewer.services.configuring.form_field import FormField
from viewer.services.configuring.model_colors import own_places
from viewer.services.configuring.study_file import (
    named_profile,
    own_profiles,
)
from viewer.services.configuring.toml_files import read_toml
from viewer.settings import read_policy
from viewer.writers.files import write_atomically
from viewer.writers.models_toml import model_tables, with_model, without_model
from viewer.writers.toml import toml_bytes

_NUMBERS: Final = {int: "int", float: "float"}
_MOSTLY: Final = ("base_url", "model", "api_key_env", "convention", "projector")
_SHOWN: Final = 4
"""Settings that a form shows at once; with the name they are five fields."""
_LABELS: Final[Mapping[str, str]] = {
    "answers": "Answers",
    "api_key_env": "Name of the key",
    "base_url": "Server address",
    "batch_rate": "Price of a batch",
    "convention": "Coordinates",
    "detail": "Image detail",
    "dtype": "Number format",
    "force": "Load even if too large",
    "logprobs": "Token probabilities",
    "max_new_tokens": "Longest reply",
    "max_tokens": "Longest reply",
    "paper_model": "Counts as, in Gosai 2025",
    "price_in": "Price of what is sent",
    "price_out": "Price of what is received",
    "provider_view": "Image resizing",
    "structured": "Answer as JSON",
    "timeout_s": "Time limit",
}
"""What forms call settings whose names in files only programmers understand."""
_CHOICE_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "answers": {
        "": "at once",
        "batch": "as a batch: half the price, within a day",
    },
    "convention": {
        "": "not set: a grid cell",
        "grid": "a grid cell, such as C4",
        "qwen2_vl": "as Qwen2-VL",
        "qwen2_5_vl": "as Qwen2.5-VL",
        "qwen3_vl": "as Qwen3-VL",
        "gemini": "as Gemini",
        "paligemma": "as PaliGemma",
        "molmo": "as Molmo",
        "florence2": "as Florence-2",
        "kosmos2": "as Kosmos-2",
        "deepseek_vl2": "as DeepSeek-VL2",
        "internvl": "as InternVL",
        "claude": "as Claude",
        "xyxy_1000": "x1, y1, x2, y2 from 0 to 1000",
        "maira2": "as MAIRA-2",
        "native": "pixels of the image as it is kept",
    },
    "provider_view": {
        "": "not set: no resizing",
        "none": "no resizing",
        "openai_low": "OpenAI, low detail",
        "openai_high": "OpenAI, high detail",
        "openai_patch": "OpenAI, patches (GPT-5)",
        "claude": "Claude",
        "gemini": "Gemini",
        "qwen2_5": "Qwen2.5-VL",
        "qwen2_5_hub": "Qwen2.5-VL, as on Hugging Face",
        "qwen3": "Qwen3-VL",
        "gemma3": "Gemma 3",
    },
    "server": {
        "": "not set: another server",
        "custom": "another server",
        "openai": "OpenAI",
        "azure": "Azure OpenAI",
        "anthropic": "Anthropic",
        "google": "Google",
        "openrouter": "OpenRouter",
        "ollama": "Ollama",
        "vllm": "vLLM",
        "lm_studio": "LM Studio",
        "llama_cpp": "llama.cpp",
    },
}
"""How forms show choices whose names in files say too little."""
_COLOUR_FIELD: Final = FormField(
    COLOUR,
    "choice",
    "",
    "colour of its answers on images and in charts; the next free one by default",
    ("", *MODEL_NAMES),
    more=True,
)
_HEAD: Final = (
    "# Models that Overread can ask, in addition to the built-in ones.\n"
    "# Never write a key here: api_key_env names the variable that holds it.\n"
)


@dataclass(frozen=True)
class KnownModel:
    """A known model; for the user's own models also the table as written.

    ``profile`` is None if the table is invalid; ``error`` says why.
    """

    name: str
    adapter: str
    own: bool
    profile: ModelProfile | None = None
    error: str = ""
    table: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelsEdit:
    """A change of models.toml: its whole text before and after; None means no file."""

    before: str | None
    after: str | None

    @property
    def back(self) -> "ModelsEdit":
        """The reverse change."""
        return ModelsEdit(self.after, self.before)


def known_models(models_file: Path) -> tuple[KnownModel, ...]:
    """Return every model by name; an invalid table does not affect the others.

    Raises if a file is not TOML.
    """
    known = {
        p.name: KnownModel(p.name, p.adapter, own=False, profile=p)
        for p in builtin_profiles()
    }
    tables = read_toml(models_file).get("model", []) if models_file.exists() else []
    if not isinstance(tables, list):
        raise WrongUseError(
            f"'model' in '{models_file.name}' must be a list of [[model]] tables.",
            "Correct it.",
        )
    for number, table in enumerate(tables, 1):
        model = _own_model(table, number, models_file)
        known[model.name] = model
    return tuple(known[name] for name in sorted(known))


def model_named(name: str, models_file: Path) -> ModelProfile:
    """Return the profile of a model; raises if it is invalid or unknown."""
    known = {model.name: model for model in known_models(models_file)}
    model = known.get(name)
    if model is not None and model.profile is None:
        raise WrongUseError(model.error, f"Correct it in '{models_file.name}'.")
    return named_profile(name, {n: m.profile for n, m in known.items() if m.profile})


def _own_model(table: object, number: int, models_file: Path) -> KnownModel:
    """Return the model of a table, or why the table is invalid."""
    values = dict(table) if isinstance(table, Mapping) else {}
    name = str(values.get("name") or f"(model {number})")
    adapter = str(values.get("adapter", ""))
    profile, error = None, ""
    try:
        (profile,) = own_profiles({"model": [table]}, models_file).values()
    except OverreadError as caught:
        error = str(caught)
    own = not read_policy().models
    return KnownModel(name, adapter, own, profile, error, values)


def preset_tables() -> tuple[dict[str, object], ...]:
    """Return the ``[[model]]`` tables of published studies' models."""
    return tuple(dict(preset.table) for preset in PRESETS)


def presets_text() -> str:
    """Return the models of published studies as a models.toml.

    Comments say what each paper states of its models.
    """
    parts: list[str] = []
    for note, presets in groupby(PRESETS, key=lambda preset: preset.note):
        parts.append(fill(note, initial_indent="# ", subsequent_indent="# ") + "\n")
        parts += (_table_text(preset.table) for preset in presets)
    return "\n".join(parts)


def _table_text(table: Mapping[str, object]) -> str:
    return toml_bytes({"model": [table]}).decode().lstrip("\n")


def spec_named(adapter: str) -> AdapterSpec | None:
    """Return an adapter's specification, None for an unknown one."""
    return adapters().get(adapter)


def settings_fields(adapter: str) -> tuple[FormField, ...]:
    """Return an adapter's settings as form fields, none for an unknown adapter."""
    spec = spec_named(adapter)
    if spec is None:
        return ()
    first = sorted(spec.settings, key=_rank)[:_SHOWN]
    fields = [
        replace(_field(s), more=s not in first, label=_LABELS.get(s.key, ""))
        for s in spec.settings
    ]
    return (*fields, _COLOUR_FIELD)


def _rank(setting: Setting) -> tuple[bool, int]:
    """Return a setting's place: what must be set, then what people mostly set."""
    place = _MOSTLY.index(setting.key) if setting.key in _MOSTLY else len(_MOSTLY)
    return not setting.required, place


def _field(setting: Setting) -> FormField:
    default, low = setting.default, setting.minimum
    if setting.kind is bool:
        return FormField(setting.key, "bool", bool(default), setting.meaning)
    if setting.choices:
        unset = ("",) if default is None else ()
        choices = (*unset, *setting.choices)
        words = _words_of(setting.key, choices)
        return FormField(
            setting.key, "choice", default or "", setting.meaning, choices, words=words
        )
    if setting.kind is Path:
        shown = default or ""
        return FormField(
            setting.key, "path", shown, setting.meaning, ending=setting.ending
        )
    if setting.kind is str:
        kind = "folder" if setting.may_be_folder else "text"
        return FormField(setting.key, kind, default or "", setting.meaning)
    whole = "maybe_" + _NUMBERS.get(setting.kind, "float")
    return FormField(setting.key, whole, default, setting.meaning, (), low)


def _words_of(key: str, choices: Sequence[str]) -> tuple[str, ...]:
    """Return how a form shows the choices of a setting, empty for their own names.

    Those of coordinates end in their names, which is what messages call them.
    """
    named = _CHOICE_WORDS.get(key)
    if named is None:
        return ()
    as_told = key == "convention"
    return tuple(
        f"{named[one]} ({one})" if one and as_told else named.get(one, one)
        for one in choices
    )


def free_name(wanted: str, models_file: Path) -> str:
    """Return an unused name: ``wanted``, or the first free number after it."""
    taken = {model.name for model in known_models(models_file)}
    names = (wanted, *(f"{wanted}-{n}" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def check_model(
    table: Mapping[str, object], replaced: str | None, models_file: Path
) -> None:
    """Raise ``WrongUseError`` if a table is invalid, or its name is taken.

    ``replaced`` is the name of the model that it replaces.
    """
    profile = profile_from_table(table, models_file.absolute().parent)
    others = {m.name for m in known_models(models_file)} - {replaced}
    if profile.name in others:
        raise WrongUseError(
            f"There is already a model called '{profile.name}'.",
            "Choose another name.",
        )


def saving(
    table: Mapping[str, object], replaced: str | None, models_file: Path
) -> ModelsEdit:
    """Return the change that saves a model in the file, validated.

    Raises WrongUseError where an administrator chose the models.
    A colour is saved with it, so that the model keeps it whatever happens to others.
    """
    read_policy().check_models_may_change()
    check_model(table, replaced, models_file)
    before = _text(models_file)
    tables: list[Mapping[str, object]] = [
        table if known.get("name") == replaced else known
        for known in model_tables(before or "")
    ]
    places = own_places(tables if table in tables else [*tables, table])
    coloured = {**table, COLOUR: MODEL_NAMES[places[str(table["name"])]]}
    return ModelsEdit(before, with_model(before or _HEAD, replaced, coloured))


def deleting(name: str, models_file: Path) -> ModelsEdit:
    """Return the change that removes one of the user's models from the file."""
    before = _text(models_file)
    return ModelsEdit(before, without_model(before or "", name))


def apply_edit(edit: ModelsEdit, models_file: Path) -> None:
    """Apply a change if the file is unchanged since then; otherwise raise."""
    if _text(models_file) != edit.before:
        raise WrongUseError(
            f"'{models_file.name}' was changed by another program in the meantime.",
            "It was left as it is; make the change again.",
        )
    if edit.after is None:
        models_file.unlink()
        return
    write_atomically(models_file, edit.after.encode())


def _text(models_file: Path) -> str | None:
    try:
        return models_file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInputError(
            f"The file '{models_file.name}' cannot be read ({type(error).__name__}).",
            "Check that you may read it and that it is UTF-8 text.",
        ) from error
