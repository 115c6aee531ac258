"""Words that stand for nothing else, in place of what a reader must not see too early.

They have letters that nobody types in these tests, so that no completion offers one.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]
_LETTERS: Final = "QXJKVW"
_START: Final = "QXJ"
_PLACES: Final = 5
_ANY: Final = re.compile(f"{_START}[{_LETTERS}]{{{_PLACES}}}")
_QUOTED: Final = re.compile(r'"[^"]*"')
_MODELS: Final = ("knows", "errs", "blind", "draws", "writes", "proposes", "judge")
_FIRST: Final = 100
"""Lower numbers are those of models and of other readers."""
OTHER_READER: Final = 50


def secret_word(number: int) -> str:
    """Return a word of its own for each number from 0 to 7,775."""
    letters = []
    for _ in range(_PLACES):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return _START + "".join(letters[::-1])


def secrets_in(text: str) -> set[str]:
    """Return the secret words that a text holds."""
    return set(_ANY.findall(text)) if _START in text else set()


def secret_model(name: str) -> str:
    """Return the secret word that a model of a synthetic collection is called by."""
    return secret_word(_MODELS.index(name))


SECRET_MODELS: Final = frozenset(map(secret_model, _MODELS))


def hide_names(settings: Path) -> None:
    """Call the models of a study file by secret words."""
    named = re.compile(rf"\b({'|'.join(_MODELS)})\b")

    def hidden(quoted: re.Match[str]) -> str:
        text = quoted[0]
        is_file = "/" in text
        return text if is_file else named.sub(lambda m: secret_model(m[0]), text)

    settings.write_text(_QUOTED.sub(hidden, settings.read_text("utf-8")), "utf-8")


def hide_truth(folder: Path, study: str) -> None:
    """Put secret words into what a synthetic collection of a study says is right."""
    words = map(secret_word, count(_FIRST))
    if study not in _HIDES:
        return
    pattern, hide = _HIDES[study]
    for file in sorted(folder.glob(pattern)):
        document = json.loads(file.read_text("utf-8"))
        hide(document, words)
        file.write_text(json.dumps(document, ensure_ascii=False), "utf-8")


def _explanations(document: Json, words: Iterator[str]) -> None:
    for splits in document.values():
        for question in (one for found in splits.values() for one in found):
            question["explanation"] = f"{next(words)} {question['explanation']}"


def _findings(document: Json, words: Iterator[str]) -> None:
    document["findings"] = f"{next(words)} {document['findings']}"


def _diagnoses(document: Json, words: Iterator[str]) -> None:
    """Hide the names of the options, and what experts found in the images."""
    names = {option: next(words) for option in document["options"]}
    document["options"] = [names[option] for option in document["options"]]
    document["diagnosis"] = names[document["diagnosis"]]
    for one in document["evidence"]:
        one["finding"] = f"{next(words)} {one['finding']}"


_HIDES: Final[Mapping[str, tuple[str, Callable[[Json, Iterator[str]], None]]]] = {
    "pathology_mcq": ("data.json", _explanations),
    "rubric_reading": ("study*/case.json", _findings),
    "evidence_diagnosis": ("case-*/case.json", _diagnoses),
}
