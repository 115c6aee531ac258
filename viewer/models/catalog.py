"""The table of adapter specifications, and the adapters made from them."""

import functools
import importlib
import importlib.util
import threading
from collections.abc import Mapping
from decimal import Decimal
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from viewer.domain.errors import MissingDependencyError, WrongUseError, where_to_get
from viewer.domain.exchange import ModelProfile
from viewer.domain.plugins import (
    Broken,
    PluginError,
    Plugins,
    check_name,
    load_plugins,
)
from viewer.domain.styles import MODEL_NAMES
from viewer.models.cnn_cam.settings import CNN_SETTINGS
from viewer.models.coordinates.settings import COORDINATE_SETTINGS, WRITTEN_SETTINGS
from viewer.models.endpoint import LOCAL_ONLY, Allowance, Endpoint, endpoint_at
from viewer.models.gguf_local.settings import GGUF_SETTINGS
from viewer.models.openai_api.settings import OPENAI_SETTINGS
from viewer.models.profiles import check_profile, with_defaults
from viewer.models.protocol import Adapter, AdapterSpec, Setting
from viewer.models.transformers_local.options import LOCAL_SETTINGS

COLOUR: Final = "colour"
"""A model's colour in its table: how it is drawn, not how it is asked."""
ENTRY_POINTS = "viewer.models"
"""Group of entry points through which other packages offer an AdapterSpec."""

_PRICES = (
    Setting("price_in", Decimal, None, "dollars per million tokens sent", minimum=0),
    Setting(
        "price_out", Decimal, None, "dollars per million tokens received", minimum=0
    ),
)

