"""Every cell of the pathmmu2024 pack, computed the long way in fractions.

Nothing of the study is used; intervals by image are
scipy's bounds of fractions, and a table that nobody computes here is an
error, so that none is added unnoticed.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

from tests.helpers.by_patient import ci_of, difference_by_patient
from tests.helpers.mcq_audits import (
    GUESSED_BY,
    Cell,
    Row,
    all_tiny,
    always_of,
    chance_of,
    columns_of,
    experts_mean,
    experts_rows,
    guess_audit_rows,
    guessers,
    guesses_rows,
    mean_of,
    official_items_rows,
    official_rows,
    rate_of,
    scopes_of,
    sizes_rows,
    status,
    val_letter,
)
from tests.helpers.mcq_pack import (
    CORRUPTED,
    KINDS,
    MODELS,
    REFUSED,
    RIGHT,
    SCRIPTED,
    UNREAD,
    WRONG,
    Made,
    Question,
    asked_in,
)
from viewer.domain.escapes import unguarded

TABLE_4 = (
    (34.9, 31.8, 37.0, 33.2, 35.3, 33.9, 36.5, 33.3, 37.0, 36.7, 26.6, 23.1),
    (55.7, 53.3, 53.7, 50.4, 52.8, 52.3, 56.5, 52.0, 56.2, 53.1, 61.0, 60.8),
    (54.9, 53.0, 55.5, 51.4, 51.9, 49.7, 55.3, 51.5, 53.4, 51.6, 59.3, 61.4),
    (34.3, 33.9, 39.1, 37.2, 33.6, 34.3, 34.5, 36.0, 38.5, 39.3, 22.6, 22.7),
    (56.8, 55.2, 55.2, 51.5, 59.6, 55.2, 58.4, 54.1, 50.5, 53.7, 61.0, 63.7),
    (51.0, 52.9, 48.8, 50.8, 55.3, 51.2, 52.2, 51.9, 44.2, 50.1, 54.8, 60.5),
)
"""Sun 2024, Table 4, read off the paper."""


_CHECKED_ELSEWHERE = ("published", "image_dependence", "needs_image")


def check_every_cell(made: Made) -> Mapping[str, int]:
    """Compare every table of the pack; return how many cells each has."""
    folder = made.folder / "tables"
    tables = {path.stem: _rows(path) for path in sorted(folder.glob("*.csv"))}
    assert set(tables) == {*EXPECTED, *_CHECKED_ELSEWHERE}
    cells = {}
    for name, expected in EXPECTED.items():
        cells[name] = _compare(name, tables[name], list(expected(made)))
    cells["run/items"] = _compare_items(made)
    cells["figures/levels"] = _compare(
        "levels", _rows(made.folder / "figures" / "levels.csv"), list(_levels(made))
    )
    cells["figures/guessing"] = _compare(
        "guessing", _rows(made.folder / "figures" / "guessing.csv"), list(_bars(made))
    )
    for path in (made.folder / "run").glob("*.csv"):
        if path.stem in tables:
            assert path.read_bytes() == (folder / path.name).read_bytes()
    for name in ("table1", "table2", "table3", "table4_published"):
        cells[f"{name}.tex"] = _compare_latex(made, name, list(EXPECTED[name](made)))
    return cells


def _compare(
    name: str, found: Sequence[Mapping[str, str]], expected: Sequence[Row]
) -> int:
    assert len(found) == len(expected), (name, len(found), len(expected))
    for row, wanted in zip(found, expected, strict=True):
        assert list(row) == list(wanted), (name, list(row), list(wanted))
        for column, value in wanted.items():
            assert _same(row[column], value), (name, dict(row), column, value)
    return sum(map(len, found))


def _same(cell: str, wanted: Cell) -> bool:
    if isinstance(wanted, str):
        return cell == wanted
    if wanted is None:
        return cell == ""
    if isinstance(wanted, tuple):
        return wanted[0] - 1e-12 <= float(cell) <= wanted[1] + 1e-12
    if isinstance(wanted, int):
        return cell == str(wanted)
    return abs(float(cell) - wanted) <= 1e-12


def _table_1(made: Made) -> Iterator[Row]:
    columns = list(columns_of(made))
    letter = val_letter(made)
    yield _laid(("Random Choice", "none"), {n: chance_of(own) for n, own in columns})
    yield _laid(
        ("Frequent Choice", "none"), {n: always_of(own, letter) for n, own in columns}
    )
    read = {n: experts_mean(own) if all_tiny(own) else None for n, own in columns}
    yield _laid(("Expert performance", "image and text"), read)
    for condition, told in (("plain", "image and text"), ("text_only", "text only")):
        for model in asked_in(condition):
            values = {n: rate_of(made, own, model, condition) for n, own in columns}
            yield _laid((model, told), values)


def _laid(named: tuple[str, str], values: Mapping[str, Cell]) -> Row:
    return {"model": named[0], "input": named[1], **values}


def _table_2(made: Made) -> Iterator[Row]:
    tiny = made.asked("hue-1")
    for model in SCRIPTED:
        clean = rate_of(made, tiny, model, "plain")
        row: dict[str, Cell] = {"model": model}
        for kind, value in _kinds(made, model).items():
            row |= {kind: value, f"{kind}_change": value - clean}
        yield row


def _kinds(made: Made, model: str) -> Mapping[str, Fraction]:
    """Return the mean over levels of every kind, and the mean over kinds."""
    tiny = made.asked("hue-1")
    kinds = {
        kind: mean_of([rate_of(made, tiny, model, f"{kind}-{n}") for n in range(1, 6)])
        for kind in KINDS
    }
    return {**kinds, "overall": mean_of(list(kinds.values()))}


def _table_3(made: Made) -> Iterator[Row]:
    for model in SCRIPTED:
        row: dict[str, Cell] = {"model": model}
        for name, own in columns_of(made):
            if name != "Overall_val":
                noise = rate_of(made, own, model, "noise")
                change = noise - rate_of(made, own, model, "plain")
                row |= {name: noise, f"{name}_change": change}
        yield row


def _table_4(made: Made) -> Iterator[Row]:
    names = [name for name, _ in columns_of(made) if name != "Overall_val"]
    for size, rows in (("XL", TABLE_4[:3]), ("XXL", TABLE_4[3:])):
        for tuned, values in zip(
            (
                "",
                ", fine-tuned with answers",
                ", fine-tuned with answers and explanations",
            ),
            rows,
            strict=True,
        ):
            printed = (Fraction(str(value)) / 100 for value in values)
            model = f"InstructBLIP FLAN-T5-{size}{tuned}"
            yield {"model": model, **dict(zip(names, printed, strict=True))}


def _corruption(made: Made) -> Iterator[Row]:
    tiny = made.asked("hue-1")
    for model in SCRIPTED:
        clean = rate_of(made, tiny, model, "plain")
        for kind, value in _kinds(made, model).items():
            yield {
                "model": model,
                "corruption": kind,
                "clean": clean,
                "accuracy": value,
                **_change(value - clean),
                "n_pairs": len(tiny) * (5 if kind != "overall" else 5 * len(KINDS)),
                "chance": chance_of(tiny),
                **_ends(
                    made,
                    tiny,
                    model,
                    [f"{x}-{n}" for x in KINDS for n in range(1, 6)]
                    if kind == "overall"
                    else [f"{kind}-{n}" for n in range(1, 6)],
                    "accuracy",
                ),
            }


def _noise(made: Made) -> Iterator[Row]:
    for model in SCRIPTED:
        for part, subset, own in scopes_of(made, "noise"):
            clean, noise = (rate_of(made, own, model, c) for c in ("plain", "noise"))
            named = {"model": model, "part": part, "subset": subset}
            paired: Row = {"n_pairs": len(own), "chance": chance_of(own)}
            change = _change(noise - clean)
            ends = _ends(made, own, model, ["noise"], "noise")
            yield {**named, "clean": clean, "noise": noise, **change, **paired, **ends}


def _ends(
    made: Made, own: Sequence[Question], model: str, shown: Sequence[str], name: str
) -> Mapping[str, Cell]:
    """Return the intervals of a rate and of its change, by image."""
    now = [(made.of(model, c, q).worth == RIGHT, q) for c in shown for q in own]
    gaps: dict[str, list[float]] = {}
    for right, q in now:
        was = made.of(model, "plain", q).worth == RIGHT
        gaps.setdefault(q.image, []).append(float(right) - was)
    rate = ci_of((right, q.image, q.key) for right, q in now)
    ends: tuple[Cell, ...] = (None, None, "not estimable from one patient, 95 %")
    if len(gaps) > 1:
        _, low, high = difference_by_patient([*gaps.values()])
        ends = (low, high, "Clopper-Pearson by patient, of differences, 95 %")
    names = ("low", "high", "method")
    return {f"{name}_{n}": rate[f"ci_{n}"] for n in names} | {
        f"change_{n}": end for n, end in zip(names, ends, strict=True)
    }


def _change(change: Fraction) -> Mapping[str, Cell]:
    direction = "↑" if change > 0 else "↓" if change < 0 else "="
    return {"change": change, "direction": direction}


def _accuracy_paper(made: Made) -> Iterator[Row]:
    letter = val_letter(made)
    for row, own, model, condition in _accuracies(made):
        yield {
            **row,
            **_ci(made, own, model, condition),
            "random": chance_of(own) if own else None,
            "frequent": always_of(own, letter) if own else None,
            "frequent_letter": chr(65 + letter),
        }


def _accuracy_recommended(made: Made) -> Iterator[Row]:
    for row, own, model, condition in _accuracies(made):
        worths = [made.of(model, condition, q).worth for q in own]
        k = worths.count(RIGHT)
        scored = k + worths.count(WRONG)
        yield {
            **row,
            **_ci(made, own, model, condition),
            "answered_rate": Fraction(k, scored) if scored else None,
            "chance": chance_of(own) if own else None,
        }


def _ci(
    made: Made, own: Sequence[Question], model: str, condition: str
) -> Mapping[str, Cell]:
    return ci_of(
        (made.of(model, condition, q).worth == RIGHT, q.image, q.key) for q in own
    )


def _accuracies(
    made: Made,
) -> Iterator[tuple[dict[str, Cell], Sequence[Question], str, str]]:
    """Yield the counts of each model and condition in each column, as planned."""
    for condition, model in _first_asked(made):
        for part, subset, planned in scopes_of(made, condition):
            out = made.left_out if condition == "mismatch" else ()
            own = [question for question in planned if question.key not in out]
            worths = Counter(made.of(model, condition, q).worth for q in own)
            n, k = len(own), worths[RIGHT]
            yield (
                {
                    "model": model,
                    "condition": condition,
                    "part": part,
                    "subset": subset,
                    "n_planned": len(planned),
                    "n_scored": k + worths[WRONG],
                    "n_failed": 0,
                    "n_refused": worths[REFUSED],
                    "n_unparsed": worths[UNREAD],
                    "n_excluded": len(planned) - n,
                    "n_pending": 0,
                    "k": k,
                    "n": n,
                    "accuracy": Fraction(k, n) if n else None,
                },
                *(own, model, condition),
            )


def _first_asked(made: Made) -> Iterator[tuple[str, str]]:
    """Yield condition and model in the order in which they first are asked."""
    ordered = ("plain", "text_only", "noise", *CORRUPTED, "mismatch")
    seen: dict[str, None] = {}
    for question in made.questions:
        for condition in ordered:
            if question in made.planned(condition):
                seen.setdefault(condition)
    yield from (
        (condition, model) for condition in seen for model in asked_in(condition)
    )


def _figure_5(made: Made) -> Iterator[Row]:
    half = sorted(MODELS)[::2]
    needed = ceil(Fraction(GUESSED_BY * len(half), len(MODELS)))
    out = [q for q in made.questions if len({*guessers(made, q)} & {*half}) >= needed]
    read = [q for q in out if q.split == "test_tiny"]
    swapped = made.asked("mismatch")
    for panel, own, condition in (
        ("guessable items", out, "text_only"),
        ("matching questions", swapped, "text_only"),
        ("mismatched questions", swapped, "mismatch"),
    ):
        for model in MODELS:
            if panel == "guessable items" and model in half:
                continue
            rate = rate_of(made, own, model, condition)
            counted: Row = {"k": int(rate * len(own)), "n": len(own), "accuracy": rate}
            yield {"panel": panel, "who": model, **counted, "random": chance_of(own)}
        if panel == "guessable items":
            yield {
                "panel": panel,
                "who": "experts, with images",
                "k": None,
                "n": len(read),
                "accuracy": experts_mean(read),
                "random": chance_of(read),
            }


def _bars(made: Made) -> Iterator[Row]:
    """Yield Figure 5's own table: group by group a bar for each, then chance."""
    rows = list(_figure_5(made))
    cells = {(row["panel"], row["who"]): row for row in rows}
    groups = tuple(dict.fromkeys(row["panel"] for row in rows))
    everyone = tuple(dict.fromkeys(row["who"] for row in rows))
    for kind, column in (("bar", "accuracy"), ("baseline", "random")):
        for group in groups:
            for who in everyone:
                row = cells.get((group, who), {})
                n = row.get("n", 0)
                yield {
                    "panel": "",
                    "group": group,
                    "series": who,
                    "rate": row.get(column),
                    "error": None,
                    "n": n if kind == "bar" else None,
                    "kind": kind,
                }


