"""Whether a server still has those files of a model with which it was checked."""

from collections.abc import Callable, Mapping
from typing import Final

from viewer.domain.exchange import ModelProfile
from viewer.domain.model_check import ModelCheck
from viewer.models.catalog import endpoint_of
from viewer.models.openai_api.loopback_servers import ServedFiles, files_at

_SHORT: Final = 12
"""Characters of a digest that Ollama's own list shows."""


def files_of(
    profile: ModelProfile,
    look: Callable[[str], Mapping[str, ServedFiles] | None] = files_at,
) -> ServedFiles | None:
    """Return the files of a profile's model on its server.

    None if the server does not tell, which only an Ollama on this machine does.
    ``look`` is called with the server's address.
    """
    endpoint = endpoint_of(profile)
    if endpoint is None or profile.settings.get("server") != "ollama":
        return None
    model = str(profile.settings["model"])
    has_tag = ":" in model.rpartition("/")[2]
    return (look(endpoint.url) or {}).get(model if has_tag else f"{model}:latest")


def change_of_files(found: ModelCheck, now: ServedFiles | None) -> str:
    """Return what a server has changed since a check, "" for nothing that it told."""
    if now is None or not found.digest or now.digest == found.digest:
        return ""
    since = f"since {now.since}" if now.since else "now"
    return (
        f"the server has other files for the model: {_short(found.digest)} at the "
        f"check on {found.at[:10]}, {_short(now.digest)} {since}"
    )


def other_files(found: ModelCheck, before: ModelCheck | None) -> str:
    """Return a sentence if two checks were of different files, else ""."""
    if before is None or not before.digest or found.digest in {"", before.digest}:
        return ""
    return f"Its files on the server are others than at the check on {before.at[:10]}."


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:_SHORT]
