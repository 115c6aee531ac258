"""Every trial of a study about items judged once more, from its raw replies."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viewer.writers.verify.archive import Bundle
from viewer.writers.verify.replies import REFUSALS, Said, body_of, said_in
from viewer.writers.verify.wording import (
    first_in_words,
    has_words,
    names_letter,
    official_reading,
    plain_labels,
    plain_letter,
    plain_score,
    plain_yes,
    unwrapped,
)

STATUSES = frozenset(
    {
        *("pending", "scored_correct", "scored_wrong", "unparsed", "ambiguous"),
        *("out_of_range", "refused", "denied_finding", "truncated"),
        *("provider_error", "excluded"),
    }
)
RIGHT, WRONG, LEFT_OUT = "scored_correct", "scored_wrong", "excluded"
_ASKED_BEFORE = frozenset({"pending", "provider_error", LEFT_OUT})
_ANSWERING = ("answer", "base")
_JUDGE_UNREAD = "judge_unparsed"
_NAMED_SO = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    *("answer", "truth"),
)
Numbers = dict[str, float]


@dataclass(frozen=True)
class ItemVerdict:
    """A trial with the verdict that follows, as tables count it.

    ``said`` is the answer as it was kept, {} for none; ``truth`` what is right.
    """

    item: str
    patient: str
    image: str
    finding: str
    view: str
    condition: str
    repeat: int
    model: str
    status: str
    reason: str
    answer: str
    request: str
    numbers: Mapping[str, float]
    said: Mapping[str, Any]
    truth: Mapping[str, Any]

    @property
    def counted(self) -> bool:
        """Whether it counts in the denominator of the primary rate."""
        return self.status not in (LEFT_OUT, "pending")

    @property
    def is_right(self) -> bool:
        """Whether it counts as right."""
        return self.status == RIGHT


@dataclass
class WordedJudge:
    """What trials are judged by; ``wrong`` are sentences of what does not hold.

    ``tally`` counts what was read again (plain), what only had to be named by its
    reply (held), and what was taken as it stands (taken).
    """

    params: Mapping[str, Any]
    replies: Sequence[Mapping[str, Any]]
    wrong: list[str] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)

    def trial(self, trial: Mapping[str, Any]) -> ItemVerdict:
        """Judge a trial once more; what departs from its record is told."""
        parsed = json.loads(trial["parsed"]) if trial["parsed"] else {}
        told = _TrialCheck(self, trial, parsed)
        self._check_state(told)
        status, reason = told.verdict() if trial["steps"] else _kept_state(trial)
        if (status, reason) != _kept_state(trial):
            kept = " ".join(filter(None, _kept_state(trial)))
            told.tell(f"it is {kept}, but {' '.join(filter(None, (status, reason)))}")
        numbers = dict(trial["numbers"])
        for name, value in told.numbers().items():
            if name in numbers and numbers[name] != value:
                told.tell(f"{name} is {numbers[name]:g}, but {value:g}")
        return _judged(trial, parsed, (status, reason), numbers)

    def _check_state(self, told: "_TrialCheck") -> None:
        trial = told.trial
        if trial["status"] not in STATUSES:
            told.tell(f"'{trial['status']}' is no status")
        if not trial["steps"] and trial["status"] not in _ASKED_BEFORE:
            told.tell("it has a verdict without a reply")
        for step in trial["steps"]:
            told.check_hash(step)


def _kept_state(trial: Mapping[str, Any]) -> tuple[str, str]:
    return trial["status"], trial["reason"]


def _judged(
    trial: Mapping[str, Any],
    parsed: Mapping[str, Any],
    state: tuple[str, str],
    numbers: Numbers,
) -> ItemVerdict:
    return ItemVerdict(
        **{name: trial[name] for name in _NAMED_SO},
        status=state[0],
        reason=state[1],
        request=trial["request_sha256"],
        numbers=numbers,
        said=parsed,
    )


@dataclass
class _TrialCheck:
    """One trial with its replies."""

    judge: WordedJudge
    trial: Mapping[str, Any]
    parsed: Mapping[str, Any]

    def tell(self, what: str) -> None:
        """Note what does not hold of the trial."""
        self.judge.wrong.append(f"trials.jsonl, {name_of(self.trial)}: {what}.")

    def check_hash(self, step: Mapping[str, Any]) -> None:
        """Hold a step's reply against its hash."""
        body = body_of(dict(self.judge.replies[step["reply"]]))
        if hashlib.sha256(body).hexdigest() != step["reply_sha256"]:
            self.tell(f"the reply of the step {step['step']} differs from its hash")

    def verdict(self) -> tuple[str, str]:
        """Return status and reason as they follow from the answer and the truth."""
        kept = _kept_state(self.trial)
        if not self.parsed:
            return "provider_error", kept[1]
        if "status" in self.parsed:
            self._check_unread()
            read = self.parsed["status"], self.parsed["reason"]
            return kept if kept[0] == LEFT_OUT else read
        follows = _VERDICTS.get(self.parsed.get("words", ""))
        found = follows(self) if follows else None
        if found is None or (kept[0] == LEFT_OUT and not self._is_graded()):
            self.judge.tally["taken"] += 1
            return kept
        return found

    def numbers(self) -> Numbers:
        """Return the named numbers that can be worked out again."""
        numbers: Numbers = {}
        truth, said = self.trial["truth"], self._own()
        if "written" in truth and said:
            numbers["official"] = self._official(said.text)
        words = self.parsed.get("words", "")
        if words in _NUMBERS:
            numbers |= _NUMBERS[words](self)
        return numbers

    def _official(self, text: str) -> float:
        """Return what the authors' script reads, of the text as it is or unwrapped."""
        truth, kept = self.trial["truth"], dict(self.trial["numbers"])
        codes = [
            float(official_reading(one, truth["written"], truth["letter"]))
            for one in (text, unwrapped(text))
        ]
        return kept["official"] if kept.get("official") in codes else codes[0]

    def _is_graded(self) -> bool:
        """Tell whether an answer that is left out still is one that follows."""
        return self.parsed.get("words") in ("report", "ranked")

    def _own(self) -> Said | None:
        """Return the reply that the answer was read off, None where nobody can tell.

        Where the question itself was answered otherwise than is followed up, that.
        """
        own = [step for step in self.trial["steps"] if not step["role"]]
        for name in _ANSWERING:
            for step in own:
                if step["step"] == name:
                    return self._read(step)
        return None

    def _texts(self) -> list[str]:
        """Return everything that was replied in the trial's own role."""
        own = [self._read(s) for s in self.trial["steps"] if not s["role"]]
        return [one.text for one in own if one is not None]

    def _read(self, step: Mapping[str, Any]) -> Said | None:
        reply = self.judge.replies[step["reply"]]
        return said_in(reply["kind"], body_of(dict(reply)), reply["length_cap"])

    def _check_unread(self) -> None:
        """Refuse that a reply could not be read that is plainly an answer."""
        said, truth = self._own(), self.trial["truth"]
        if said is None or said.refusal or said.finish in REFUSALS:
            self.judge.tally["plain"] += 1
            return
        options = truth.get("options", ())
        place = plain_letter(said, options) if options else None
        alone = not any(step["role"] for step in self.trial["steps"])
        yes = plain_yes(said) if "yes" in truth and alone else None
        self.judge.tally["taken" if place is None and yes is None else "plain"] += 1
        if yes is not None or (place is not None and place < len(options)):
            self.tell(f"the reply says {said.text.strip()}, the stored reading nothing")

    def choice(self) -> tuple[str, str] | None:
        """Judge a chosen option."""
        truth, option = self.trial["truth"], self.parsed["option"]
        if "right" not in truth:
            return None
        options, place = truth["options"], truth["order"].index(option)
        letter, words = chr(ord("A") + place), options[option]
        shown = [options[i] for i in truth["order"]]
        self._check_choice(self._own(), shown, place)
        if self.trial["answer"] not in (letter, f"{letter}. {words}"):
            self.tell(f"the answer is {self.trial['answer']}, but {letter}")
        return (RIGHT if option == truth["right"] else WRONG), ""

    def _check_choice(
        self, said: Said | None, shown: Sequence[str], place: int
    ) -> None:
        if said is None or not said.text.strip():
            self.judge.tally["taken"] += 1  # likelihoods of the options
            return
        letter, plain = chr(ord("A") + place), plain_letter(said, shown)
        if plain is not None:
            self.judge.tally["plain"] += 1
            if plain != place:
                self.tell(f"the reply says {chr(ord('A') + plain)}, but {letter}")
            return
        self.judge.tally["held"] += 1
        if not names_letter(said.text, letter, shown[place]):
            self.tell(f"the stored reading is {letter}, which the reply does not name")

    def yes_no(self) -> tuple[str, str] | None:
        """Judge a yes or no."""
        if "yes" not in self.trial["truth"]:
            return None
        yes, word = self.parsed["yes"], "Yes" if self.parsed["yes"] else "No"
        said = self._own()
        plain = plain_yes(said) if said else None
        self.judge.tally["taken" if plain is None else "plain"] += 1
        if plain is not None and plain != yes:
            self.tell(f"the reply says {'Yes' if plain else 'No'}, but {word}")
        if self.trial["answer"] != word:
            self.tell(f"the answer is {self.trial['answer']}, but {word}")
        return (RIGHT if yes == self.trial["truth"]["yes"] else WRONG), ""

    def labels(self) -> tuple[str, str] | None:
        """Judge the labels of an open question."""
        truth, read = self.trial["truth"], set(self.parsed["labels"])
        if "labels" not in truth:
            return None
        said, known = self._own(), self.judge.params.get("findings", ())
        plain = plain_labels(said, known, truth["none"]) if said else None
        self.judge.tally["taken" if plain is None else "plain"] += 1
        if plain is not None and plain != read:
            names = ", ".join(sorted(plain)) or truth["none"]
            self.tell(f"the reply says {names}, the stored reading is another one")
        if self.trial["answer"] != (", ".join(self.parsed["labels"]) or truth["none"]):
            self.tell("the answer is not that of the stored reading")
        return (RIGHT if read == set(truth["labels"]) else WRONG), ""

    def label_counts(self) -> Numbers:
        """Return the true and false positive and the false negative labels."""
        truth = self.trial["truth"]
        if "labels" not in truth:
            return {}
        read = set(self.parsed["labels"]) or {truth["none"]}
        wanted = set(truth["labels"]) or {truth["none"]}
        found = (len(read & wanted), len(read - wanted), len(wanted - read))
        return dict(zip(("tp", "fp", "fn"), map(float, found), strict=True))

    def ranked(self) -> tuple[str, str] | None:
        """Judge a list of diagnoses by what its judge said."""
        truth, entries = self.trial["truth"], self.parsed["entries"]
        if "covered_from" not in truth:
            return None
        self.judge.tally["held"] += 1
        for entry in entries:
            if not has_words(self._texts(), entry):
                self.tell(f"no reply has the words of '{entry}'")
        if self.trial["answer"] != "; ".join(entries):
            self.tell("the answer is not that of the stored reading")
        if truth["covered_from"] is None:
            return LEFT_OUT, "not_judged"
        return self._covered(truth)

    def _covered(self, truth: Mapping[str, Any]) -> tuple[str, str] | None:
        if self.trial["reason"] == _JUDGE_UNREAD:
            if self._plain_scores():
                self.tell("the judge's score can be read")
            return "unparsed", _JUDGE_UNREAD
        score = dict(self.trial["numbers"]).get("judge")
        if score is None:
            self.tell("it has no judge's score")
            return None
        off = "" if score in truth["levels"] else "off_rubric"
        return (RIGHT if score >= truth["covered_from"] else WRONG), off

    def rank_numbers(self) -> Numbers:
        """Return the judge's score and the rank of the diagnosis in words."""
        truth, numbers = self.trial["truth"], Numbers()
        if "diagnosis" not in truth:
            return {}
        rank = first_in_words(self.parsed["entries"], truth["diagnosis"])
        if rank is not None:
            numbers["first_match"] = float(rank)
        elif "first_match" in dict(self.trial["numbers"]):
            self.tell("first_match is there, though no entry is the diagnosis")
        scores = self._plain_scores()
        return {**numbers, "judge": float(scores[0])} if scores else numbers

    def _plain_scores(self) -> list[int]:
        """Return what the judge says in the form, as long as nothing else is said."""
        found: list[int] = []
        for step in self.trial["steps"]:
            if step["role"] == "judge":
                said = self._read(step)
                score = plain_score(said) if said else None
                if score is None:
                    return found
                found.append(score)
        return found

    def report(self) -> tuple[str, str] | None:
        """Return that an output in words is there, where people are to judge it."""
        if self.trial["truth"].get("by") != "readers":
            return None
        self.judge.tally["held"] += 1
        if not has_words(self._texts(), self.parsed["text"]):
            self.tell("no reply has the words of the stored output")
        return LEFT_OUT, "ungraded"

    def box_count(self) -> Numbers:
        """Return how many boxes an output names."""
        return {"boxes": float(len(self.parsed["boxes"]))}


