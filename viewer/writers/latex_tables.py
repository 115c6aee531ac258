"""Printed tables as LaTeX, for a paper's own preamble with ``booktabs``."""

from viewer.domain.escapes import latex
from viewer.domain.report import Section


def latex_table(section: Section) -> bytes:
    """Return a section's table as a ``tabular`` in UTF-8, its text as the caption.

    The first column is set to the left, the others to the right; groups of columns
    stand above the header.
    """
    table = section.table
    lines = [
        r"\begin{table}",
        rf"\caption{{{latex(section.text)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"\toprule",
        *([_groups(section)] if section.groups else []),
        _row(table.header),
        r"\midrule",
        *(_row(row) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _row(values: tuple[object, ...]) -> str:
    cells = ("" if value is None else latex(str(value)) for value in values)
    return " & ".join(cells) + r" \\"


def _groups(section: Section) -> str:
    cells = (
        rf"\multicolumn{{{span}}}{{c}}{{{latex(name)}}}"
        for name, span in section.groups
    )
    return " & ".join(cells) + r" \\"
