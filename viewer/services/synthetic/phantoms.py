"""The generated collections, by study."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.kits import KITS, Kit, next_commands, write_kit
from viewer.services.synthetic.make_cases import make_cases_and_reports
from viewer.services.synthetic.make_chests import make_chests
from viewer.services.synthetic.make_phantom import TEST, PhantomSummary, make_phantom
from viewer.services.synthetic.make_question_set import make_question_set
from viewer.services.synthetic.make_readings import make_readings
from viewer.services.synthetic.make_tiles import make_tiles

Make = Callable[[Path, int, int, SizePx, Callable[[int, int], None]], PhantomSummary]


@dataclass(frozen=True, slots=True)
class PhantomKind:
    """A kind of collection: what ``n`` counts, its default size, and its writer.

    ``kit`` adds models that answer; None if built-in models can.
    """

    unit: str
    size: SizePx
    make: Make
    kit: Kit | None = None
    split: str = TEST

    def write(
        self,
        out: Path,
        n: int,
        seed: int,
        size: SizePx | None,
        progress: Callable[[int, int], None],
    ) -> PhantomSummary:
        """Write a collection, and what is needed to run it."""
        summary = self.make(out, n, seed, size or self.size, progress)
        if self.kit:
            write_kit(self.kit, out)
        return summary

    def then(self, out: Path) -> tuple[str, ...]:
        """Return the next commands to run."""
        if self.kit:
            return next_commands(self.kit, out)
        folder, name = shlex.quote(str(out)), shlex.quote(out.absolute().name)
        pack = shlex.quote(f"{out}-pack")
        models = "--models asymmetry,frequent_cell"
        register = f"overread import chexlocalize {folder}"
        if self.split != TEST:
            return (register,)
        return (
            register,
            f"overread pack grid2025 --dataset {name} {models} --out {pack}",
        )


_MAKERS: Mapping[str, tuple[str, SizePx, Make]] = {
    "grid_localization": ("patient", SizePx(2500, 2000), make_phantom),
    "rubric_reading": ("case", SizePx(1250, 1000), make_readings),
    "grounded_vqa": ("patient", SizePx(1000, 800), make_chests),
    "pathology_mcq": ("tile", SizePx(384, 512), make_tiles),
    "evidence_diagnosis": ("case", SizePx(192, 160), make_cases_and_reports),
    "question_set": ("question", SizePx(500, 400), make_question_set),
}
PHANTOMS: Mapping[str, PhantomKind] = {
    study: PhantomKind(*maker, KITS.get(study)) for study, maker in _MAKERS.items()
}


def phantom_for(study: str, split: str = TEST) -> PhantomKind:
    """Return the generated collection for a study, or a split of it.

    Raises
    ------
    WrongUseError
        There is none for the study, or it has no such split.
    """
    if split != TEST and study != "grid_localization":
        raise WrongUseError(
            f"The generated collection for {study} has no {split} split.",
            "Leave out --split; only that for grid_localization has one.",
        )
    if split != TEST:
        make = partial(make_phantom, split=split)
        return replace(PHANTOMS[study], make=make, split=split)
    if study not in PHANTOMS:
        raise WrongUseError(
            f"There is no generated collection for a study named '{study}'.",
            f"There is one for {', '.join(PHANTOMS)}.",
        )
    return PHANTOMS[study]
