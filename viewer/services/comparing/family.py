"""Which tests of a comparison were declared before their results were seen."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.metrics.multiplicity import Family, benjamini_hochberg, holm
from viewer.services.comparing.sides import Side
from viewer.store import cases, comparing, runs
from viewer.store.comparing import Declaration
from viewer.store.database import Store
from viewer.studies.catalog import PLACING, places_findings
from viewer.studies.protocol import ABSENT_SUFFIX

TESTS: Final = ("sign_flip", "mcnemar")
"""What may be declared as the test that decides, the default first."""
METRIC: Final = "hit_rate"
OF_FINDINGS: Final = PLACING
"""The study whose runs a family is declared for if it is unknown."""

Keys = tuple[str, str]
"""A condition and a finding."""


@dataclass(frozen=True, slots=True)
class Looked:
    """When two sides were first compared, and what was declared before or after it.

    ``declared`` is the oldest declaration that covers them and precedes the look;
    ``too_late`` is True if there is one only after it, ``scored_before`` if answers
    were already scored when the family was declared.
    """

    at: str
    declared: Declaration | None
    too_late: bool
    scored_before: bool = False


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A test's p values after adjustment, and whether it was declared."""

    mcnemar: float
    permutation: float
    primary: bool


@dataclass(frozen=True)
class Adjustment:
    """Adjusted p values by condition and finding, and what they are in words."""

    by_group: Mapping[Keys, Adjusted]
    sentence: str
    methods: tuple[str, ...]


def declare_family(
    store: Store,
    dataset: str,
    models: Sequence[str],
    findings: Sequence[str] = (),
    *,
    test: str = TESTS[0],
    alpha: float = 0.05,
    study: str = OF_FINDINGS,
) -> Declaration:
    """Declare every pair of some models on some findings of a data set.

    Without findings, all with a reference mask are declared; for a study about items,
    all kinds. An unknown test, study or finding, or fewer than two models, raises
    WrongUseError.
    """
    known = cases.dataset_named(store, dataset)
    masked = _groups(known, study)
    wanted = tuple(dict.fromkeys(findings or masked))
    _check(wanted, masked, models, test, alpha)
    # One model named twice: two runs of it are compared.
    pairs = tuple(combinations(dict.fromkeys(models), 2)) or ((models[0], models[0]),)
    return comparing.declare(
        store,
        dataset_sha256=known.root_sha256,
        study=study,
        findings=wanted,
        pairs=pairs,
        metric=METRIC,
        test=test,
        alpha=alpha,
    )


def _groups(dataset: Dataset, study: str) -> list[str]:
    """Return the first grouping of a study's results on a data set."""
    if places_findings(study):
        return sorted({n for i in dataset.images for n in (*i.masks, *i.boxes)})
    return sorted({item.kind for item in dataset.items})


def _check(
    findings: Sequence[str],
    masked: Sequence[str],
    models: Sequence[str],
    test: str,
    alpha: float,
) -> None:
    unknown = [name for name in findings if name not in masked]
    if unknown or not findings:
        raise WrongUseError(
            f"The data set has no reference for {', '.join(unknown) or 'any finding'}.",
            f"It has: {', '.join(masked) or 'none'}.",
        )
    if len(models) < 2:
        raise WrongUseError("A comparison needs two models.", "Name two or more.")
    if test not in TESTS:
        raise WrongUseError(f"No test is called '{test}'.", f"Choose one of: {TESTS}.")
    if not 0 < alpha < 1:
        raise WrongUseError(
            f"The level {alpha} is not between 0 and 1.", "Use one such as 0.05."
        )


def looked(store: Store, first: Side, second: Side) -> Looked:
    """Return when two sides were first compared; the first call counts as a look."""
    now = comparing.first_look(store, first.key, second.key)
    sha256, other = (
        comparing.dataset_id_of_run(store, side.run)[1] for side in (first, second)
    )
    if sha256 != other:
        return Looked(now, None, too_late=False)
    study = runs.run_summary(store, first.run).study
    covering = [
        one
        for one in comparing.declarations(store, sha256)
        if one.study == study and covers(one, first.name, second.name)
    ]
    # ISO 8601 in UTC sorts as text.
    before = [one for one in covering if one.declared_at < now]
    if not before:
        return Looked(now, None, too_late=bool(covering))
    verdicts = (comparing.first_verdict_at(store, s.run) for s in (first, second))
    scored = any(at is not None and at < before[0].declared_at for at in verdicts)
    return Looked(now, before[0], too_late=False, scored_before=scored)


