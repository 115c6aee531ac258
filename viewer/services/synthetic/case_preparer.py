"""Replies of the scripted model that turns generated reports into cases (E004-03)."""

import json
import re
from collections.abc import Iterator
from typing import Final

from viewer.domain.item import Item
from viewer.domain.run import Trial
from viewer.services.synthetic.phantom.evidence_profiles import PROFILES

_FIGURE: Final = re.compile(r"Figure (\d+)\. ([\w -]+): (.+)")
_LABORATORY: Final = "Laboratory: "
_MODALITIES: Final = {"Microscopy": "Pathology"}
"""How the extraction calls a type of evidence that the cases call otherwise."""
INVENTED: Final = "Nothing of this stands in the report."
"""What the model adds to every third report, for the verbatim check to find."""


def prepares_cases(_: Trial, item: Item) -> dict[str, object]:
    """Copy a report's parts under their keys, summarise them, list a differential.

    The distractors are the first three of the differential that are not the diagnosis.
    """
    sections = dict(_sections(item))
    named = [key.removesuffix(" Findings") for key in sections if key not in _TEXTUAL]
    extracted = {"Case ID": item.key, "Modality": ", ".join(named), **sections}
    summaries = {f"{key} Summary": text for key, text in _findings(item)}
    others, diagnosis = _others(item), str(item.reference["diagnosis"])
    chosen = {"ground_truth": diagnosis, "distractors": others}
    ranked = enumerate((diagnosis, *others), start=1)
    return {
        "extraction": _json(extracted),
        "summaries": _json(summaries),
        "differential": "\n".join(f"{rank}. {name}" for rank, name in ranked),
        "distractors": _json(chosen),
    }


_BACKGROUND, _LABS = "Patient Background", "Laboratory Findings"
_TEXTUAL: Final = frozenset({_BACKGROUND, _LABS})


def _sections(item: Item) -> Iterator[tuple[str, str]]:
    paragraphs = str(item.facts["background"]).split("\n\n")
    plain = [text for text in paragraphs if not text.startswith(_LABORATORY)]
    if item.key.endswith(("0", "3", "6", "9")):
        plain.append(INVENTED)
    yield _BACKGROUND, "\n\n".join(plain)
    labs = [text for text in paragraphs if text.startswith(_LABORATORY)]
    if labs:
        yield _LABS, "\n\n".join(labs)
    for number, type_, finding in _FIGURE.findall(str(item.facts["caption"])):
        key = f"{_MODALITIES.get(type_, type_)} Findings"
        yield key, f"{finding} (Figure {number} caption)"


def _findings(item: Item) -> Iterator[tuple[str, str]]:
    for key, text in _sections(item):
        if key != _BACKGROUND:
            yield key, text


def _others(item: Item) -> list[str]:
    diagnosis = item.reference["diagnosis"]
    of = next(p for p in PROFILES if diagnosis in {p.diagnosis.en, p.diagnosis.zh})
    english = diagnosis == of.diagnosis.en
    return [other.en if english else other.zh for other in of.others]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
