"""Preview of a model's question about a case while prompts are being edited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ImagePart, Message, TextPart
from viewer.domain.run import ANSWER_STEP, RunSpec, Trial
from viewer.services.configuring.own_prompts import prompts_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.catalog import study_named
from viewer.studies.study import BringsPrompts

_MARK: Final = " \N{ASTERISM}"
"""Added to a prompt to see whether a question has it."""
_MOST_LOOKED_AT: Final = 48


@dataclass(frozen=True)
class CaseQuestion:
    """The first question about a case, as a model would be asked it.

    ``position`` is the case's index among ``n_cases``, from 0; ``text`` is (role,
    words) in the order sent, and ``images`` the PNG bytes. ``has_prompt`` is False if
    the requested prompt is not in the question.
    """

    case: str
    position: int
    n_cases: int
    text: tuple[tuple[str, str], ...]
    images: tuple[bytes, ...]
    has_prompt: bool


class PromptPreviews:
    """Questions of a run that is not planned yet; not thread-safe.

    Parameters
    ----------
    store : Path
        The store that has the data set.
    spec : RunSpec
        The run; its prompts are replaced by those that are previewed.
    """

    def __init__(self, store: Path, spec: RunSpec) -> None:
        self._store = store
        params = {k: v for k, v in spec.params.items() if k != "prompt_variants"}
        self._spec = replace(spec, params=params, models=spec.models[:1], repeats=1)

    @cached_property
    def brought(self) -> Mapping[str, str]:
        """The data set's own prompts, by the names of those they replace."""
        study = study_named(self._spec.study)
        if not isinstance(study, BringsPrompts):
            return {}
        return study.brought_prompts(self._dataset)

    def question(
        self, texts: Mapping[str, str], prompt: str, position: int | None
    ) -> CaseQuestion:
        """Return the question about a case with custom prompts.

        Without ``position`` it is about the first of some evenly spread cases whose
        question contains ``prompt``; the very first case if none does.
        """
        known = {**self.brought, **texts}
        text = prompts_of(self._spec.study).text(prompt, known)
        context = self._context(texts)
        marked = self._context({**texts, prompt: text + _MARK})
        if position is None:
            spread = range(0, len(self._cases), 1 + len(self._cases) // _MOST_LOOKED_AT)
            position = next((p for p in spread if self._is_marked(marked, p)), 0)
        position %= len(self._cases)
        trial = self._cases[position]
        messages = _messages(context, trial)
        return CaseQuestion(
            case=trial.item.replace("|", " · "),
            position=position,
            n_cases=len(self._cases),
            text=tuple(_texts(messages)),
            images=tuple(_images(messages)),
            has_prompt=self._is_marked(marked, position),
        )

    def _is_marked(self, marked: RunContext, position: int) -> bool:
        return any(
            _MARK in t for _, t in _texts(_messages(marked, self._cases[position]))
        )

    def _context(self, texts: Mapping[str, str]) -> RunContext:
        params = {**self._spec.params, "prompts": dict(texts)}
        return RunContext(replace(self._spec, params=params), self._dataset)

    @cached_property
    def _dataset(self) -> Dataset:
        with open_store(self._store) as store:
            return cases.dataset_named(store, self._spec.dataset)

    @cached_property
    def _cases(self) -> Sequence[Trial]:
        """The trials that would be asked, one for each item and condition."""
        if not self._spec.models:
            raise WrongUseError(
                "No model is chosen.", "Tick one to see the question that it is asked."
            )
        study = study_named(self._spec.study)
        plan = study.plan(self._dataset, self._spec)
        found = [trial for trial in plan if not trial.exclusion]
        if not found:
            raise WrongUseError(
                f"Nothing in '{self._spec.dataset}' can be asked about.",
                "Choose another data set.",
            )
        return found


def _messages(context: RunContext, trial: Trial) -> tuple[Message, ...]:
    step = context.next_step(trial, ()) or ANSWER_STEP
    sources = context.sources(context.profile_for(trial.model, step))
    return context.question(trial, step, (), sources).messages


def _texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [
        (message.role, part.text)
        for message in messages
        for part in message.parts
        if isinstance(part, TextPart)
    ]


def _images(messages: Sequence[Message]) -> list[bytes]:
    return [
        part.png
        for message in messages
        for part in message.parts
        if isinstance(part, ImagePart)
    ]
