"""Hangs what is chosen by a protocol, steps through its stages, changes the layout."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, sqrt
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QMenu

from viewer.domain.counting import size_words
from viewer.domain.errors import WrongUseError
from viewer.domain.escapes import visible
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.choices import restored
from viewer.ui.application.show_once import show_once
from viewer.ui.panels.read.case_rows import SeriesDropped
from viewer.ui.panels.read.case_tree import CaseTree
from viewer.ui.panels.read.hanging import Chosen, Hung, Stack
from viewer.ui.panels.read.hanging_line import HangingLine, LayoutChosen
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport

if TYPE_CHECKING:
    from viewer.domain.hanging import Protocol
    from viewer.ui.panels.read.linking import Linking
    from viewer.ui.panels.read.own_windows import OwnWindows
    from viewer.ui.panels.read.protocols import Stage

CHOICE: Final = "hanging"
"""The name of the layouts among the choices that the window remembers."""
_RESTED_MS: Final = 200
"""After the last image, as the reader begins to look."""
_PAINTED_MS: Final = 150
"""After the first image, which the protocols would hold up."""

_FEWEST_COMPARED: Final = 2
_NOT_COMPARED: Final = (
    "Open an image and tick two models or more in Ask to see them side by side."
)


@dataclass(frozen=True)
class KeptLayout:
    """A hanging protocol by name, or a layout of the user's own if it has rows."""

    protocol: str = ""
    rows: int = 0
    columns: int = 0
    tiled: bool = False

    def __post_init__(self) -> None:
        """Refuse what no menu offers."""
        from viewer.domain.hanging import MOST_VIEWPORTS

        if (
            not 0 <= self.rows <= MOST_VIEWPORTS
            or not 0 <= self.columns <= MOST_VIEWPORTS
        ):
            raise WrongUseError("There is no such layout.")


@dataclass(frozen=True)
class KeptLayouts:
    """The layouts by modality, as they are kept between two starts."""

    of: Mapping[str, KeptLayout] = field(default_factory=dict)
    windows: Mapping[str, str] = field(default_factory=dict)
    """By the viewport's place, the geometry of its own window"""


