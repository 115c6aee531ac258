"""What a rexecution2025 pack prints: LaTeX tables, and the paper's own rows."""

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

from tests.helpers.rubric_tables import Rows

SOURCE = "Banerjee 2025 (ReXecution)"
O3, MEDGEMMA = "ChatGPT-o3", "MedGemma"
_HALF = "half of the last printed decimal"
_UNCHECKED = ("not checkable", "", "")
_MEANS = {
    ("Table 1", "content"): (2.71, 1.31, 2.84, 1.14, 0.52),
    ("Table 1", "language"): (4.15, 0.73, 4.33, 0.96, 0.66),
    ("Table 2", "process"): (4.17, 0.95, 3.91, 0.94, 0.1),
    ("Table 2", "execution"): (2.9, 1.44, 3.26, 1.27, 0.19),
    ("Table 2", "synthesis"): (3.85, 1.06, 3.49, 1.21, 0.1),
}
_SHARES = (
    ("section 4.1", "share of 5", "content", O3, 10.0, 1, 100),
    ("section 4.1", "share of 5", "content", MEDGEMMA, 4.9, 1, 81),
    ("section 4.1", "share of 5", "language", O3, 31.0, 1, 100),
    ("section 4.1", "share of 5", "language", MEDGEMMA, 56.8, 1, 81),
    ("section 4.2", "share below 3", "process", O3, 8.0, 1, 100),
    ("section 4.2", "share below 3", "process", MEDGEMMA, 5.0, 1, 81),
    ("section 4.2", "share below 3", "execution", O3, 42, 0, 100),
    ("section 4.2", "share below 3", "execution", MEDGEMMA, 34.5, 1, 81),
)
_AGREEMENT = {
    "process": (0.215, 0.667, 4.118, 0.840, 4.510, 0.784),
    "execution": (0.573, 0.882, 2.961, 1.399, 3.176, 1.337),
    "synthesis": (0.291, 0.706, 3.824, 1.014, 3.902, 0.878),
    "language": (0.560, 0.510, 4.235, 0.862, 4.078, 0.771),
    "image_content": (0.327, 1.200, 2.733, 1.438, 1.933, 1.223),
    "image_style": (0.484, 1.000, 3.667, 1.047, 2.933, 1.438),
}
_REGIONS = (37, 15, 14, 11, 9, 4, 6, 3)


def published(regions: tuple[str, ...]) -> Rows:
    """Return the paper's rows with the badge that counting gives each."""
    rows: Rows = [
        (
            *("source", "table", "measure", "subject", "who", "value", "decimals"),
            *("n_claimed", "n_is", "badge", "reason", "tolerance"),
        )
    ]
    parts = (_regions(regions), _means(), _shares(), _images(), _agreement())
    return rows + [(SOURCE, *row) for part in parts for row in part]


