"""The address of a profile's server, and what Azure adds to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from viewer.models.endpoint import Endpoint, endpoint_at
from viewer.models.openai_api.servers import AZURE_API_VERSION


@dataclass(frozen=True)
class Address:
    """An endpoint with its query, and the address of its list of models."""

    endpoint: Endpoint
    query: Mapping[str, str] = field(default_factory=dict)
    models: str = ""


def address_of(settings: Mapping[str, object]) -> Address:
    """Return the address for a profile's questions.

    Azure OpenAI has a path for each deployment, which the profile names as its model,
    and an ``api-version``; its newer addresses end in ``/openai/v1`` and need neither.
    """
    endpoint = endpoint_at(str(settings["base_url"]))
    if settings.get("server") != "azure":
        return Address(endpoint, models=f"{endpoint.url}/models")
    version = settings.get("api_version")
    if endpoint.path.endswith("/v1"):
        query = {"api-version": str(version)} if version else {}
        return Address(endpoint, query, f"{endpoint.url}/models")
    root = endpoint.path.removesuffix("/openai") + "/openai"
    query = {"api-version": str(version or AZURE_API_VERSION)}
    deployment = f"/deployments/{quote(str(settings['model']), safe='')}"
    path = root if settings.get("api") == "responses" else root + deployment
    models = replace(endpoint, path=f"{root}/models").url
    return Address(replace(endpoint, path=path), query, models)
