"""Draw questions about the images of a data set, and register them as another."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.counting import counted
from viewer.domain.errors import CancelledError, WrongUseError
from viewer.readers.datasets.files import content_sha256
from viewer.readers.datasets.merge import merge
from viewer.services.configuring.form_field import FormField
from viewer.services.importing.import_preview import (
    NoticeCount,
    Progress,
    notice_counts,
)
from viewer.services.importing.narrowed_boxes import (
    READER_RULE,
    REPORT_FILTER,
    Narrowed,
    Narrowing,
    narrowed,
)
from viewer.services.running.batch_form import (
    form_fields,
    of_readers,
    preset_titles,
    reader_names,
)
from viewer.store import cases, consents
from viewer.store.database import Store, open_store
from viewer.store.drawing import DrawingMaterial, anatomy_names, drawing_material
from viewer.studies.grounded_vqa.benchmark import drawn_items
from viewer.studies.grounded_vqa.items import SOURCE
from viewer.studies.grounded_vqa.params import RelationRule, read_params
from viewer.studies.grounded_vqa.questions import Kind
from viewer.studies.grounded_vqa.relations import RuleLoss

STUDY: Final = "grounded_vqa"
PRESET: Final = "heal2025"
ANATOMIES: Final = "anatomies"
"""The setting whose choices are a data set's own."""
_SETTINGS: Final = (
    ANATOMIES,
    *("relation_rule", "iou_threshold", "ioa_threshold", "touching"),
    *("fewest_questions", "most_questions", "open_share", "positive_share"),
    "hallucinated_from",
)
"""The study's parameters that decide which questions there are."""
_KINDS: Final[Mapping[str, str]] = {
    Kind.POSITIVE: "Closed, about a finding that is present: Yes",
    Kind.HALLUCINATED: "Closed, about a finding that is absent: No",
    Kind.ABNORMALITY: "Open, about an anatomy with findings",
    Kind.NORMAL: "Open, about an anatomy without findings",
}
"""What the kinds are called, in the order shown."""
_RULES: Final[Mapping[str, str]] = {
    RelationRule.IOU: "IoU over {:g} (paper)",
    RelationRule.IOA: "Share of box from {:g}",
}


