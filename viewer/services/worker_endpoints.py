"""What the worker finds out about endpoints for the window."""

from collections.abc import Mapping
from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.models.catalog import profile_from_table
from viewer.models.endpoint import Allowance
from viewer.services.model_profiles import model_named
from viewer.services.probe import list_models, probe_with_consent
from viewer.services.probe_rows import report_as_json
from viewer.settings import read_settings
from viewer.store import asking
from viewer.store.database import open_store


def probed(store_path: Path, name: object) -> dict[str, object]:
    """Return what a model's endpoint was found to do, as plain JSON values."""
    models_file = read_settings(store_path).models_file
    profile = model_named(str(name), models_file)
    return {"probed": report_as_json(probe_with_consent(store_path, profile))}


def listed(store_path: Path, table: object) -> dict[str, object]:
    """Return the names of a server's models; ``table`` is a profile, saved or not.

    No image leaves for this, but a server beyond this machine needs consent.
    """
    if not isinstance(table, Mapping):
        raise WrongUseError("The command's 'table' is no table.", "Mend it.")
    folder = read_settings(store_path).models_file.absolute().parent
    profile = profile_from_table({"model": "?", **table}, folder)
    return {"listed": list(list_models(profile, _allowance(store_path)))}


def _allowance(store_path: Path) -> Allowance:
    if not store_path.exists():
        return Allowance()
    with open_store(store_path) as store:
        consents = asking.standing_consents(store)
    return Allowance(frozenset(consent.endpoint for consent in consents))
