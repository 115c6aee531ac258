"""Radiographic studies with the parts of their reports, as items.

Source: ReXecution, section 3.1 (E001-01): images with their views, the prior study if
there is one, the indication and the findings.
"""

from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.geometry import SizePx
from viewer.domain.item import Item
from viewer.domain.task_selection import SelectedTask, task_as_json, task_of_json

NO_SIZE: Final = SizePx(0, 0)


@dataclass(frozen=True, slots=True)
class StudyImage:
    """An image of a study: its key, and its view as written (PA, AP, LATERAL).

    ``prior`` images belong to the previous study; ``size`` is None if unknown.
    """

    key: str
    view: str
    prior: bool = False
    size: SizePx = NO_SIZE


@dataclass(frozen=True)
class ReportStudy:
    """A study: its images, indication and findings.

    ``date`` is ISO 8601, "" if unknown; ``prior_days`` is the age difference to the
    prior. ``findings`` is the truth and never shown to the model under test;
    ``indication`` is known before imaging. ``tasks`` are the questions about it.
    """

    key: str
    patient: str
    images: tuple[StudyImage, ...]
    indication: str = ""
    findings: str = ""
    date: str = ""
    prior_days: int | None = None
    tasks: tuple[SelectedTask, ...] = ()

    @property
    def has_prior(self) -> bool:
        """Whether the study has prior images."""
        return any(image.prior for image in self.images)

    def item(self) -> Item:
        """Return the study as an item, from which :func:`study_of` restores it."""
        return Item(
            self.key,
            self.patient,
            "temporal" if self.has_prior else "single",
            tuple(image.key for image in self.images),
            {
                "views": [image.view for image in self.images],
                "prior": [image.prior for image in self.images],
                "sizes": [[i.size.rows, i.size.columns] for i in self.images],
                "prior_days": self.prior_days,
                "indication": self.indication,
                "tasks": [task_as_json(task) for task in self.tasks],
            },
            {"findings": self.findings, "date": self.date},
        )


def is_study(item: Item) -> bool:
    """Tell whether an item is a study, with or without tasks."""
    return "tasks" in item.facts and "views" in item.facts


def study_of(item: Item) -> ReportStudy:
    """Return the study of an item; KeyError if it is not a study.

    The truth is empty if it was withheld, as for a model.
    """
    facts: Any = item.facts
    return ReportStudy(
        item.key,
        item.patient,
        tuple(
            StudyImage(key, view, prior, SizePx(*size))
            for key, view, prior, size in zip(
                item.images, facts["views"], facts["prior"], facts["sizes"], strict=True
            )
        ),
        facts["indication"],
        str(item.reference.get("findings", "")),
        str(item.reference.get("date", "")),
        facts["prior_days"],
        tuple(task_of_json(task) for task in facts["tasks"]),
    )