_SPECS = (
    AdapterSpec(
        name="openai_api",
        summary="a server with OpenAI's interface, of a company or of Ollama, vLLM …",
        kind="server",
        factory="viewer.models.openai_api.adapter:OpenAIAdapter",
        settings=(*OPENAI_SETTINGS, *COORDINATE_SETTINGS, *_PRICES),
        remote=True,
        completes="viewer.models.openai_api.servers:completed",
    ),
    AdapterSpec(
        name="transformers_local",
        summary="a model folder from Hugging Face, here (transformers)",
        kind="model folder",
        factory="viewer.models.transformers_local.adapter:TransformersLocal",
        settings=(*LOCAL_SETTINGS, *COORDINATE_SETTINGS),
        interpretable=True,
        imports=MappingProxyType({"torch": "local", "transformers": "local"}),
    ),
    AdapterSpec(
        name="gguf_local",
        summary="a GGUF model file and the one that lets it see, here (llama.cpp)",
        kind="model file",
        factory="viewer.models.gguf_local.adapter:GgufAdapter",
        settings=(*GGUF_SETTINGS, *COORDINATE_SETTINGS),
        completes="viewer.models.gguf_local.templates:completed",
        imports=MappingProxyType({"xllamacpp": "gguf"}),
    ),
    AdapterSpec(
        name="cnn_cam",
        summary="your own network, with a map of where it looked (Grad-CAM)",
        kind="own network",
        factory="viewer.models.cnn_cam.adapter:CnnCam",
        places=True,
        needs_image=True,
        unlearned="viewer.models.cnn_cam.card:unlearned",
        settings=CNN_SETTINGS,
        imports=MappingProxyType({"torch": "local", "captum": "local"}),
        reads_facts=True,
    ),
    AdapterSpec(
        name="segmenter",
        summary="SAM or MedSAM: outlines what a drawn box contains",
        kind="outlines a box",
        factory="viewer.models.prompted:PromptedSegmenter",
        places=True,
        needs_image=True,
        settings=(
            Setting(
                "model",
                str,
                None,
                "the folder of a SAM or MedSAM model",
                required=True,
                may_be_folder=True,
            ),
            Setting(
                "device",
                str,
                "auto",
                "where the model runs; auto uses a GPU if there is one",
                choices=("auto", "cpu", "cuda"),
            ),
        ),
        imports=MappingProxyType({"torch": "local", "transformers": "local"}),
        reads_facts=True,
        takes_boxes=True,
    ),
    AdapterSpec(
        name="next_sentence",
        summary="text-only baseline (next-sentence prediction)",
        kind="baseline, text only",
        factory="viewer.models.next_sentence:NextSentence",
        settings=(
            Setting(
                "model",
                str,
                None,
                "the folder of a BERT with a next-sentence head",
                required=True,
                may_be_folder=True,
            ),
            Setting(
                "device",
                str,
                "auto",
                "where the model runs; auto uses a GPU if there is one",
                choices=("auto", "cpu", "cuda", "mps"),
            ),
        ),
        imports=MappingProxyType({"torch": "local", "transformers": "local"}),
        reads_facts=True,
    ),
    AdapterSpec(
        name="uniform",
        summary="a cell drawn uniformly, seeded by run, item and repeat",
        kind="baseline",
        factory="viewer.models.baselines:Uniform",
        places=True,
        reads_facts=True,
        builtin_profiles=(ModelProfile("uniform", "uniform"),),
    ),
    AdapterSpec(
        name="frequent_cell",
        summary="the most frequent reference cell among the other patients",
        kind="baseline",
        factory="viewer.models.baselines:FrequentCell",
        places=True,
        reads_facts=True,
        needs_counts=True,
        builtin_profiles=(ModelProfile("frequent_cell", "frequent_cell"),),
    ),
    AdapterSpec(
        name="asymmetry",
        summary="where the two lungs differ most; a weak baseline without learning",
        kind="baseline",
        factory="viewer.models.asymmetry:Asymmetry",
        places=True,
        needs_image=True,
        imports=MappingProxyType({"scipy": ""}),
        reads_facts=True,
        builtin_profiles=(ModelProfile("asymmetry", "asymmetry"),),
    ),
    AdapterSpec(
        name="scripted",
        summary="scripted answers, for tests and checks",
        kind="script",
        factory="viewer.models.scripted:Scripted",
        settings=(
            Setting("answer", str, None, "the reply to every question"),
            Setting(
                "answers_file",
                Path,
                None,
                "JSON object from item or item|condition|repeat to reply",
            ),
            Setting("heat_map_file", Path, None, "NPY file of a map to answer with"),
            Setting("finish_reason", str, "stop", "why the reply ended"),
            Setting("refusal", str, None, "text of the reply's refusal field"),
            Setting("delay_s", float, 0.0, "seconds each reply takes", minimum=0),
            Setting(
                "interpretable",
                bool,
                False,
                "accepts highlights, and is certain of its letter or gives a posterior",
            ),
            *WRITTEN_SETTINGS,
        ),
        reads_facts=True,
    ),
    AdapterSpec(
        name="imported",
        summary="replies that a model gave elsewhere, from an imported file",
        kind="imported replies",
        factory="viewer.models.imported:Imported",
        settings=(
            Setting(
                "replies_file", Path, None, "JSON lines, a reply each", required=True
            ),
            Setting("model", str, None, "which of the file's models"),
            Setting("interpretable", bool, False, "its replies measure likelihoods"),
            *WRITTEN_SETTINGS,
        ),
        reads_facts=True,
        finds_by_step=True,
    ),
    AdapterSpec(
        name="replay",
        summary="replays the answers of an earlier report",
        kind="earlier report",
        factory="viewer.models.replay:Replay",
        settings=(
            Setting("items_file", Path, None, "items.csv of the earlier report", True),
            Setting(
                "replies_file",
                Path,
                None,
                "its raw replies: JSON lines of request_sha256, kind and body (base64)",
            ),
            Setting("model", str, None, "which of the report's models to replay"),
        ),
        reads_facts=True,
    ),
    AdapterSpec(
        name="reader",
        summary="a person, who answers in the Review workspace",
        kind="person",
        factory="viewer.models.reader:Reader",
        person=True,
    ),
    AdapterSpec(
        name="physicians",
        summary="a data set's physicians, whose answers are in its files",
        kind="people",
        factory="viewer.models.physicians:Physicians",
        reads_facts=True,
        person=True,
    ),
)

ADAPTERS: Mapping[str, AdapterSpec] = MappingProxyType({s.name: s for s in _SPECS})
"""The adapters that come with Overread, by name."""

_lock = threading.RLock()


def adapters() -> Mapping[str, AdapterSpec]:
    """Return every adapter, including those of other packages."""
    others = {name: one.value for name, one in _others().working.items()}
    return {**ADAPTERS, **others}


def broken_adapters() -> tuple[Broken, ...]:
    """Return the adapters of other packages that cannot be used."""
    return _others().broken


def builtin_profiles() -> tuple[ModelProfile, ...]:
    """Return the models that need no settings, such as ``uniform``."""
    return tuple(p for spec in _SPECS for p in spec.builtin_profiles)


def spec_of(profile: ModelProfile) -> AdapterSpec:
    """Return the specification of a profile's adapter; WrongUseError if unknown."""
    return _spec_named(profile.adapter)


