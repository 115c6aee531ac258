"""The Batch… page: what is asked, which models, how, and the cost."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.run import RunSpec
from viewer.services.configuring.money import DOLLAR
from viewer.services.running.batch_estimate import BatchEstimate, estimate
from viewer.services.running.batch_form import (
    BatchForm,
    ModelState,
    ReferenceNames,
    answering,
    first_choice,
    form_fields,
    own_prompts_of,
    preset_titles,
    read_study,
    reference_names,
    spec_of,
    study_beside,
    write_study,
)
from viewer.services.running.suitable_studies import Suiting
from viewer.settings import Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.batch_datasets import DatasetChoice
from viewer.ui.dialogs.batch_models import (
    model_item,
    tick,
    tick_models,
    ticked_in,
)
from viewer.ui.dialogs.batch_parts import (
    Offers,
    VaryButton,
    column,
    lacking,
    offers_of,
    start_words,
)
from viewer.ui.dialogs.batch_prompts import PromptsButton
from viewer.ui.dialogs.ceiling import Ceiling
from viewer.ui.dialogs.restricted import Restricted
from viewer.ui.widgets.file_choice import choose_to_read, choose_to_write
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.number_box import WholeBox
from viewer.ui.widgets.params_form import ParamsForm, align
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen, stacked

if TYPE_CHECKING:
    from viewer.domain.exchange import ModelProfile
    from viewer.services.configuring.form_field import FormField

_WHAT: Final = ("findings", "views")
_HOW: Final = ("grids", "ablation")
_PAUSE_MS: Final = 300
_MOST_REPEATS: Final = 1000
_MOST_ITEMS: Final = 1_000_000
_LARGEST_SEED: Final = 2**31 - 1
_FILES: Final = "Study files (*.toml)"


class BatchDialog(QDialog):
    """The page; it stays open beside the window, which stays free.

    It begins as ``form``, with a data set that is not among those ``known``: it was
    imported or drawn last.
    """

    start_wanted = Signal(object)
    """RunSpec to plan and run"""
    import_wanted = Signal()
    """A data set is to be imported; it is offered here once it is."""

    def __init__(
        self,
        settings: Settings,
        parent: QWidget | None = None,
        form: BatchForm | None = None,
        known: tuple[str, ...] = (),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Batch")
        self._first = form
        self.setModal(False)
        self._settings = settings
        self._background_tasks = BackgroundTasks(self)
        self._profiles: tuple[ModelProfile, ...] = ()
        self._elsewhere: set[str] = set()
        self._offers: Offers | None = None
        self._suiting, self.known = Suiting(), known
        self._named = ReferenceNames()
        self._fields: tuple[FormField, ...] = ()
        self._states: tuple[ModelState, ...] = ()
        self._roles: tuple[str, ...] = ()
        self.study, self.dataset = NamedChoice(), DatasetChoice()
        self.preset = NamedChoice()
        self.restricted = Restricted(settings.store, self._fail)
        self.bring = QPushButton("Import data set…")
        self.seed = WholeBox(maximum=_LARGEST_SEED)
        self.repeats = WholeBox(minimum=1, maximum=_MOST_REPEATS)
        self.limit = WholeBox(maximum=_MOST_ITEMS)
        self.limit.setSpecialValueText("all items")
        self.ceiling = Ceiling()
        self.prompts = PromptsButton(settings, lambda: self.form)
        self.vary, self.models = VaryButton(self.preset), QListWidget()
        self.what, self.how, self.further = ParamsForm(), ParamsForm(), ParamsForm()
        self._what_rows, self._how_rows = QFormLayout(), QFormLayout()
        self.sentence = Label()
        self.start, self.open_file = QPushButton(), QPushButton("Open study file…")
        self.save_file = QPushButton("Save study file…")
        self._soon = QTimer(self, interval=_PAUSE_MS, singleShot=True)
        self._lay_out()
        self._connect()
        self._show_estimate(None)

    @property
    def form(self) -> BatchForm:
        """The page's settings; parameters at their default are left out."""
        return BatchForm(
            study=self.study.name,
            dataset=self.dataset.name,
            preset=self.preset.name,
            models=tuple(ticked_in(self.models)),
            seed=self.seed.value(),
            repeats=self.repeats.value(),
            params={
                **self.what.changed(),
                **self.how.changed(),
                **self.further.changed(),
                **self.prompts.params,
            },
            profiles=self._profiles,
            ceiling_microusd=round(self.ceiling.value() * DOLLAR) or None,
            limit=self.limit.value() or None,
        )

    def reload(self, dataset: str = "") -> None:
        """Reload what there is to choose from, and choose a data set by its name."""
        offers = partial(offers_of, self._settings)
        show = partial(self._show_offers, wanted=dataset)
        self._background_tasks.start("offers", offers, show, self._fail)

    def look_again(self) -> None:
        """Offer new data sets and models; the user's choices and input stay."""
        offers = partial(offers_of, self._settings)
        self._background_tasks.start("offers", offers, self._show_others, self._fail)

    def show_form(self, form: BatchForm) -> None:
        """Fill the page."""
        self.study.choose(form.study)
        self._show_datasets(form.dataset)
        self.dataset.choose(form.dataset)
        self._list_models()
        self.preset.offer(preset_titles(form.study))
        self.preset.choose(form.preset)
        self._show_prompts(own_prompts_of(form))
        self._show_fields(form.params)
        self.seed.setValue(form.seed)
        self.repeats.setValue(form.repeats)
        self.limit.setValue(form.limit or 0)
        self.ceiling.setValue((form.ceiling_microusd or 0) / DOLLAR)
        self._profiles = form.profiles
        tick_models(self.models, form.models)
        self._edited()

    def read_from(self, path: Path) -> None:
        """Fill the page from a study file."""
        self._background_tasks.start(
            "file",
            lambda: read_study(path, self._settings),
            self.show_form,
            self._fail,
        )

    def write_to(self, path: Path) -> None:
        """Write the page as a study file that ``overread run`` accepts."""
        form = self.form
        self._background_tasks.start(
            "file",
            lambda: write_study(form, path),
            lambda _: self.sentence.setText(
                f"Saved. Run it with: overread run {path.name}"
            ),
            self._fail,
        )

    @property
    def _forms(self) -> tuple[ParamsForm, ...]:
        return self.what, self.how, self.further

    def _show_others(self, offers: Offers) -> None:
        """Show what there is to choose from now, where it is not what there was."""
        if offers == self._offers:
            return
        if self.dataset.name:
            self.known = offers.suiting.datasets  # another one is not chosen instead
        row = self.models.verticalScrollBar().value()
        self._show_offers(offers)
        self.models.verticalScrollBar().setValue(row)

    def _show_offers(self, offers: Offers, wanted: str = "") -> None:
        self._offers = offers
        self.study.offer(offers.studies, offers.unusable)
        self._suiting = offers.suiting
        self._elsewhere = {state.name for state in offers.models if state.host}
        self._states, self._roles = offers.models, offers.roles
        self._list_models()
        if self._first is not None:
            form, self._first = self._first, None
            self.show_form(form)
        self._choose(wanted or self._suiting.newest_beside(self.known))
        if not self.preset.count():
            self._show_presets()
        self._edited()

    def _choose(self, newest: str) -> None:
        """Choose a data set, "" for none, and a study that can ask about it."""
        before, chosen = self.study.name, self.dataset.name
        self.known = self._suiting.datasets
        if newest:
            self.study.choose(self._suiting.study_for(newest, before))
            chosen = self._suiting.dataset_for(self.study.name, newest)
            self._look_for_study(newest)
        self._show_datasets(chosen)
        if self.study.name != before:
            self._show_presets()

    def _look_for_study(self, dataset: str) -> None:
        """Fill the page from the study file in the data set's folder, if it has one."""
        self._background_tasks.start(
            "file",
            partial(study_beside, dataset, self._settings),
            lambda form: None if form is None else self.show_form(form),
            self._fail,
        )

    def _show_datasets(self, chosen: str) -> None:
        """Offer the data sets, those that suit the study first, and choose one."""
        self.dataset.offer_suiting(self._suiting.ordered(self.study.name), chosen)
        self._what_rows.setRowVisible(self.bring, not self.dataset.name)
        self._show_dataset()

    def _show_dataset(self) -> None:
        self.restricted.show_dataset(self.dataset.name)
        self._look_up_readers()

    def _list_models(self) -> None:
        """Offer the models that can answer the study; what is ticked stays so."""
        offered = answering(self.study.name, self._states)
        known = self.models.count() > 0
        ticked = ticked_in(self.models) if known else first_choice(offered)
        self.models.blockSignals(True)
        self.models.clear()
        for state in offered:
            tick(model_item(state, self.models), ticked)
        self.models.blockSignals(False)

    def _change_study(self) -> None:
        """Keep the data set where it suits the study, else choose the newest."""
        self._show_prompts({})
        dataset = self._suiting.dataset_for(self.study.name, self.dataset.name)
        self._show_datasets(dataset)
        self._show_presets()

    def _show_presets(self) -> None:
        self._list_models()
        self.preset.offer(preset_titles(self.study.name))
        self._show_prompts(self.prompts.params)
        self._show_fields()

    def _show_prompts(self, params: Mapping[str, object]) -> None:
        known = self.prompts.show_prompts(self.study.name, params)
        self._how_rows.setRowVisible(self.prompts, known)

    def _show_fields(self, values: Mapping[str, object] | None = None) -> None:
        """Build the forms of a study and preset, and fill them.

        Without ``values`` what was changed stays changed.
        """
        changed = self.form.params if values is None else values
        named, readers = self._named, self._named.readers_beside(changed)
        chosen = self.study.name, self.preset.name
        fields = form_fields(*chosen, readers, self._roles, named.findings)
        changed, self._fields = {**named.suggested(fields), **changed}, fields
        self._how_rows.setRowVisible(self.vary, self.vary.suits(self.study.name))
        self.what.show_fields([f for f in fields if f.name in _WHAT])
        self.how.show_fields([f for f in fields if f.name in _HOW])
        self.further.show_fields([f for f in fields if f.name not in _WHAT + _HOW])
        for part in self._forms:
            part.set_values(changed)
        self.what.show_lacking("findings", named.lacking(fields))
        align((self._how_rows, self.how.rows))
        align((self._what_rows, self.what.rows))
        self._edited()

    def _look_up_readers(self) -> None:
        store, name = self._settings.store, self.dataset.name
        self._background_tasks.start(
            "readers",
            lambda: reference_names(store, name),
            self._show_named,
            self._fail,
        )

    def _show_named(self, named: ReferenceNames) -> None:
        """Offer the data set's readers and findings, where there is a form."""
        if named != self._named:
            before, self._named = self._named, named
            if self.preset.count() and not before.fills_alike(named, self._fields):
                self._show_fields(before.without_suggested(self.form.params))

    def _edited(self) -> None:
        """Estimate again, shortly after the last change."""
        self._background_tasks.cancel("estimate")
        self._show_estimate(None)
        self._soon.start()

    def _work_out(self) -> None:
        form, store = self.form, self._settings.store
        offers = self.models.count() > 0
        why = lacking(form, self._suiting, self._withheld(), offers_models=offers)
        self.sentence.setText(why or "Counting the requests …")
        if not why:
            self._background_tasks.start(
                "estimate",
                lambda: estimate(store, form, self._settings),
                self._show_estimate,
                self._fail,
            )

    def _withheld(self) -> list[str]:
        """Return the ticked models that a restricted data set may not be sent to."""
        names = ticked_in(self.models) if self.restricted.isChecked() else []
        return [name for name in names if name in self._elsewhere]

    def _show_estimate(self, found: BatchEstimate | None) -> None:
        self.start.setEnabled(found is not None and found.requests > 0)
        if found is None:
            self.start.setText("Start")
            return
        self.sentence.setText(found.sentence)
        self.start.setText(start_words(found))

    def _start(self) -> None:
        self.start.setEnabled(False)
        spec = partial(spec_of, self.form, self._settings)
        self._background_tasks.start("start", spec, self._hand_over, self._fail)

    def _hand_over(self, spec: RunSpec) -> None:
        self.accept()
        self.start_wanted.emit(spec)

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix at the foot of the page; raise others."""
        if not isinstance(error, OverreadError):
            raise error
        self.sentence.setText(str(error))

    def _ask_where_to_save(self) -> None:
        title = "Save study file"
        choose_to_write(self, title, "study.toml", _FILES, self.write_to)

    def _connect(self) -> None:
        self._soon.timeout.connect(self._work_out)
        self.study.activated.connect(lambda _: self._change_study())
        self.preset.activated.connect(lambda _: self._show_fields())
        self.dataset.currentTextChanged.connect(lambda _: self._show_dataset())
        self.dataset.currentIndexChanged.connect(self._edited)
        self.bring.clicked.connect(self.import_wanted)
        self.prompts.changed.connect(self._edited)
        self.restricted.changed.connect(self._edited)
        for form in self._forms:
            form.edited.connect(self._edited)
        for number in (self.seed, self.repeats, self.limit):
            number.valueChanged.connect(self._edited)
        self.models.itemChanged.connect(self._edited)
        self.start.clicked.connect(self._start)
        self.open_file.clicked.connect(
            lambda: choose_to_read(self, "Open study file", _FILES, self.read_from)
        )
        self.save_file.clicked.connect(self._ask_where_to_save)

    def _lay_out(self) -> None:
        columns = QHBoxLayout()
        columns.setSpacing(24)
        columns.addLayout(self._what_column(), 4)
        columns.addLayout(column("Who", self.models), 4)
        columns.addLayout(self._how_column(), 5)
        foot = QHBoxLayout()
        foot.addWidget(self.open_file)
        foot.addWidget(self.save_file)
        foot.addStretch(1)
        foot.addWidget(self.start)
        self.start.setProperty("primary", True)
        self.start.setDefault(True)
        self.sentence.setWordWrap(True)
        self.sentence.setAccessibleName("What will be sent, and what it costs")
        self.sentence.setMinimumHeight(2 * self.fontMetrics().height())
        self.models.setAccessibleName("Models")
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(12)
        box.addLayout(columns, 1)
        box.addWidget(self.sentence)
        box.addLayout(foot)
        resize_on_screen(self, 1220, 640)

    def _what_column(self) -> QVBoxLayout:
        rows = self._what_rows
        rows.addRow("Study", self.study)
        rows.addRow("Data set", self.dataset)
        rows.addRow("", self.bring)
        rows.setRowVisible(self.bring, False)
        rows.addRow("", self.restricted)
        return column("What", rows, stacked(self.what))

    def _how_column(self) -> QVBoxLayout:
        rows = self._how_rows
        rows.addRow("Preset", self.preset)
        rows.addRow("", self.vary)
        rows.addRow("Prompts", self.prompts)
        rows.addRow("Repeats", self.repeats)
        rows.addRow("Seed", self.seed)
        rows.addRow("Ask about", self.limit)
        rows.addRow("Ceiling", self.ceiling)
        more = Label("Further parameters")
        return column("How", rows, stacked(self.how, more, self.further))