def _levels(made: Made) -> Iterator[Row]:
    tiny = made.asked("hue-1")
    colour = ("brightness", "hue", "saturate")
    quality = ("bubble", "defocus", "jpeg", "motion", "pixelate")
    for name, kinds in (("Colour", colour), ("Quality", quality)):
        panel = f"{name}: {', '.join(kinds)}"
        for model in SCRIPTED:
            for level in range(6):
                asked = [f"{kind}-{level}" for kind in kinds] if level else ["plain"]
                rate = mean_of([rate_of(made, tiny, model, one) for one in asked])
                point: Row = {"x": float(level), "y": 100 * rate}
                yield {"panel": panel, "series": model, **point}


EXPECTED: Mapping[str, Callable[[Made], Iterator[Row]]] = {
    "table1": _table_1,
    "table2": _table_2,
    "table3": _table_3,
    "table4_published": _table_4,
    "figure5": _figure_5,
    "accuracy_paper": _accuracy_paper,
    "accuracy_recommended": _accuracy_recommended,
    "corruption": _corruption,
    "noise": _noise,
    "official": official_rows,
    "official_items": official_items_rows,
    "guesses": guesses_rows,
    "guess_audit": guess_audit_rows,
    "experts": experts_rows,
    "sizes": sizes_rows,
}


