"""Frozen data returned by the API, with HTML representations for notebooks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from viewer.domain.report import Section
    from viewer.domain.report import Table as Rows


@dataclass(frozen=True)
class Dataset:
    """A registered data set.

    ``items`` is the number of its references and questions, ``notices`` the number of
    missing or contradictory things in it; ``imported_at`` is UTC, ISO 8601.
    """

    name: str
    format: str
    folder: Path
    images: int
    patients: int
    items: int
    notices: int
    imported_at: str


@dataclass(frozen=True)
class Model:
    """A configured model, and what it still needs before it can be asked.

    ``state`` says so in words, "ready" if nothing is missing; ``host`` is the remote
    machine that images are sent to, "" if they stay on this one.
    """

    name: str
    adapter: str
    summary: str
    state: str
    ready: bool
    host: str = ""


@dataclass(frozen=True)
class Run:
    """A study run with models on a data set.

    ``status`` is unfinished, paused, cancelled or finished; ``counts`` has the number
    of trials by status, which add up to ``planned``. ``cost_usd`` is what its own
    requests cost, None if unknown; ``created_at`` is UTC, ISO 8601; ``notes`` are
    caveats about its results, in sentences.
    """

    id: int
    study: str
    dataset: str
    models: tuple[str, ...]
    status: str
    created_at: str
    planned: int
    counts: Mapping[str, int]
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether no trial is pending."""
        return self.status == "finished"

    def _repr_html_(self) -> str:
        counts = (f"{n} {status}" for status, n in self.counts.items())
        cost = "" if self.cost_usd is None else f"{self.cost_usd:.4f} US dollars"
        rows = [
            ("study", self.study),
            ("data set", self.dataset),
            ("models", ", ".join(self.models)),
            ("status", self.status),
            ("trials", f"{self.planned}: {', '.join(counts)}"),
            ("cost", cost),
            *(("note", note) for note in self.notes),
        ]
        return _facts_html(f"Run {self.id}", rows)


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a run's report.

    ``columns`` are the names in the CSV file, ``rows`` the values at full precision in
    the order of the columns: text, whole numbers, floats (rates 0-1), booleans, and
    None.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...] = field(repr=False)
    _table: "Rows" = field(repr=False)
    _sections: tuple["Section", ...] = field(repr=False)

    def dataframe(self) -> "pd.DataFrame":
        """Return the table as a pandas DataFrame, with one dtype per column.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.
        """
        from viewer.api.frames import dataframe

        return dataframe(self._table)

    def csv(self) -> str:
        """Return the table as the report's CSV (UTF-8, RFC 4180), at full precision."""
        from viewer.writers.tables import csv_bytes

        return csv_bytes(self.columns, self.rows).decode()

    def latex(self) -> str:
        """Return the table rounded as in the report, as LaTeX for ``booktabs``.

        A table that the report prints in several parts becomes several tables.
        """
        from viewer.writers.tables import latex_table

        return "".join(latex_table(one).decode() for one in self._sections)

    def html(self) -> str:
        """Return the table rounded as in the report, as HTML."""
        from viewer.writers.tables import html_section

        return "".join(str(html_section(one)) for one in self._sections)

    def _repr_html_(self) -> str:
        return self.html()


@dataclass(frozen=True)
class Figure:
    """A figure of a run: ``svg`` is the drawing, ``words`` its caption."""

    name: str
    title: str
    words: str
    svg: str = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the drawing as SVG; WrongUseError if the folder is not writable."""
        return _written(path, self.svg.encode())

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Point:
    """A position in native pixels: x to the right, y down, from the corner."""

    x: float
    y: float


@dataclass(frozen=True)
class Box:
    """A rectangle in native pixels, x0 <= x < x1 to the right and y0 <= y < y1 down.

    ``confidence`` is comparable only within one answer, None if not given.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model answered to one question about one image.

    ``kind`` is cell, boxes, point, mask or heat_map, "" if nothing was read. ``cell``
    names the cell that was answered or pointed at, such as D4. ``boxes`` are the
    answered cell or the boxes, ``point`` the point, ``mask`` (rows, columns) bool the
    pixels, each in native pixels of the image and only of that kind of answer.

    ``correct`` is None without a reference; then ``status`` is excluded.
    ``reference_cells`` count as hits; ``coverage`` is the fraction of the cell that the
    reference covers, 0-1; ``outcome`` full, full_fallback, partial or miss; ``iou`` and
    ``dice`` compare an answer that has an area with the reference, 0-1.

    ``reply`` is the model's text, ``note`` a baseline's remark on it; ``cost_usd`` None
    if the price is unknown. ``png`` is the picture that was sent with answer and
    reference drawn, enlarged four times.
    """

    image: Path
    frame: int
    finding: str
    view: str
    model: str
    status: str
    reason: str
    correct: bool | None
    kind: str
    cell: str
    boxes: tuple[Box, ...]
    point: Point | None
    reference_cells: tuple[str, ...]
    coverage: float | None
    outcome: str
    iou: float | None
    dice: float | None
    reply: str
    note: str
    seconds: float
    cost_usd: float | None
    run: int
    trial: int
    model_returned: str
    prompt_sha256: str
    request_sha256: str
    mask: "npt.NDArray[np.bool_] | None" = field(repr=False)
    png: bytes = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the picture as PNG; WrongUseError if the folder is not writable."""
        return _written(path, self.png)

    def _repr_png_(self) -> bytes:
        return self.png

    def _repr_html_(self) -> str:
        import base64

        lines = [("answer", self.cell or self.kind or "none"), ("status", self.status)]
        met = [("reference", ", ".join(self.reference_cells))]
        rows = [
            *(("finding", self.finding), ("model", self.model)),
            *(*lines, *(met if self.reference_cells else ())),
            ("reply", self.reply),
        ]
        data = base64.b64encode(self.png).decode()
        picture = f'<img src="data:image/png;base64,{data}" style="max-width: 512px">'
        return f"{picture}{_facts_html(self.image.name, rows)}"


@dataclass(frozen=True)
class Settled:
    """A trial that has ended and is stored.

    ``reused`` is True if its reply was already in the store; ``seconds`` is the
    duration of the last request.
    """

    trial: int
    item: str
    condition: str
    repeat: int
    model: str
    status: str
    reason: str
    answer: str
    reused: bool
    seconds: float


@dataclass(frozen=True)
class Progress:
    """The progress of a run: ``done`` of ``planned`` trials are settled.

    ``trial`` is the one that was just settled, None for other events. ``note`` is the
    current activity, such as loading a model; ``warning`` is a sentence about a
    problem, such as a model that cannot be asked any more; ``spent_usd`` is None as
    long as nothing has a price. ``ended`` is True in the last event only.
    """

    run: int
    done: int
    planned: int
    trial: Settled | None = None
    note: str = ""
    warning: str = ""
    spent_usd: float | None = None
    ended: bool = False


def _written(path: str | Path, content: bytes) -> Path:
    from viewer.writers.files import write_atomically

    write_atomically(Path(path), content)
    return Path(path)


def _facts_html(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a two-column HTML table; the renderer escapes the contents."""
    from viewer.domain.report import Section, Table
    from viewer.writers.tables import html_section

    facts = Table("facts", ("", ""), tuple(row for row in rows if row[1]))
    return str(html_section(Section(title, "", facts)))