@dataclass(frozen=True, slots=True)
class Drawable:
    """A data set, and why no questions can be drawn about it, "" if they can."""

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BoxesLeft:
    """How many images have a box of a finding, and how many each step leaves.

    ``placed`` are those in which the finding is in an anatomy.
    """

    finding: str
    drawn: int
    by_readers: int
    in_reports: int
    placed: int


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many questions of a kind there are, the kind in words."""

    kind: str
    questions: int


@dataclass(frozen=True)
class Drawing:
    """Questions drawn but not registered yet, about images of data set ``source``.

    ``rules`` count the findings that each rule for "lies in this anatomy" loses,
    ``boxes`` what is left of each finding's boxes.
    """

    source: str
    dataset: Dataset
    kinds: tuple[KindCount, ...]
    notices: tuple[NoticeCount, ...]
    rules: tuple[RuleLoss, ...]
    boxes: tuple[BoxesLeft, ...] = ()

    @property
    def rule_rows(self) -> tuple[tuple[str | int, ...], ...]:
        """The rules in words: findings in an anatomy, lost, anatomies in doubt."""
        return tuple(
            (rule_words(r), f"{r.placed:,} / {r.findings:,}", r.lost, r.doubtful)
            for r in self.rules
        )

    @property
    def sentence(self) -> str:
        """How many questions there are, about how many images."""
        items = self.dataset.items
        about = counted(len({key for item in items for key in item.images}), "image")
        every = len(self.dataset.images)
        return f"{counted(len(items), 'question')} about {about} of {every:,}"


@dataclass(frozen=True)
class Drawn:
    """Questions drawn about each of some data sets, as a page shows them together.

    Rows of several data sets begin with the data set's name.
    """

    parts: tuple[Drawing, ...]

    @property
    def kinds(self) -> tuple[KindCount, ...]:
        """How many questions of each kind there are in all."""
        together = zip(*(one.kinds for one in self.parts), strict=True)
        return tuple(
            KindCount(of[0].kind, sum(each.questions for each in of)) for of in together
        )

    @property
    def notices(self) -> tuple[NoticeCount, ...]:
        """The notices of every data set."""
        return tuple(notice for one in self.parts for notice in one.notices)

    @property
    def rule_rows(self) -> tuple[tuple[str | int, ...], ...]:
        """The rules in words, as in :attr:`Drawing.rule_rows`."""
        return self._named(lambda one: one.rule_rows)

    @property
    def box_rows(self) -> tuple[tuple[str | int, ...], ...]:
        """How many images have a box of each finding, and how many each step leaves."""
        return self._named(lambda one: map(astuple, one.boxes))

    @property
    def sentence(self) -> str:
        """How many questions there are, about how many images."""
        if len(self.parts) == 1:
            return self.parts[0].sentence
        n = sum(len(one.dataset.items) for one in self.parts)
        each = "; ".join(f"{one.source}: {one.sentence}" for one in self.parts)
        return f"{counted(n, 'question')}. {each}"

    def _named(
        self, rows_of: Callable[[Drawing], Iterable[tuple[str | int, ...]]]
    ) -> tuple[tuple[str | int, ...], ...]:
        several = len(self.parts) > 1
        return tuple(
            (f"{one.source}: {name}" if several else name, *rest)
            for one in self.parts
            for name, *rest in rows_of(one)
        )


def rule_words(rule: RuleLoss) -> str:
    """Return the display name of a rule for "lies in this anatomy"."""
    return _RULES[rule.rule].format(rule.threshold)


def drawables(store: Path) -> tuple[Drawable, ...]:
    """Return every data set, with the reason if no questions can be drawn.

    The newest come first, except those that already have questions.
    """
    with open_store(store) as opened:
        found = drawing_material(opened)
    newest = found[::-1]
    ordered = sorted(newest, key=lambda has: has.items > 0)
    return tuple(Drawable(has.name, _reason(has)) for has in ordered)


def _reason(has: DrawingMaterial) -> str:
    if not has.anatomies and not has.boxed:
        return f"'{has.name}' has neither masks of anatomies nor boxes of findings."
    if not has.anatomies:
        return f"'{has.name}' has boxes of findings, but no masks of anatomies."
    if not has.boxed:
        return f"'{has.name}' has masks of anatomies, but no boxes of findings."
    return ""


def drawing_presets() -> Mapping[str, str]:
    """Return the display names of the presets for drawing, by their name in files."""
    return preset_titles(STUDY)


def drawing_fields(
    store: Path, sources: Sequence[str], preset: str
) -> tuple[FormField, ...]:
    """Return the settings as form fields, limited to some data sets' anatomies.

    Those of the preset are chosen, or all if the data sets have none of them.
    """
    with open_store(store) as opened:
        named = [anatomy_names(opened, source) for source in sources]
    there = tuple(dict.fromkeys(name for names in named for name in names))
    readers = [name for source in sources for name in reader_names(store, source)]
    fields = {field.name: field for field in form_fields(STUDY, preset)}
    own = tuple(
        _of_anatomies(fields[name], there) if name == ANATOMIES else fields[name]
        for name in _SETTINGS
    )
    by_reader = of_readers(_OF_READERS, tuple(dict.fromkeys(readers)))
    return (*own, by_reader, _OF_REPORTS)


_OF_READERS: Final = FormField(
    READER_RULE,
    "choice",
    Narrowing().reader_rule,
    "Whose boxes count where several readers drew them.",
    label="Boxes that count",
)
_OF_REPORTS: Final = FormField(
    REPORT_FILTER,
    "bool",
    Narrowing().report_filter,
    "Only boxes of findings that the image's report affirms. Images whose report has "
    "no findings section are not asked about.",
    label="Only findings in the report",
)


def _of_anatomies(field: FormField, there: Sequence[str]) -> FormField:
    """Return the field with the available anatomies, the preset's first."""
    preset = field.default if isinstance(field.default, tuple) else ()
    chosen = tuple(name for name in preset if name in there)
    others = tuple(name for name in there if name not in chosen)
    return replace(
        field, choices=(*chosen, *others), default=chosen or others, words=()
    )


def source_dataset(store: Path, source: str) -> Dataset:
    """Return the data set to draw from; WrongUseError if it is unknown."""
    with open_store(store) as opened:
        return cases.dataset_named(opened, source)


