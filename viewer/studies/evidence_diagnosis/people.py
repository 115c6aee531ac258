"""Physicians' differentials as trials, so that the judge scores them as models'.

Chen 2026 gives physicians a coverage of 77.13 % in Table 2, by the judge that scores
the models. Each differential of a data set's physicians becomes a trial of the raw
case, whose first reply is what was written; the judge's question follows. Their choices
among the options need no judge and stay separate rows (rows.py).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.domain.item import Item
from viewer.domain.run import Trial
from viewer.studies.evidence_diagnosis.params import Arm, Params, Task

PHYSICIANS: Final = ModelProfile("physicians", "physicians")
"""The model of a run that stands for all of a data set's physicians."""
PROMPT: Final = "physicians"
WRITTEN: Final = "A physician's differential, as the data set's file has it."
"""What stands for the question; physicians were asked by others."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of one physician, or of several together, to a case.

    ``option`` is an index of the case's options from 0, None if none was chosen.
    """

    reader: str
    differential: tuple[str, ...]
    option: int | None

    @property
    def reply(self) -> str:
        """The differential as a reply that is read as it was written."""
        return json.dumps({"differential": self.differential}, ensure_ascii=False)


def answered(item: Item) -> tuple[Answered, ...]:
    """Return the physicians' answers to a case, in the order of its file."""
    listed: Any = item.reference.get("physicians")
    return tuple(
        Answered(str(name), tuple(map(str, differential)), option)
        for name, differential, option, *_ in (
            listed if isinstance(listed, list) else ()
        )
    )


def judged_people(dataset: Dataset, params: Params) -> tuple[ModelProfile, ...]:
    """Return the physicians as a model, if a judge is to score their differentials."""
    wanted = params.judge and Task.DDX in params.tasks
    if not wanted or Arm.RAW not in params.differential_arms:
        return ()
    there = any(answered(item) for item in dataset.items)
    return (PHYSICIANS,) if there else ()


def of_people(models: Iterable[ModelProfile]) -> bool:
    """Tell whether a run's models include the physicians."""
    return any(model.adapter == PHYSICIANS.adapter for model in models)


def trials_of(item: Item, like: Mapping[str, Any]) -> Iterator[Trial]:
    """Yield a trial for each differential; its repeat counts those who answered."""
    for repeat, one in enumerate(answered(item)):
        if one.differential:
            yield Trial(**like, repeat=repeat, model=PHYSICIANS.name)
