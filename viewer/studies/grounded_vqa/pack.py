"""Everything that HEAL-MedVQA prints, from one run: ``overread pack heal2025``."""

from typing import Final

from viewer.domain.pack import PackData
from viewer.results.page import sections
from viewer.results.spec import ListSpec, Shown
from viewer.studies.consistency import published_table
from viewer.studies.grounded_vqa.consistency import CHECKS
from viewer.studies.grounded_vqa.figures import figures
from viewer.studies.grounded_vqa.params import read_params
from viewer.studies.grounded_vqa.published import ROWS, SOURCE
from viewer.studies.packs import PackInput
from viewer.studies.published import Badge

_IN_THE_RUN = frozenset({"items", "results"})
_PRINTED: Final = ListSpec(
    "published",
    title="Published values that fail a check",
    text="F1 and claims of the paper that cannot follow from the numbers beside them. "
    "Every published value, with its check, is in published.csv.",
    shown=(
        *("table", "subject", "who"),
        *(Shown("value", "Value", ""), "reason"),
    ),
    printed={"badge": (str(Badge.INCONSISTENT), str(Badge.NOT_OF_N))},
    most=1000,
)


class Heal2025:
    """Closed and open questions, both perturbation tests, and their sham controls."""

    name = "heal2025"
    title = "Localizing before answering: grounded questions about chest radiographs"
    source = SOURCE
    study = "grounded_vqa"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper that the run can fill."""
        params = read_params(given.spec.preset, given.spec.params)
        tables = tuple(t for t in given.report.tables if t.name not in _IN_THE_RUN)
        printed = published_table(ROWS, CHECKS)
        drawn, missing = figures(given, params)
        return PackData(
            self.title,
            self.source,
            (*tables, printed),
            (*given.report.sections, *sections([_PRINTED], [printed])),
            drawn,
            given.report.incomplete,
            missing,
        )


PACK = Heal2025()
