"""Logs of inspect_ai: a JSON document, or a zip with a JSON document a sample.

Written after https://inspect.aisi.org.uk/reference/inspect_ai.log.html (EvalLog,
EvalSample) and the source, log/_recorders/eval.py and model/_model_output.py of
https://github.com/UKGovernmentBEIS/inspect_ai, for the log version 2; version 3 may
divide a sample into several documents. A sample's id is the item, its epoch the repeat;
what its metadata says of the condition or of the step is taken.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.readers.replies.found import FoundReplies, made_replies
from viewer.readers.replies.rows import Row
from viewer.readers.replies.zip_members import zip_members

_NAMED: Final = ("item", "condition", "repeat", "step", "role")
_SAMPLE: Final = re.compile(r"samples/.+_epoch_\d+\.json")
_DIVIDED: Final = re.compile(r"samples/.+_epoch_\d+/sample\.json")
"""The first document of a sample that is divided into several."""
_ENDS: Final[Mapping[str, str]] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}
"""Stop reasons that say more than that the model had finished."""


def rows_of_log(log: Mapping[str, Any]) -> list[Row]:
    """Return the samples of a log in one document."""
    model = _model(log)
    return [_row(one, model, n) for n, one in enumerate(log["samples"], start=1)]


def samples_of_zip(file: Path) -> list[Row]:
    """Return the samples of a zipped log; raises if it cannot be opened."""
    try:
        with zip_members(file) as archive:
            names = archive.names
            header = "header.json" if "header.json" in names else "_journal/start.json"
            model = _model(read_json(archive.read(header)))
            if any(map(_DIVIDED.fullmatch, names)):
                raise _unsupported(file)
            samples = filter(_SAMPLE.fullmatch, names)
            documents = [read_json(archive.read(name)) for name in samples]
    except NotImplementedError as error:
        raise _unsupported(file) from error
    except (OSError, KeyError, ValueError, RuntimeError, BadZipFile) as error:
        raise UnreadableInputError(
            f"'{file.name}' cannot be read as a log of inspect_ai.",
            "Choose a complete .eval file.",
        ) from error
    return [_row(one, model, n) for n, one in enumerate(documents, start=1)]


def replies_of(file: Path, samples: list[Row]) -> FoundReplies:
    """Return the replies in a log's samples."""
    return made_replies(file, samples)


def _unsupported(file: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"'{file.name}' is stored in a way that cannot be read here.",
        "Convert it with inspect log convert --to json.",
    )


def _model(log: Mapping[str, Any]) -> str:
    found = log.get("eval")
    return str(found.get("model") or "") if isinstance(found, dict) else ""


def _row(sample: object, model: str, number: int) -> Row:
    if not isinstance(sample, dict):
        return Row(f"sample {number}", {})
    metadata = sample.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    named = {name: fields[name] for name in _NAMED if name in fields}
    # inspect_ai counts epochs from 1, a run its repeats from 0.
    repeat = int(sample.get("epoch") or 1) - 1
    trial = {"item": sample.get("id"), "repeat": repeat, "model": model}
    return Row(f"sample {number}", {**trial, **named, **dict(_reply_fields(sample))})


def _reply_fields(sample: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the reply and its finish reason; a failed sample has none."""
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return
    message = choices[0].get("message")
    content = message.get("content") if isinstance(message, dict) else None
    yield "reply", _words(content, refused=False)
    yield "refusal", _words(content, refused=True) if isinstance(content, list) else ""
    yield "finish_reason", _ENDS.get(str(choices[0].get("stop_reason")), "")


def _words(content: object, *, refused: bool) -> str | None:
    """Return a message's content: text, or the text of parts that refuse or do not."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    return "\n".join(
        str(part.get("text") or "")
        for part in content
        if isinstance(part, dict)
        and part.get("type") == "text"
        and bool(part.get("refusal")) is refused
    )
