"""What stands beside the paper's tables: trials, points, printed rows, LaTeX.

Bounds of a divergence are searched for by scipy, intervals by case are scipy's, and
the paper's rows are read off the files of their numbers and tried in fractions.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress, product
from math import isnan, log
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.helpers.by_patient import ci_of
from tests.helpers.evidence_cells import (
    RAW,
    SUBSETS,
    TABLES,
    Cell,
    Row,
    check_tables,
    compare,
    everybody,
    sensitivity,
)
from tests.helpers.evidence_figure_cells import check_figures
from tests.helpers.evidence_pack import Made
from tests.helpers.evidence_printed import published
from tests.helpers.evidence_truth import SETTLED, Asked, Truth, bounds
from tests.helpers.sheets import is_same, ledger_rows
from viewer.domain.specialties import GROUPS, SPECIALTIES
from viewer.store.database import open_store
from viewer.studies.evidence_diagnosis.words import condition_words


def _check_gold(gold: Mapping[str, Any], line: Mapping[str, str]) -> None:
    """Hold the letter that is right against the verdict on the letter answered."""
    if "right" not in gold:
        assert gold["diagnosis"]
    elif line["status"] in {"scored_correct", "scored_wrong"}:
        letter = "ABCD"[gold["order"].index(gold["right"])]
        is_right = line["status"] == "scored_correct"
        assert (line["answer"][:1] == letter) == is_right


def _check_ledger(made: Made, found: Sequence[dict[str, str]]) -> None:
    """Hold what trials took against the ledger; those columns are taken out."""
    with open_store(made.folder.parent / "s.sqlite") as store:
        ledger = ledger_rows(store, 1)
    for line in found:
        name = line["item"], line["condition"], int(line["repeat"]), line["model"]
        for column, value in ledger[name].items():
            assert is_same(line.pop(column), value), (name, column)


def check_every_cell(made: Made) -> Mapping[str, int]:
    """Compare every table of the pack; return how many cells each has.

    A table that is not computed here fails.
    """
    cells = dict(check_tables(made))
    truth = Truth(made)
    cells["sensitivity"] = check_sensitivity(truth)
    cells["published"] = compare(made.table("published"), published(), "published")
    for name, rows in {"items": items, "results": results}.items():
        found = made.table(name, "run")
        if name == "items":
            _check_ledger(made, found)
        for line in found if name == "items" else ():
            _check_gold(json.loads(line.pop("gold")), line)
        cells[f"run/{name}"] = compare(found, rows(truth), name)
    files = {p.stem for p in (made.folder / "tables").glob("*.csv")}
    assert files == {*TABLES, "sensitivity", "published"}
    for name in files:
        of_the_run, of_the_pack = (
            (made.folder / where / f"{name}.csv").read_bytes()
            for where in ("run", "tables")
        )
        assert of_the_run == of_the_pack
    own = {path.stem for path in (made.folder / "run").glob("*.csv")}
    assert own == {*files, "items", "results"}
    return {**cells, **check_latex(truth), **check_figures(truth)}


def items(truth: Truth) -> list[Row]:
    """Return every trial, with its numbers."""
    names = dict.fromkeys(n for one in truth.trials for n in one.numbers or {})
    return [
        {
            "item": f"{truth.cases[one.number].key}|{one.task}",
            "patient": truth.cases[one.number].key,
            "image": truth.cases[one.number].images[0],
            "finding": one.task,
            "view": str(truth.cases[one.number].language),
            "question_kind": one.task,
            "language": str(truth.cases[one.number].language),
            "specialty": truth.cases[one.number].specialty,
            "condition": one.condition,
            "repeat": one.repeat,
            "model": one.model,
            "status": one.status,
            "reason": one.reason,
            "answer": one.answer,
            "correct": "" if one.status in {"excluded", "pending"} else str(one.right),
            "chance": _chance([one]),
            **{name: one.number_of(name) for name in names},
        }
        for one in truth.trials
    ]


def results(truth: Truth) -> list[Row]:
    """Return rates by task, language, condition and model."""
    by: dict[tuple[str, str, str, str], list[Asked]] = {}
    for one in truth.trials:
        language = str(truth.cases[one.number].language)
        for view in ("all", language):
            by.setdefault((one.task, view, one.condition, one.model), []).append(one)
    return [
        _rates(truth, key, trials)
        for key, trials in by.items()
        if key[1] == "all" or len(_languages(truth, key)) > 1
    ]


def _languages(truth: Truth, key: tuple[str, str, str, str]) -> set[str]:
    return {
        str(truth.cases[one.number].language)
        for one in truth.trials
        if (one.condition, one.model) == key[2:]
    }


def _rates(
    truth: Truth, key: tuple[str, str, str, str], trials: Sequence[Asked]
) -> Row:
    statuses = [one.status for one in trials]
    k = statuses.count("scored_correct")
    scored = k + statuses.count("scored_wrong")
    n = sum(status in SETTLED for status in statuses)
    names = ("finding", "view", "condition", "model")
    return {
        **dict(zip(names, key, strict=True)),
        "n_planned": len(trials),
        "n_scored": scored,
        "n_failed": statuses.count("provider_error"),
        "n_refused": statuses.count("refused"),
        "n_unparsed": statuses.count("unparsed"),
        "n_excluded": statuses.count("excluded"),
        "n_pending": 0,
        "k": k,
        "n": n,
        "hit_rate": k / n if n else None,
        **ci_of(
            (one.right, truth.cases[one.number].key, (one.number, one.task))
            for one in trials
            if one.status in SETTLED
        ),
        "answered_rate": k / scored if scored else None,
        "chance": _chance([one for one in trials if one.status in SETTLED]),
    }


def _chance(settled: Sequence[Asked]) -> float | None:
    """Return the chance of four options, none where anything else was asked."""
    return 0.25 if {one.task for one in settled} == {"fdx"} else None


def check_sensitivity(truth: Truth) -> int:
    """Compare every point; its bounds are searched for within those of the beliefs."""
    found = truth.made.table("sensitivity")
    wanted = _points(truth)
    seen = [(line["case"], line["model"], line["evidence"]) for line in found]
    assert sorted(seen) == sorted(wanted)
    for line, key in zip(found, seen, strict=True):
        model, number, of = wanted[key]
        assert (line["context"], line["estimator"]) == ("all", "letter_logprobs")
        for modality, base in zip(("image", "text"), RAW, strict=True):
            cells = [line[f"{modality}_{x}"] for x in ("s", "corrected", "se")]
            ends = [line[f"{modality}_{x}"] for x in ("low", "high", "interval_by")]
            value = sensitivity(truth, model, number, base, of)
            if isnan(value):
                assert [*cells, *ends] == [""] * 6
                continue
            assert float(cells[0]) == float(cells[1]) == pytest.approx(value, abs=1e-12)
            assert (float(cells[2]), ends[2]) == (0.0, "bounds")
            pair = (
                truth.belief(model, number, base),
                truth.belief(model, number, f"{base} without {of}"),
            )
            least, most = least_and_most(pair)
            assert least - 4e-7 <= float(ends[0]) <= least + 1e-7
            assert float(ends[1]) == pytest.approx(most, abs=1e-9)
    return sum(map(len, found))


def _points(truth: Truth) -> dict[tuple[str, str, str], tuple[str, int, str]]:
    """Return the points that have a belief at one end at least."""
    known = {
        (one.model, one.number, one.condition) for one in truth.trials if one.posterior
    }
    return {
        (case.key, model, str(of)): (model, number, str(of))
        for number, case in enumerate(truth.cases)
        for model, of in product(truth.made.models, case.types)
        if any(
            (model, number, condition) in known
            for base in RAW
            for condition in (base, f"{base} without {of}")
        )
    }


Beliefs = tuple[Sequence[float], Sequence[float]]


def least_and_most(pair: Beliefs) -> tuple[float, float]:
    """Return the least and most divergence, in bits, that the beliefs' bounds allow."""
    ends = [bounds(p) for p in pair]
    limits = [(lo, hi) for low, high in ends for lo, hi in zip(low, high, strict=True)]
    sums = [
        {"type": "eq", "fun": lambda x: x[:4].sum() - 1},
        {"type": "eq", "fun": lambda x: x[4:].sum() - 1},
    ]
    start = np.concatenate(pair)
    options = {"ftol": 1e-12, "maxiter": 400}
    found = minimize(
        _bits, start, bounds=limits, constraints=sums, method="SLSQP", options=options
    )
    corners = [_corners(*of) for of in ends]
    most = max(_bits(np.concatenate(both)) for both in product(*corners))
    return max(0.0, min(float(found.fun), _bits(start))), max(most, _bits(start))


