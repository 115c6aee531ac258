import pytest

from viewer.domain.escapes import latex
from viewer.domain.report import Section, Table
from viewer.writers.tables import latex_table


@pytest.mark.statement("E003-14")
def test_that_a_table_is_latex_with_its_arrows_and_nothing_taken_for_a_command() -> (
    None
):
    table = Table("table2", ("Model", "all"), (("m_1 & co", "34.5 ↓ 0.4"), ("x", None)))
    section = Section("Table 2", "Accuracy in %.", table, (("", 1), ("Test", 1)))
    assert latex_table(section).decode() == (
        "\\begin{table}\n"
        "\\caption{Accuracy in \\%.}\n"
        "\\label{tab:table2}\n"
        "\\begin{tabular}{lr}\n"
        "\\toprule\n"
        "\\multicolumn{1}{c}{} & \\multicolumn{1}{c}{Test} \\\\\n"
        "Model & all \\\\\n"
        "\\midrule\n"
        "m\\_1 \\& co & 34.5 $\\downarrow$ 0.4 \\\\\n"
        "x &  \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\\end{table}\n"
    )


def test_that_columns_of_words_are_set_to_the_left() -> None:
    rows = (("a", "yes", "-0.5", None), ("b", "4 no", "34.5 ↓ 0.4", "-"))
    table = Table("t", ("Model", "Word", "Rate", "None"), rows[:1])
    text = latex_table(Section("T", "", table)).decode()
    assert "\\begin{tabular}{llrr}" in text
    mixed = Section("T", "", Table("t", table.header, rows))
    assert "\\begin{tabular}{llrr}" in latex_table(mixed).decode()


def test_that_a_line_break_is_a_blank_and_a_backslash_is_one() -> None:
    assert latex("a\nb \\ {c}^") == ("a b \\textbackslash{} \\{c\\}\\textasciicircum{}")
