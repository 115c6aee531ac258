"""One trial of a study about items, judged from its raw replies and the gold."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viewer.writers.verify.question_answers import (
    Measured,
    judged_boxes,
    judged_number,
    judged_point,
    name_of_cell,
    number_in,
    plain_number,
    same_words,
)
from viewer.writers.verify.replies import (
    REFUSALS,
    ReadReply,
    body_of,
    could_name,
    read_reply,
)
from viewer.writers.verify.verdicts import LEFT_OUT, RIGHT, WRONG, name_of
from viewer.writers.verify.wording import (
    first_in_words,
    has_words,
    names_letter,
    names_two,
    official_reading,
    plain_labels,
    plain_letter,
    plain_score,
    plain_yes,
    unwrapped,
)

_ANSWERING = ("answer", "base")
_JUDGE_UNREAD = "judge_unparsed"
JUDGES = ("judge", "second_judge", "third_judge")
_BEST = 5
"""The Content of an output that is right."""
Numbers = dict[str, float]


@dataclass
class JudgedFrom:
    """What trials are judged from; ``wrong`` lists the problems found.

    ``tally`` counts what was read again (plain), what only had to be named by its reply
    (held), and what was taken unchanged (taken). ``unjudged`` counts right and wrong
    answers whose verdict is among these. What a study of another ``package`` calls an
    answer is its own. ``images`` have the size and masks of images by name, None where
    answers are words. ``graded`` are the numbers that readers' grades come to, by
    model, item and repeat.
    """

    params: Mapping[str, Any]
    replies: Sequence[Mapping[str, Any]]
    package: str = ""
    images: Mapping[str, Any] | None = None
    graded: Mapping[tuple[str, str, int], Numbers] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)
    unjudged: int = 0


def stored_state(trial: Mapping[str, Any]) -> tuple[str, str]:
    """Return the stored status and reason of a trial."""
    return trial["status"], trial["reason"]


@dataclass
class TrialCheck:
    """One trial with its replies."""

    source: JudgedFrom
    trial: Mapping[str, Any]
    parsed: Mapping[str, Any]

    def tell(self, what: str) -> None:
        """Record a problem of the trial."""
        self.source.wrong.append(f"trials.jsonl, {name_of(self.trial)}: {what}.")

    def check_hash(self, step: Mapping[str, Any]) -> None:
        """Compare a step's reply with its hash."""
        body = body_of(dict(self.source.replies[step["reply"]]))
        if hashlib.sha256(body).hexdigest() != step["reply_sha256"]:
            self.tell(f"the reply of the step {step['step']} differs from its hash")

    def verdict(self) -> tuple[str, str]:
        """Return status and reason as they follow from the answer and the gold."""
        stored = stored_state(self.trial)
        if not self.parsed:
            return "provider_error", stored[1]
        if "status" in self.parsed:
            self._check_unread()
            read = self.parsed["status"], self.parsed["reason"]
            return stored if stored[0] == LEFT_OUT else read
        follows = _VERDICTS.get(self._kind())
        found = follows(self) if follows else None
        if found is None or (stored[0] == LEFT_OUT and not self._is_graded()):
            self.source.tally["taken"] += 1
            self.source.unjudged += stored[0] in (RIGHT, WRONG)
            return stored
        return (found[0], stored[1]) if self.source.package else found

    def numbers(self) -> Numbers:
        """Return the named numbers that can be recomputed."""
        numbers: Numbers = {}
        gold, reply = self.trial["gold"], self.answer_reply()
        if {"written", "letter"} <= gold.keys() and reply:
            numbers["official"] = self._official(reply.text)
        kind = self._kind()
        if kind in _NUMBERS:
            numbers |= _NUMBERS[kind](self)
        return numbers

    def _kind(self) -> str:
        """Return the kind of answer, "" for none."""
        of_place = "cell" if "cell" in self.parsed else self.parsed.get("type", "")
        kind: str = self.parsed.get("words", of_place)
        return kind

    def _official(self, text: str) -> float:
        """Return how the authors' script reads the text, as it is or unwrapped."""
        gold, numbers = self.trial["gold"], dict(self.trial["numbers"])
        codes = [
            float(official_reading(one, gold["written"], gold["letter"]))
            for one in (text, unwrapped(text))
        ]
        return numbers["official"] if numbers.get("official") in codes else codes[0]

    def _is_graded(self) -> bool:
        """Tell whether an answer that is left out still is one that follows."""
        return self.parsed.get("words") in ("report", "ranked")

    def answer_reply(self) -> ReadReply | None:
        """Return the reply that the answer was read from, None if that is unknown.

        Where the question itself was answered otherwise than is followed up, that.
        """
        steps = [step for step in self.trial["steps"] if not step["role"]]
        for name in _ANSWERING:
            for step in steps:
                if step["step"] == name:
                    return self._read(step)
        return None

    def last_text(self) -> str:
        """Return the last reply of its model or of another; "" without a reply.

        Of a reply that cannot be read it is the body.
        """
        steps = self.trial["steps"]
        answer_steps = [step for step in steps if not step["role"]] or steps
        if not answer_steps:
            return ""
        step = answer_steps[-1]
        reply = self._read(step)
        if reply is not None:
            return reply.text.encode("utf-8", "replace").decode()
        body = body_of(dict(self.source.replies[step["reply"]]))
        return body.decode("utf-8", "replace")

    def _texts(self) -> list[str]:
        """Return all replies in the trial's own role."""
        replies = [self._read(s) for s in self.trial["steps"] if not s["role"]]
        return [one.text for one in replies if one is not None]

    def _read(self, step: Mapping[str, Any]) -> ReadReply | None:
        reply = self.source.replies[step["reply"]]
        return read_reply(reply["kind"], body_of(dict(reply)), reply["length_cap"])

    def _check_unread(self) -> None:
        """Report a reply stored as unreadable that is plainly an answer."""
        reply, gold = self.answer_reply(), self.trial["gold"]
        if reply is None or reply.refusal or reply.finish in REFUSALS:
            self.source.tally["plain"] += 1
            return
        options = gold.get("options", ())
        place = plain_letter(reply, options) if options else None
        alone = not any(step["role"] for step in self.trial["steps"])
        yes = plain_yes(reply) if "yes" in gold and alone else None
        self.source.tally["taken" if place is None and yes is None else "plain"] += 1
        if yes is not None or (place is not None and place < len(options)):
            self.tell(
                f"the reply says {reply.text.strip()}, but the stored answer is empty"
            )

    def choice(self) -> tuple[str, str] | None:
        """Judge a chosen option."""
        gold, option = self.trial["gold"], self.parsed["option"]
        if not {"right", "options", "order"} <= gold.keys():
            return None
        options, place = gold["options"], gold["order"].index(option)
        letter, words = chr(ord("A") + place), options[option]
        shown = [options[i] for i in gold["order"]]
        self._check_choice(self.answer_reply(), shown, place)
        self._check_answer(letter, f"{letter}. {words}")
        return (RIGHT if option == gold["right"] else WRONG), ""

    def _check_answer(self, *called: str) -> None:
        """Compare the printed answer with its recomputed name."""
        if self.trial["answer"] not in called and not self.source.package:
            self.tell(f"the answer is {self.trial['answer']}, but {called[0]}")

    def _check_choice(
        self, reply: ReadReply | None, shown: Sequence[str], place: int
    ) -> None:
        if reply is None or not reply.text.strip():
            self.source.tally["taken"] += 1  # likelihoods of the options
            return
        letter, plain = chr(ord("A") + place), plain_letter(reply, shown)
        if plain is not None:
            self.source.tally["plain"] += 1
            if plain != place:
                self.tell(f"the reply says {chr(ord('A') + plain)}, but {letter}")
            return
        self.source.tally["held"] += 1
        if names_two(reply, shown):
            self.tell(f"the stored answer is {letter}, but the reply names two options")
        elif not names_letter(reply.text, letter, shown[place]):
            self.tell(f"the stored answer is {letter}, which the reply does not name")

    def yes_no(self) -> tuple[str, str] | None:
        """Judge a yes or no."""
        if "yes" not in self.trial["gold"]:
            return None
        yes, word = self.parsed["yes"], "Yes" if self.parsed["yes"] else "No"
        reply = self.answer_reply()
        plain = plain_yes(reply) if reply else None
        self.source.tally["taken" if plain is None else "plain"] += 1
        if plain is not None and plain != yes:
            self.tell(f"the reply says {'Yes' if plain else 'No'}, but {word}")
        self._check_answer(word)
        return (RIGHT if yes == self.trial["gold"]["yes"] else WRONG), ""

    def labels(self) -> tuple[str, str] | None:
        """Judge the labels of an open question."""
        gold, read = self.trial["gold"], set(self.parsed["labels"])
        if not {"labels", "none"} <= gold.keys():
            return None
        reply = self._extracted() or self.answer_reply()
        known = self.source.params.get("findings", ())
        plain = plain_labels(reply, known, gold["none"]) if reply else None
        self.source.tally["taken" if plain is None else "plain"] += 1
        if plain is not None and plain != read:
            names = ", ".join(sorted(plain)) or gold["none"]
            self.tell(f"the reply says {names}, but the stored answer is different")
        self._check_answer(", ".join(self.parsed["labels"]) or gold["none"])
        return (RIGHT if read == set(gold["labels"]) else WRONG), ""

    def _extracted(self) -> ReadReply | None:
        """Return what a model extracted from the answer, None if none did."""
        by = [step for step in self.trial["steps"] if step["role"] == "extractor"]
        return self._read(by[-1]) if by else None

    def label_counts(self) -> Numbers:
        """Return the true and false positive and the false negative labels."""
        gold = self.trial["gold"]
        if not {"labels", "none"} <= gold.keys():
            return {}
        read = set(self.parsed["labels"]) or {gold["none"]}
        wanted = set(gold["labels"]) or {gold["none"]}
        found = (len(read & wanted), len(read - wanted), len(wanted - read))
        return dict(zip(("tp", "fp", "fn"), map(float, found), strict=True))

    def ranked(self) -> tuple[str, str] | None:
        """Judge a list of diagnoses by its judge's reply."""
        gold, entries = self.trial["gold"], self.parsed["entries"]
        if not {"covered_from", "levels"} <= gold.keys():
            return None
        self.source.tally["held"] += 1
        for entry in entries:
            if not has_words(self._texts(), entry):
                self.tell(f"no reply contains the text of '{entry}'")
        self._check_answer("; ".join(entries))
        if gold["covered_from"] is None:
            return LEFT_OUT, "not_judged"
        return self._covered(gold)

    def _covered(self, gold: Mapping[str, Any]) -> tuple[str, str] | None:
        if self.trial["reason"] == _JUDGE_UNREAD:
            plain = [self._plain_score(role) for role in self._judges()]
            if self._counting(plain) is not None:
                self.tell("the judge's score can be read")
            return "unparsed", _JUDGE_UNREAD
        score = dict(self.trial["numbers"]).get("judge")
        if score is None:
            self.tell("it has no judge's score")
            return None
        off = "" if score in gold["levels"] else "off_rubric"
        return (RIGHT if score >= gold["covered_from"] else WRONG), off

    def rank_numbers(self) -> Numbers:
        """Return the judge's score and the rank of the diagnosis in words."""
        gold, numbers = self.trial["gold"], Numbers()
        if "diagnosis" not in gold:
            return {}
        rank = first_in_words(self.parsed["entries"], gold["diagnosis"])
        if rank is not None:
            numbers["first_match"] = float(rank)
        elif "first_match" in dict(self.trial["numbers"]):
            self.tell("first_match is present, although no entry is the diagnosis")
        scores = [self._plain_score(role) for role in self._judges()]
        if len(scores) > 1:
            own = {
                f"judge_{n}": float(x) for n, x in enumerate(scores, 1) if x is not None
            }
            numbers |= own
        counting = self._counting(scores)
        return numbers if counting is None else {**numbers, "judge": float(counting)}

    def _judges(self) -> list[str]:
        """Return the roles of the judges; one until a run names others."""
        params = self.source.params
        return [role for role in JUDGES if params.get(role)] or [JUDGES[0]]

    def _counting(self, scores: Sequence[int | None]) -> int | None:
        """Return the score that counts, None unless every one needed is plain."""
        if self.source.params.get("decided_by") != "majority":
            return scores[0]
        known = sorted(score for score in scores if score is not None)
        return known[(len(known) - 1) // 2] if len(known) == len(scores) else None

    def _plain_score(self, role: str = "judge") -> int | None:
        """Return a judge's score if its first reply is exactly in the form."""
        replies = (step for step in self.trial["steps"] if step["role"] == role)
        reply = next((self._read(step) for step in replies), None)
        return plain_score(reply) if reply else None

    def report(self) -> tuple[str, str] | None:
        """Judge a worded output by its grades; without any it is excluded.

        One that answers a question is judged by the number or the words that are right.
        """
        gold = self.trial["gold"]
        if "number" in gold or "text" in gold:
            return self._number() if "number" in gold else self._words()
        if gold.get("by") != "readers":
            return None
        self.source.tally["held"] += 1
        if not has_words(self._texts(), self.parsed["text"]):
            self.tell("no reply contains the text of the stored output")
        reply, stored = self.answer_reply(), self.parsed.get("pictures", 0)
        if reply is not None and reply.pictures != stored:
            self.tell(f"its reply has {reply.pictures} pictures, but {stored}")
        if not (graded := self._graded()):
            return LEFT_OUT, "ungraded"
        for name in sorted(graded.keys() - dict(self.trial["numbers"]).keys()):
            self.tell(f"{name} is missing, but {graded[name]:g}")
        return (RIGHT if graded["content"] == _BEST else WRONG), ""

    def _number(self) -> tuple[str, str] | None:
        written = self.parsed["text"]
        value, reply = number_in(written), self.answer_reply()
        if value is None:
            return None
        plain = plain_number(reply) if reply else None
        self.source.tally["held" if plain is None else "plain"] += 1
        if plain is not None and plain != value:
            self.tell(f"the reply says {plain:g}, but {written}")
        elif not any(written in text for text in self._texts()):
            self.tell(f"no reply contains the number {written}")
        self._check_answer(written)
        return (RIGHT if judged_number(value, self.trial["gold"])[0] else WRONG), ""

    def _words(self) -> tuple[str, str] | None:
        gold, words = self.trial["gold"], self.parsed["text"]
        self.source.tally["held"] += 1
        if not has_words(self._texts(), words):
            self.tell("no reply contains the words of the stored answer")
        self._check_answer(words)
        if gold["match"] != "judged":
            is_right = same_words(words, gold["text"], gold["match"])
            return (RIGHT if is_right else WRONG), ""
        judged = [self._read(s) for s in self.trial["steps"] if s["role"] == "judge"]
        yes = plain_yes(judged[-1]) if judged and judged[-1] else None
        if yes is None:
            return stored_state(self.trial)
        return (RIGHT if yes else WRONG), ""

    def cell(self) -> tuple[str, str] | None:
        """Judge a cell of the grid that a question has."""
        if "cells" not in self.trial["gold"]:
            return None
        name, reply = name_of_cell(self.parsed), self.answer_reply()
        self.source.tally["held"] += 1
        if reply is not None and not could_name(reply.text, name):
            self.tell(f"the stored answer is {name}, which the reply does not name")
        self._check_answer(name)
        return (RIGHT if name in self.trial["gold"]["cells"] else WRONG), ""

    def place(self) -> tuple[str, str] | None:
        """Judge a point or boxes, using the stored pixels."""
        if (measured := self._measured()) is None:
            return None
        self.source.tally["taken"] += 1
        return (RIGHT if measured[0] else WRONG), ""

    def place_numbers(self) -> Numbers:
        """Return the measurements of a point or of boxes."""
        measured = self._measured()
        return {} if measured is None else measured[1]

    def _measured(self) -> Measured | None:
        gold = self.trial["gold"]
        if "boxes" in self.parsed and "boxes" in gold:
            return judged_boxes(self.parsed["boxes"], gold)
        if "point" in self.parsed and {"point", "point_in"} & gold.keys():
            return judged_point(self.parsed["point"], gold)
        return None

    def report_numbers(self) -> Numbers:
        """Return the number of boxes an output names, and its grades.

        Of a number it is how far it is off.
        """
        value = number_in(self.parsed["text"])
        if "number" in self.trial["gold"] and value is not None:
            return judged_number(value, self.trial["gold"])[1]
        return {"boxes": float(len(self.parsed["boxes"])), **self._graded()}

    def _graded(self) -> Numbers:
        if " control=" in self.trial["condition"]:
            return {}
        output = (self.trial[name] for name in ("model", "item", "repeat"))
        return self.source.graded.get(tuple(output), {})


_VERDICTS = {
    "choice": TrialCheck.choice,
    "yes_no": TrialCheck.yes_no,
    "labels": TrialCheck.labels,
    "ranked": TrialCheck.ranked,
    "report": TrialCheck.report,
    "cell": TrialCheck.cell,
    "point": TrialCheck.place,
    "boxes": TrialCheck.place,
}
_NUMBERS = {
    "labels": TrialCheck.label_counts,
    "ranked": TrialCheck.rank_numbers,
    "report": TrialCheck.report_numbers,
    "point": TrialCheck.place_numbers,
    "boxes": TrialCheck.place_numbers,
}
