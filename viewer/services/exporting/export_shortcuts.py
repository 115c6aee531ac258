"""Cases that are solved from their options alone, to keep, revise or exclude.

The review is a table, ``options.csv``, that a person fills in; what remains is written
as cases to import and to ask again, until no shortcut is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isnan
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.evidence import OPTIONS, EvidenceCase
from viewer.metrics.estimate import Estimate
from viewer.metrics.proportions import patient_interval
from viewer.readers.datasets.csv_tables import CsvRow
from viewer.readers.datasets.medsyn_case import file_of
from viewer.services.exporting.export_cases import (
    case_written,
    cases_results,
    copy_image,
    review_rows,
    wrong_row,
)
from viewer.store.database import Store, open_store
from viewer.studies.evidence_diagnosis.shortcuts import OptionsAlone, options_alone
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

REVIEW: Final = "options.csv"
_NEW: Final = tuple(f"new_{n}" for n in range(1, OPTIONS))
COLUMNS: Final = (
    *("case", "models_right", "models_asked", "shortcut", "diagnosis"),
    *(f"distractor_{n}" for n in range(1, OPTIONS)),
    *("candidates", "verdict", *_NEW, "reader"),
)


class Verdict(StrEnum):
    """What a person decides about a case's options."""

    KEEP = "keep"
    REVISE = "revise"
    """Other distractors replace those that the row names others for."""
    EXCLUDE = "exclude"


@dataclass(frozen=True)
class Round:
    """A round of the search: what was found, and what became of it.

    ``share`` is that of cases with a shortcut, with its interval; ``by_chance`` the
    number expected if every model guessed. ``begun`` is True if the table was written.
    """

    found: tuple[OptionsAlone, ...]
    share: Estimate
    written: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    begun: bool = False

    @property
    def shortcuts(self) -> int:
        """How many cases most models solve from their options alone."""
        return sum(one.shortcut for one in self.found)

    @property
    def by_chance(self) -> float:
        """How many would be if every model guessed."""
        return sum(one.by_chance for one in self.found)

    @property
    def sentence(self) -> str:
        """How many cases are solved, with the interval, and how many by guessing."""
        low, high = self.share.interval.low, self.share.interval.high
        ends = "" if isnan(low) else f", 95 % interval {low:.1%} to {high:.1%}"
        return (
            f"Most models solve {self.shortcuts} of {counted(len(self.found), 'case')} "
            f"from the options alone ({self.share.value:.1%}{ends}); guessing would "
            f"solve {self.by_chance:.1f}."
        )

    def written_to(self, out: Path) -> str:
        """Say what was written into a folder, and what is to be done with it."""
        if self.begun:
            ask = "write keep, revise or exclude as each shortcut's verdict"
            return f"{out / REVIEW}: {ask}, then export again."
        cases = counted(len(self.written), "case")
        return f"{cases} written, {len(self.excluded)} excluded."


def export_shortcuts(store: Store, run: int, out: Path) -> Round:
    """Write the table of a run's shortcuts into a folder, or the cases that it leaves.

    Raises
    ------
    WrongUseError
        The run is of another study, or no model answered from the options alone.
    UnreadableInputError
        The table has a row that cannot be used; the message names its line.
    """
    own = cases_results(store, run, "whose cases have no options")
    dataset = own.context.dataset
    found = options_alone(own.results, dataset.items)
    if not found:
        raise WrongUseError(
            f"In run {run} no model answered a case from its options alone.",
            'Run the study with controls = ["options_only"] and several models.',
        )
    this = Round(found, _share(found, dataset))
    table = out / REVIEW
    if not table.is_file():
        write_atomically(table, csv_bytes(COLUMNS, map(_row, found)))
        return replace(this, begun=True)
    return _applied(this, read_review(table, found), dataset, out)


def export_stored_shortcuts(store: Path, run: int, out: Path) -> Round:
    """Do `export_shortcuts` for the window."""
    with open_store(store) as opened:
        return export_shortcuts(opened, run, out)