def covers(declaration: Declaration, first: str, second: str) -> bool:
    """Tell whether a declaration names two models, in either order."""
    return bool({(first, second), (second, first)} & {*declaration.pairs})


PValues = Mapping[Keys, tuple[float, float]]
"""McNemar's and the sign-flip p value by condition and finding."""


def adjusted(
    look: Looked,
    mine: PValues,
    others: Sequence[PValues | None] = (),
) -> Adjustment:
    """Return p-values adjusted by Holm if declared, else by Benjamini-Hochberg.

    Parameters
    ----------
    look : Looked
        The declaration that precedes the look.
    mine : mapping
        The raw p values of this comparison.
    others : sequence
        Those of the declaration's other pairs of models, None if not available yet:
        they still count in the size of the family.
    """
    declared = look.declared
    primary = [key for key in mine if declared is not None and _is_of(declared, key)]
    rest = [k for k in mine if k not in primary]
    by_group: dict[Keys, Adjusted] = {}
    methods: list[str] = []
    for keys, is_primary in ((primary, True), (rest, False)):
        if not keys:
            continue
        extra = _extra(declared, mine, others) if is_primary else []
        method = holm if is_primary else benjamini_hochberg
        pair = [_family(method, keys, mine, extra, i) for i in (0, 1)]
        methods.append(pair[0].method)
        for place, key in enumerate(keys):
            by_group[key] = Adjusted(
                pair[0].adjusted[place], pair[1].adjusted[place], is_primary
            )
    return Adjustment(by_group, _sentence(look, len(rest), len(mine)), tuple(methods))


def _is_of(declared: Declaration, key: Keys) -> bool:
    """Tell whether a test belongs to a family; the absent arm has no hit rate."""
    return key[1] in declared.findings and not key[0].endswith(ABSENT_SUFFIX)


def _family(
    method: Callable[[Sequence[float]], Family],
    keys: Sequence[Keys],
    mine: PValues,
    extra: Sequence[tuple[float, float]],
    which: int,
) -> Family:
    p_values = [mine[key][which] for key in keys]
    return method([*p_values, *(values[which] for values in extra)])


def _extra(
    declared: Declaration | None,
    mine: PValues,
    others: Sequence[PValues | None],
) -> list[tuple[float, float]]:
    """Return the rest of the family's p values, NaN for those not available."""
    if declared is None:
        return []
    nothing = (math.nan, math.nan)
    conditions = tuple(
        dict.fromkeys(k[0] for k in mine if not k[0].endswith(ABSENT_SUFFIX))
    )
    tests = [(c, f) for c in conditions for f in declared.findings]
    missing = [nothing for key in tests if key not in mine]
    found = [(values or {}).get(key, nothing) for values in others for key in tests]
    return [*missing, *found]


def _sentence(look: Looked, exploratory: int, tests: int) -> str:
    if look.declared is None:
        why = (
            "a family was declared, but after they were first compared"
            if look.too_late
            else "no family was declared before they were first compared"
        )
        return f"Exploratory: {why} ({day(look.at)})."
    declared = look.declared
    size = size_words(declared)
    when = "after answers were scored, but" if look.scored_before else "and"
    rest = f" {exploratory} of {tests} tests are not in it: exploratory."
    return (
        f"Confirmatory: {size}, decided by {declared.test.replace('_', ' ')} at "
        f"{declared.alpha:g}, declared {day(declared.declared_at)}, {when} before "
        f"they were first compared.{rest if exploratory else ''}"
    )


def size_words(declared: Declaration) -> str:
    """Return how many tests a family has: ``9 findings × 1 pair of models``."""
    findings = counted(len(declared.findings), "finding")
    pairs = counted(len(declared.pairs), "pair of models", "pairs of models")
    return f"{findings} × {pairs}"


def day(at: str) -> str:
    """Return a store's time to the minute."""
    return f"{at[:16].replace('T', ' ')} UTC"
