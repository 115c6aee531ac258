"""Export of a study's questions, so that other code can answer them."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.exchange import ImagePart, Message, ModelProfile, TextPart
from viewer.domain.run import RunSpec, Step, Trial
from viewer.models.catalog import spec_of
from viewer.models.reading import plain_reply
from viewer.services.configuring.study_file import study_spec
from viewer.services.configuring.toml_files import read_toml
from viewer.services.privacy.gate import open_gate
from viewer.services.running.supported_findings import planned_trials
from viewer.services.sessions import datasets
from viewer.services.trials.few_shot import examples_dataset
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.services.trials.request_key import request_key
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import document_of
from viewer.settings import Settings
from viewer.store import consents, runs, trials
from viewer.store.database import Store
from viewer.store.trials import TrialReply
from viewer.studies.steps import Question
from viewer.writers.files import write_atomically

REQUESTS: Final = "requests.jsonl"
ANY_MODEL: Final = MappingProxyType(
    {"name": "any", "adapter": "scripted", "answer": ""}
)
"""Stands for a model that is yet to answer."""
_PROBES: Final = ("A", "Yes", "No", "nothing that could be read as an answer")
"""Replies after which the same is asked, where what is asked depends on none."""
_MOST_STEPS: Final = 32
_NAME_LENGTH: Final = 24


@dataclass(frozen=True, slots=True)
class ExportedRequests:
    """How many questions, trials and images were written to a folder.

    ``problems`` are sentences on questions that could not be made, ``restricted`` is
    the data set if its images must stay on this machine, else "".
    """

    folder: Path
    requests: int
    trials: int
    images: int
    problems: tuple[str, ...] = ()
    restricted: str = ""

    @property
    def sentence(self) -> str:
        """What was written, in words."""
        made = (
            f"{counted(self.requests, 'question')} of {counted(self.trials, 'trial')}"
        )
        return f"{made} with {counted(self.images, 'image')} in {self.folder}"

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know before passing the folder on."""
        restriction = (
            f"'{self.restricted}' is restricted: its images stay on this machine."
        )
        return (*((restriction,) if self.restricted else ()), *self.problems)


@dataclass(frozen=True)
class _Asked:
    """A question of a trial."""

    trial: Trial
    step: Step
    question: Question


@dataclass
class _Pack:
    """The folder being written."""

    folder: Path
    names: Pseudonyms
    images: set[str] = field(default_factory=set)

    def row(self, asked: _Asked) -> dict[str, object]:
        """Return a question as a line, and write its images."""
        trial, step, question = asked.trial, asked.step, asked.question
        parts = [part for one in question.messages for part in one.parts]
        images = [self._file(part) for part in parts if isinstance(part, ImagePart)]
        row: dict[str, object] = {
            "item": self.names.item(trial.item, trial.image),
            "condition": trial.condition.name,
            "repeat": trial.repeat,
            "step": step.name,
            "again": step.again,
            "role": step.role,
            "messages": [self._message(one) for one in question.messages],
            "images": images,
            "options": list(question.choices.options) if question.choices else [],
            "answer_schema": question.answer_schema,
            "prompt": question.prompt,
        }
        seldom = {"again", "role", "answer_schema"}
        return {name: v for name, v in row.items() if v or name not in seldom}

    def _message(self, message: Message) -> dict[str, object]:
        return {
            "role": message.role,
            "content": [
                {"type": "text", "text": part.text}
                if isinstance(part, TextPart)
                else {"type": "image", "image": self._file(part)}
                for part in message.parts
            ],
        }

    def _file(self, part: ImagePart) -> str:
        """Write an image, named by its content, so that it is written only once."""
        name = f"images/{part.sha256[:_NAME_LENGTH]}.png"
        if name not in self.images:
            write_atomically(self.folder / name, part.png)
            self.images.add(name)
        return name


def export_run_requests(
    store: Store, run: int, out: Path, model: str = "", *, following: bool = False
) -> ExportedRequests:
    """Write the questions of a run to one of its models, by default the first.

    With ``following`` only the next question of each trial is written, given the
    replies in the store.

    Raises
    ------
    WrongUseError
        For an unknown run or model.
    """
    dataset = datasets.dataset_of_run(store, run)
    context = _context(store, runs.run_spec(store, run), dataset)
    profile = _profile(context, model)
    if not following:
        return _write(store, context, _known(context, profile), out)
    numbers = {
        _place(one.trial): one.id
        for one in runs.trials_in(store, run, tuple(Status))
        if one.trial.model == profile.name
    }
    asked = (
        lambda trial=trial: _following(store, context, trial, numbers[_place(trial)])
        for trial in _planned(context, profile)
    )
    return _write(store, context, asked, out)


def export_study_requests(
    store: Store, settings: Settings, file: Path, out: Path, model: str = ""
) -> ExportedRequests:
    """Write the questions of a study file to one of its models; nothing is planned.

    A file without models asks for cells and letters, the usual form. Raises what
    :func:`export_run_requests` raises, and for an invalid file.
    """
    table = read_toml(file)
    if not table.get("models"):
        models = table.get("model", [])
        others = models if isinstance(models, list) else []
        table = {
            **table,
            "models": [ANY_MODEL["name"]],
            "model": [*others, dict(ANY_MODEL)],
        }
    spec = study_spec(table, file, settings.models_file)
    context = _context(store, spec, datasets.dataset_named(store, spec.dataset))
    return _write(store, context, _known(context, _profile(context, model)), out)