def _share(found: Sequence[OptionsAlone], dataset: Dataset) -> Estimate:
    patients = {item.key: item.patient for item in dataset.items}
    hits: dict[str, int] = {}
    trials: dict[str, int] = {}
    for one in found:
        patient = patients[one.case.key]
        hits[patient] = hits.get(patient, 0) + one.shortcut
        trials[patient] = trials.get(patient, 0) + 1
    return patient_interval([*hits.values()], [*trials.values()], len(found))


def _row(one: OptionsAlone) -> tuple[object, ...]:
    case = one.case
    return (
        *(case.key, len(one.right), one.asked, "yes" if one.shortcut else "no"),
        *(case.diagnosis, *_distractors(case), "; ".join(one.candidates)),
        *("", *("",) * len(_NEW), ""),
    )


def _distractors(case: EvidenceCase) -> tuple[str, ...]:
    options = enumerate(case.options)
    return tuple(option for place, option in options if place != case.answer)


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's verdict, and the distractors that are to be others, "" to keep one."""

    verdict: Verdict
    new: tuple[str, ...] = ()


def read_review(path: Path, found: Sequence[OptionsAlone]) -> dict[str, Decided]:
    """Read the verdicts in a table of shortcuts; raises as `export_shortcuts` does."""
    known = {one.case.key for one in found}
    decided: dict[str, Decided] = {}
    for row in review_rows(path, COLUMNS, ("case", "verdict", *_NEW)):
        key = row.cells.get("case", "")
        if problem := _problem(row, known, decided):
            raise wrong_row(path, row, problem)
        if verdict := row.cells.get("verdict", "").casefold():
            new = tuple(row.cells.get(name, "") for name in _NEW)
            decided[key] = Decided(Verdict(verdict), new)
    return decided


def _problem(row: CsvRow, known: set[str], decided: Mapping[str, Decided]) -> str:
    """Return what is wrong with a row, "" if nothing is."""
    key, verdict = (row.cells.get(name, "") for name in ("case", "verdict"))
    new = [name for name in _NEW if row.cells.get(name, "")]
    if key not in known:
        return f"names the case '{key}', which was not asked by its options alone"
    if key in decided:
        return f"decides about the case '{key}' again"
    if verdict and verdict.casefold() not in {*Verdict}:
        return f"has the verdict '{verdict}', not one of {', '.join(Verdict)}"
    if verdict.casefold() == Verdict.REVISE and not new:
        return "says revise, but names no new distractor"
    if new and verdict.casefold() != Verdict.REVISE:
        return "names a new distractor, but does not say revise"
    return ""


def _applied(
    this: Round, decided: Mapping[str, Decided], dataset: Dataset, out: Path
) -> Round:
    """Write every case that is kept or revised; a shortcut needs a verdict."""
    files = {image.key: image.ref.path for image in dataset.images}
    patients = {item.key: item.patient for item in dataset.items}
    written: list[str] = []
    problems: list[str] = []
    excluded = [key for key, one in decided.items() if one.verdict is Verdict.EXCLUDE]
    for one in this.found:
        key = one.case.key
        own = decided.get(key)
        if own is None and one.shortcut:
            problems.append(
                f"The case '{key}' has no verdict, although {len(one.right)} of "
                f"{one.asked} models solve it from its options alone."
            )
        elif key not in excluded:
            case = _revised(one.case, own.new if own else ())
            try:
                _write(case, patients[key], files, out / key)
            except OverreadError as error:
                problems.append(str(error))
            else:
                written.append(key)
    return replace(
        this,
        written=tuple(written),
        excluded=tuple(excluded),
        problems=tuple(problems),
    )


def _revised(case: EvidenceCase, new: Sequence[str]) -> EvidenceCase:
    """Return a case with other distractors, in the places of those they replace."""
    others = iter([*new, *("",) * OPTIONS])
    options = tuple(
        option if place == case.answer else next(others) or option
        for place, option in enumerate(case.options)
    )
    return replace(case, options=options)


def _write(
    case: EvidenceCase, patient: str, files: Mapping[str, Path], folder: Path
) -> None:
    """Write a case's folder, or nothing if it could not be imported."""
    own = {"patient": patient} if patient != case.key else {}
    with case_written({**case.document(), **own}, folder):
        for image in case.images:
            target = folder / file_of(case, image)
            if files[image].is_file() and not target.is_file():
                copy_image(files[image], target)