class HangingControl(QObject):
    """Protocols are read once something can be compared, or the first image is there.

    Until the user changes the layout, images that are found later join the stage.
    """

    def __init__(
        self, lightbox: Lightbox, context: AppContext, cases: CaseTree
    ) -> None:
        super().__init__(lightbox)
        self._lightbox, self._context = lightbox, context
        self.line = HangingLine()
        self._protocols: tuple[Protocol, ...] = ()
        self._preferred = ""
        self._chosen: Chosen | None = None
        self._stages: tuple[Stage, ...] = ()
        self._number = 0
        self._own = False
        self._linking: Linking | None = None
        self._own_windows: OwnWindows | None = None
        self.layouts: dict[str, KeptLayout] = {}
        """How the user last wanted images of a modality to hang."""
        self._cases = cases
        self._rest = QTimer(self, singleShot=True, interval=_RESTED_MS)
        self._rest.timeout.connect(self._look_ahead)
        lightbox.held_changed.connect(self._tell_held)
        lightbox.each(lambda v: v.view.menu_wanted.connect(partial(self._offer, v)))
        lightbox.each(lambda v: v.image_shown.connect(self._furnish_soon))
        cases.series_dropped.connect(self._drop)
        cases.hang_wanted.connect(lambda stack: self.place(lightbox.active, stack))

    def recall(self, stored: object) -> None:
        """Restore the layouts of the previous session."""
        kept = restored(KeptLayouts(), stored)
        self.layouts = dict(kept.of)
        if kept.windows:
            self.own_windows.recall(kept.windows)

    @property
    def choice(self) -> KeptLayouts:
        """The layouts, for the next start."""
        windows = self._own_windows.kept if self._own_windows else {}
        return KeptLayouts(self.layouts, windows)

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        return {
            "hang.next": lambda: self.step(1),
            "hang.previous": lambda: self.step(-1),
            "hang.layout": self.show_layouts,
            "hang.series": self.offer_series,
            "hang.protocols": self.edit_protocols,
            "hang.link": partial(self._link, linked=True),
            "hang.unlink": partial(self._link, linked=False),
            "hang.lines": self._toggle_lines,
            "hang.own_window": self._toggle_own_window,
        }

    @property
    def words(self) -> str:
        """The stage in use, "" in a layout of the user's own."""
        return self._stages[self._number].words if self._stages else ""

    def hang(self, chosen: Chosen) -> None:
        """Hang what was chosen by the protocol that fits best."""
        self._chosen, self._own = chosen, False
        kept = self.layouts.get(chosen.stack.modality, KeptLayout())
        alone = len(chosen.study) == 1 and not chosen.priors
        if not self._protocols and alone and not kept.tiled:
            self._lightbox.hang(chosen)
            return
        self._furnish()
        self._preferred = kept.protocol
        if kept.rows:
            self._find_stages()
            self._lightbox.hang(chosen)  # nothing of the case before stays beside it
            self._lay_out(kept)
        else:
            self._use_protocol(None)

    def compare(self, models: Sequence[str]) -> None:
        """Show the active stack once for each model, with that model's answers alone.

        Where that is shown already, hang what was chosen as before.
        """
        active, chosen = self._lightbox.active, self._chosen
        if active.model and chosen is not None:
            self.hang(replace(chosen, position=active.position))
            return
        if chosen is None or active.stack is None or len(models) < _FEWEST_COMPARED:
            self._context.notices.say(_NOT_COMPARED)
            return
        across = ceil(sqrt(len(models)))
        stack = active.stack
        hung: list[Hung | None] = [Hung(stack, 0, name, name) for name in models]
        hung += [None] * (-len(hung) % across)
        rows = [hung[n : n + across] for n in range(0, len(hung), across)]
        self._own = True
        here = replace(chosen, stack=stack, position=active.position)
        self._lightbox.hang(here, rows)
        self._furnish()
        self._tell()

    def grow(self, chosen: Chosen) -> None:
        """Take in what has been found of the study that hangs."""
        before, number = self._chosen, self._number
        if before is None or before.stack.key != chosen.stack.key:
            self.hang(chosen)
        elif self._own:
            self._chosen = chosen
            for viewport in self._lightbox.viewports:
                for stack in chosen.study:
                    if viewport.stack is not None and viewport.stack.key == stack.key:
                        viewport.show_stack(stack)
            self._fill(chosen)
        elif self._protocols or len(chosen.study) > 1 or chosen.priors:
            self._chosen = chosen
            self._furnish()
            self._use_protocol(number if self._stages else None)
        else:
            self.hang(chosen)

    def _fill(self, chosen: Chosen) -> None:
        """Hang what was found since in the viewports of a layout that are empty."""
        kept = self.layouts.get(chosen.stack.modality, KeptLayout())
        shape = self._lightbox.rows, self._lightbox.columns
        empty = any(v.stack is None for v in self._lightbox.viewports)
        if empty and shape == (kept.rows, kept.columns):
            self._lay_out(kept)

    def step(self, steps: int) -> None:
        """Go to another stage, if there is one."""
        if self._stages:
            last = len(self._stages) - 1
            self._go_to(min(max(self._number + steps, 0), last))

    def _drop(self, event: SeriesDropped) -> None:
        viewport = self._lightbox.at(event.at)
        if viewport is not None:
            self.place(viewport, event.stack)

    def place(self, viewport: Viewport, stack: Stack) -> None:
        """Hang a series in a viewport, beside what hangs in the others."""
        viewport.show_stack(stack)
        viewport.show_role("")
        viewport.view.setFocus()
        self._own = True
        self._furnish()
        self._tell()

    def offer_series(self) -> None:
        """List the patient's series; the chosen one hangs in the active viewport."""
        if self._chosen is None:
            self._context.notices.say("Open a series first to hang it.")
            return
        viewport, priors = self._lightbox.active, self._chosen.priors
        menu = QMenu("Hang in the active viewport", viewport.view)
        menu.aboutToHide.connect(menu.deleteLater)
        for number, stacks in enumerate((self._chosen.study, *priors)):
            menu.addSection(f"Prior {number}" if number else "Current")
            for stack in stacks:
                words = visible(f"{stack.name} · {stack.words}").replace("&", "&&")
                action = menu.addAction(words, partial(self.place, viewport, stack))
                action.setCheckable(True)
                action.setChecked(stack == viewport.stack)
        menu.popup(viewport.view.mapToGlobal(viewport.view.rect().center()))

    def _offer(self, viewport: Viewport, at: QPoint) -> None:
        """Offer what can be done with a viewport, on a right click beside its marks."""
        viewport.view.setFocus()
        menu = QMenu(viewport.view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in ("hang.series", "hang.layout", "hang.own_window"):
            menu.addAction(self._context.actions[name])
        menu.popup(at)

    def show_layouts(self) -> None:
        """Offer the layouts."""
        if self._chosen is not None:
            self._furnish()
            self.line.offer_layouts()

    @property
    def own_windows(self) -> "OwnWindows":
        """The viewports in windows of their own."""
        if self._own_windows is None:
            from viewer.ui.panels.read.own_windows import OwnWindows

            self._own_windows = OwnWindows(self._lightbox, self._context)
        return self._own_windows

    @property
    def linking(self) -> "Linking":
        """What carries scroll, zoom, pan and window from a viewport to the others."""
        if self._linking is None:
            from viewer.ui.panels.read.linking import Linking

            self._linking = Linking(self._lightbox)
        return self._linking

    def _link(self, *, linked: bool) -> None:
        self.linking.link(linked)
        self._furnish()
        self.line.linked.setText("linked" if linked else "not linked")

    def _toggle_lines(self) -> None:
        self.linking.show_lines(not self.linking.lines)
        self._context.actions.set_checked("hang.lines", self.linking.lines)

    def _toggle_own_window(self) -> None:
        self.own_windows.toggle()

    def _look_ahead(self) -> None:
        """Decode the first images of the next stage and of the next row."""
        stages = self._stages[self._number + 1 : self._number + 2]
        stacks = [stack for stage in stages for stack in stage.stacks]
        following = self._cases.following()
        stacks += [following.stack] if following is not None else []
        shown = {viewport.place for viewport in self._lightbox.viewports}
        refs = [s.images[0].ref for s in stacks if s.key not in shown]
        self._lightbox.ahead.expect(refs)

    def _tell_held(self) -> None:
        self._context.status.show_held(size_words(self._lightbox.held_bytes))

    def _furnish_soon(self, _: object) -> None:
        self._rest.start()
        if not self._protocols:
            QTimer.singleShot(_PAINTED_MS, self, self._furnish)

    def _furnish(self) -> None:
        if self._protocols:
            return
        self._read_protocols()
        self.line.furnish()
        self.linking.draw()
        self.line.protocol_chosen.connect(self._choose_protocol)
        self.line.stepped.connect(self.step)
        self.line.layout_chosen.connect(self._choose_layout)
        if self._chosen is not None:
            self._find_stages()
            self._tell()

    def _read_protocols(self) -> None:
        from viewer.services.viewing.hanging_protocols import (
            default_protocols,
            own_protocols,
        )

        try:
            self._protocols = own_protocols(self._context.settings.home)
        except WrongUseError as error:
            self._context.notices.error(error)
            self._protocols = default_protocols()

    def edit_protocols(self) -> None:
        """Show the table of protocols; what is saved hangs at once."""
        from viewer.ui.dialogs.protocol_editor import ProtocolEditor

        self._furnish()
        home, lightbox = self._context.settings.home, self._lightbox
        show_once(
            lightbox,
            "protocols",
            lambda: ProtocolEditor(self._protocols, home, self._use_saved, lightbox),
        )

    def _use_saved(self) -> None:
        self._read_protocols()
        if self._chosen is not None:
            self._use_protocol(None)

    def _choose_protocol(self, name: str) -> None:
        self._preferred, self._own = name, False
        self._remember(KeptLayout(name))
        self._use_protocol(None)

    def _remember(self, layout: KeptLayout) -> None:
        if self._chosen is not None:
            self.layouts[self._chosen.stack.modality] = layout

    def _use_protocol(self, number: int | None) -> None:
        """Hang a stage of the protocol, by default that with what was chosen."""
        self._find_stages()
        if number is not None and number < len(self._stages):
            self._number = number
        self._go_to(self._number)

    def _find_stages(self) -> None:
        from viewer.ui.panels.read.protocols import fitting, stage_of, stages

        assert self._chosen is not None  # noqa: S101 - called with something to hang
        fit = fitting(self._protocols, self._chosen)
        self._names = [protocol.name for protocol in fit]
        if self._preferred not in self._names:
            self._preferred = ""
        used = next((p for p in fit if p.name == self._preferred), fit[0])
        self._name = used.name
        self._stages = stages(used, self._chosen)
        self._number = stage_of(self._stages, self._chosen)

    def _go_to(self, number: int) -> None:
        assert self._chosen is not None  # noqa: S101 - stages are those of a choice
        self._number, self._own = number, False
        self._lightbox.hang(self._chosen, self._stages[number].rows)
        self._tell()

    def _choose_layout(self, event: LayoutChosen) -> None:
        """Show so many viewports, from now on for images of this modality."""
        layout = KeptLayout("", event.rows, event.columns, event.tiled)
        self._remember(layout)
        self._lay_out(layout)

    def _lay_out(self, layout: KeptLayout) -> None:
        """Show so many viewports: what hangs stays, the study's next fill the rest."""
        if self._chosen is None:
            return
        self._own = True
        count = layout.rows * layout.columns
        active = self._lightbox.active
        here = active.stack or self._chosen.stack
        if layout.tiled:
            tiles = range(min(count, len(here.images)))
            hung: list[Hung | None] = [Hung(here, tile) for tile in tiles]
        else:
            shown = [v.stack for v in self._lightbox.viewports if v.stack]
            rest = [s for s in self._chosen.study if s not in shown]
            hung = [Hung(stack) for stack in (*shown, *rest)[:count]]
        hung += [None] * (count - len(hung))
        across = layout.columns
        rows = [hung[n : n + across] for n in range(0, count, across)]
        last = len(here.images) - (count if layout.tiled else 1)
        start = max(0, min(active.position, last))
        chosen = replace(self._chosen, stack=here, position=start)
        self._lightbox.hang(chosen, rows)
        self._tell()

    def _tell(self) -> None:
        words, name = self.words, self._name
        if self._own:
            rows, columns = self._lightbox.rows, self._lightbox.columns
            words, name = f"{rows} × {columns}", ""
        count = len(self._stages)
        viewports = len(self._lightbox.viewports)
        self.line.show_stage(self._names, name, words, self._number, count, viewports)