def _compare_items(made: Made) -> int:
    """Compare what the run says of each trial."""
    rows = _rows(made.folder / "run" / "items.csv")
    by_key = {q.key: q for q in made.questions}
    out = len(made.left_out) * len(asked_in("mismatch"))
    assert len(rows) == len(made.said) + out
    for row in rows:
        question = by_key[row["item"]]
        assert row["chance"] == str(float(chance_of([question])))
        if row["condition"] == "mismatch" and question.key in made.left_out:
            assert (row["status"], row["reason"]) == ("excluded", "no_other_question")
            continue
        wanted = status(made, row["model"], row["condition"], question)
        assert row["status"] == wanted
        assert (row["finding"], row["view"]) == (question.subset, question.split)
    return 4 * len(rows)


def _compare_latex(made: Made, name: str, expected: Sequence[Row]) -> int:
    """Compare a printed table: one decimal, ties to even, changes with an arrow."""
    text = (made.folder / "tables" / f"{name}.tex").read_text(encoding="utf-8")
    body = text.split("\\midrule\n")[1].partition("\\bottomrule")[0]
    rows = [line.removesuffix(" \\\\").split(" & ") for line in body.splitlines()]
    wanted = [list(_printed(row)) for row in expected]
    if name == "table1":
        for told in ("image and text", "text only"):
            own = [row for row in wanted if row[1] == told and row[0] in MODELS]
            _mark(own)
    assert rows == wanted, name
    return sum(map(len, rows))


