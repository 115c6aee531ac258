"""Export of a run's replies, question by question, for later import."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.counting import counted
from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelProfile, RawReply
from viewer.domain.written_reply import FIELDS, WrittenReply, row_of
from viewer.models.catalog import spec_of
from viewer.models.interpretability import is_interpretable
from viewer.models.reading import plain_reply, read_reply
from viewer.services.trials.pseudonyms import Pseudonyms
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.stored_run import context_of_run
from viewer.store import steps, trials
from viewer.store.database import Store, open_store
from viewer.store.trials import ScoredTrial, TrialReply
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

_READ_BY: Final = ("convention", "provider_view", "structured", "model")
"""Settings of a model that say how its replies are read, or who made it."""


@dataclass(frozen=True, slots=True)
class ExportedReplies:
    """The number of replies in a file, of trials with them, and of missing ones."""

    path: Path
    replies: int
    trials: int
    without: int

    @property
    def sentence(self) -> str:
        """What was written, in words."""
        sentence = f"{counted(self.replies, 'reply', 'replies')} to "
        sentence += f"{counted(self.trials, 'trial')} in {self.path}"
        none = f"; {counted(self.without, 'trial')} without a reply left out"
        return sentence + (none if self.without else "")


def export_replies(
    store: Store, run: int, out: Path, model: str = ""
) -> ExportedReplies:
    """Write every reply that a run's verdicts were read from, under pseudonyms.

    JSON lines, or a CSV table if ``out`` ends in ``.csv``. People's replies in the data
    set and a segmenter's masks are left out: importing the file obtains them again.
    ``model`` selects one model of the run.

    Raises
    ------
    WrongUseError
        For an unknown run or model.
    """
    context = context_of_run(store, run, model)
    names = Pseudonyms(context.dataset, ())
    wanted = [
        one
        for one in trials.scored_trials(store, run)
        if (not model or one.trial.model == model)
        and not spec_of(context.profiles[one.trial.model]).person
        and (one.reply_id is not None or one.score.status is not Status.EXCLUDED)
    ]
    replied = [one for one in wanted if one.reply_id is not None]
    rows = [row for one in replied for row in _rows(store, context, names, one)]
    write_atomically(out, _file(rows, out))
    return ExportedReplies(out, len(rows), len(replied), len(wanted) - len(replied))


def export_stored_replies(store: Path, run: int, out: Path) -> ExportedReplies:
    """Write the replies of a run of the store in a file, as the window does."""
    with open_store(store) as opened:
        return export_replies(opened, run, out)


def _file(rows: list[Mapping[str, object]], out: Path) -> bytes:
    if out.suffix.lower() == ".csv":
        there = [name for name in FIELDS if any(name in row for row in rows)]
        return csv_bytes(there, ([row.get(name, "") for name in there] for row in rows))
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _rows(
    store: Store, context: RunContext, names: Pseudonyms, one: ScoredTrial
) -> Iterator[Mapping[str, object]]:
    assert one.reply_id is not None  # noqa: S101 - those without were left out
    trial = one.trial
    for reply in steps.kept_replies(store, one.id, one.reply_id):
        profile = context.profile_for(trial.model, reply.step)
        if spec_of(profile).takes_boxes:
            continue
        written = WrittenReply(
            item=names.item(trial.item, trial.image),
            text="",
            condition=trial.condition.name,
            repeat=str(trial.repeat),
            model=trial.model,
            step=reply.step.name,
            again=reply.step.again,
            role=reply.step.role,
            settings=_settings(profile),
        )
        yield row_of(_with_text(written, reply))


def _with_text(written: WrittenReply, reply: TrialReply) -> WrittenReply:
    """Return a reply with its text, and with its bytes if they contain more."""
    try:
        read = read_reply(reply.raw)
    except ProviderError:
        return replace(written, raw=reply.raw)
    ended = "" if read.finish_reason == "stop" else read.finish_reason
    told = replace(
        written, text=read.text, finish_reason=ended, refusal=read.refusal or ""
    )
    return told if _says_all(told, reply.raw) else replace(told, raw=reply.raw)


def _says_all(told: WrittenReply, raw: RawReply) -> bool:
    """Tell whether a reply can be parsed identically from its text alone."""
    parts = {"finish_reason": told.finish_reason, "refusal": told.refusal}
    plain = plain_reply(told.text, **{k: part for k, part in parts.items() if part})
    timed = raw.latency_ms or raw.headers
    return not timed and read_reply(plain) == replace(read_reply(raw), note="")


def _settings(profile: ModelProfile) -> Mapping[str, object]:
    needed = {key: profile.settings.get(key) for key in _READ_BY}
    settings = {key: value for key, value in needed.items() if value}
    if is_interpretable(spec_of(profile), profile):
        settings["interpretable"] = True
    return settings
