"""The heal2025 pack of scripted models, and what each of their trials must come to.

The models answer by a rule of question, condition and way. Two of them are as the sham
controls want them: one sees every edit, one says No to whatever was edited. The others
err, are unreadable, refuse and locate nothing at places that the rule tells.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.helpers.heal_run import heal_dataset, heal_spec
from tests.helpers.heal_truth import Asked, Truth, inside, truth_of
from tests.helpers.sheets import Sheet, sheets_below
from tests.helpers.tiny_study import finish
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.services.reporting.pack import PackRequest, plan_pack, write_pack
from viewer.services.running.plan_run import plan_run
from viewer.store.database import Store, open_store
from viewer.studies.grounded_vqa.study import STUDY

MODELS = ("sees", "denies", "slips", "drifts")
TESTS = (
    *("tpt-anatomy", "tpt-disease", "tpt-sham"),
    *("vpt", "vpt-sham-own", "vpt-sham-same"),
)
SWAPS = ("tpt-anatomy", "tpt-disease")
SHAMS = ("tpt-sham", "vpt-sham-own", "vpt-sham-same")
WAYS = ("plain", "contour", "crop", "loba-1", "loba-3")
EVERY_WAY: Mapping[str, object] = {
    "arms": ["plain", "tpt", "vpt", "contour", "crop", "loba"],
    "weights": ["1", "3"],
    "perturb_regions": True,
}
VAGUE, REFUSAL = "Perhaps.", "I'm sorry, but I can't assist with that."
STRAY = "Tuberculosis"
"""A finding that no phantom has."""


@dataclass(frozen=True)
class Verdict:
    """What one trial must come to; ``yes`` and ``labels`` are None without any."""

    asked: Asked
    model: str
    condition: str
    status: str
    reason: str = ""
    answer: str = ""
    yes: bool | None = None
    labels: frozenset[str] | None = None
    dice: float | None = None
    iou: float | None = None

    @property
    def perturbation(self) -> str:
        """The perturbation, "" for none."""
        name = self.condition.partition("/")[0]
        return name if name in TESTS else ""

    @property
    def way(self) -> str:
        """How it is asked."""
        if not self.perturbation:
            return self.condition
        return self.condition.partition("/")[2] or "plain"

    @property
    def counts(self) -> bool:
        """Whether it is in any denominator."""
        return self.status != "excluded"


@dataclass(frozen=True)
class Made:
    """A pack that was written, what it is of, and what its trials must come to."""

    folder: Path
    store: Path
    sheets: Mapping[str, Sheet]
    truth: Truth
    ways: Sequence[str]
    verdicts: Sequence[Verdict]


def make_pack(folder: Path, patients: int, *, every_way: bool) -> Made:
    """Write a phantom, run the pack with four scripted models, and write it."""
    with open_store(folder / "s.sqlite") as store:
        truth = truth_of(heal_dataset(store, folder, patients))
        overrides = dict(EVERY_WAY) if every_way else {}
        models = tuple(_models(folder, truth, overrides))
        run = _planned(store, models, overrides)
        finish(store, run)
        write_pack(store, "heal2025", run, folder / "pack")
    ways = WAYS if every_way else WAYS[:1]
    return Made(
        folder / "pack",
        folder / "s.sqlite",
        sheets_below(folder / "pack"),
        truth,
        ways,
        tuple(verdicts(truth, ways)),
    )


def _planned(
    store: Store, models: tuple[ModelProfile, ...], overrides: Mapping[str, object]
) -> int:
    if overrides:
        return plan_run(store, heal_spec(models, overrides))
    return plan_pack(store, PackRequest("heal2025", "q", models))


def verdicts(truth: Truth, ways: Sequence[str]) -> Iterator[Verdict]:
    """Yield what every planned trial must come to."""
    for q in truth.asked:
        for model in MODELS:
            for way in ways:
                yield _plain(truth, q, model, way)
                if q.yes:
                    for test in TESTS:
                        yield from _edited(truth, q, model, test, way)


def located(model: str, q: Asked, way: str, test: str = "") -> str:
    """Return the box that a first pass names, in thousandths, "" for none."""
    m, w = MODELS.index(model), WAYS.index(way)
    t = TESTS.index(test) + 1 if test else 0
    if m > 1 and (q.number + 3 * w + 5 * t + m) % 13 == 4:
        return ""
    x, y = 40 + 67 * (q.number % 7), 60 + 83 * (q.number % 5)
    return f"[{x}, {y}, {x + 300 + 40 * m}, {y + 350}]"


def said(model: str, q: Asked, way: str) -> str:
    """Return what a model answers to a question as it is."""
    m, w = MODELS.index(model), WAYS.index(way)
    slip = (q.number * 7 + m * 3 + w) % 11 if m > 1 else -1
    if slip in {5, 7}:
        return VAGUE if slip == 5 else REFUSAL
    if q.closed:
        return "Yes, it does." if q.yes != (slip == 0) else "No."
    if slip == 0:
        return STRAY
    named = sorted(q.labels) + ([STRAY] if slip == 1 else [])
    return ", ".join(named) or "There are no abnormalities."


def edit_said(model: str, q: Asked, test: str, way: str) -> str:
    """Return what a model answers to a perturbation of a question."""
    m, w, t = MODELS.index(model), WAYS.index(way), TESTS.index(test)
    if m == 0:
        return "Yes" if test in SHAMS else "No"
    if m == 1:
        return "No"
    slip = (q.number * 5 + m * 2 + t * 3 + w) % 7
    if slip == 3:
        return VAGUE
    return "No" if (test in SHAMS) == (slip == 2) else "Yes"


def _plain(truth: Truth, q: Asked, model: str, way: str) -> Verdict:
    dice, iou = _regions(truth, q, model, way)
    found = Verdict(q, model, way, "unparsed", dice=dice, iou=iou)
    if way != "plain" and dice is None:
        return replace(found, reason="not_located")
    answer = said(model, q, way)
    if answer == REFUSAL:
        return replace(found, status="refused", reason="declined")
    if answer == VAGUE:
        return replace(found, reason="no_yes_or_no" if q.closed else "no_finding_named")
    if q.closed:
        return _answered(found, yes=answer.startswith("Yes"), right=q.yes)
    none = answer.startswith("There")
    labels = frozenset[str]() if none else frozenset(answer.split(", "))
    status = "scored_correct" if labels == q.labels else "scored_wrong"
    spelled = ", ".join(sorted(labels)) or "No finding"
    return replace(found, status=status, answer=spelled, labels=labels)


def _answered(found: Verdict, *, yes: bool, right: bool) -> Verdict:
    status = "scored_correct" if yes == right else "scored_wrong"
    return replace(found, status=status, answer="Yes" if yes else "No", yes=yes)


def _edited(
    truth: Truth, q: Asked, model: str, test: str, way: str
) -> Iterator[Verdict]:
    condition = test if way == "plain" else f"{test}/{way}"
    lost = Verdict(q, model, condition, "excluded")
    if test in SWAPS and not truth.swaps(q, test):
        yield replace(lost, reason="no_valid_swap")
        return
    if test.startswith("vpt") and not (
        truth.donors(q, "vpt") and truth.donors(q, _given_by(test))
    ):
        if test == "vpt" or (test == "vpt-sham-same" and truth.donors(q, "vpt")):
            yield replace(lost, reason="no_donor")
        return
    plain = _plain(truth, q, model, way)
    if plain.yes is not True:
        answer = "No" if plain.yes is False else ""
        yield replace(lost, reason="not_true_positive", answer=answer)
        return
    found = replace(lost, status="unparsed", dice=plain.dice, iou=plain.iou)
    answer = edit_said(model, q, test, way)
    if way != "plain" and not located(model, q, way, test):
        yield replace(found, reason="not_located")
    elif answer == VAGUE:
        yield replace(found, reason="no_yes_or_no")
    else:
        yield _answered(found, yes=answer == "Yes", right=test in SHAMS)


def _given_by(test: str) -> str:
    """Return the test whose donors an image test takes."""
    return "vpt" if test == "vpt-sham-own" else test


def _regions(
    truth: Truth, q: Asked, model: str, way: str
) -> tuple[float | None, float | None]:
    """Return Dice and IoU of a located box with the anatomy, None where none is."""
    box = "" if way == "plain" else located(model, q, way)
    if not box:
        return None, None
    image = next(i for i in truth.dataset.images if i.key == q.image)
    mask = image.anatomy[q.anatomy].array()
    rows, columns = mask.shape
    x0, y0, x1, y1 = (n / 1000 for n in json.loads(box))
    here = BoxPx(x0 * columns, y0 * rows, x1 * columns, y1 * rows)
    region = inside(here, mask.shape)
    both, total = int((region & mask).sum()), int(region.sum() + mask.sum())
    return 2 * both / total, both / (total - both)


def _models(
    folder: Path, truth: Truth, overrides: Mapping[str, object]
) -> Iterator[ModelProfile]:
    """Yield the models; what they say is written down for the trials as planned."""
    stand_in = ModelProfile("any", "scripted", {"answer": "", "interpretable": True})
    trials = STUDY.plan(truth.dataset, heal_spec([stand_in], overrides))
    by_key = {q.key: q for q in truth.asked}
    for model in MODELS:
        answers: dict[str, object] = {}
        for trial in trials:
            q = by_key[trial.item.partition("|")[0]]
            condition = trial.condition.name
            for step, reply in _replies(model, q, condition):
                answers[f"{trial.item}|{condition}|0|{step}"] = reply
        path = folder / f"{model}.json"
        path.write_text(json.dumps(answers))
        settings = {"answers_file": str(path), "interpretable": True}
        yield ModelProfile(model, "scripted", settings)


def _replies(model: str, q: Asked, condition: str) -> Iterator[tuple[str, str]]:
    """Yield every step that a trial may come to, with what is said."""
    name, _, rest = condition.partition("/")
    test = name if name in TESTS else ""
    way = rest or ("plain" if test else name)
    yield "locate", located(model, q, way) or "It is nowhere to be seen."
    if not test:
        yield "answer", said(model, q, way)
        return
    yield "base", said(model, q, way)
    yield "locate edited", located(model, q, way, test) or "Nowhere."
    yield "answer", edit_said(model, q, test, way)
