"""A reader's locked case as a reply, read and scored by the path of all replies."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from viewer.domain.aid import latest_values
from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.answer_json import answer_as_json
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile, RawReply, ReplyKind
from viewer.domain.form import Form, LikertQuestion, PlaceKind, PlaceQuestion
from viewer.domain.form_values import Value, Values
from viewer.domain.reading_history import Standing
from viewer.domain.run import RunSpec, Trial
from viewer.services.sessions.ground import Ground
from viewer.services.trials.placed_answer import GRID, NATIVE
from viewer.services.trials.run_context import RunContext

ADAPTER: Final = "reader"
SAID_ABSENT: Final = "reader_says_absent"
"""The reason of a reading in which the reader denies the finding."""
_ABSENT: Final = "The finding is not present."
_PLACES: Final = CellAnswer | PointAnswer | BoxesAnswer | MaskAnswer | HeatMapAnswer


def spec_of_reader(ground: Ground) -> RunSpec:
    """Return the settings of a session's run; the reader stands for the model."""
    kinds = {
        kind
        for question in ground.form.questions
        if isinstance(question, PlaceQuestion)
        for kind in question.kinds
    }
    settings: dict[str, object] = {
        "convention": GRID if kinds == {PlaceKind.CELL} else NATIVE,
        "session": ground.session.id,
        "form": f"{ground.form.name} {ground.form.version}",
    }
    profile = ModelProfile(model_name(ground.session.reader), ADAPTER, settings)
    return replace(ground.spec.asked, models=(profile,))


def model_name(reader: str) -> str:
    """Return a reader's name as a model name, such as ``A.-Reader``."""
    return "-".join(re.findall(r"[\w.]+", reader)) or ADAPTER


def trials_of_reader(ground: Ground, dataset: Dataset) -> Mapping[str, Trial]:
    """Return a session's questions as trials of its reader, by item."""
    planned = ground.study.plan(dataset, spec_of_reader(ground))
    return {trial.item: trial for trial in planned}


def reply_of(
    ground: Ground, context: RunContext, trial: Trial, standing: Standing
) -> RawReply:
    """Return a locked case as a reply, with its active time as latency."""
    values = latest_values(standing.values)
    level = confidence_of(ground.form, values)
    body = {
        "text": _text(context, trial, answer_of(ground.form, values)),
        "note": "" if level is None else f"confidence {level}",
    }
    data = json.dumps(body, sort_keys=True).encode()
    return RawReply(ReplyKind.PLAIN, data, latency_ms=standing.active_ms)


def question_of(ground: Ground, trial: Trial) -> str:
    """Return the question that a reader was asked, in the form's words."""
    asked = " ".join(question.text for question in ground.form.questions)
    return f"{trial.finding}. {asked}"


def place_of(form: Form, values: Values) -> Value | None:
    """Return the location that a reader locked, or the word for none."""
    return next(
        (
            values[question.id]
            for question in form.questions
            if isinstance(question, PlaceQuestion) and question.id in values
        ),
        None,
    )


def answer_of(form: Form, values: Values) -> Answer | None:
    """Return the location that a reader locked, None if the finding was denied."""
    place = place_of(form, values)
    return place if isinstance(place, _PLACES) else None


def confidence_of(form: Form, values: Values) -> int | None:
    """Return the level of the form's first scale, None without one."""
    for question in form.questions:
        if isinstance(question, LikertQuestion):
            level = values.get(question.id)
            return level if isinstance(level, int) else None
    return None


def _text(context: RunContext, trial: Trial, answer: Answer | None) -> str:
    native = context.profiles[trial.model].settings["convention"] == NATIVE
    if answer is None:
        denied = Unparsed(Status.DENIED_FINDING, SAID_ABSENT)
        return answer_as_json(denied) if native else _ABSENT
    if isinstance(answer, CellAnswer):
        grid = context.places.grid(trial.condition)
        return grid.label(answer.cell)
    return answer_as_json(answer)
