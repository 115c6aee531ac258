"""The pathmmu2024 pack with models of known answers, and what each of them said.

Four scripted models answer by a rule of item, arm and level, each in its own way of
writing, and a tiny next-sentence model chooses by its own probabilities. What a reply
is worth, and what the authors' script makes of it, is worked out here with none of the
study's code.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.helpers.phantom_folders import write_phantom
from tests.helpers.tiny_study import a_spec, finish
from tests.helpers.tiny_transformers import write_tiny_bert
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.domain.run import RunSpec
from viewer.models.transformers_local.foreign import transformers
from viewer.readers.datasets.catalog import read_dataset
from viewer.services.reporting.pack import write_pack
from viewer.services.running.plan_run import plan_run
from viewer.services.synthetic.make_tiles import make_tiles
from viewer.store import cases
from viewer.store.comparing import document_sent
from viewer.store.database import Store, open_store

KINDS = [
    *("brightness", "bubble", "defocus", "hue", "jpeg", "motion", "pixelate"),
    "saturate",
]
ARMS = ("plain", "text_only", "noise", "mismatch")
CORRUPTED = tuple(f"{kind}-{level}" for kind in KINDS for level in range(1, 6))
SCRIPTED = ("m0", "m1", "m2", "m3")
BERT = "bert"
MODELS = (*SCRIPTED, BERT)
RIGHT, WRONG, REFUSED, UNREAD = "right", "wrong", "refused", "unparsed"
_REFUSAL = "I'm sorry, but I can't assist with that."


@dataclass(frozen=True)
class Question:
    """What the tables of the collection say of one question; ``number`` is its No."""

    number: int
    key: str
    subset: str
    split: str
    image: str
    text: str
    written: tuple[str, ...]
    correct: int

    @property
    def options(self) -> tuple[str, ...]:
        """The options' texts without their letters."""
        return tuple(one[3:] for one in self.written)


@dataclass(frozen=True)
class Said:
    """A model's reply to a question, and what it is worth."""

    reply: str
    worth: str


@dataclass(frozen=True)
class Made:
    """A pack that was written, and what it is of; ``said`` by model, condition, key.

    ``left_out`` are the keys of items drawn for a mismatch that have no other question.
    """

    folder: Path
    questions: tuple[Question, ...]
    said: Mapping[tuple[str, str, str], Said]
    left_out: frozenset[str]

    def planned(self, condition: str) -> tuple[Question, ...]:
        """Return the questions that a condition was planned for."""
        out = self.left_out if condition == "mismatch" else ()
        asked = {question.key for question in self.asked(condition)}
        return tuple(q for q in self.questions if q.key in asked or q.key in out)

    def asked(self, condition: str) -> tuple[Question, ...]:
        """Return the questions that a condition asked, in the table's order."""
        return tuple(q for q in self.questions if ("m0", condition, q.key) in self.said)

    def of(self, model: str, condition: str, question: Question) -> Said:
        """Return what was said."""
        return self.said[model, condition, question.key]


def right(model: int, number: int, condition: str) -> bool:
    """Return the scripted models' rule."""
    kind, _, level = condition.rpartition("-")
    if kind in KINDS:
        steep = (model + 2) / 4 + KINDS.index(kind) / 16
        return (number * 3 + model) % 8 >= steep * int(level)
    return {
        "plain": (number + model) % 5 != 0,
        "text_only": number % 3 == 0 or (number + model) % 4 == 0,
        "noise": (number + model) % 3 == 0,
        "mismatch": (number + model) % 2 == 0,
    }[condition]


def make_pack(folder: Path, tiles: int, side: SizePx) -> Made:
    """Write a collection, run the pack with every model, and write it."""
    collection = folder / "tiles"
    write_phantom(make_tiles, collection, tiles, 0, side)
    questions = tuple(_questions(collection))
    said = dict(_scripted(questions))
    bert = write_tiny_bert(folder / "bert")
    with open_store(folder / "s.sqlite") as store:
        cases.add_dataset(store, read_dataset("pathmmu", collection, "tiles"))
        models = (
            *(_model(folder, said, m) for m in SCRIPTED),
            ModelProfile(BERT, "next_sentence", {"model": str(bert), "device": "cpu"}),
        )
        run = plan_run(store, _spec(models))
        finish(store, run)
        write_pack(store, "pathmmu2024", run, folder / "pack")
        asked = list(_sent(store))
        left_out = frozenset(
            item
            for (item,) in store.rows(
                "SELECT item FROM trial WHERE request_sha256 IS NULL"
            )
        )
    drawn = {key for condition, key, _ in asked if condition == "mismatch"}
    tiny = {question.key for question in questions if question.split == "test_tiny"}
    of = {**dict.fromkeys(CORRUPTED, tiny), "mismatch": drawn}
    said = {key: one for key, one in said.items() if key[2] in of.get(key[1], {key[2]})}
    said |= _chosen(bert, questions, asked)
    return Made(folder / "pack", questions, said, left_out)


