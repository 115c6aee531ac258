"""The study's tables as a page prints them, in per cent, as the paper does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.report import Section, Table
from viewer.studies.evidence_diagnosis.params import Params

_DDX: Final = (
    "Share of differentials that hold the diagnosis and of right final diagnoses, with "
    "the cases counted; people bear no rank."
)
_NAMES: Final = {
    "table_03": "Raw images and expert findings",
    "table_04": "Without text, and with random text",
    "table_06": "Refined prompt",
}
_LANGUAGES: Final = {"": "English", "_zh": "Chinese"}
"""How the name of a table ends, by the language of the cases that it is of."""
_PLAIN_IN_LANGUAGE: Final = {
    "table_09": (
        "Open final diagnoses",
        "The judge's mean score of diagnoses in free words",
    ),
    "table_05": (
        "Sensitivity and accuracy",
        "Mean NMSE over the types of evidence, of all cases, beside the accuracy",
    ),
}
_PLAIN: Final = {
    "table_13": (
        "Sensitivity to microscopy under the refined prompt",
        "NMSE of microscopy before and after.",
    ),
    "table_08": (
        "Scores of differentials",
        (
            "The judge's mean score, and the share of differentials that have the "
            "diagnosis, in words, among the first 1, 3, 5 and 10."
        ),
    ),
}
"""Tables that are printed as they are: title and text."""
_HEADS: Final[Mapping[str, str]] = {
    "model": "Model",
    "evidence": "Evidence",
    "nmse": "NMSE",
    "nmse_swapped": "NMSE, swapped",
    "concordance": "Concordance",
    "cases": "Cases",
    "image_above": "Image above",
    "image_below": "Image below",
    "tied": "Tied",
    "missing": "Missing",
    "nmse_mean": "Mean NMSE",
    "task": "Task",
    "n_labelled": "Labelled",
    **{
        f"{name}_{end}": f"{name.title()}{words}"
        for name in ("score", "coverage")
        for end, words in (
            ("corrected", ", corrected"),
            ("low", " from"),
            ("high", " to"),
        )
    },
    "coverage": "Coverage",
    "same": "Same",
    "kappa": "κ",
    "kappa_quadratic": "κ, quadratic",
    "fdx": "FDx",
    "k": "Right",
    "n": "Cases",
    "baseline": "Baseline",
    "refined": "Refined",
    "delta": "Change",
    "score": "Score",
    "n_judged": "Judged",
    "n_planned": "Planned",
    **{
        f"{name}_{subset}": f"{language} {words}"
        for subset, language in (("en", "English"), ("zh", "Chinese"), ("all", "All"))
        for name, words in (("score", "score"), ("n_judged", "judged"))
    },
    **{f"top_{k}_all": f"Top {k}" for k in (1, 3, 5, 10)},
}
"""What a page calls the columns that it shows; it leaves out all others."""

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "OpenAI": ("gpt", "o1", "o3", "o4"),
    "Google": ("gemini", "gemma"),
    "Anthropic": ("claude",),
    "Alibaba": ("qwen", "lingshu"),
    "Shanghai AI Laboratory": ("internvl",),
    "DeepSeek": ("deepseek",),
}
"""Words in the names of models, by who made them or what they were made of."""


def sections(tables: Mapping[str, Table], params: Params) -> Iterator[Section]:
    """Yield a page's sections for the tables that are there."""
    yield from _prepared(tables)
    if table := tables.get("validation"):
        text = "What readers found of the cases; one that is not fit is excluded."
        named = ("Case", "Readers", "Found", "To be validated once more")
        yield Section("Validation", text, Table("validation", named, table.rows))
    if main := tables.get("table_02"):
        yield Section("Differential and final diagnosis", _DDX, _main(main))
    for suffix, language in _LANGUAGES.items():
        yield from _in_language(tables, params, suffix, language)
    if table := tables.get("table_12"):
        text = (
            f"Estimator {params.estimator}, other evidence: {params.context}. NMSE is "
            "near 1 wherever images move nothing, and it is not symmetric."
        )
        yield Section("Evidence Sensitivity, images against text", text, _plain(table))
    for name, (title, text) in _PLAIN.items():
        if table := tables.get(name):
            yield Section(title, text, _plain(table))
    if "table_08" in tables and params.judge_family:
        yield _family(tables["table_08"], params)
    if table := tables.get("judge_calibration"):
        text = (
            "The judge beside people who scored some of its answers: means as judged "
            "and as corrected, with 95 % intervals, and how the two agree."
        )
        yield Section("Judge and people", text, _plain(table))


def _prepared(tables: Mapping[str, Table]) -> Iterator[Section]:
    """Yield what was made of reports, and what of it stands in none."""
    if table := tables.get("preparation"):
        text = (
            "What was made of each report; it is neither right nor wrong, so that no "
            "rate counts it. The texts themselves stand in preparation.csv."
        )
        lines = tuple(
            (x["report"], x["task"], x["model"], _made(x), *(_whole(x[c]) for c in _OF))
            for x in _records(table)
        )
        header = ("Report", "Task", "Model", "Made", "Pieces", "Invented")
        yield Section("Reports", text, Table("preparation", header, lines))
    if table := tables.get("invented"):
        text = "Pieces that stand nowhere in their report, word for word."
        named = ("Report", "Model", "Under", "Said to be from", "Text")
        yield Section("Invented", text, Table("invented", named, table.rows))


