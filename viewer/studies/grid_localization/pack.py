"""Everything that Gosai 2025 prints, from one run: ``overread pack grid2025``."""

from dataclasses import replace

from viewer.domain.pack import PackData
from viewer.studies.grid_localization.absent import present
from viewer.studies.grid_localization.figures_all import figures
from viewer.studies.grid_localization.pack_tables import pack_tables
from viewer.studies.packs import PackInput


class Grid2025:
    """Nine findings, both views, 8 × 8 and 16 × 16 cells, scored as the paper does."""

    name = "grid2025"
    title = "Multimodal models name the grid cell of a chest radiograph's finding"
    source = "Gosai 2025, arXiv 2509.18015"
    study = "grid_localization"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper.

        The absent-finding arm is no part of them; it has a table of its own.
        """
        given = replace(given, results=present(given.results))
        (made, pages), (drawn, missing) = pack_tables(given), figures(given)
        return PackData(
            self.title,
            self.source,
            made,
            pages,
            drawn,
            given.report.incomplete,
            missing,
        )


PACK = Grid2025()
