"""The button of the batch page that says which prompts are custom, and opens them."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from viewer.domain.study_words import capital
from viewer.services.asking.prompt_preview import PromptPreviews
from viewer.services.configuring.prompt_drafts import PromptDrafts
from viewer.services.running.batch_form import (
    BatchForm,
    drafts_for,
    spec_of,
    takes_variants,
)
from viewer.settings import Settings
from viewer.ui.dialogs.prompt_editor import PromptEditor


class PromptsButton(QPushButton):
    """Holds the custom prompts of a study, and lets a person edit them.

    ``form`` returns what the page says.
    """

    changed = Signal()
    """The user chose other prompts."""

    def __init__(
        self,
        settings: Settings,
        form: Callable[[], BatchForm],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings, self._form = settings, form
        self._study = ""
        self.params: Mapping[str, object] = {}
        """The custom prompts as parameters of the study"""
        self.setAutoDefault(False)
        self.setEnabled(False)  # until the study is known
        self.setToolTip("See and reword what models are asked, with a case beside it")
        self.clicked.connect(self._edit)

    def show_prompts(self, study: str, params: Mapping[str, object]) -> bool:
        """Hold a study's custom prompts; False where it has none to replace."""
        self._study, self.params = study, params
        drafts = drafts_for(study, params)
        self.setEnabled(drafts is not None)
        if drafts is not None:
            self.setText(f"{capital(drafts.words)}…")
        return drafts is not None

    def _edit(self) -> None:
        settings, form = self._settings, self._form()
        drafts = drafts_for(self._study, self.params)
        if drafts is None:
            return
        editor = PromptEditor(
            drafts,
            lambda: PromptPreviews(settings.store, spec_of(form, settings)),
            self,
            variants=takes_variants(self._study),
        )
        editor.drafts_accepted.connect(self._use)
        editor.open()

    def _use(self, drafts: PromptDrafts) -> None:
        self.show_prompts(self._study, drafts.params())
        self.changed.emit()