def drawing(
    source: Dataset,
    preset: str = PRESET,
    overrides: Mapping[str, object] | None = None,
    seed: int = 0,
    *,
    progress: Progress = lambda *_: None,
    stop: Event | None = None,
) -> Drawing:
    """Draw questions without registering them.

    Questions come of boxes of findings over masks of anatomies (E002-03); which
    anatomies, which rule and how many say the grounded VQA study's own settings among
    ``overrides``, which boxes count ``reader_rule`` and ``report_filter`` there.
    ``progress`` is told how many images of how many were looked at; once ``stop`` is
    set, it ends with CancelledError.

    Raises
    ------
    WrongUseError
        A setting is bad, no finding has a box, or nothing can be asked.
    """
    if not any(image.boxes for image in source.images):
        raise WrongUseError(
            f"'{source.name}' has no boxes of findings, so it is not known which "
            "anatomies have none.",
            "Import boxes of findings and masks of anatomies for the same images.",
        )

    def on_progress(done: int, every: int) -> None:
        if stop is not None and stop.is_set():
            raise CancelledError("Drawing was stopped.", "Nothing was registered.")
        progress(done, every)

    how, own = _narrowing(overrides or {})
    left = narrowed(source, how)
    found = drawn_items(left.dataset, read_params(preset, own), seed, on_progress)
    counts = Counter(item.kind for item in found.items)
    notices = (*left.dataset.notices, *found.notices)
    return Drawing(
        source.name,
        replace(
            left.dataset,
            items=found.items,
            notices=notices,
            root_sha256=content_sha256(left.dataset.images, found.items),
        ),
        tuple(KindCount(words, counts[kind]) for kind, words in _KINDS.items()),
        notice_counts(notices[len(source.notices) :]),
        found.rules,
        tuple(_boxes_left(left, found.placed)),
    )


def _narrowing(
    overrides: Mapping[str, object],
) -> tuple[Narrowing, Mapping[str, object]]:
    """Return which boxes count, and the settings that are the study's own."""
    own = dict(overrides)
    rule = own.pop(READER_RULE, Narrowing().reader_rule)
    by_report = own.pop(REPORT_FILTER, Narrowing().report_filter)
    if not isinstance(rule, str) or not isinstance(by_report, bool):
        raise WrongUseError(
            f"{READER_RULE} or {REPORT_FILTER} has a value that it cannot have.",
            f"Write {READER_RULE}=majority, any or a reader, {REPORT_FILTER}=true.",
        )
    return Narrowing(rule, by_report), own


def _boxes_left(left: Narrowed, placed: Mapping[str, int]) -> Iterator[BoxesLeft]:
    for name, n in sorted(left.drawn.items()):
        counts = (of.get(name, 0) for of in (left.by_readers, left.in_reports, placed))
        yield BoxesLeft(name, n, *counts)


def register_drawn(store: Store, drawn: Sequence[Drawing], name: str) -> Dataset:
    """Register questions under a name; restricted if the images are.

    Questions about several data sets are registered as one, which keeps them apart. The
    name of a data set that they are about, or of another content, raises WrongUseError.
    """
    sources = {one.source for one in drawn}
    if name in sources:
        raise WrongUseError(
            f"The data set '{name}' keeps its own name.",
            "Give the questions another name.",
        )
    dataset = replace(drawn[0].dataset, name=name)
    if len(drawn) > 1:
        dataset = merge(name, [_with_source(one) for one in drawn], apart=True)
    restricted = bool(sources & {*consents.restricted_datasets(store)})
    cases.add_dataset(store, dataset, restricted=restricted)
    return dataset


def _with_source(drawn: Drawing) -> Dataset:
    """Return drawn questions that name the data set that they are about."""
    items = (
        replace(item, facts={**item.facts, SOURCE: drawn.source})
        for item in drawn.dataset.items
    )
    return replace(drawn.dataset, items=tuple(items))


def keep_drawn(store: Path, drawn: Drawn, name: str) -> None:
    """Register questions in the store at a path, like :func:`register_drawn`."""
    with open_store(store) as opened:
        register_drawn(opened, drawn.parts, name)


def draw_questions(
    store: Store,
    sources: Sequence[str],
    name: str,
    *,
    preset: str = PRESET,
    overrides: Mapping[str, object] | None = None,
    seed: int = 0,
) -> tuple[Drawing, ...]:
    """Draw questions about data sets; under a name, register them as another.

    Raises as :func:`drawing` and :func:`register_drawn` do, and for a data set that is
    not there.
    """
    found = tuple(
        drawing(cases.dataset_named(store, source), preset, overrides, seed)
        for source in sources
    )
    if name:
        register_drawn(store, found, name)
    return found
