"""The ``Asking`` mixin of the API's store: one question about one image."""

from collections.abc import Sequence
from pathlib import Path

from viewer.api.data import Answer, Box, Model
from viewer.api.opened import Opened, view_named


class Asking(Opened):
    """The methods of a store that ask about single images."""

    def models(self) -> tuple[Model, ...]:
        """Return every known model, by name, with what each still needs."""
        from viewer.api.made import model_of
        from viewer.services.configuring.model_list import model_lines

        return tuple(map(model_of, model_lines(self._settings)))

    def ask(
        self,
        image: str | Path,
        finding: str,
        *,
        model: str = "asymmetry",
        grid: int | str = 8,
        view: str | None = None,
        frame: int = 0,
        boxes: Sequence[Box] = (),
    ) -> Answer:
        """Ask a model where a finding is on an image; the answer is kept in the store.

        The reference comes from a registered data set or from a mask next to the file;
        without one the answer is kept as excluded.

        Parameters
        ----------
        image : path
            DICOM, PNG, JPEG, TIFF, NIfTI and so on; docs/formats.md has them all.
        finding : str
            Such as ``Pleural Effusion``.
        model : str
            The name of a known model; ``asymmetry`` needs no setup.
        grid : int or str
            8 for 8 × 8 cells, ``"8x10"`` for 8 rows and 10 columns.
        view : str, optional
            frontal, lateral or other, if the file does not say.
        frame : int
            Frame of a multi-frame file, from 0.
        boxes : sequence of Box, optional
            Boxes to segment, in native pixels.

        Raises
        ------
        UnreadableInputError
            The image cannot be read.
        WrongUseError
            The model, grid or view is unknown, or the view is not given anywhere.
        PrivacyError
            The image may not leave this machine until ``overread allow`` says so.
        OverreadError
            The model cannot be asked. If the provider fails, an answer with status
            provider_error is returned instead.
        """
        from viewer.api.made import answer_of
        from viewer.domain.case import ImageRef
        from viewer.domain.geometry import BoxPx
        from viewer.services.asking.ask import Question, ask
        from viewer.services.configuring.model_profiles import model_named

        question = Question(
            ref=ImageRef(Path(image).absolute(), frame),
            finding=finding,
            profile=model_named(model, self._settings.models_file),
            grid=str(grid),
            view=view_named(view),
            boxes=tuple(BoxPx(b.x0, b.y0, b.x1, b.y1) for b in boxes),
        )
        return answer_of(self.path, ask(self._opened, question))