_OF: Final = ("chunks", "invented")
"""Numbers of pieces that were extracted, and of those invented."""


def _made(line: Mapping[str, object]) -> str:
    return "yes" if line["reason"] == "prepared" else f"no: {line['reason']}"


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) else "-"


def _in_language(
    tables: Mapping[str, Table], params: Params, suffix: str, language: str
) -> Iterator[Section]:
    """Yield the sections of tables that are of cases in one language."""
    cases = f"{language} cases."
    for name, title in _NAMES.items():
        if table := tables.get(name + suffix):
            text = (
                f"Accuracy of the final diagnosis, and its change case by case; {cases}"
            )
            yield Section(f"{title}, {language}", text, _arms(table))
    for name, title in (("table_11", "Specialty groups"), ("table_10", "Specialties")):
        if table := tables.get(name + suffix):
            text = f"A warning marks fewer than {params.small_cases} cases; {cases}"
            yield Section(f"{title}, {language}", text, _strata(table))
    for name, (title, text) in _PLAIN_IN_LANGUAGE.items():
        if table := tables.get(name + suffix):
            yield Section(f"{title}, {language}", f"{text}; {cases}", _plain(table))


def _main(table: Table) -> Table:
    header = ["Model"]
    for subset in ("English", "Chinese", "All"):
        header += [f"{subset} DDx", f"{subset} FDx", f"{subset} rank"]
    lines = []
    for line in _records(table):
        cells: list[object] = [line["model"]]
        for subset in ("en", "zh", "all"):
            names = (f"ddx_{subset}", f"fdx_{subset}")
            cells += [_rate(line, name, f"{name}_") for name in names]
            rank = line[f"rank_{subset}"]
            cells.append("-" if rank is None else rank)
        lines.append(tuple(cells))
    return Table("main", tuple(header), tuple(lines))


def _arms(table: Table) -> Table:
    header = ("Model", "Arm", "FDx", "Change", "Gained", "Lost", "p")
    lines = tuple(
        (
            *(x["model"], x["arm"], _rate(x, "fdx", "")),
            *(_signed(x["delta_pp"]), _or_dash(x["gained"]), _or_dash(x["lost"])),
            _p(x["p_mcnemar"]),
        )
        for x in _records(table)
    )
    return Table(table.name, header, lines)


def _plain(table: Table) -> Table:
    """Return a table's columns that a page shows; rates in per cent."""
    shown = [n for n, name in enumerate(table.header) if name in _HEADS]
    lines = tuple(
        tuple(_cell(table.header[n], row[n]) for n in shown) for row in table.rows
    )
    return Table(table.name, tuple(_HEADS[table.header[n]] for n in shown), lines)


def _cell(column: str, value: object) -> object:
    if value is None:
        return "-"
    if column == "fdx" or column.startswith("top_"):
        return _percent(value)
    # what is 0 as printed has no sign
    return f"{round(value, 2) + 0.0:.2f}" if isinstance(value, float) else value


def _strata(table: Table) -> Table:
    lines = tuple(
        (
            *(x["model"], x["stratum"], _rate(x, "fdx", "")),
            x["warning"],
        )
        for x in _records(table)
    )
    return Table(table.name, ("Model", "Part", "FDx", "Warning"), lines)


def family_of(model: str) -> str:
    """Return whose model one is by its name, "" where the name does not say."""
    name = model.casefold()
    found = (f for f, words in FAMILIES.items() if any(w in name for w in words))
    return next(found, "")


def _family(table: Table, params: Params) -> Section:
    """Return which models are of the judge's own family (E004-21)."""
    text = (
        f"The judge is {params.judge}, of {params.judge_family}; it may favour models "
        "of the same family. Compare its scores with people's."
    )
    header = ("Model", "Mean score", "Judged", "Of the judge's family")
    lines = tuple(
        (
            *(x["model"], _decimal(x["score_all"]), x["n_judged_all"]),
            "yes" if family_of(str(x["model"])) == params.judge_family else "",
        )
        for x in _records(table)
    )
    return Section("Judge", text, Table("judge", header, lines))


def _records(table: Table) -> Sequence[dict[str, object]]:
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def _rate(line: Mapping[str, object], name: str, counts: str) -> str:
    """Return a rate with its counts, whose columns begin with ``counts``."""
    if line[name] is None:
        return "-"
    return f"{_percent(line[name])} ({line[f'{counts}k']} / {line[f'{counts}n']})"


def _percent(value: object) -> str:
    return "-" if not isinstance(value, float) else f"{100 * value:.2f}"


def _signed(value: object) -> str:
    return "-" if not isinstance(value, float) else f"{value:+.2f} pp"


def _decimal(value: object) -> str:
    return "-" if not isinstance(value, float) else f"{value:.2f}"


def _p(value: object) -> str:
    return "-" if not isinstance(value, float) else f"{value:.3f}"


def _or_dash(value: object) -> object:
    return "-" if value is None else value
