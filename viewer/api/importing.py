"""The ``Importing`` mixin of the API's store: data sets, predictions and replies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.api.data import Dataset, Run
from viewer.api.opened import AnyRun, one_of, view_named
from viewer.api.progress import Tell, text_bar
from viewer.api.running import Running

if TYPE_CHECKING:
    from viewer.domain.prediction import Coordinates


def _listed(files: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [files] if isinstance(files, str | Path) else files


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _coordinates(name: str | None) -> "Coordinates | None":
    from viewer.domain.prediction import Coordinates

    known = {one.value: one for one in Coordinates}
    return None if name is None else one_of(known, name, "kind of coordinates")


class Importing(Running):
    """The methods of a store that import data sets, predictions and replies."""

    def datasets(self) -> tuple[Dataset, ...]:
        """Return the registered data sets, oldest first."""
        from viewer.api.made import dataset_of
        from viewer.store import cases

        return tuple(map(dataset_of, cases.dataset_summaries(self._opened)))

    def notices(self, dataset: str) -> tuple[str, ...]:
        """Return a data set's notices: missing or contradictory data, in sentences.

        Raises
        ------
        WrongUseError
            There is no such data set.
        """
        from viewer.store import cases

        all_notices = cases.dataset_named(self._opened, dataset).notices
        return tuple(one.sentence for one in all_notices)

    def import_dataset(
        self,
        format: str,  # noqa: A002 - what the command line calls it
        path: str | Path,
        name: str = "",
        *,
        view: str | None = None,
        restricted: bool | None = None,
    ) -> Dataset:
        """Register a data set from a folder, or from a file in it.

        Parameters
        ----------
        format : str
            Such as ``folder``, ``chexlocalize``, ``coco`` or ``pathmmu``; ``auto``
            detects it.
        path : path
            The folder or file; the images stay where they are.
        name : str, optional
            Name of the data set; default: the folder's name.
        view : str, optional
            frontal, lateral or other, for images whose file does not say.
        restricted : bool, optional
            Whether its licence keeps its images on this machine; None keeps the earlier
            setting.

        Raises
        ------
        UnreadableInputError
            A table or file of the format is missing or cannot be read.
        WrongUseError
            The format or view is unknown, the name belongs to a data set with other
            content, or there is no image. Images that cannot be read are notices.
        """
        from viewer.services.importing.import_dataset import import_dataset
        from viewer.services.importing.import_preview import format_of, name_of

        root = Path(path).absolute()
        dataset = import_dataset(
            self._opened,
            format_of(root) if format == "auto" else format,
            root,
            name or name_of(root),
            None if view is None else view_named(view),
            restricted=restricted,
        )
        return next(one for one in self.datasets() if one.name == dataset.name)

    def import_predictions(
        self,
        file: str | Path,
        name: str,
        *,
        dataset: str = "",
        columns: Mapping[str, str] | None = None,
        coordinates: str | None = None,
        finding: str = "",
        model: str = "",
        like: AnyRun | None = None,
        grids: Sequence[int] = (8,),
        annotations: str | Path | None = None,
        shape: str = "",
        progress: Tell | None = text_bar,
    ) -> Run:
        """Score predictions made elsewhere, as a run like any other.

        Parameters
        ----------
        file : path
            A CSV table, COCO's results (.json), a folder of mask pictures, or DICOM
            segmentations; docs/formats.md has each.
        name : str
            What the model is called.
        dataset : str
            The data set they are about; alternatively ``like``, a run whose questions
            they answer.
        columns : mapping, optional
            Meaning of a table's columns: ``{"image_id": "image"}``.
        coordinates : str, optional
            Unit of the numbers: native (pixels of the file), normalised (fractions of
            width and height) or sent (pixels of the square that is sent); never
            guessed.
        finding, model : str, optional
            The finding, if the table does not name it; which of the file's models.
        grids : sequence of int
            Cells per side, if no run is named.
        annotations : path, optional
            The instances file whose ids COCO results use.
        shape : str, optional
            box or mask, if COCO results have both.

        Raises
        ------
        UnreadableInputError
            The file cannot be read.
        WrongUseError
            The meaning of its columns or numbers is not given, or it answers no
            question of the data set.
        """
        from viewer.services.importing.import_predictions import (
            PredictionsSource,
            plan_predictions,
        )

        source = PredictionsSource(
            file=Path(file),
            name=name,
            dataset=dataset,
            columns=columns or {},
            coordinates=_coordinates(coordinates),
            finding=finding,
            model=model,
            like=self._like(like),
            grids=tuple(grids),
            listing=_path(annotations),
            shape=shape,
        )
        planned = plan_predictions(self._opened, self.home, source)
        return self.run(planned.run, progress=progress)

    def import_replies(
        self,
        files: str | Path | Sequence[str | Path],
        *,
        like: AnyRun | None = None,
        study: str | Path | None = None,
        name: str | Sequence[str] = "",
        model: str = "",
        columns: Mapping[str, str] | None = None,
        convention: str = "",
        paper_models: Mapping[str, str] | None = None,
        progress: Tell | None = text_bar,
    ) -> Run:
        """Score replies of any model to a study's questions, as a run like any other.

        Parameters
        ----------
        files : path or sequence of path
            CSV tables or JSON lines with item and reply, logs of inspect_ai (.eval,
            .json), or samples of lmms-eval (.jsonl); docs/formats.md has each.
        like : Run, int or "last", optional
            The run whose questions are answered; alternatively ``study``, a study file.
        name : str or sequence of str, optional
            What the model is called; or that of each file, in their order.
        model : str, optional
            Which of the files' models; default: all.
        columns : mapping, optional
            Meaning of the columns: ``{"id": "item", "output": "reply"}``.
        convention : str, optional
            Coordinate convention of the model; default: cells of the grid.
        paper_models : mapping, optional
            Which model of the study's paper each counts as in its claims:
            ``{"mine": "GPT-5", "other": "GPT-4"}``.

        Raises
        ------
        UnreadableInputError
            A file cannot be read.
        WrongUseError
            The study or model is not given, or the files answer none of its questions.
        """
        from viewer.services.importing.import_replies import RepliesSource, plan_replies

        source = RepliesSource(
            files=tuple(map(Path, _listed(files))),
            like=self._like(like),
            study=_path(study),
            names=(name,) if isinstance(name, str) and name else tuple(name),
            model=model,
            columns=columns or {},
            convention=convention,
            paper_models=paper_models or {},
        )
        planned = plan_replies(self._opened, self._settings, source)
        return self.run(planned.run, progress=progress)

    def _like(self, run: AnyRun | None) -> int | None:
        return None if run is None else self._number(run)
