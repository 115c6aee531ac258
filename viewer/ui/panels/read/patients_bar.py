"""A bar over the images that warns while those of two patients are side by side."""

from collections.abc import Iterable, Sequence

from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from viewer.domain.case import ImageHeader
from viewer.domain.escapes import visible
from viewer.ui.widgets.plain_text import Label


class PatientsBar(QFrame):
    """Hidden where every image is known to be of one patient, or there is one image.

    It cannot be dismissed: it goes when what it says is no longer true.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("patients")
        self.words = Label()
        self.words.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 12, 4)
        row.addWidget(self.words)
        self.hide()

    def look_at(self, images: Sequence[ImageHeader]) -> None:
        """Compare the patients of the images that are side by side."""
        words = patients_words(images)
        self.words.setText(words)
        self.setVisible(bool(words))


def patients_words(images: Sequence[ImageHeader]) -> str:
    """Return a warning about images of several patients, or "" without one.

    Files without a Patient ID (0010,0020) have the study or the folder in its place;
    within one study or folder they count as one patient's. Identifiers of different
    hospitals may coincide, so that name and date of birth are compared as well.
    """
    keys = dict.fromkeys(image.patient_key for image in images)
    named = dict.fromkeys(i.patient_key for i in images if _names_patient(i))
    if len(named) < len(keys) > 1:
        these = "Some of these images name" if named else "These images name"
        return f"{these} no patient; they may be of different patients."
    if len(keys) > 1:
        return f"Images of {len(named)} patients side by side: {_listed(named)}"
    names = {
        " ".join(i.patient_name.casefold().split()): i.patient_name for i in images
    }
    if len(names.keys() - {""}) > 1:
        shown = [name for key, name in names.items() if key]
        return f"One Patient ID, but several names side by side: {_listed(shown)}"
    births = dict.fromkeys(i.birth_date for i in images if i.birth_date)
    if len(births) > 1:
        return f"One Patient ID, but several dates of birth: {_listed(births)}"
    return ""


def _names_patient(image: ImageHeader) -> bool:
    """Tell whether the patient's key is a Patient ID and no stand-in for it."""
    return image.patient_key != image.study_key


def _listed(words: Iterable[str]) -> str:
    *first, last = map(visible, words)
    return f"{', '.join(first)} and {last}"
