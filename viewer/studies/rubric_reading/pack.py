"""Everything that Banerjee 2025 prints, from one run: ``overread pack rexecution2025``.

Grades beside the data fill the tables; without them the pack says so.
"""

from viewer.domain.pack import PackData
from viewer.studies.packs import PackInput
from viewer.studies.rubric_reading.figures import figures
from viewer.studies.rubric_reading.protocol_data import SOURCE


class Rexecution2025:
    """Open tasks about chest radiographs, graded by readers on six dimensions."""

    name = "rexecution2025"
    title = "The intention-execution disconnect in medical AI"
    source = SOURCE
    study = "rubric_reading"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper."""
        drawn, missing = figures(given)
        return PackData(
            self.title,
            self.source,
            given.report.tables,
            given.report.sections,
            drawn,
            given.report.incomplete,
            missing,
        )


PACK = Rexecution2025()