_VERDICTS = {
    "choice": _TrialCheck.choice,
    "yes_no": _TrialCheck.yes_no,
    "labels": _TrialCheck.labels,
    "ranked": _TrialCheck.ranked,
    "report": _TrialCheck.report,
}
_NUMBERS = {
    "labels": _TrialCheck.label_counts,
    "ranked": _TrialCheck.rank_numbers,
    "report": _TrialCheck.box_count,
}


def name_of(trial: Mapping[str, Any]) -> str:
    """Return what a trial is called in a sentence."""
    repeat = f", repeat {trial['repeat']}" if trial["repeat"] else ""
    return f"{trial['item']}, {trial['condition']}, {trial['model']}{repeat}"


def worded_judge(bundle: Bundle, plan: Mapping[str, Any]) -> WordedJudge:
    """Return the judge of a bundle's trials."""
    return WordedJudge(plan["params"], tuple(bundle.lines("replies.jsonl")))


def plan_departures(
    plan: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a sentence for each planned trial that is not there once as planned."""
    key = ("item", "condition", "repeat", "model")
    there = Counter(tuple(trial[name] for name in key) for trial in trials)
    planned = {tuple(one[:4]): one[4] for one in plan["trials"]}
    for one in planned:
        if there[one] != 1:
            what = "is missing" if not there[one] else f"is there {there[one]} times"
            yield f"trials.jsonl: the planned trial {_spelled(one)} {what}."
    for one in there:
        if one not in planned:
            yield f"trials.jsonl: nobody planned the trial {_spelled(one)}."
    for trial in trials:
        why = planned.get(tuple(trial[name] for name in key), "")
        if why and (trial["status"], trial["reason"]) != (LEFT_OUT, why):
            yield f"trials.jsonl, {name_of(trial)}: it was planned as left out: {why}."


def _spelled(key: Sequence[object]) -> str:
    return ", ".join(map(str, key))
