"""Everything that Gosai 2025 prints, from one run: ``overread pack grid2025``."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from viewer.domain.errors import UnreadableInputError
from viewer.domain.figure import Figure
from viewer.domain.grid import Grid
from viewer.domain.pack import PackData
from viewer.studies.grid_localization.absent import present
from viewer.studies.grid_localization.benchmark import unlike_paper
from viewer.studies.grid_localization.errors_by_class import error_classes
from viewer.studies.grid_localization.figures_examples import gallery, method_strip
from viewer.studies.grid_localization.figures_heat import ReferenceHeat, heat_maps
from viewer.studies.grid_localization.figures_masks import mask_figures
from viewer.studies.grid_localization.figures_rates import (
    both_rules,
    grid_sizes,
    hit_rates,
)
from viewer.studies.grid_localization.figures_stacks import (
    class_figure,
    image_counts,
)
from viewer.studies.grid_localization.pack_tables import pack_tables, rates_of
from viewer.studies.grid_localization.params import Params, read_params
from viewer.studies.grid_localization.placed import PlacedTrial, placed_trials
from viewer.studies.grid_localization.plan import conditions, is_varied
from viewer.studies.grid_localization.reference import grid_of
from viewer.studies.grid_localization.report import HUMAN_BY_RULE
from viewer.studies.grid_localization.tables import (
    AREA_TABLE,
    BY_RULE_TABLE,
    THRESHOLD_TABLE,
)
from viewer.studies.packs import PackInput


class Grid2025:
    """Nine findings, both views, 8 × 8 and 16 × 16 cells, scored as the paper does."""

    name = "grid2025"
    title = "Multimodal models localize findings on chest radiographs in a grid"
    source = "Gosai 2025, arXiv 2509.18015"
    study = "grid_localization"

    def data(self, given: PackInput) -> PackData:
        """Return every table and figure of the paper.

        The absent-finding arm and an ablation of the grid are not part of them; they
        have tables of their own.
        """
        there = [one for one in present(_placed(given)) if not is_varied(one.condition)]
        given = replace(given, results=there)
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


def figures(given: PackInput) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """Return the figures of a run by the paper's numbers; none that it cannot have.

    Where an image cannot be read any more the figures that show it are left out, and a
    sentence says why.
    """
    made: list[Figure] = []
    missing: dict[str, None] = {}
    for draw in (_of_numbers, _strip, _heat, _gallery):
        try:
            made += (figure for figure in draw(given) if figure is not None)
        except UnreadableInputError as error:
            missing[str(error)] = None
    return tuple(sorted(made, key=_place)), tuple(missing)


def _place(figure: Figure) -> tuple[bool, int]:
    """Order figures as in the paper; those that it does not have come last."""
    number = figure.head.number
    return not number, int(number.split()[1]) if number else 0


def _of_numbers(given: PackInput) -> Iterator[Figure | None]:
    """Yield the figures that need no image."""
    findings = _params(given).findings
    records = rates_of(given.report).records()
    classes = error_classes(given.results, given.reviews).records()
    unlike = unlike_paper(given.dataset, given.spec, incomplete=given.report.incomplete)
    tables = {table.name: table.records() for table in given.report.tables}
    for grid in dict.fromkeys(str(record["grid"]) for record in records):
        yield hit_rates(records, grid, given.order, unlike_paper=unlike)
        both = (tables.get(BY_RULE_TABLE, ()), tables.get(HUMAN_BY_RULE.name, ()))
        yield both_rules(records, *both, grid, unlike_paper=unlike)
    yield class_figure(classes, findings)
    yield grid_sizes(records)
    yield image_counts(given.dataset, findings)
    by_mask = (tables.get(AREA_TABLE, ()), tables.get(THRESHOLD_TABLE, ()))
    yield from mask_figures(*by_mask)


def _strip(given: PackInput) -> tuple[Figure | None, ...]:
    seed, grids = given.spec.seed, _grids(given)
    return (method_strip(_placed(given), seed, given.pictures, grids.__getitem__),)


def _heat(given: PackInput) -> tuple[Figure, ...]:
    cells = ReferenceHeat.CELLS if given.reference_cells else ReferenceHeat.MASKS
    return heat_maps(_placed(given), given.pictures, cells)


def _gallery(given: PackInput) -> tuple[Figure | None, ...]:
    seed, grids = given.spec.seed, _grids(given)
    of = grids.__getitem__
    return (gallery(_placed(given), seed, given.pictures, of, given.verdicts),)


def _placed(given: PackInput) -> list[PlacedTrial]:
    return placed_trials(given.results, _params(given), given.dataset)


def _params(given: PackInput) -> Params:
    return read_params(given.spec.preset, given.spec.params)


def _grids(given: PackInput) -> Mapping[str, Grid]:
    params = _params(given)
    return {c.name: grid_of(c, params) for c in conditions(params)}
