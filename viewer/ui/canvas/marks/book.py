"""The marks by image, with undoable edits."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from viewer.domain.case import ImageRef
from viewer.domain.mark import EditStep, Mark, MarkEdit
from viewer.ui.application.undo import PastEdit, UndoStack
from viewer.ui.canvas.events import MarksChanged


@dataclass(frozen=True, slots=True)
class DrawnMark:
    """A mark, its text, and whether its handles show."""

    mark: Mark
    words: tuple[str, ...]
    chosen: bool


class MarkBook(QObject):
    """The marks of every image.

    Parameters
    ----------
    undo : UndoStack, optional
        For undoing edits; without one they are final.
    parent : QObject, optional
        The owner of the book.
    """

    changed = Signal(object)
    """MarksChanged"""
    edited = Signal(object)
    """MarkEdit: done, undone or redone"""

    def __init__(
        self, undo: UndoStack | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._undo = undo
        self._marks: dict[ImageRef, tuple[Mark, ...]] = {}

    def of(self, ref: ImageRef) -> tuple[Mark, ...]:
        """Return the marks of an image, in the order drawn."""
        return self._marks.get(absolute(ref), ())

    def add(self, ref: ImageRef, mark: Mark, words: str) -> None:
        """Add a mark; ``words`` follows "Undo" in the menu."""
        self._edit(ref, (*self.of(ref), mark), words)

    def exchange(self, ref: ImageRef, old: Mark, new: Mark, words: str) -> None:
        """Replace a mark by another."""
        after = tuple(new if mark == old else mark for mark in self.of(ref))
        self._edit(ref, after, words)

    def remove(self, ref: ImageRef, marks: tuple[Mark, ...], words: str) -> None:
        """Remove some marks of an image."""
        remaining = tuple(mark for mark in self.of(ref) if mark not in marks)
        self._edit(ref, remaining, words)

    def take_in(self, stored: Mapping[ImageRef, tuple[Mark, ...]]) -> None:
        """Insert stored marks below those drawn since.

        Marks drawn since cannot be undone: that would remove the stored ones too.
        """
        if self._undo is not None and self._marks.keys() & stored.keys():
            self._undo.forget()
        for ref, marks in stored.items():
            # Below: they were drawn before, and the last drawn lies on top.
            self._marks[ref] = (*marks, *self.of(ref))
            self.changed.emit(MarksChanged(ref))

    def forget(self, gone: AbstractSet[Path]) -> None:
        """Drop the marks on deleted files, and what could bring them back."""
        self._marks = {r: m for r, m in self._marks.items() if r.path not in gone}
        if self._undo is not None and gone:
            self._undo.forget_all()

    def restore(self, edits: Iterable[MarkEdit]) -> None:
        """Let edits of an earlier session be undone and redone."""
        by_place: dict[str, list[PastEdit]] = {}
        for edit in edits:
            past = PastEdit(
                edit.words,
                partial(self._step, edit, EditStep.REDONE),
                partial(self._step, edit, EditStep.UNDONE),
                edit.step is EditStep.DONE,
            )
            by_place.setdefault(edit.place, []).append(past)
        for place, all_past in by_place.items():
            if self._undo is not None:
                self._undo.restore(place, all_past)

    def _edit(self, ref: ImageRef, after: tuple[Mark, ...], words: str) -> None:
        before = self.of(ref)
        if after == before:
            return
        if self._undo is None:
            self._set(ref, after)
            return
        edit = MarkEdit.between(
            before, after, place=self._undo.place, ref=absolute(ref), words=words
        )
        steps = chain((EditStep.DONE,), repeat(EditStep.REDONE))
        self._undo.do(
            words,
            lambda: self._step(edit, next(steps)),
            partial(self._step, edit, EditStep.UNDONE),
        )

    def _step(self, edit: MarkEdit, step: EditStep) -> None:
        taken = replace(edit, step=step)
        self.edited.emit(taken)
        self._set(edit.ref, taken.applied(self.of(edit.ref)))

    def _set(self, ref: ImageRef, marks: tuple[Mark, ...]) -> None:
        self._marks[absolute(ref)] = marks
        self.changed.emit(MarksChanged(absolute(ref)))


def absolute(ref: ImageRef) -> ImageRef:
    """Return the image by its absolute path, as in the store."""
    # absolute() and not resolve(): the store keeps links as they were named.
    return replace(ref, path=ref.path.absolute())
