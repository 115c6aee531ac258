"""Images and trials of the grounded questions without a run, and tables of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.helpers.tabled import Row, rows
from viewer.domain.answer import LabelsAnswer, Status, Unparsed, YesNoAnswer
from viewer.domain.case import DatasetImage, ImageRef, ReferenceBox, View
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.item import TASK_MARK
from viewer.domain.reference import Mask
from viewer.domain.result import Score, TrialResult
from viewer.results.spec import TRIALS, Spec
from viewer.studies.grounded_vqa.about import About
from viewer.studies.grounded_vqa.edits import edit_frame, word_frame
from viewer.studies.grounded_vqa.frames import EDITS, WORDED, trial_frame
from viewer.studies.grounded_vqa.score import score_closed, score_open
from viewer.studies.grounded_vqa.tables import specs

YES, NO = YesNoAnswer(yes=True), YesNoAnswer(yes=False)
UNREAD = Unparsed(Status.UNPARSED, "no_yes_or_no")
YesNo = YesNoAnswer | Unparsed


def closed(
    item: str,
    said: YesNo,
    *,
    yes: bool = True,
    condition: str = "plain",
    model: str = "m",
    patient: str = "p",
    words: Sequence[object] = (),
) -> TrialResult:
    """Return a closed question that was answered, what it says there or not."""
    kind, verdict = "positive" if yes else "hallucinated", score_closed(said, yes=yes)
    who = (item, patient, "i", kind, "Mass", condition, 0, model)
    gold = json.dumps({"yes": yes, "words": [*words]}) if words else ""
    return TrialResult(*who, verdict, said=said, gold=gold)


def opened(
    item: str,
    said: LabelsAnswer | Unparsed,
    truth: Sequence[str],
    *,
    condition: str = "plain",
    model: str = "m",
) -> TrialResult:
    """Return an open question that was answered."""
    kind = "abnormality" if truth else "normal"
    who = (item, "p", "i", kind, "Heart", condition, 0, model)
    return TrialResult(*who, score_open(said, truth), said=said)


def unsaid(
    item: str, condition: str, status: Status, model: str = "m", view: str = "positive"
) -> TrialResult:
    """Return a question that ended without a reply."""
    who = (item, "p", "i", view, "Mass", condition, 0, model)
    return TrialResult(*who, Score(status))


def probed(
    key: str,
    patient: str,
    replies: Mapping[str, Sequence[YesNo]],
    model: str = "m",
) -> list[TrialResult]:
    """Return a true positive with the replies to its edits, by condition.

    Where there are none the edit could not be made.
    """
    found = [closed(key, YES, model=model, patient=patient)]
    for condition, said in replies.items():
        for number, reply in enumerate(said):
            name = f"{key}{TASK_MARK}{number}"
            found.append(
                closed(name, reply, condition=condition, model=model, patient=patient)
            )
        if not said:
            name = f"{key}{TASK_MARK}none"
            found.append(unsaid(name, condition, Status.EXCLUDED, model))
    return found


def spec_of(name: str) -> Spec:
    """Return a table's specification."""
    every = specs(has_dataset=True, has_boxes=True)
    return next(spec for spec in every if spec.name == name)


def heal_rows(
    name: str,
    results: Sequence[TrialResult],
    truths: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Row]:
    """Return one of the study's tables of some trials."""
    frames = {
        TRIALS: trial_frame(results, About(("q",)), truths or {}),
        EDITS: edit_frame(results, About(("q",))),
        WORDED: word_frame(results),
    }
    return rows(spec_of(name), frames)


SIDE = 40
ANATOMIES = ("Left lung", "Right lung", "Heart")
_WHERE = {
    "Left lung": (slice(5, 35), slice(24, 38)),
    "Right lung": (slice(5, 35), slice(2, 16)),
    "Heart": (slice(18, 34), slice(17, 23)),
}


def block(rows: slice, columns: slice) -> Mask:
    mask = np.zeros((SIDE, SIDE), dtype=np.bool_)
    mask[rows, columns] = True
    return Mask.of_array(mask)


def box_in(anatomy: str) -> BoxPx:
    """Return the box of a whole anatomy: IoU and IoA are 1."""
    rows, columns = _WHERE[anatomy]
    return BoxPx(columns.start, rows.start, columns.stop, rows.stop)


def image(
    key: str,
    pairs: Sequence[tuple[str, str]] = (),
    *,
    patient: str = "",
    anatomies: Sequence[str] = ANATOMIES,
    boxes: Mapping[str, Sequence[BoxPx]] | None = None,
    view: View = View.FRONTAL,
) -> DatasetImage:
    """Return an image in which the (anatomy, finding) pairs are present."""
    drawn: dict[str, list[ReferenceBox]] = {}
    for anatomy, finding in pairs:
        drawn.setdefault(finding, []).append(ReferenceBox(box_in(anatomy)))
    for finding, of in (boxes or {}).items():
        drawn.setdefault(finding, []).extend(map(ReferenceBox, of))
    return DatasetImage(
        key=key,
        patient=patient or f"patient of {key}",
        study="",
        view=view,
        ref=ImageRef(Path(f"{key}.png")),
        geometry=ImageGeometry(SizePx(SIDE, SIDE)),
        sha256="",
        anatomy={name: block(*_WHERE[name]) for name in anatomies},
        boxes={finding: tuple(of) for finding, of in drawn.items()},
    )