def _regions(regions: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    total = sum(_REGIONS)
    assert total == 99
    for region, share in zip(regions, _REGIONS, strict=True):
        why = ("inconsistent", f"the 8 shares add up to {total} %", "none")
        where = ("section 3.1", "share of tasks by region", region, "tasks")
        yield *where, float(share), 0, 100, "printed", *why


def _means() -> Iterator[tuple[Any, ...]]:
    for (table, subject), values in _MEANS.items():
        whose = (
            *(("mean", O3), ("standard deviation", O3), ("mean", MEDGEMMA)),
            *(
                ("standard deviation", MEDGEMMA),
                ("adjusted p", f"{O3} against {MEDGEMMA}"),
            ),
        )
        for (measure, who), value in zip(whose, values, strict=True):
            yield table, measure, subject, who, value, 2, None, "", *_UNCHECKED


def _shares() -> Iterator[tuple[Any, ...]]:
    for *where, value, decimals, n in _SHARES:
        near = round(n * value / 100)
        same = round(100 * near / n, decimals) == value
        nearest = f"{near} / {n} = {100 * near / n:.1f} %"
        why = f"{value} % is not k / {n} for any k ({nearest})"
        badge = ("consistent", "") if same else ("inconsistent", why)
        yield *where, float(value), decimals, n, "printed", *badge, _HALF


def _images() -> Iterator[tuple[Any, ...]]:
    for subject, value, deviation in (
        ("image_content", 3.06, 1.22),
        ("image_style", 3.63, 1.33),
    ):
        where = "section 4.3"
        yield where, "mean", subject, O3, value, 2, None, "", *_UNCHECKED
        yield (
            where,
            "standard deviation",
            subject,
            O3,
            deviation,
            2,
            None,
            "",
            *_UNCHECKED,
        )
    fits = [
        n
        for n in range(1, 130)
        if all(
            any(round(100 * k / n, 1) == v for k in range(n + 1)) for v in (10.1, 36.2)
        )
    ]
    assert fits == [69]
    why = (
        "10.1 % is not k / 62 for any k (6 / 62 = 9.7 %); of sizes below 130, 69 gives "
        "10.1 and 36.2"
    )
    five = ("section 5", "share of 5", "image_content", O3, 10.1, 1, 62, "printed")
    yield *five, "inconsistent", why, _HALF
    told = ("not checkable", "the sentence names no number of images", "")
    yield "section 4.3", "share of 5", "image_style", O3, 36.2, 1, None, "", *told


def _agreement() -> Iterator[tuple[Any, ...]]:
    both = "main reader and reader 2"
    columns = (
        *(("QWK", both), ("MAD", both), ("mean", "main reader")),
        *(("standard deviation", "main reader"), ("mean", "reader 2")),
        ("standard deviation", "reader 2"),
    )
    for subject, values in _AGREEMENT.items():
        n = 15 if subject.startswith("image") else 51
        for (measure, who), value in zip(columns, values, strict=True):
            why = _UNCHECKED
            if measure == "mean":
                assert round(round(n * value) / n, 3) == value
                why = ("consistent", "", _HALF)
            yield "Table 3", measure, subject, who, value, 3, None, "", *why


def printed(tables: Mapping[str, Rows]) -> dict[str, list[tuple[str, ...]]]:
    """Return the cells of every LaTeX table, the header first.

    ``tables`` are the rows of the pack's tables at full precision.
    """
    names = ("table_1", "table_2", "tests", "table_3", "error_cards")
    return {
        **{name: list(_printed(name, tables[name])) for name in names},
        "model_policies": [
            ("Model", "Images", "Boxes"),
            ("knows", "all views", "asked for"),
            ("draws", "all views", "asked for"),
            ("writes", "one PA, else AP", "not asked for"),
        ],
    }


def _printed(name: str, rows: Rows) -> Iterator[tuple[str, ...]]:
    """Yield the rows as they are printed; of cards the first 100."""
    columns = _SHOWN[name]
    yield tuple(header for header, *_ in columns.values())
    for row in rows[1:101]:
        named = dict(zip(rows[0], row, strict=True))
        yield tuple(
            _cell(column, named[column], *columns[column][1:]) for column in columns
        )


def _cell(name: str, value: Any, form: str, nothing: str) -> str:  # noqa: ANN401
    if value is None or (isinstance(value, float) and isnan(value)):
        return nothing
    if name in {"p", "p_adjusted"} and value < 0.01:
        return "< 0.01"
    if isinstance(value, str) or name in _WHOLE:
        return str(value).replace("_", "\\_")
    return f"{float(value):{form}}"


def _columns(*names: str, **others: str) -> dict[str, tuple[str, str, str]]:
    heads = {name: name.capitalize() for name in names} | others
    signed = {"mean_difference": "+.2f"}
    return {n: (head, signed.get(n, ".2f"), "-") for n, head in heads.items()}


_WHOLE = {"n", "n_zero", "image", "repeat"}
_MEAN_COLUMNS = _columns(
    *("metric", "model"), n="n", mean="Mean", sd="SD", p_adjusted="Adjusted p"
)
_TABLE_3 = (
    *("Category", "n", "Weighted kappa", "Mean absolute difference"),
    *("Mean", "SD", "Mean", "SD"),
)
_OF_TABLE_3 = (
    *("category", "n", "qwk", "mad"),
    *("main_mean", "main_sd", "second_mean", "second_sd"),
)
_SHOWN = {
    "table_3": {
        name: (head, ".3f", "-")
        for name, head in zip(_OF_TABLE_3, _TABLE_3, strict=True)
    },
    "table_1": _MEAN_COLUMNS,
    "table_2": _MEAN_COLUMNS,
    "tests": {
        **_columns("first", "second", "metric", n="n", n_zero="Without difference"),
        **_columns(mean_difference="Difference"),
        **_columns("effect"),
        **_columns(p="p", p_adjusted="Adjusted p"),
    },
    "error_cards": _columns(
        *("task", "model", "reader", "image"),
        meanings="What is wrong",
    )
    | _columns("concerns", "comments", "excerpt"),
}