def _mark(rows: Sequence[list[str]]) -> None:
    """Set the highest number of each column bold, and the next underlined."""
    for column in range(2, len(rows[0])):
        values = sorted({float(row[column]) for row in rows if row[column]})
        for command, value in zip(("textbf", "underline"), values[::-1], strict=False):
            for row in rows:
                if row[column] == f"{value:.1f}":
                    row[column] = f"\\{command}{{{row[column]}}}"


def _printed(row: Row) -> Iterator[str]:
    for column, value in row.items():
        if column.endswith("_change"):
            continue
        if not isinstance(value, Fraction):
            yield "" if value is None else str(value)
            continue
        change = row.get(f"{column}_change")
        arrow = ""
        if isinstance(change, Fraction):
            sign = (
                "=" if not change else "$\\uparrow$" if change > 0 else "$\\downarrow$"
            )
            arrow = f" {sign} {_one_decimal(abs(change))}"
        yield f"{_one_decimal(value)}{arrow}"


def _one_decimal(value: Fraction) -> str:
    tenths = floor(1000 * value)
    rest = 1000 * value - tenths
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and tenths % 2)
    exact = Decimal(tenths + int(up)) / 10
    return str(exact.quantize(Decimal("0.1"), ROUND_HALF_EVEN))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            {name: unguarded(cell) for name, cell in row.items()}
            for row in csv.DictReader(stream)
        ]