def _corners(low: Sequence[float], high: Sequence[float]) -> Iterator[list[float]]:
    """Yield the corners of a box on which the numbers add up to 1."""
    for free, ends in product(range(4), product((0, 1), repeat=4)):
        point = [(low, high)[end][i] for i, end in enumerate(ends)]
        point[free] = 1 - sum(x for i, x in enumerate(point) if i != free)
        if low[free] - 1e-12 <= point[free] <= high[free] + 1e-12:
            yield point


def _bits(both: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    p, q = both[:4], both[4:]
    middle = (p + q) / 2
    terms = (
        x * log(x / m) if x > 0 else 0.0
        for side in (p, q)
        for x, m in zip(side.tolist(), middle.tolist(), strict=True)
    )
    return sum(terms) / 2 / log(2)


_ENDINGS = (r"\midrule", r"\bottomrule")
"""What ends the run's own rows: the paper's stand below them."""


def check_latex(truth: Truth) -> Mapping[str, int]:
    """Compare the tables for a paper's own text, cell by cell as they are printed."""
    folder = truth.made.folder / "tables"
    files = {path.stem: path for path in folder.glob("*.tex")}
    rows = {name: printed(truth) for name, printed in PRINTED.items()}
    assert set(files) == {name for name, printed in rows.items() if printed}
    cells = {}
    for name, path in files.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        start = lines.index(r"\midrule") + 1
        ends = [i for i, line in enumerate(lines[start:], start) if line in _ENDINGS]
        body = lines[start : ends[0]]
        found = [line.removesuffix(r" \\").split(" & ") for line in body]
        every = [[_escaped(cell) for cell in row] for row in rows[name]]
        # no case has that specialty, nor does the paper print it of Chinese cases
        is_printed = not name.endswith("_zh")
        filled = [is_printed or any(column) for column in zip(*every, strict=True)]
        wanted = [list(compress(row, filled)) for row in every]
        assert sorted(found) == sorted(wanted), name
        cells[f"{name}.tex"] = sum(map(len, found))
    return cells


def _escaped(cell: str) -> str:
    return cell.replace("_", r"\_").replace("&", r"\&").strip()


def _of(name: str, truth: Truth) -> Sequence[Row]:
    return TABLES[name](truth)


def _share(row: Row, name: str = "fdx", counts: str = "") -> str:
    value = row[name]
    if value is None:
        return "-"
    told = f"{100 * float(value):.2f} ({row[f'{counts}k']} / {row[f'{counts}n']})"
    return f"{told} {_bracketed(row, f'{counts}ci', 100)}"


def _bracketed(row: Row, of: str, scale: float = 1, form: str = ".2f") -> str:
    ends = row[f"{of}_low"], row[f"{of}_high"]
    if None in ends:
        return "[-]"
    return f"[{', '.join(f'{scale * _float(end):{form}}' for end in ends)}]"


def _main(truth: Truth) -> list[list[str]]:
    lines = []
    for row in _of("table_02", truth):
        cells = [str(row["model"])]
        for subset in SUBSETS:
            names = (f"ddx_{subset}", f"fdx_{subset}")
            cells += [_share(row, name, f"{name}_") for name in names]
            rank = row[f"rank_{subset}"]
            cells.append("-" if rank is None else f"{float(rank):.0f}")
            cells.append(_points_apart(row, f"gap_pp_{subset}"))
        lines.append([*cells, _cell(row, "fdx_all_chance%")])
    return lines


def _points_apart(row: Row, name: str) -> str:
    value = row[name]
    if value is None:
        return "-"
    return f"{float(value):+.2f} {_bracketed(row, name, form='+.2f')}"


def _p_value(p: object) -> str:
    if p is None:
        return "-"
    return "< 0.01" if float(str(p)) < 0.01 else f"{float(str(p)):.2f}"


ARMS = {
    "raw": "raw images",
    "expert": "expert text",
    "remove_text": "text removed",
    "random_text": "random text",
    "refined": "refined prompt",
}
"""What tables for a paper's text call the arms."""


def _arms(name: str) -> Callable[[Truth], list[list[str]]]:
    def printed(truth: Truth) -> list[list[str]]:
        lines = []
        for row in _of(name, truth):
            arm = ARMS.get(str(row["arm"]), str(row["arm"]))
            cells = [str(row["model"]), arm, _share(row)]
            cells.append(_cell(row, "chance%"))
            p = row["p_value"]
            cells.append(_points_apart(row, "delta_pp"))
            cells += [
                "-" if row[x] is None else str(row[x]) for x in ("gained", "lost")
            ]
            cells.append("-" if row["n_pairs"] is None else str(row["n_pairs"]))
            lines.append([*cells, _p_value(p)])
        return lines

    return printed


def _parts(name: str) -> Callable[[Truth], list[list[str]]]:
    """Return a row a model with the strata side by side; in English every one."""

    def printed(truth: Truth) -> list[list[str]]:
        rows, asked = _of(name, truth), dict(everybody(truth))
        subset = "zh" if name.endswith("zh") else "en"
        every = SPECIALTIES if "10" in name else tuple(GROUPS)
        there = {row["stratum"] for row in rows}
        strata = [x for x in every if x in there or not name.endswith("zh")]
        lines = []
        for model in dict.fromkeys(str(row["model"]) for row in rows):
            own = {row["stratum"]: row for row in rows if row["model"] == model}
            shares = [_share(own[x]) if x in own else "-" for x in strata]
            cells = ["" if share == "-" else share for share in shares]
            counts = [(_float(r["chance"]), _float(r["n"])) for r in own.values()]
            n = sum(of for _, of in counts)
            mean = f"{100 * sum(c * of for c, of in counts) / n:.2f}" if n else "-"
            k = sum(int(_float(r["k"])) for r in own.values())
            rate = k / n if n else None
            total: dict[str, Cell] = {"k": k, "n": round(n), "fdx": rate}
            settled = [x for x in asked[model]("fdx", subset) if x.status in SETTLED]
            total |= ci_of((one.right, one.number, one.number) for one in settled)
            lines.append([model, *cells, _share(total) if n else "", mean])
        return lines

    return printed


def _float(value: object) -> float:
    """Return a number of a table's row, 0 where there is none."""
    return 0.0 if value is None else float(str(value))


def _errors(name: str) -> Callable[[Truth], list[list[str]]]:
    def printed(truth: Truth) -> list[list[str]]:
        return [
            [
                *(_cell(row, "model"), _cell(row, "nmse_mean"), _share(row)),
                *(_cell(row, "chance%"), str(row["n_planned"])),
            ]
            for row in _of(name, truth)
        ]

    return printed


def _calibrated(truth: Truth) -> list[list[str]]:
    lines = []
    for row in _of("judge_calibration", truth):
        task = "Differential" if row["task"] == "ddx" else "Open diagnosis"
        cells = [_cell(row, "model"), task]
        cells += [_cell(row, name) for name in ("n_first_judged", "n_labelled")]
        for of in ("first_score", "first_coverage"):
            ends = [_cell(row, f"{of}_{end}") for end in ("low", "high")]
            cells += [_cell(row, of), _cell(row, f"{of}_corrected")]
            cells.append("-" if ends[0] == "-" else " to ".join(ends))
        lines.append([*cells, *(_cell(row, x) for x in _AGREED)])
    return lines


def _moved(name: str) -> Callable[[Truth], list[list[str]]]:
    """Return Table 12: errors, counts, and the share of cases below the line."""

    def printed(truth: Truth) -> list[list[str]]:
        lines = []
        for row in _of(name, truth):
            known = row["below"] is not None
            below = f"{_cell(row, 'below%')} {_bracketed(row, 'ci', 100)}"
            cells = [_cell(row, column) for column in _MOVED]
            lines.append([*cells[:8], below if known else "", *cells[8:]])
        return lines

    return printed


_MOVED = (
    *("model", "evidence", "nmse", "nmse_swapped", "concordance", "cases"),
    *("image_above", "image_below", "tied", "missing"),
)


def _plain(name: str, *columns: str) -> Callable[[Truth], list[list[str]]]:
    """Return a table of some columns; those marked with % are rates."""

    def printed(truth: Truth) -> list[list[str]]:
        return [[_cell(row, column) for column in columns] for row in _of(name, truth)]

    return printed


def _cell(row: Row, column: str) -> str:
    value = row[column.removesuffix("%")]
    if isinstance(value, str):
        return value
    if value is None or isnan(value):
        return "-"
    if column.endswith("%"):
        return f"{100 * value:.2f}"
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return "0.00" if text == "-0.00" else text


def _score_of(row: Row, end: str) -> str:
    mean = _cell(row, f"score{end}")
    counts = f"{row[f'n_judged{end}']} / {row[f'n_planned{end}']}"
    told = f"{mean} ({counts}) {_bracketed(row, f'score{end}')}"
    return mean if mean == "-" else told


def _scores(
    name: str, *ends: str, columns: Sequence[str]
) -> Callable[[Truth], list[list[str]]]:
    """Return a table of mean scores with how many of the planned have one."""

    def printed(truth: Truth) -> list[list[str]]:
        return [
            [
                str(row["model"]),
                *(_score_of(row, end) for end in ends),
                *(f"{_cell(row, f'{x}%')} {_bracketed(row, x, 100)}" for x in columns),
            ]
            for row in _of(name, truth)
        ]

    return printed


def _judge(truth: Truth) -> list[list[str]]:
    # of a scripted judge no maker is known, so that none is told
    return [[str(r["model"]), _score_of(r, "_all")] for r in _of("table_08", truth)]


_TOP = [f"top_{k}_all" for k in (1, 3, 5, 10)]
_AGREED = ("same", "kappa", "kappa_quadratic")
IN_A_LANGUAGE: Mapping[str, Callable[[str], Callable[[Truth], list[list[str]]]]] = {
    "table_03": _arms,
    "table_04": _arms,
    "table_05": _errors,
    "table_06": _arms,
    "table_09": lambda name: _scores(name, "", columns=()),
    "table_10": _parts,
    "table_11": _parts,
    "table_12": _moved,
    "table_13": lambda name: _plain(name, "model", "baseline", "refined", "delta"),
}


def _unanswered(truth: Truth) -> list[list[str]]:
    """Return each model's conditions of which every request failed."""
    ended: dict[tuple[str, str], list[str]] = {}
    for row in truth.made.table("items", "run"):
        ended.setdefault((row["model"], row["condition"]), []).append(row["status"])
    return [
        [model, condition_words(condition), str(len(statuses))]
        for (model, condition), statuses in ended.items()
        if {*statuses} == {"provider_error"}
    ]


PRINTED: Mapping[str, Callable[[Truth], list[list[str]]]] = {
    "table_02": _main,
    **{
        f"{name}{suffix}": of(f"{name}{suffix}")
        for name, of in IN_A_LANGUAGE.items()
        for suffix in ("", "_zh")
    },
    "table_08": _scores("table_08", *(f"_{s}" for s in SUBSETS), columns=_TOP),
    "judge": _judge,
    "judge_calibration": _calibrated,
    "unanswered": _unanswered,
}
"""What each printed table must hold."""
