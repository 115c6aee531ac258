"""Differences in the questions of two sides: text, settings, models, images, data."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.plain import plain
from viewer.domain.run import RunSpec
from viewer.services.comparing.sides import Pairing, Side
from viewer.services.running.run_notes import DROPPED
from viewer.store import comparing, runs
from viewer.store.comparing import PromptText, RequestSent, TrialLine
from viewer.store.database import Store
from viewer.studies.catalog import study_named

_WORDS: Final = re.compile(r"\s+|[^\s]+")
REJECTED: Final = "left out: the endpoint rejected it"


@dataclass(frozen=True, slots=True)
class WordChange:
    """Words of a prompt in both texts ("equal"), or only in one ("first", "second")."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptDiff:
    """Two prompts, word by word; the name of a missing one is ""."""

    first: str
    second: str
    changes: tuple[WordChange, ...]

    @property
    def same(self) -> bool:
        """Whether every word is the same."""
        return all(change.kind == "equal" for change in self.changes)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of both sides as text; "" if a side does not have it.

    ``note`` says if an endpoint rejected it.
    """

    group: str
    name: str
    first: str
    second: str
    note: str = ""

    @property
    def same(self) -> bool:
        """Whether both sides have the same value."""
        return self.first == self.second


@dataclass(frozen=True, slots=True)
class ImagesSent:
    """How many pairs of sent images have the same bytes, and which do not.

    ``different`` names image and condition; ``unsent`` counts those that at least one
    side never sent.
    """

    same: int
    different: tuple[tuple[str, str], ...]
    unsent: int


@dataclass(frozen=True)
class Asked:
    """All settings of two sides, different and equal."""

    prompts: tuple[PromptDiff, ...]
    settings: tuple[Setting, ...]
    images: ImagesSent


Sent = Mapping[tuple[str, str], RequestSent]
"""What one side sent, by stimulus: image and condition, or item and condition."""


def stimulus_of(line: TrialLine) -> tuple[str, str]:
    """Return the identity of the stimulus of a trial.

    One image with its grid serves every finding; a study about items sends its own
    version for each.
    """
    is_image = bool(line.image) and line.item.startswith(f"{line.image}|")
    return (line.image if is_image else line.item), line.condition


def sent_of(sent: Sent, line: TrialLine) -> tuple[str, ...]:
    """Return the hashes of the images that a side sent in a trial."""
    known = sent.get(stimulus_of(line))
    return known.images if known else ()


def sent_by(store: Store, pairing: Pairing) -> tuple[Sent, Sent]:
    """Return the images that both sides sent, for the verdicts compared."""
    mine, theirs = (_sent(store, lines) for lines in _lines(pairing))
    return mine, theirs


def asked(
    store: Store,
    sides: tuple[Side, Side],
    pairing: Pairing,
    sent: tuple[Sent, Sent],
) -> Asked:
    """Return the differences between the questions of two sides."""
    first, second = (_prompts_of(store, one) for one in sent)
    mine, theirs = (
        _facts(store, side, tuple(lines))
        for side, lines in zip(sides, _lines(pairing), strict=True)
    )
    rejected = _rejected(store, sides[0]), _rejected(store, sides[1])
    return Asked(
        _prompts(first, second),
        _settings(mine, theirs, rejected),
        _images(pairing, *sent),
    )


def _lines(pairing: Pairing) -> tuple[Iterator[TrialLine], Iterator[TrialLine]]:
    return (pair.first for pair in pairing.scored), (p.second for p in pairing.scored)


def _sent(store: Store, lines: Iterable[TrialLine]) -> Sent:
    chosen: dict[tuple[str, str], str] = {}
    for line in lines:
        if line.request_sha256:
            chosen.setdefault(stimulus_of(line), line.request_sha256)
    requests = comparing.requests_sent(store, chosen.values())
    return {key: requests[sha] for key, sha in chosen.items() if sha in requests}


def _prompts_of(store: Store, sent: Sent) -> tuple[PromptText, ...]:
    return comparing.prompts_named(store, (one.prompt_sha256 for one in sent.values()))


def word_diff(first: str, second: str) -> tuple[WordChange, ...]:
    """Return two texts as runs of words that are equal or only in one of them."""
    mine, theirs = _WORDS.findall(first), _WORDS.findall(second)
    # From 200 words on, autojunk would not match the frequent ones, such as blanks.
    matcher = difflib.SequenceMatcher(None, mine, theirs, autojunk=False)
    changes: list[WordChange] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            changes.append(WordChange("equal", "".join(mine[i:j])))
            continue
        changes += [WordChange("first", "".join(mine[i:j]))] if j > i else []
        changes += [WordChange("second", "".join(theirs[k:m]))] if m > k else []
    return tuple(changes)


def _prompts(
    first: tuple[PromptText, ...], second: tuple[PromptText, ...]
) -> tuple[PromptDiff, ...]:
    """Return prompts in pairs: equal ones first, then the rest in order."""
    known = {prompt.sha256 for prompt in second}
    shared = [prompt for prompt in first if prompt.sha256 in known]
    hashes = {prompt.sha256 for prompt in shared}
    mine = [prompt for prompt in first if prompt.sha256 not in hashes]
    theirs = [prompt for prompt in second if prompt.sha256 not in hashes]
    nothing = PromptText("", "", "")
    length = max(len(mine), len(theirs))
    mine += [nothing] * (length - len(mine))
    theirs += [nothing] * (length - len(theirs))
    pairs = [*zip(shared, shared, strict=True), *zip(mine, theirs, strict=True)]
    return tuple(
        PromptDiff(a.name, b.name, word_diff(a.body, b.body)) for a, b in pairs
    )


def _images(pairing: Pairing, mine: Sent, theirs: Sent) -> ImagesSent:
    """Return which images were sent with the same bytes."""
    wanted = dict.fromkeys((stimulus_of(a), stimulus_of(b)) for a, b in pairing.scored)
    different, same, unsent = [], 0, 0
    for one, other in wanted:
        if one not in mine or other not in theirs:
            unsent += 1
        elif mine[one].images == theirs[other].images:
            same += 1
        else:
            different.append((one[0], _both(one[1], other[1])))
    return ImagesSent(same, tuple(different), unsent)


def _both(first: str, second: str) -> str:
    return first if first == second else f"{first} / {second}"


Facts = Mapping[tuple[str, str], str]
"""Settings by group and name."""


def _settings(
    mine: Facts, theirs: Facts, rejected: tuple[frozenset[str], frozenset[str]]
) -> tuple[Setting, ...]:
    return tuple(
        Setting(
            group,
            name,
            mine.get((group, name), ""),
            theirs.get((group, name), ""),
            _note(name, rejected),
        )
        for group, name in dict.fromkeys([*mine, *theirs])
    )


def _note(name: str, rejected: tuple[frozenset[str], frozenset[str]]) -> str:
    where = [
        word
        for word, names in zip(("first", "second"), rejected, strict=True)
        if name in names
    ]
    return f"{REJECTED} ({' and '.join(where)})" if where else ""


def _rejected(store: Store, side: Side) -> frozenset[str]:
    """Return the parameters that a side's endpoint rejected."""
    notes = runs.run_notes(store, side.run)
    return frozenset(
        note.text.split(" ", 1)[0]
        for note in notes
        if note.kind == DROPPED and note.model == side.model
    )


