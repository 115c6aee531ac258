"""Which images are behind one row of the case browser, and what hangs beside it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from viewer.domain.case import Case, ImageHeader, Series, Study, View
from viewer.domain.slide import SLIDE_MODALITY
from viewer.ui.canvas.stacks import STACKED

_UID: Final = re.compile(r"[0-9]+(\.[0-9]+)+")
_DERIVED: Final = frozenset({"SEG", "SR", "PR", "KO", "RTSTRUCT"})
"""Objects about images: drawn over them or read beside them, never listed as one."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Images that one viewport scrolls through, and their name in the browser."""

    name: str
    modality: str
    images: tuple[ImageHeader, ...]
    key: str = ""
    """Stays the same while further images join."""

    @property
    def view(self) -> View:
        """The projection of the first image."""
        return self.images[0].view

    @property
    def words(self) -> str:
        """A caption such as ``CR · frontal`` or ``CT · 300 images``."""
        projected = self.view in {View.FRONTAL, View.LATERAL}
        view = self.view.value if projected else ""
        kind = "fields" if self.modality == SLIDE_MODALITY else "images"
        count = f"{len(self.images)} {kind}" if len(self.images) > 1 else ""
        size = self.images[0].size
        plain = size.words if not (view or count) else ""
        return " · ".join(w for w in (self.modality, view, count, plain) if w)


@dataclass(frozen=True, slots=True)
class Hung:
    """A stack in a viewport, so many images after the current one.

    ``role`` is what it is in a comparison, such as "Prior". With a ``model``, only that
    model's answers are drawn on it.
    """

    stack: Stack
    tile: int = 0
    role: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A chosen stack, with the others of its study, and where to start.

    ``priors`` are the stacks of each earlier study, the most recent study first.
    """

    stack: Stack
    siblings: tuple[Stack, ...]
    position: int = 0
    priors: tuple[tuple[Stack, ...], ...] = ()

    @property
    def study(self) -> tuple[Stack, ...]:
        """The stacks of the study, with the chosen one."""
        return self.siblings if self.stack in self.siblings else (self.stack,)


@dataclass(frozen=True, slots=True)
class StudyRows:
    """A study's rows in the case browser, and the words over them.

    ``date`` is YYYYMMDD and ``time`` HHMMSS, "" if unknown.
    """

    key: str
    words: str
    stacks: tuple[Stack, ...]
    date: str = ""
    time: str = ""

    def is_before(self, study: "StudyRows") -> bool:
        """Tell whether this study is known to be earlier than another."""
        if self.date == study.date:
            return "" < self.time < study.time
        return "" < self.date < study.date


@dataclass(frozen=True, slots=True)
class CaseRows:
    """A patient's rows in the case browser, and the words over them."""

    key: str
    words: str
    studies: tuple[StudyRows, ...]

    def before(self, study: StudyRows) -> tuple[tuple[Stack, ...], ...]:
        """Return the stacks of each earlier study, the most recent study first."""
        earlier = [one for one in self.studies if one.is_before(study)]
        earlier.sort(key=lambda one: (one.date, one.time), reverse=True)
        return tuple(one.stacks for one in earlier)


def rows_of(cases: Sequence[Case]) -> tuple[CaseRows, ...]:
    """Return the rows of the case browser, without cases that have no image."""
    rows = (
        CaseRows(case.patient_key, _patient_words(case), _study_rows(case))
        for case in cases
    )
    return tuple(row for row in rows if row.studies)


def _patient_words(case: Case) -> str:
    """Return the patient's name and identifier, or the folder without either."""
    studies = {study.key for study in case.studies}
    stands_in = case.patient_key in studies and _UID.fullmatch(case.patient_key)
    named = (i.patient_name for st in case.studies for s in st.series for i in s.images)
    words = (next(named, ""), "" if stands_in else case.patient_key)
    return " · ".join(word for word in words if word) or "No patient named"


def stacks_of(study: Study) -> tuple[Stack, ...]:
    """Return the study's rows in file order; objects about images have none."""
    return tuple(
        stack
        for series in study.series
        if series.modality not in _DERIVED
        for stack in _stacks_of_series(series)
    )


def derived_count(cases: Sequence[Case]) -> int:
    """Return how many series are about other images and therefore have no row."""
    return sum(
        series.modality in _DERIVED
        for case in cases
        for study in case.studies
        for series in study.series
    )


def _study_rows(case: Case) -> tuple[StudyRows, ...]:
    """Return a patient's studies, the most recent first: it is the one to be read.

    Of radiographs the laterals come last, as they hang last.
    """
    studies = sorted(case.studies, key=lambda s: (s.date, s.time), reverse=True)
    rows = (
        StudyRows(
            s.key,
            _study_words(s, case),
            tuple(sorted(stacks_of(s), key=lambda one: one.view is View.LATERAL)),
            s.date,
            s.time,
        )
        for s in studies
    )
    return tuple(row for row in rows if row.stacks)


def _study_words(study: Study, case: Case) -> str:
    """Return a study's date and description, and whether it is a prior."""
    later = any("" < study.date < other.date for other in case.studies)
    words = (dated(study.date), study.description, "prior" if later else "")
    return " · ".join(word for word in words if word) or "Study"


def dated(day: str) -> str:
    """Return YYYYMMDD with hyphens, anything else unchanged."""
    return f"{day[:4]}-{day[4:6]}-{day[6:]}" if len(day) == 8 else day


def _stacks_of_series(series: Series) -> Iterator[Stack]:
    if series.modality in STACKED:
        name = _name(series, series.images)
        yield Stack(name, series.modality, series.images, series.key)
        return
    for path, frames in groupby(series.images, key=lambda image: image.ref.path):
        images = tuple(frames)
        key = f"{series.key}/{path}"
        yield Stack(_name(series, images), series.modality, images, key)


def _name(series: Series, images: tuple[ImageHeader, ...]) -> str:
    """Return the description if it names only these images, else the file name."""
    alone = bool(series.modality) and len(images) == len(series.images)
    return (series.description if alone else "") or images[0].ref.path.name