def _context(store: Store, spec: RunSpec, dataset: Dataset) -> RunContext:
    examples = examples_dataset(store, spec)
    return RunContext(spec, dataset, open_gate(store, dataset, examples), examples)


def _profile(context: RunContext, model: str) -> ModelProfile:
    """Return the model whose questions are written."""
    asked = [one for one in context.spec.models if not spec_of(one).person]
    profile = next((one for one in asked if model in {"", one.name}), None)
    if profile is None:
        raise WrongUseError(
            f"The model '{model}' is not asked." if model else "No model is asked.",
            f"Choose one of {', '.join(one.name for one in asked)}.",
        )
    return profile


def _planned(context: RunContext, profile: ModelProfile) -> list[Trial]:
    spec = replace(context.spec, models=(profile,))
    planned = planned_trials(context.study, context.dataset, spec)
    return [trial for trial in planned if not trial.exclusion]


def _place(trial: Trial) -> tuple[str, str, int]:
    return trial.item, trial.condition.name, trial.repeat


_Find = Callable[[], Sequence[_Asked]]


def _known(context: RunContext, profile: ModelProfile) -> Iterator[_Find]:
    """Yield functions that find the questions known before any reply.

    The first of every trial comes first, in the order planned, so that programs which
    number the lines from 0 number the trials.
    """
    planned = _planned(context, profile)
    # trial=trial: a bare lambda would see the loop's last trial.
    yield from (lambda trial=trial: _first(context, trial) for trial in planned)
    yield from (lambda trial=trial: _later(context, trial) for trial in planned)


def _first(context: RunContext, trial: Trial) -> Sequence[_Asked]:
    step = context.next_step(trial, ())
    return [_ask(context, trial, step, ())] if step else ()


def _later(context: RunContext, trial: Trial) -> Sequence[_Asked]:
    """Return the later questions that do not depend on replies."""
    first = context.next_step(trial, ())
    found: list[_Asked] = []
    steps = (first,) if first else ()
    for step in _steps_after(context, trial, steps):
        asked = [_ask(context, trial, step, so_far) for so_far in _replied(steps)]
        if any(one.question.messages != asked[0].question.messages for one in asked):
            break
        found.append(asked[0])
        steps = (*steps, step)
    return found


def _steps_after(
    context: RunContext, trial: Trial, steps: tuple[Step, ...]
) -> Iterator[Step]:
    """Yield the following steps, as long as they do not depend on replies."""
    while len(steps) < _MOST_STEPS:
        following = {context.next_step(trial, so_far) for so_far in _replied(steps)}
        step = following.pop()
        if following or step is None:
            return
        yield step
        steps = (*steps, step)


def _replied(steps: Sequence[Step]) -> list[tuple[TrialReply, ...]]:
    """Return a reply to every step of some trials, all the same."""
    return [
        tuple(TrialReply(plain_reply(text), step) for step in steps) for text in _PROBES
    ]


def _following(
    store: Store, context: RunContext, trial: Trial, number: int
) -> Sequence[_Asked]:
    """Return the first question of a trial without a reply in the store, if any."""
    so_far: tuple[TrialReply, ...] = ()
    while (step := context.next_step(trial, so_far)) is not None:
        asked = _ask(context, trial, step, so_far)
        profile = context.profile_for(trial.model, step)
        request = context.request(trial, step, asked.question)
        document = document_of(profile, request, trial.repeat, step)
        reply = trials.kept_reply(store, request_key(document), number)
        if reply is None:
            return (asked,)
        so_far = (*so_far, replace(reply, step=step))
    return ()


def _ask(
    context: RunContext,
    trial: Trial,
    step: Step,
    so_far: Sequence[TrialReply],
) -> _Asked:
    profile = context.profile_for(trial.model, step)
    sources = context.sources(profile, trial.condition.name)
    question = context.question(trial, step, so_far, sources)
    return _Asked(trial, step, question)


def _write(
    store: Store, context: RunContext, finds: Iterable[_Find], out: Path
) -> ExportedRequests:
    pack, problems = _Pack(out, Pseudonyms(context.dataset, ())), []
    lines: list[str] = []
    places = set()
    for find in finds:
        try:
            asked = find()
        except OverreadError as error:
            problems.append(str(error))
            continue
        for one in asked:
            lines.append(json.dumps(pack.row(one), ensure_ascii=False))
            places.add(_place(one.trial))
    write_atomically(out / REQUESTS, "".join(f"{line}\n" for line in lines).encode())
    name = context.dataset.name
    return ExportedRequests(
        folder=out,
        requests=len(lines),
        trials=len(places),
        images=len(pack.images),
        problems=tuple(dict.fromkeys(problems)),
        restricted=name if name in consents.restricted_datasets(store) else "",
    )