def _facts(store: Store, side: Side, lines: Sequence[TrialLine]) -> Facts:
    """Return everything that determines how a side was asked, by group and name."""
    spec = runs.run_spec(store, side.run)
    asked_first = next((x.request_sha256 for x in lines if x.request_sha256), "")
    document = comparing.document_sent(store, asked_first)
    profile = next(m for m in spec.models if m.name == side.model)
    groups: dict[str, Mapping[str, object]] = {
        "data set": _dataset(store, side.run, spec),
        "study": _study(store, side, spec, lines),
        "study setting": settings_of(spec),
        "model": {
            "adapter": profile.adapter,
            "model": document.get("model", ""),
            "revision": document.get("model_revision", ""),
            "answered as": ", ".join(
                comparing.names_returned(store, side.run, side.model)
            ),
        },
        "endpoint": _mapping(document.get("endpoint")),
        "requested": profile.settings,
        "sent": {**_mapping(document.get("params")), **_mapping(document.get("local"))},
    }
    return {
        (group, name): text
        for group, facts in groups.items()
        for name, text in _texts(facts)
    }


def settings_of(spec: RunSpec) -> Mapping[str, object]:
    """Return a run's study settings, with today's defaults for those it lacks."""
    study = study_named(spec.study)
    settings: dict[str, object] = plain(
        study.read_params(spec.preset, dict(spec.params))
    )
    return settings


def _dataset(store: Store, run: int, spec: RunSpec) -> Mapping[str, object]:
    return {"name": spec.dataset, "content": comparing.dataset_id_of_run(store, run)[1]}


def _study(
    store: Store, side: Side, spec: RunSpec, lines: Sequence[TrialLine]
) -> Mapping[str, object]:
    return {
        "name": spec.study,
        "version": comparing.study_version(store, side.run),
        "parser": _distinct(line.parser_version for line in lines),
        "scorer": _distinct(line.scorer_version for line in lines),
        "preset": spec.preset,
        "seed": spec.seed,
        "repeats": spec.repeats,
        "limit": "" if spec.limit is None else spec.limit,
    }


def _distinct(versions: Iterable[str]) -> str:
    return ", ".join(sorted({version for version in versions if version}))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _texts(facts: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, list | tuple):
            yield name, ", ".join(map(str, value))
        elif isinstance(value, Mapping):
            yield name, ", ".join(f"{k} {v}" for k, v in value.items())
        else:
            yield name, "" if value is None else str(value)
