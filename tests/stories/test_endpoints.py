"""What endpoints do instead of answering ends as a status, through either interface."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.scripted_endpoint import EndpointScript, response
from tests.helpers.scripted_server import Received, Script, ScriptedServer, completion

STUDY = """
study = "grid_localization"
dataset = "phantom"
models = ["m"]
[params]
grids = [8]
[[model]]
name = "m"
adapter = "openai_api"
base_url = "{base_url}"
api = "{api}"
model = "scripted-1"
seed = 1
max_tokens = 64
"""
FILTERED = {"error": {"message": "Filtered.", "code": "content_filter"}}
REFUSAL = [
    {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot help."}]}
]
CUT = {
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
}


class Always(Script):
    """A server with one document for each interface."""

    def __init__(self, chat: object, responses: object, status: int = 200) -> None:
        super().__init__()
        self.documents = {"completions": chat, "responses": responses}
        self.status = status

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Return the interface's document."""
        return self.status, self.documents[request.path.rpartition("/")[2]]


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("script", "status"),
    [
        (
            Always(
                completion(None, refusal="I cannot help."),
                response("", output=REFUSAL),
            ),
            "refused",
        ),
        (Always(FILTERED, FILTERED, 400), "refused"),
        (
            Always(
                completion("The finding is", "length"),
                response("The finding is", **CUT),
            ),
            "truncated",
        ),
        (
            Always(
                completion("<think>perhaps C4"),
                response("<think>perhaps C4"),
            ),
            "unparsed",
        ),
    ],
)
def test_that_what_is_no_answer_has_its_status(
    overread: Callable[..., Any],
    phantom: Path,
    tmp_path: Path,
    api: str,
    script: Script,
    status: str,
) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    with ScriptedServer(script) as server:
        study = tmp_path / "study.toml"
        study.write_text(STUDY.format(base_url=server.base_url, api=api))
        result = overread("run", study, "--limit", 4)
    assert result["counts"] == {status: 4}


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_that_a_rejected_parameter_costs_one_question_and_badges_the_run(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path, api: str
) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    script = EndpointScript(rejects={"seed": "openai"})
    with ScriptedServer(script) as server:
        study = tmp_path / "study.toml"
        study.write_text(STUDY.format(base_url=server.base_url, api=api))
        result = overread("run", study, "--limit", 4, "--threads", 1)
    note = "m: seed was rejected by the endpoint and left out."
    assert result["notes"] == [note]
    assert "provider_error" not in result["counts"]
    assert len(script.received) == 5
    (run,) = overread("runs")
    assert run["notes"] == [note]
