"""A report being made into a case: its questions, and their results (E004-03)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.answer import RankedAnswer, ReportAnswer, Status, Unparsed
from viewer.domain.evidence import Language
from viewer.domain.exchange import Message, TextPart
from viewer.domain.plain import plain
from viewer.domain.result import Score
from viewer.domain.run import Step
from viewer.studies.evidence_diagnosis.params import Task
from viewer.studies.evidence_diagnosis.parse import read_differential
from viewer.studies.evidence_diagnosis.preparation import (
    BACKGROUND,
    DISTRACTORS_SCHEMA,
    EXTRACTION_SCHEMA,
    MODALITIES,
    Distractors,
    Extraction,
    ask_distractors,
    ask_extraction,
    ask_summaries,
    read_distractors,
    read_extraction,
    read_summaries,
)
from viewer.studies.evidence_diagnosis.templates import (
    DDX,
    DISTRACTORS,
    EXTRACTION,
    SUMMARIES,
    open_prompt,
    printed,
    system_of,
    user_template,
)
from viewer.studies.prompts import BUILT_IN, OwnPrompts, asked_with, fill
from viewer.studies.steps import Question, Turn

PREPARED: Final = "prepared"
"""The reason of trials that made something and are neither right nor wrong."""
CHUNKS, INVENTED = "chunks", "invented"
LABS: Final = "Laboratory Findings"
STEPS: Final[Mapping[Task, tuple[str, ...]]] = {
    Task.EXTRACTION: ("extraction",),
    Task.SUMMARIES: ("extraction", "summaries"),
    Task.DISTRACTORS: ("extraction", "differential", "distractors"),
}

_IMAGING: Final = tuple(f"{modality} Findings" for modality in MODALITIES)
_Read = Extraction | Mapping[str, str] | RankedAnswer | Distractors | Unparsed


@dataclass(frozen=True)
class Preparing:
    """A trial about a report, in the study's words."""

    turn: Turn
    own: OwnPrompts = BUILT_IN

    @property
    def task(self) -> Task:
        """The task: what to make from the report."""
        return Task(self.turn.trial.finding)

    @property
    def background(self) -> str:
        """The report's own text."""
        return str(self.turn.item.facts["background"])

    @property
    def caption(self) -> str:
        """The captions of its figures."""
        return str(self.turn.item.facts.get("caption", ""))

    @property
    def diagnosis(self) -> str:
        """The confirmed diagnosis."""
        return str(self.turn.item.reference.get("diagnosis", ""))

    def next_step(self) -> Step | None:
        """Return the next step; none after a reply that cannot be used."""
        done = len(self.turn.so_far)
        steps = STEPS[self.task]
        if done == len(steps) or any(isinstance(x, Unparsed) for x in self._read()):
            return None
        return Step(steps[done])

    def answer(self) -> ReportAnswer | Unparsed:
        """Return the prepared case as JSON, or why there is none."""
        *_, last = self._read()
        if isinstance(last, Unparsed):
            return last
        return ReportAnswer(json.dumps(_as_json(last), ensure_ascii=False))

    def score(self) -> Score:
        """Return the verdict: made or not, and how much is not in the report."""
        answer = self.answer()
        if isinstance(answer, Unparsed):
            return Score(answer.status, answer.reason)
        found = self.extraction()
        counts = (len(found.chunks), len(found.invented)) if found else (0, 0)
        numbers = tuple(zip((CHUNKS, INVENTED), map(float, counts), strict=True))
        return Score(Status.EXCLUDED, PREPARED, answer.text, numbers=numbers)

    def extraction(self) -> Extraction | None:
        """Return the extraction, None if it cannot be read."""
        first = next(self._read(), None)
        return first if isinstance(first, Extraction) else None

    def question(self, step: Step) -> Question:
        """Return the question of a step."""
        if step.name == "extraction":
            text = ask_extraction(
                self.turn.item.key, self.background, self.caption, self.own
            )
            return self._asked(EXTRACTION, text, EXTRACTION_SCHEMA)
        found = self.extraction()
        if step.name == "summaries":
            return self._asked(SUMMARIES, self._summaries(found))
        if step.name == "differential":
            return self._differential(found)
        text = ask_distractors(
            _section(found, (BACKGROUND,)),
            _section(found, _IMAGING),
            _section(found, (LABS,)),
            self.diagnosis,
            self._listed(),
            self.own,
        )
        return self._asked(DISTRACTORS, text, DISTRACTORS_SCHEMA)

    def _summaries(self, found: Extraction | None) -> str:
        return ask_summaries(
            self.turn.item.key,
            found.modalities if found else (),
            _section(found, (BACKGROUND,)),
            {key: _section(found, (key,)) for key in _findings(found)},
            self.own,
        )

    def _differential(self, found: Extraction | None) -> Question:
        """Return our question for a differential, about the report's text alone."""
        language = Language(str(self.turn.item.facts["language"]))
        case = _section(found, (BACKGROUND, LABS, *_IMAGING))
        text = fill(user_template(DDX, language, self.own), {"case": case})
        messages = asked_with(system_of(DDX, self.own), (TextPart(text),))
        name = f"{DDX}_{language}"
        return Question(messages, name, open_prompt(name, self.own))

    def _asked(
        self, name: str, text: str, schema: Mapping[str, object] | None = None
    ) -> Question:
        message = Message("user", (TextPart(text),))
        return Question((message,), name, printed(name, self.own), schema)

    def _listed(self) -> tuple[str, ...]:
        reply = self.turn.reply_to("differential")
        found = read_differential(reply) if reply else None
        return found.entries if isinstance(found, RankedAnswer) else ()

    def _read(self) -> Iterator[_Read]:
        """Yield what each reply so far gives."""
        for replied in self.turn.so_far:
            if replied.step.name == "extraction":
                yield read_extraction(replied.reply, self.background, self.caption)
            elif replied.step.name == "summaries":
                yield read_summaries(replied.reply, _findings(self.extraction()))
            elif replied.step.name == "differential":
                yield read_differential(replied.reply)
            else:
                listed = self._listed()
                yield read_distractors(replied.reply, self.diagnosis, listed)


def prompts(tasks: Sequence[Task], texts: OwnPrompts) -> tuple[tuple[str, str], ...]:
    """Return the name and text of every prompt that the tasks may ask with."""
    names = {
        Task.EXTRACTION: (EXTRACTION,),
        Task.SUMMARIES: (EXTRACTION, SUMMARIES),
        Task.DISTRACTORS: (EXTRACTION, DISTRACTORS),
    }
    asked = dict.fromkeys(name for task in tasks for name in names.get(task, ()))
    return tuple((name, printed(name, texts)) for name in asked)


def _findings(found: Extraction | None) -> list[str]:
    """Return the sections of findings that were extracted."""
    keys = (LABS, *_IMAGING)
    return [key for key in keys if found and found.section(key)]


def _section(found: Extraction | None, keys: Sequence[str]) -> str:
    texts = [found.section(key) for key in keys] if found else []
    return "\n\n".join(text for text in texts if text)


def _as_json(made: _Read) -> object:
    """Return the result as plain values."""
    if isinstance(made, Extraction):
        return {"modalities": list(made.modalities), "chunks": plain(made.chunks)}
    if isinstance(made, Distractors):
        listed = list(made.distractors)
        return {"ground_truth": made.ground_truth, "distractors": listed}
    if isinstance(made, RankedAnswer):
        return list(made.entries)
    return dict(made) if isinstance(made, Mapping) else {}