def asked_in(condition: str) -> tuple[str, ...]:
    """Return the models that a condition asks: one looks at no image."""
    return MODELS if condition in {"text_only", "mismatch"} else SCRIPTED


def _spec(models: Sequence[ModelProfile]) -> RunSpec:
    """Return the pack's own settings, and that one model looks at no image."""
    return a_spec(
        tuple(models),
        study="pathology_mcq",
        dataset="tiles",
        params={
            "arms": ["image", "text_only", "noise", "corruption", "mismatch"],
            "no_image_models": BERT,
        },
    )


def authors_reading(reply: str, question: Question, chance: Random) -> tuple[str, bool]:
    """Return the option's text that the authors' script settles on, and if drawn.

    Written anew from its description (the paper's repository, parse_multi_choice_
    response): marks are stripped one kind after another; ``(A)``, else `` A ``, else
    the words of an option where the reply has more than five; the last one wins; with
    none a random one.
    """
    texts = [one.split(")")[1].strip() for one in question.written]
    truth = texts[question.correct]
    for mark in [",", ".", "!", "?", ";", ":", "'"]:
        reply = reply.strip(mark)
    padded = f" {reply} "
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(texts)]
    found = {i: padded.rfind(f"({one})") for i, one in enumerate(letters)}
    if max(found.values()) < 0:
        found = {i: padded.rfind(f" {one} ") for i, one in enumerate(letters)}
    if max(found.values()) < 0 and len(padded.split()) > 5:
        lower = padded.lower()
        found = {i: lower.rfind(one.lower()) for i, one in enumerate(texts)}
    drawn = max(found.values()) < 0
    best = max(found, key=lambda i: (found[i], -i))
    told = texts[chance.choice(range(len(texts))) if drawn else best]
    return (truth if reply == truth else told), drawn


def _questions(collection: Path) -> Iterator[Question]:
    table = json.loads((collection / "data.json").read_text(encoding="utf-8"))
    for subset, splits in table.items():
        for split, listed in splits.items():
            for one in listed:
                yield Question(
                    number=one["No"],
                    key=f"{subset}-{split}-{one['No']}",
                    subset=subset,
                    split=split,
                    image=one["img"],
                    text=one["question"],
                    written=tuple(one["options"]),
                    correct=one["options"].index(one["answer"]),
                )


def _scripted(
    questions: Sequence[Question],
) -> Iterator[tuple[tuple[str, str, str], Said]]:
    for model, name in enumerate(SCRIPTED):
        for question in questions:
            for condition in (*ARMS, *CORRUPTED):
                ok = right(model, question.number, condition)
                yield (name, condition, question.key), _said(model, question, ok)


def _said(model: int, question: Question, ok: bool) -> Said:
    """Return a reply: a letter, in brackets, in lower case, or a sentence.

    The last model also declines and says nothing.
    """
    option = (question.correct + (not ok)) % len(question.written)
    letter = chr(65 + option)
    if model == 3 and not ok and question.number % 3:
        refuses = question.number % 3 == 1
        return Said(_REFUSAL, REFUSED) if refuses else Said("Hmm.", UNREAD)
    ways = (letter, f"({letter})", letter.lower(), f"The answer is {letter}.")
    return Said(ways[model], RIGHT if ok else WRONG)


def _model(
    folder: Path, said: Mapping[tuple[str, str, str], Said], name: str
) -> ModelProfile:
    answers = {
        f"{key}|{condition}|0": one.reply
        for (model, condition, key), one in said.items()
        if model == name
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(answers))
    return ModelProfile(name, "scripted", {"answers_file": str(path)})


def _sent(store: Store) -> Iterator[tuple[str, str, str]]:
    """Yield condition, item and the question that the next-sentence model was asked."""
    rows = store.rows(
        "SELECT condition, item, request_sha256 FROM trial"
        " WHERE model = ? AND request_sha256 IS NOT NULL",
        (BERT,),
    )
    for condition, item, request in rows:
        facts: Any = document_sent(store, request)["facts"]
        yield condition, item, facts["question"]


def _chosen(
    folder: Path, questions: Sequence[Question], asked: Sequence[tuple[str, str, str]]
) -> dict[tuple[str, str, str], Said]:
    """Return what the next-sentence model chooses, by its probabilities alone."""
    import torch

    hf = transformers()
    model = hf.BertForNextSentencePrediction.from_pretrained(folder).eval()
    words = hf.AutoTokenizer.from_pretrained(folder)
    by_key, known, said = {q.key: q for q in questions}, {}, {}
    for condition, key, text in asked:
        question = by_key[key]
        pair = (text, question.options)
        if pair not in known:
            with torch.inference_mode():
                known[pair] = [
                    float(
                        torch.softmax(
                            model(**words(text, one, return_tensors="pt")).logits[0], -1
                        )[0]
                    )
                    for one in question.options
                ]
        chances = known[pair]
        best = chances.index(max(chances))
        tied = chances.count(max(chances)) > 1
        worth = UNREAD if tied else RIGHT if best == question.correct else WRONG
        said[BERT, condition, key] = Said(chr(65 + best), worth)
    return said
