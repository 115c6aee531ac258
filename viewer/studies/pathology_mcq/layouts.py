"""Tables laid out as the paper prints them (Tables 1 to 4; E003-14)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from viewer.domain.choice import ExpertChoice
from viewer.domain.report import Section, Table
from viewer.metrics.printed import as_percent
from viewer.studies.pathology_mcq.accuracy import Key, Rate
from viewer.studies.pathology_mcq.arms import PLAIN
from viewer.studies.pathology_mcq.baselines import frequent_choice, random_rate
from viewer.studies.pathology_mcq.experts import expert_score, group_scores
from viewer.studies.pathology_mcq.params import KINDS, Arm, Params
from viewer.studies.pathology_mcq.published import (
    EXPERTS,
    FREQUENT,
    RANDOM,
    rows_of,
)
from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.pathology_mcq.robustness import arrow, robustness
from viewer.studies.pathology_mcq.scopes import (
    ALL,
    OVERALL,
    TINY,
    VAL,
    Scope,
    subsets_of,
    within,
)

WITH_IMAGE, TEXT_ONLY, CHANCE = "image and text", "text only", "none"
Cells = tuple[float | None, ...]


def columns_of(mcqs: Sequence[Mcq], *, validation: bool = True) -> tuple[Scope, ...]:
    """Return the columns of Table 1: validation, then tiny and all, by subset."""
    subsets = (OVERALL, *subsets_of(mcqs))
    tests = (Scope(part, subset) for subset in subsets for part in (TINY, ALL))
    return (*((Scope(VAL, OVERALL),) if validation else ()), *tests)


def table_1(
    rates: Mapping[Key, Rate],
    mcqs: Sequence[Mcq],
    validation: Sequence[Mcq],
    experts: Sequence[ExpertChoice],
    params: Params,
) -> Table:
    """Return Table 1 at full precision: chance, experts, models with image, without.

    ``mcqs`` are the questions asked, ``validation`` that split of the data set.
    """
    columns = columns_of(mcqs)
    header = ("model", "input", *map(_name, columns))
    rows = [
        (RANDOM, CHANCE, *_random(mcqs, columns)),
        (FREQUENT, CHANCE, *_frequent(mcqs, columns, validation, params)),
    ]
    read = _experts(mcqs, columns, experts, params)
    if any(value is not None for value in read):
        rows.append((EXPERTS, WITH_IMAGE, *read))
    for condition, told in ((PLAIN, WITH_IMAGE), (Arm.TEXT_ONLY.value, TEXT_ONLY)):
        rows += [
            (model, told, *_values(rates, model, condition, columns))
            for model in _models(rates, condition)
        ]
    return Table("table1", header, tuple(rows))


def table_2(rates: Mapping[Key, Rate]) -> Table:
    """Return Table 2: the mean over levels by kind, and each one's change."""
    names = (*KINDS, "overall")
    header = ("model", *(part for n in names for part in (n, f"{n}_change")))
    rows = []
    for row in robustness(rates):
        values = (*row.kinds, row.overall)
        rows.append((row.model, *(x for v in values for x in (v, row.change(v)))))
    return Table("table2", header, tuple(rows))


def table_3(rates: Mapping[Key, Rate], mcqs: Sequence[Mcq]) -> Table:
    """Return Table 3: accuracy with noise for images, and its change."""
    columns = columns_of(mcqs, validation=False)
    names = map(_name, columns)
    header = ("model", *(part for n in names for part in (n, f"{n}_change")))
    rows = []
    for model in _models(rates, Arm.NOISE.value):
        noise = _values(rates, model, Arm.NOISE.value, columns)
        clean = _values(rates, model, PLAIN, columns)
        pairs = zip(noise, clean, strict=True)
        rows.append((model, *(x for n, c in pairs for x in (n, _less(n, c)))))
    return Table("table3", header, tuple(rows))


def table_4() -> Table:
    """Return Table 4, which is the paper's alone: nothing is fine-tuned here."""
    rows = rows_of(4)
    columns = tuple(next(iter(rows.values())))
    values = (
        (model, *(of[column].value / 100 for column in columns))
        for model, of in rows.items()
    )
    return Table("table4_published", ("model", *map(_name, columns)), tuple(values))


def printed(table: Table, title: str, text: str) -> Section:
    """Return a table as it is printed: per cent, changes with their arrow.

    Columns of one subset stand under its name.
    """
    changes = {i for i, name in enumerate(table.header) if name.endswith("_change")}
    names = [name for i, name in enumerate(table.header) if i not in changes]
    parts = [name.rpartition("_") for name in names]
    rows = tuple(tuple(_printed(row, changes)) for row in table.rows)
    header = tuple(part.capitalize() for _, _, part in parts)
    return Section(title, text, Table(table.name, header, rows), _groups(parts))


def _groups(parts: Sequence[tuple[str, str, str]]) -> tuple[tuple[str, int], ...]:
    """Return the runs of columns of one subset; none where no column has one."""
    runs = [(name, len(list(run))) for name, run in groupby(p[0] for p in parts)]
    return tuple(runs) if len(runs) > 1 else ()


def _printed(row: Sequence[object], changes: set[int]) -> Iterator[str]:
    for i, value in enumerate(row):
        if i in changes:
            continue
        if not isinstance(value, float):
            yield "" if value is None else str(value)
            continue
        change = row[i + 1] if i + 1 in changes else None
        shown = as_percent(value)
        if isinstance(change, float):
            shown += f" {arrow(change)} {as_percent(abs(change))}"
        yield shown


def _name(scope: Scope) -> str:
    return f"{scope.subset}_{scope.part}"


def _models(rates: Mapping[Key, Rate], condition: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(m for m, other, _ in rates if other == condition))


def _values(
    rates: Mapping[Key, Rate],
    model: str,
    condition: str,
    columns: Sequence[Scope],
) -> Cells:
    found = (rates.get((model, condition, column)) for column in columns)
    return tuple(rate.value if rate else None for rate in found)


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _random(mcqs: Sequence[Mcq], columns: Sequence[Scope]) -> Cells:
    return tuple(random_rate(list(within(mcqs, column))) for column in columns)


def _frequent(
    mcqs: Sequence[Mcq],
    columns: Sequence[Scope],
    validation: Sequence[Mcq],
    params: Params,
) -> Cells:
    found = (
        frequent_choice(list(within(mcqs, c)), validation, params.frequent_from)
        for c in columns
    )
    return tuple(one.rate for one in found)


def _experts(
    mcqs: Sequence[Mcq],
    columns: Sequence[Scope],
    choices: Sequence[ExpertChoice],
    params: Params,
) -> Cells:
    """Return the experts' score where they read the whole column, else None."""
    found = []
    for column in columns:
        own = list(within(mcqs, column))
        groups = group_scores(choices, own, params.expert_pooling)
        whole = groups and all(g.answered == g.items for g in groups)
        found.append(expert_score(groups) if whole else None)
    return tuple(found)
