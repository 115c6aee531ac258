"""Where a finding is, named as one cell of a grid on the film (Gosai 2025)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Answer, CellAnswer, PlacedAnswer, Unparsed
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import ModelReply, ModelRequest
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.holdings import Wanted
from viewer.domain.image import PixelImage
from viewer.domain.reference import Mask
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.domain.study_words import PLACING
from viewer.imaging.grid_overlay import legibility_warning
from viewer.studies.benchmarks import Benchmark
from viewer.studies.consistency import CountCheck
from viewer.studies.grid_localization import (
    absent,
    counts,
    few_shot,
    params,
    parse,
    plan,
    published,
    reference,
    report,
    request,
    score,
    unasked,
)
from viewer.studies.grid_localization.pack import PACK
from viewer.studies.grid_localization.params import Params
from viewer.studies.presets import OfPresets
from viewer.studies.protocol import (
    NO_CONTEXT,
    Example,
    ExampleItem,
    GridReference,
    ReportContext,
    Stimulus,
)


class GridLocalization(OfPresets[Params]):
    """The study's parts behind the interface that all studies share."""

    name = "grid_localization"
    title = "Grid localization"
    version = "1"
    parser_version = "1"
    scorer_version = "1"
    words = PLACING
    wanted = Wanted(
        "findings outlined or boxed",
        "Import images with masks or boxes of findings, such as CheXlocalize.",
        lambda held: held.places,
    )
    pack = PACK

    def prompt(self, view: str, asking: str = "") -> tuple[str, str]:
        """Return the name and the unrendered text, as hashed, of a view's prompt."""
        if asking:
            return request.PLACES, request.places_text(asking)
        return request.prompt_name(view), request.prompt_text(view)

    def conditions(self, params_: Params) -> tuple[Condition, ...]:
        """Return one condition for each grid."""
        return plan.conditions(params_)

    def notices(self, params_: Params) -> tuple[str, ...]:
        """Return a sentence for each grid whose labels are hard to read (E000-10)."""
        size = SizePx(params_.side, params_.side)
        warnings = (
            legibility_warning(params_.grid(name), size, params_.style)
            for name in params_.grids
        )
        return tuple(warning for warning in warnings if warning)

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, grouped by image; exclusions carry their reason."""
        return plan.plan(dataset, spec)

    def stimulus(
        self, image: PixelImage, condition: Condition, params: Params
    ) -> Stimulus:
        """Return what is sent of an image under a condition."""
        return request.stimulus(image, condition, params)

    def request(
        self,
        trial: Trial,
        stimulus: Stimulus,
        params: Params,
        seed: int,
        reference_counts: tuple[tuple[int, ...], ...] | None,
        asking: str = "",
        examples: Sequence[Example] = (),
    ) -> ModelRequest:
        """Return the question of one trial, after its examples."""
        facts = request.facts_of(trial, stimulus, params, seed, reference_counts)
        if asking:
            return request.places_request(trial, stimulus, facts, asking)
        return request.request(trial, stimulus, params, facts, examples)

    def examples_from(self, params: Params) -> str:
        """Return the name of the data set examples come from, "" for none."""
        return params.examples_dataset if params.examples else ""

    def check_examples(
        self,
        validation: Dataset,
        asked: Dataset,
        trials: Sequence[Trial],
        params: Params,
    ) -> None:
        """Raise the sentence of examples that are too few or no other patients'."""
        few_shot.check(validation, asked, trials, params)

    def examples(
        self, validation: Dataset, trial: Trial, params: Params, seed: int
    ) -> tuple[ExampleItem, ...]:
        """Return the examples of a trial in the order shown."""
        return few_shot.examples(validation, trial, params, seed)

    def parse(
        self,
        reply: ModelReply,
        trial: Trial,
        params: Params,
        placed: PlacedAnswer | Unparsed | None = None,
    ) -> Answer | Unparsed:
        """Read a reply; an odd reply is an answer too."""
        return parse.parse(reply, trial, params, placed)

    def in_cell(
        self,
        answer: Answer | Unparsed,
        condition: Condition,
        size: SizePx,
        params: Params,
    ) -> CellAnswer | Unparsed:
        """Return an answer about an image of ``size`` as the cell it points at."""
        if isinstance(answer, CellAnswer | Unparsed):
            return answer
        grid = reference.grid_of(condition, params)
        return score.in_cell(answer, grid, reference.field_of(size, params))

    def sent_size(self, params: Params) -> SizePx:
        """Return the size of the square that is sent."""
        side = params.side * params.render_scale
        return SizePx(side, side)

    def reference(
        self, mask: Mask, condition: Condition, params: Params
    ) -> GridReference:
        """Return a mask as the scorer sees it under a condition."""
        return reference.reference_of(mask, condition, params)

    def reader_rule(self, params: Params) -> str:
        """Return whose boxes are the reference: any, majority or a reader's name."""
        return params.reader_rule

    def grid(self, condition: Condition, params: Params) -> Grid:
        """Return the grid that a condition draws."""
        return reference.grid_of(condition, params)

    def field(self, size: SizePx, params: Params) -> BoxPx:
        """Return the native rectangle of an image that the square sent covers."""
        return reference.field_of(size, params)

    def shown_mask(self, mask: Mask, params: Params) -> npt.NDArray[np.bool_]:
        """Return a mask as it lies on the raster sent, (side, side)."""
        return reference.fitted_mask(mask, params.side, params.fit_mode)

    def score(self, answer: CellAnswer | Unparsed, reference: GridReference) -> Score:
        """Return the verdict on an answer in its cell."""
        return score.score(answer, reference)

    def unreferenced(
        self, answer: CellAnswer | Unparsed, condition: Condition, params: Params
    ) -> Score | None:
        """Return the verdict where there is no reference, None where none can be."""
        if not absent.is_absent(condition):
            return None
        return absent.verdict(answer, reference.grid_of(condition, params))

    def reference_counts(
        self,
        image: DatasetImage,
        finding: str,
        dataset: Dataset,
        condition: Condition,
        params: Params,
    ) -> tuple[tuple[int, ...], ...]:
        """Return the other patients' qualifying-cell counts."""
        return counts.reference_counts(image, finding, dataset, condition, params)

    def unasked(self, dataset: Dataset, params: Params) -> str:
        """Return which findings a run will not ask about, and why; "" for none."""
        return unasked.unasked_sentence(dataset, params)

    def benchmark(self) -> Benchmark:
        """Return what the paper prints, with the checks of it."""
        rows = published.ROWS
        checks = (CountCheck(row) for row in rows if row.n_claimed is not None)
        return Benchmark(self.name, rows, tuple(checks))

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables and figures of a run."""
        return report.report(results, spec, context)


STUDY = GridLocalization(params.read_params, params.PRESET_TITLES, {"grids": [8, 16]})
