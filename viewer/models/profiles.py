"""Validation of a ``[[model]]`` table against an adapter's settings."""

import difflib
import importlib
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final, cast

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.secret_values import holds_keys, secret_place
from viewer.models import keys
from viewer.models.coordinates.forms import FORMED, not_formed
from viewer.models.protocol import AdapterSpec, Setting

HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
"""A model's name on the hub: owner and model."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[^\s:;,\"'/\\]+")
_LARGEST = 2**53 - 1  # the largest whole number that JSON numbers carry exactly
_MICRO_DOLLARS = 10**6
_KIND_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "the path of a file",
    Decimal: "dollars per million tokens",
}


def hub_model(table: Mapping[str, object]) -> str:
    """Return the name on the hub of a ``[[model]]`` table's model, "" if none."""
    name = str(table.get("model", ""))
    is_local = table.get("adapter") == "transformers_local"
    return name if is_local and HUB_NAME.fullmatch(name) else ""


def check_profile(
    name: str, spec: AdapterSpec, table: Mapping[str, object], base: Path | None
) -> ModelProfile:
    """Return the profile of a table, after checking it against the adapter's settings.

    Parameters
    ----------
    name : str
        The profile's name, as a study file's ``models`` list calls it.
    spec : AdapterSpec
        The adapter it names.
    table : Mapping
        The table without ``name`` and ``adapter``.
    base : Path or None
        The folder of the study file or models.toml with the table, to which paths are
        relative; None leaves paths unchanged.

    Raises
    ------
    WrongUseError
        For an unknown setting, an API key written out, a wrong type, a missing setting,
        or structured answers in a convention without a schema.
    """
    _check_name(name)
    known = {setting.key: setting for setting in spec.settings}
    for key in table:
        _check_key(name, key, table[key], spec, known)
    settings: dict[str, object] = {}
    for setting in spec.settings:
        value = table.get(setting.key, setting.default)
        if value is None and setting.required:
            raise WrongUseError(
                f"The model '{name}' has no {setting.key}.",
                f"Add {setting.key}: {setting.meaning}.",
            )
        if value is not None:
            settings[setting.key] = _checked(name, setting, value, base)
    _check_form(name, settings)
    return ModelProfile(name, spec.name, _completed(name, spec, settings))


def _check_form(name: str, settings: Mapping[str, object]) -> None:
    """Raise if structured answers are wanted in a convention that is not JSON."""
    convention = settings.get("convention")
    if settings.get("structured") and convention not in {None, *FORMED}:
        raise not_formed(name, str(convention))


def with_defaults(profile: ModelProfile, spec: AdapterSpec) -> ModelProfile:
    """Return the profile with every default filled in."""
    defaults = {s.key: s.default for s in spec.settings if s.default is not None}
    settings = _completed(profile.name, spec, {**defaults, **profile.settings})
    return ModelProfile(profile.name, profile.adapter, settings)


def _completed(
    name: str, spec: AdapterSpec, settings: Mapping[str, object]
) -> Mapping[str, object]:
    if not spec.completes:
        return settings
    module, _, function = spec.completes.partition(":")
    complete = getattr(importlib.import_module(module), function)
    return cast("Mapping[str, object]", complete(name, settings))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise WrongUseError(
            "A model's name is empty or holds a space, a quote, a slash, a colon, a "
            "comma or a semicolon.",
            "Use only letters, digits, dots, hyphens and underscores.",
        )


def _check_key(
    name: str,
    key: str,
    value: object,
    spec: AdapterSpec,
    known: Mapping[str, Setting],
) -> None:
    """Raise for an API key, recognised by its value, and for an unknown setting."""
    given = key not in known and holds_keys(key) and isinstance(value, str)
    if given or secret_place({key: value}, keys.known_keys()):
        raise WrongUseError(
            f"The model '{name}' has the setting '{key}', but keys must not be stored "
            "in a file.",
            "Put it into an environment variable and give that variable's name as "
            "api_key_env.",
        )
    if key in known:
        return
    near = difflib.get_close_matches(key, known, n=1)
    raise WrongUseError(
        f"The model '{name}' has an unknown setting '{key}'.",
        f"Did you mean {near[0]}?"
        if near
        else f"{spec.name} knows {', '.join(known) or 'no settings'}.",
    )


def _checked(name: str, setting: Setting, value: object, base: Path | None) -> object:
    """Return the value in stored form; no error repeats it, as it may be a key."""
    where = f"The model '{name}' has a {setting.key} that"
    if setting.kind in (int, float, Decimal):
        return _number(where, setting, value)
    if setting.kind is bool:
        if not isinstance(value, bool):
            raise _wrong_kind(where, setting)
        return value
    if not isinstance(value, str):
        raise _wrong_kind(where, setting)
    if setting.choices and value not in setting.choices:
        raise WrongUseError(
            f"{where} is not known.", f"Choose {' or '.join(setting.choices)}."
        )
    if setting.key.endswith("_env"):
        keys.note_variable(value)
    if setting.key.endswith("_env") and not _VARIABLE.fullmatch(value):
        raise WrongUseError(
            f"{where} is not the name of an environment variable.",
            "Write the variable's name, never the key itself.",
        )
    return value if base is None else _placed(setting, value, base)


def _placed(setting: Setting, value: str, base: Path) -> str:
    """Return a path made absolute, other text unchanged."""
    path = base / Path(value).expanduser()
    if setting.may_be_folder:
        return value if HUB_NAME.fullmatch(value) and not path.is_dir() else str(path)
    return str(path) if setting.kind is Path else value


def _number(where: str, setting: Setting, value: object) -> int | float:
    allowed = int if setting.kind is int else (int, float)
    # A bool is an int in Python, so "seed = true" would count as 1.
    if isinstance(value, bool) or not isinstance(value, allowed):
        raise _wrong_kind(where, setting)
    if not math.isfinite(value) or abs(value) > _LARGEST:
        raise WrongUseError(f"{where} is out of range.", "Choose a smaller number.")
    if setting.minimum is not None and value < setting.minimum:
        raise WrongUseError(
            f"{where} is below {setting.minimum:g}.",
            f"Choose {setting.minimum:g} or more.",
        )
    if setting.maximum is not None and value > setting.maximum:
        raise WrongUseError(
            f"{where} is above {setting.maximum:g}.",
            f"Choose {setting.maximum:g} or less.",
        )
    if setting.kind is Decimal:
        return round(Decimal(str(value)) * _MICRO_DOLLARS)
    return setting.kind(value)  # type: ignore[no-any-return]


def _wrong_kind(where: str, setting: Setting) -> WrongUseError:
    return WrongUseError(
        f"{where} is not {_KIND_NAMES[setting.kind]}.",
        f"It means: {setting.meaning}.",
    )
