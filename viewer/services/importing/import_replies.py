"""Import of replies of any model: a file of them becomes a run like any other.

They are stored in the data folder under a name derived from their content, and an
``imported`` model replies with them, so that ledger, the study's own parser and scorer,
reports, comparison and rescoring work as for every run.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.domain.written_reply import WrittenReply, row_of
from viewer.models.catalog import profile_from_table, spec_of
from viewer.models.imported import ADAPTER
from viewer.readers.replies.catalog import read_replies
from viewer.readers.replies.found import FoundReplies
from viewer.services.configuring.study_file import study_spec
from viewer.services.configuring.toml_files import read_toml
from viewer.services.importing.answering_file import (
    check_model,
    no_answer,
    paper_models,
)
from viewer.services.importing.match_replies import MatchedReplies, match_replies
from viewer.services.running.plan_run import plan_run
from viewer.services.running.supported_findings import planned_trials
from viewer.services.sessions import datasets
from viewer.services.trials.run_context import RunContext
from viewer.settings import Settings
from viewer.store import runs
from viewer.store.database import Store, open_store
from viewer.writers.files import write_by_content

FOLDER: Final = "replies"
"""Where in the data folder imported replies are kept."""
_NOT_IN_NAMES: Final = re.compile(r"[\s:;,\"'/\\]+")


@dataclass(frozen=True)
class RepliesSource:
    """The files to import, and the questions they answer.

    ``like`` is a run whose questions they answer, or ``study`` a study file. ``names``
    is the model's name if the files do not give it, and replaces theirs; or the name of
    each file's model. ``model`` selects one of several. ``columns`` maps columns to
    their meaning; ``convention`` is the models' coordinate convention, if the files do
    not give it. ``paper_models`` has by model the model of a paper that it counts as in
    claims; under "" that of the only model.
    """

    files: tuple[Path, ...]
    like: int | None = None
    study: Path | None = None
    names: tuple[str, ...] = ()
    model: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    convention: str = ""
    paper_models: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedReplies:
    """The run that the replies were planned as, and how they matched."""

    run: int
    matched: MatchedReplies


def plan_replies(
    store: Store, settings: Settings, source: RepliesSource
) -> PlannedReplies:
    """Plan the replies of files as a run, which then is asked like any other.

    The same replies to the same questions are the same run.

    Raises
    ------
    UnreadableInputError
        For a file that cannot be read.
    WrongUseError
        If it is not stated which questions are answered or by which model, or if
        none of it can be used.
    """
    spec, matched = match_reply_files(store, settings, source)
    file = _keep(matched.replies, settings.home / FOLDER)
    planned = replace(
        spec,
        models=tuple(_with_file(model, file) for model in spec.models),
        helpers=tuple(
            _with_file(helper, file) if helper.adapter == ADAPTER else helper
            for helper in spec.helpers
        ),
    )
    return PlannedReplies(plan_run(store, planned), matched)


def match_reply_files(
    store: Store, settings: Settings, source: RepliesSource
) -> tuple[RunSpec, MatchedReplies]:
    """Return what the replies in files would answer, without storing anything."""
    found = _read(source)
    replies = found.replies
    spec = _spec(store, settings, source, replies)
    _check_paper_models(source, spec)
    dataset = datasets.dataset_named(store, spec.dataset)
    context = RunContext(spec, dataset)
    planned = planned_trials(context.study, dataset, spec)
    matched = match_replies(replies, planned, context, found.problems)
    if not matched.replies:
        hint = "Check which columns name the item and the condition, and the run."
        raise no_answer(source.files[0], "reply", matched.unused, hint)
    return spec, matched


def _check_paper_models(source: RepliesSource, spec: RunSpec) -> None:
    """Raise for a model of a paper that the results do not use, or of no model."""
    known, names = paper_models(spec.study), [model.name for model in spec.models]
    for name, counts_as in source.paper_models.items():
        if counts_as not in known:
            raise WrongUseError(
                f"The study {spec.study} compares no model with {counts_as}.",
                f"Choose one of {', '.join(known)}."
                if known
                else "Leave out --paper-model.",
            )
        if name and _name(name) not in names:
            raise WrongUseError(
                f"No model '{name}' is imported, which would count as {counts_as}.",
                f"Choose one of {', '.join(names)}.",
            )
        if not name and len(names) > 1:
            raise WrongUseError(
                f"Several models are imported: {', '.join(names)}.",
                f"Name the one that counts as {counts_as}: "
                f'--paper-model "{names[0]}={counts_as}".',
            )


def plan_import(settings: Settings, source: RepliesSource) -> PlannedReplies:
    """Plan the replies of files in the window's store, to be asked by its worker."""
    with open_store(settings.store) as opened:
        return plan_replies(opened, settings, source)


def preview_replies(settings: Settings, source: RepliesSource) -> MatchedReplies:
    """Return what the replies in files would answer; nothing is stored."""
    with open_store(settings.store) as opened:
        return match_reply_files(opened, settings, source)[1]


