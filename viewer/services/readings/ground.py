"""What a session stands on: its form, its study, and where its cases are drawn."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, cast

from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form, Option
from viewer.domain.form_json import form_as_json, form_of_json
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import SizePx
from viewer.domain.reading import Material
from viewer.domain.run import Condition, RunSpec
from viewer.store import readings, runs
from viewer.store.database import Store
from viewer.store.readings import StoredSession
from viewer.studies.catalog import placing_study
from viewer.studies.study import PlacingStudy

_READER_NAME_LENGTH = 80


@dataclass(frozen=True)
class SessionSpec:
    """How a session's cases were chosen and are asked; kept as JSON.

    ``asked`` are the settings of the run that is reviewed, or of the run that the
    reader's answers will be. ``cap`` is how many misses of each stratum are reviewed,
    ``reader_index`` which of the counterbalanced orders the reader got.
    """

    asked: RunSpec
    condition: Condition
    seed: int
    views: tuple[str, ...] = ()
    cap: int | None = None
    reader_index: int = 0
    material: Mapping[str, Material] = field(default_factory=dict)

    def as_json(self) -> str:
        """Return the spec as JSON; :meth:`of_json` reads back an equal one."""
        document = {
            "asked": runs.spec_as_json(self.asked),
            "condition": [self.condition.name, list(map(list, self.condition.params))],
            "seed": self.seed,
            "views": list(self.views),
            "cap": self.cap,
            "reader_index": self.reader_index,
            "material": {k: _plain(m) for k, m in self.material.items()},
        }
        return json.dumps(document, sort_keys=True, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Self:
        """Return the spec that :meth:`as_json` wrote."""
        held: dict[str, Any] = json.loads(text)
        name, params = held["condition"]
        return cls(
            asked=runs.spec_of_json(held["asked"]),
            condition=Condition(name, tuple((key, value) for key, value in params)),
            seed=held["seed"],
            views=tuple(held["views"]),
            cap=held["cap"],
            reader_index=held["reader_index"],
            material={k: _material(m) for k, m in held["material"].items()},
        )


def _plain(material: Material) -> dict[str, object]:
    options = {
        name: [[o.key, o.text, o.help] for o in options]
        for name, options in material.options.items()
    }
    return {"text": material.text, "options": options}


def _material(held: Mapping[str, Any]) -> Material:
    options = {
        name: tuple(Option(*option) for option in listed)
        for name, listed in held["options"].items()
    }
    return Material(held["text"], options)


@dataclass(frozen=True)
class Ground:
    """A session with everything that was read of it."""

    session: StoredSession
    form: Form
    spec: SessionSpec
    study: PlacingStudy
    params: Any

    def canvas(self, size: SizePx) -> Canvas:
        """Return where a reader draws on an image of a size."""
        grid = self.study.grid(self.spec.condition, self.params)
        return Canvas(size, grid, self.study.field(size, self.params))

    @property
    def stages(self) -> int:
        """How many times a case is locked."""
        return len(self.form.stages)

    def material(self, item: str) -> Material:
        """Return what a case brings along."""
        return self.spec.material.get(item, Material())


def ground_of(store: Store, session: int) -> Ground:
    """Return what a session stands on; an unknown number raises WrongUseError."""
    row = readings.session_row(store, session)
    form = form_of_json(cast("dict[str, Any]", json.loads(row.form)))
    spec = SessionSpec.of_json(row.spec)
    study = placing_study(spec.asked.study)
    params = study.read_params(spec.asked.preset, dict(spec.asked.params))
    return Ground(row, form, spec, study, params)


def form_text(form: Form) -> str:
    """Return a form as the store keeps it."""
    return json.dumps(form_as_json(form), sort_keys=True, ensure_ascii=False)


def reader_name(name: str) -> str:
    """Return a reader's name without spaces around it; no name raises."""
    stripped = " ".join(name.split())
    if not stripped or len(stripped) > _READER_NAME_LENGTH:
        raise WrongUseError(
            "A session needs a reader's name.",
            f"Write a name or a pseudonym of up to {_READER_NAME_LENGTH} letters.",
        )
    return stripped