def unlearned(profile: ModelProfile, finding: str) -> WrongUseError | None:
    """Return the error if a model was not trained on a finding, else None.

    This may read files that the profile names, and raises if they cannot be read.
    """
    spec = spec_of(profile)
    if not spec.unlearned:
        return None
    module, _, function = spec.unlearned.partition(":")
    why = getattr(importlib.import_module(module), function)
    return cast("WrongUseError | None", why(profile.settings, finding))


def missing_import(spec: AdapterSpec) -> tuple[str, str] | None:
    """Return the first module that an adapter lacks, and the package that has it."""
    for module, extra in (spec.imports or {}).items():
        if importlib.util.find_spec(module) is None:
            return module, f"overread[{extra}]" if extra else module
    return None


def missing_dependency(spec: AdapterSpec) -> str | None:
    """Return a sentence about the package that an adapter lacks, None for none."""
    missing = missing_import(spec)
    if missing is None:
        return None
    module, package = missing
    return f"{spec.name} needs {module} ({where_to_get(package)})."


def endpoint_of(profile: ModelProfile) -> Endpoint | None:
    """Return the server that a profile's questions go to, None for a local model."""
    spec = spec_of(profile)
    if not spec.remote:
        return None
    return endpoint_at(str(with_defaults(profile, spec).settings["base_url"]))


def adapter_for(profile: ModelProfile, allowance: Allowance = LOCAL_ONLY) -> Adapter:
    """Return the adapter of a profile, one per profile, allowance and process.

    Parameters
    ----------
    profile : ModelProfile
        The model.
    allowance : Allowance
        Which remote servers may be asked.

    Raises
    ------
    WrongUseError
        For an unknown adapter or settings that cannot be used.
    MissingDependencyError
        If a package it needs is not installed.
    PrivacyError
        For an endpoint that may not be asked.
    """
    endpoint = endpoint_of(profile)
    if endpoint is not None:
        allowance.check(endpoint)
    with _lock:  # two threads must not make, and load, the same model twice
        return _made(profile, allowance)


def reader_for(profile: ModelProfile) -> Adapter:
    """Return an adapter that only knows its identity and reads stored replies.

    It needs no allowance, because it asks no remote server: ``generate`` then raises
    ``PrivacyError``.
    """
    with _lock:
        return _made(profile, LOCAL_ONLY)


def profile_from_table(
    table: Mapping[str, object], base: Path | None = None
) -> ModelProfile:
    """Return the profile of a ``[[model]]`` table of a study file or models.toml.

    ``base`` is the folder of that file, to which paths are relative. An invalid table
    raises ``WrongUseError``; an API key in it is refused without being repeated.
    """
    name, adapter = table.get("name"), table.get("adapter")
    if not isinstance(name, str):
        raise WrongUseError("A [[model]] has no name.", 'Add name = "my-server".')
    if not isinstance(adapter, str):
        raise WrongUseError(f"The model '{name}' has no adapter.", _choose_adapter())
    _check_colour(name, table.get(COLOUR))
    rest = {k: v for k, v in table.items() if k not in ("name", "adapter", COLOUR)}
    return check_profile(name, _spec_named(adapter), rest, base)


def _check_colour(name: str, colour: object) -> None:
    if colour is not None and colour not in MODEL_NAMES:
        raise WrongUseError(
            f"The model '{name}' has an unknown {COLOUR}.",
            f"Choose {' or '.join(MODEL_NAMES)}.",
        )


@functools.lru_cache(maxsize=64)
def _made(profile: ModelProfile, allowance: Allowance) -> Adapter:
    spec = spec_of(profile)
    missing = missing_dependency(spec)
    if missing is not None:
        raise MissingDependencyError(missing)
    module, _, name = spec.factory.partition(":")
    factory = getattr(importlib.import_module(module), name)
    whole = with_defaults(profile, spec)
    made = factory(whole, allowance) if spec.remote else factory(whole)
    return cast("Adapter", made)


def _spec_named(name: str) -> AdapterSpec:
    spec = ADAPTERS.get(name) or adapters().get(name)
    if spec is None:
        raise WrongUseError(f"There is no adapter called '{name}'.", _choose_adapter())
    return spec


def _choose_adapter() -> str:
    return f"Choose one of {', '.join(adapters())}."


@functools.cache
def _others() -> Plugins[AdapterSpec]:
    return load_plugins(entry_points(group=ENTRY_POINTS), "adapter", _checked)


def _checked(name: str, spec: object) -> AdapterSpec:
    """Return another package's adapter specification, or raise why it is invalid."""
    if not isinstance(spec, AdapterSpec):
        raise PluginError("is not an AdapterSpec: update or uninstall the package.")
    check_name(name, spec.name, ADAPTERS)
    return spec