def _read(source: RepliesSource) -> FoundReplies:
    """Return the replies of the selected models, each under its name."""
    names, files = source.names or ("",), source.files
    if len(names) not in (1, len(files)):
        raise WrongUseError(
            f"There are {counted(len(names), 'name')} for "
            f"{counted(len(files), 'file')}.",
            "Give one name for all files, or one for each in their order.",
        )
    groups = [(file,) for file in files] if len(names) > 1 else [files]
    found = [read_replies(group, source.columns) for group in groups]
    named = zip(groups, names, found, strict=True)
    return FoundReplies(
        tuple(
            reply
            for group, name, of in named
            for reply in _of_models(of.replies, group[0], source.model, name)
        ),
        tuple(problem for of in found for problem in of.problems),
    )


def _of_models(
    replies: Sequence[WrittenReply], file: Path, model: str, name: str
) -> Iterator[WrittenReply]:
    """Yield the replies of the model selected, or of all, each under its name."""
    models = tuple(dict.fromkeys(one.model for one in replies if one.model))
    check_model(file, model, models)
    chosen = (model,) if model else models
    if name and len(chosen) > 1:
        raise WrongUseError(
            f"'{file.name}' has several models: {', '.join(chosen)}.",
            "Choose one of them with --model, or leave out --name.",
        )
    nameless = sum(not one.model for one in replies)
    if nameless and (chosen or not name):
        raise WrongUseError(
            f"'{file.name}' does not name the model of {nameless} of its "
            f"{len(replies)} replies.",
            "Name the model with --name, or in a column model.",
        )
    for one in replies:
        if not chosen or one.model in chosen:
            yield replace(one, model=_name(name or one.model))


def _name(name: str) -> str:
    """Return a model's name without characters that profile names cannot have."""
    return _NOT_IN_NAMES.sub("-", name)


def _spec(
    store: Store,
    settings: Settings,
    source: RepliesSource,
    replies: Sequence[WrittenReply],
) -> RunSpec:
    """Return the questions answered, for models still to be made."""
    models = tuple(_to_be(name, replies, source) for name in _names(replies))
    if source.like is not None:
        spec = replace(runs.run_spec(store, source.like), models=models)
    elif source.study is not None:
        spec = _spec_of_file(source.study, settings, models, replies)
    else:
        raise WrongUseError(
            "It is not stated which questions these replies answer.",
            "Name a run with --like, or a study file with --study.",
        )
    context = RunContext(spec, datasets.dataset_named(store, spec.dataset))
    replied_roles = {one.role for one in replies if one.role}
    roles = context.study.roles(context.params)
    replied = {name for role, name in roles.items() if role in replied_roles}
    return replace(
        spec,
        helpers=tuple(
            _helper(one, replies)
            if one.name in replied and not spec_of(one).takes_boxes
            else one
            for one in spec.helpers
        ),
    )


def _spec_of_file(
    file: Path,
    settings: Settings,
    models: Sequence[ModelProfile],
    replies: Sequence[WrittenReply],
) -> RunSpec:
    """Return a study file's questions; it need not contain the replies' models."""
    table, names = read_toml(file), {model.name for model in models}
    models_in_file = table.get("model", [])
    others = [
        one
        for one in (models_in_file if isinstance(models_in_file, list) else [])
        if not isinstance(one, dict) or one.get("name") not in names
    ]
    stand_ins = [{"name": n, "adapter": "scripted", "answer": ""} for n in names]
    repeats = 1 + max((int(one.repeat or 0) for one in replies), default=0)
    known = {"repeats": repeats, **table, "model": [*others, *stand_ins]}
    spec = study_spec(
        known, file, settings.models_file, models=[model.name for model in models]
    )
    return replace(spec, models=tuple(models))


def _names(replies: Sequence[WrittenReply]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.model for one in replies))


def _to_be(
    name: str, replies: Sequence[WrittenReply], source: RepliesSource
) -> ModelProfile:
    """Return the model of replies before their file is written."""
    counting = {_name(one): paper for one, paper in source.paper_models.items()}
    paper = counting.get(name) or counting.get("")
    given = {"convention": source.convention, "paper_model": paper}
    said = {key: value for key, value in given.items() if value}
    answers = (one for one in replies if one.model == name and not one.role)
    told = next((one.settings for one in answers if one.settings), {})
    return profile_from_table(
        {"name": name, "adapter": ADAPTER, "replies_file": "", **said, **told}
    )


def _helper(helper: ModelProfile, replies: Sequence[WrittenReply]) -> ModelProfile:
    """Return the model of a role whose replies are in the files."""
    helper_replies = (one for one in replies if one.role)
    told = next((one.settings for one in helper_replies if one.settings), {})
    table = {"name": helper.name, "adapter": ADAPTER, "replies_file": ""}
    return profile_from_table({**table, **told})


def _with_file(model: ModelProfile, file: Path) -> ModelProfile:
    return replace(model, settings={**model.settings, "replies_file": str(file)})


def _keep(replies: Sequence[WrittenReply], folder: Path) -> Path:
    """Write replies to a folder under a name derived from their content; return it."""
    lines = [json.dumps(row_of(one), sort_keys=True) for one in replies]
    data = "".join(f"{line}\n" for line in lines).encode()
    return write_by_content(folder, data, ".jsonl").absolute()
