"""Every command of the window, in one table.

Menus, shortcuts, tool bars, the palette and the shortcut sheet are made from it; a
command without a handler is shown nowhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QToolBar, QToolButton, QWidget

from viewer.ui.application.action_spec import ActionSpec, Place
from viewer.ui.application.action_spec import measure as _measure
from viewer.ui.application.action_spec import models as _models
from viewer.ui.application.action_spec import read as _read
from viewer.ui.application.action_spec import review as _review
from viewer.ui.application.action_spec import tool as _tool
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.plain_text import as_tip

Handlers = Mapping[str, Callable[[], None]]
"""What a workspace does for each action id."""

MENUS: Final = (
    "File", "Edit", "View", "Image", "Mark", "Model", "Study", "Window", "Help",
)  # fmt: skip
_TOOL_ICON: Final = 18
HIDE: Final = "overlays.hide"
SHOW: Final = "overlays.show"
"""The handler called when the key of HIDE is let go; no action of its own."""
PRESETS: Final = 10
"""Windows on the keys 0 to 9."""
_EVERY_IMAGE: Final = ("Full range", "File's window", "File's next window")
"""Presets that every image has; those of its modality follow, under their own names."""

ACTIONS: Final = (
    ActionSpec("file.open", "File", "Open files…", "Ctrl+O",
               "Open images: DICOM, PNG, JPEG, TIFF, volumes", "file-image-outline"),
    ActionSpec("file.open_folder", "File", "Open folder…", "Ctrl+Shift+O",
               "Open every image of a folder", "folder-open-outline"),
    _read("file.close_case", "File", "Close case", "Ctrl+W",
          "Close the selected image's case; its files are not changed", "close"),
    _read("file.close_all", "File", "Close all cases", "Ctrl+Shift+W",
          "Close every case; files and answers are not changed",
          "close-box-multiple-outline"),
    ActionSpec("file.batch", "File", "Batch…", "Ctrl+B",
               "Ask models about a whole data set", "play-box-multiple-outline",
               section=True),
    ActionSpec("file.import_dataset", "File", "Import data set…", "Ctrl+Shift+I",
               "Register images with their references or questions: CheXlocalize, "
               "COCO, VinDr-CXR, MIMIC-CXR, PathMMU, HEAL-MedVQA and more, or a folder",
               "database-import-outline", section=True),
    ActionSpec("file.draw_questions", "File", "Draw questions…", "",
               "Draw questions about findings in anatomies from a data set's boxes and "
               "masks", "comment-question-outline"),
    ActionSpec("file.review_cases", "File", "Review prepared cases…", "",
               "Accept, edit or reject what a model prepared of reports, and write "
               "the cases to import", "file-document-edit-outline"),
    ActionSpec("file.import_predictions", "File", "Import predictions…", "",
               "Score predictions made elsewhere like a run: a table, COCO results, "
               "DICOM segmentations", "table-arrow-left"),
    ActionSpec("file.import_replies", "File", "Import replies…", "",
               "Score what any model replied to a study's questions like a run: JSON "
               "lines, a table, logs of inspect_ai, samples of lmms-eval",
               "comment-arrow-left-outline"),
    ActionSpec("image.save", "File", "Save picture…", "Ctrl+Shift+S",
               "The view at full resolution, as PNG or SVG, without the patient's name",
               "image-move", Place.READ, section=True),
    _read("image.copy", "File", "Copy picture", "Ctrl+Shift+C",
          "Copy the view at full resolution, without the patient's name",
          "image-multiple-outline"),
    _measure("file.export", "File", "Export table…", "Ctrl+E",
             "Save the results of the selected run as a table", "table-arrow-right"),
    _measure("file.answers", "File", "Export answers…", "",
             "Save the answers of the selected run's models as a table, in native "
             "pixels; Import predictions reads it back", "table-check"),
    _measure("file.bundle", "File", "Export bundle…", "Ctrl+Shift+E",
             "Save the selected run as one file that anybody can verify: tables, "
             "figures, raw replies, no pixels", "package-variant-closed"),
    _measure("file.shortcuts", "File", "Export shortcuts…", "",
             "Find the cases that most models of the selected run solve from their "
             "options alone; write the table to review them in, then the cases that "
             "remain", "format-list-bulleted"),
    ActionSpec("file.quit", "File", "Quit", "Ctrl+Q",
               "Close the window; what is in flight is stored", "exit-to-app",
               section=True),
    ActionSpec("edit.undo", "Edit", "Undo", "Ctrl+Z", "Undo the last edit",
               "undo"),
    ActionSpec("edit.redo", "Edit", "Redo", "Ctrl+Shift+Z",
               "Redo the edit that was undone", "redo"),
    ActionSpec("edit.copy", "Edit", "Copy", "Ctrl+C",
               "Copy the selected rows, or the value under the cursor",
               "content-copy", Place.HERE, section=True),
    ActionSpec("edit.find", "Edit", "Filter", "Ctrl+F", "Go to the filter",
               "magnify", Place.HERE),
    ActionSpec("edit.preferences", "Edit", "Preferences…", "Ctrl+,",
               "How tools and images behave", "cog-outline", Place.READ, section=True),
    ActionSpec("overlays.grid", "View", "Grid", "G", "Show the grid used for questions",
               "grid", Place.READ, checkable=True),
    ActionSpec("overlays.answers", "View", "Answers", "V",
               "Show models' answers; applies to every case until changed",
               "comment-eye-outline", Place.READ, checkable=True),
    ActionSpec("overlays.reference", "View", "Reference", "R",
               "Show the reference; applies to every case until changed",
               "vector-polygon", Place.READ, checkable=True),
    ActionSpec("overlays.planes", "View", "Overlay planes", "Shift+G",
               "Show graphics and text that the file lays over its pixels",
               "layers-outline", Place.READ, checkable=True),
    ActionSpec("overlays.read_first", "View", "Read first", "",
               "Lock a case's answers and reference until its reading is committed",
               "lock-outline", Place.READ, checkable=True),
    ActionSpec(HIDE, "View", "Hide overlays while held", "H",
               "Hold the key to see the image alone", "eye-off-outline", Place.READ,
               held=True),
    _read("image.detail", "View", "Corner text", "Shift+I",
          "All the text over the image, only who it is, or none",
          "format-text-variant-outline"),
    _read("image.tags", "View", "Tags…", "Ctrl+I", "All DICOM tags, searchable",
          "tag-outline"),
    _read("image.review", "View", "Review pixels…", "Ctrl+Shift+R",
          "Find text in the pixels, and black it out before they may leave",
          "text-recognition"),
    ActionSpec("dataset.words", "View", "Review words…", "Ctrl+Shift+N",
               "Read text of a data set's cases that seems to identify somebody, "
               "and decide whether it may leave", "text-search"),
    ActionSpec("image.provider", "View", "Provider's view", "Ctrl+Shift+P",
               "The pixels after a provider's own resizing, next to the image",
               "image-size-select-large", Place.READ, checkable=True),
    ActionSpec("hang.next", "View", "Next stage", ".",
               "Hang the next images of the hanging protocol", "page-next-outline",
               Place.READ, section=True),
    _read("hang.previous", "View", "Previous stage", ",",
          "Hang the previous images of the hanging protocol", "page-previous-outline"),
    _read("hang.layout", "View", "Layout…", "Y",
          "Arrange the viewports, or tile one series", "view-grid-outline"),
    _read("hang.protocols", "View", "Hanging protocols…", "",
          "Edit which images hang where", "table-cog"),
    _read("hang.link", "View", "Link viewports", "L",
          "Scroll, zoom, move and window what compares together", "link-variant"),
    _read("hang.unlink", "View", "Unlink viewports", "U",
          "Let every viewport go its own way", "link-variant-off"),
    ActionSpec("hang.lines", "View", "Reference lines", "O",
               "Show where the active image cuts the others",
               "format-align-middle", Place.READ, checkable=True),
    _read("tour.next", "View", "Next disagreement", "N",
          "Open the next miss of the row, or run, that is selected in Measure",
          "skip-next-outline"),
    _read("tour.previous", "View", "Previous disagreement", "P",
          "Open the previous miss", "skip-previous-outline"),
    ActionSpec("view.theme", "View", "Light theme", "Ctrl+T",
               "Switch between the dark and the light theme",
               "theme-light-dark", checkable=True, section=True),
    ActionSpec("view.full_screen", "View", "Full screen", "F11",
               "Use the whole screen", "fullscreen", checkable=True),
    _tool("select", "Select", "Q",
          "Click a viewport, a mark or an answer; nothing moves",
          "cursor-default-outline"),
    _tool("window", "Window/level", "W",
          "Drag up to brighten, right to widen the window", "contrast-circle"),
    _tool("pan", "Pan", "T", "Drag the image", "hand-back-right-outline"),
    _tool("zoom", "Zoom", "Z", "Drag down to zoom in, up to zoom out",
          "magnify-plus-outline"),
    _tool("scroll", "Scroll", "S", "Drag up and down through a series",
          "arrow-up-down"),
    _tool("crosshair", "Cross-hair", "J",
          "Show a position in every viewport of its frame of reference",
          "crosshairs"),
    _tool("magnifier", "Magnifier", "M", "Hold the button to look through a lens",
          "magnify-scan"),
    _read("image.cine", "Image", "Cine", "C",
          "Play the series or the frames, or pause", "play-outline"),
    ActionSpec("image.fit", "Image", "Fit", "F", "Show the whole image",
               "fit-to-page-outline", Place.READ, section=True),
    _read("image.one_to_one", "Image", "1 : 1", "Shift+F",
          "One image pixel on one screen pixel", "relative-scale"),
    _read("image.rotate_right", "Image", "Rotate right", "Ctrl+R",
          "Rotate a radiograph a quarter clockwise", "rotate-right"),
    _read("image.rotate_left", "Image", "Rotate left", "Ctrl+Alt+R",
          "Rotate a radiograph a quarter counter-clockwise", "rotate-left"),
    _read("image.mirror", "Image", "Flip left to right", "Shift+H",
          "Exchange the left and the right of a radiograph", "flip-horizontal"),
    _read("image.flip", "Image", "Flip top to bottom", "Shift+V",
          "Exchange the top and the bottom of a radiograph", "flip-vertical"),
    ActionSpec("image.invert", "Image", "Invert", "I", "Swap black and white",
               "invert-colors", Place.READ, checkable=True),
    _read("image.reset", "Image", "Reset", "Shift+R",
          "The file's window, the whole image, no marks", "restore"),
    ActionSpec("image.next", "Image", "Next image", "PgDown", "Go to the next image",
               "chevron-down", Place.READ, section=True),
    _read("image.previous", "Image", "Previous image", "PgUp",
          "Go to the previous image", "chevron-up"),
    _read("cases.done", "Image", "Done, next image", "Ctrl+M",
          "Mark the selected image as done, and go to the next", "check"),
    _read("cases.view", "Image", "Correct the view…", "F2",
          "Say what the selected image shows: frontal, lateral, other", "angle-right"),
    _read("cases.columns", "View", "Columns of the cases…", "",
          "Choose the columns and the order of the case list", "view-column-outline"),
    _read("image.presets", "Image", "Window presets…", "Shift+W",
          "Choose a window of this image's modality", "tune-vertical-variant"),
    ActionSpec("image.clamp", "Image", "Clamp window at 0", "Shift+C",
               "Keep the lower limit of the window at 0, as for PET and nuclear "
               "medicine", "arrow-collapse-down", Place.READ, checkable=True),
    *(
        _read(f"preset.{n}", "Image", text, str(n), f"Window preset: {text}",
              "tune-variant")
        for n, text in enumerate(
            (*_EVERY_IMAGE, *(f"Preset {n}" for n in range(3, PRESETS)))
        )
    ),
    _tool("length", "Length", "D", "Draw a line and read its length", "ruler", "Mark"),
    _tool("angle", "Angle", "A", "Draw one arm, then click the end of the other",
          "angle-acute", "Mark"),
    _tool("cobb", "Cobb angle", "Shift+A", "Draw two lines and read their angle",
          "angle-obtuse", "Mark"),
    _tool("rectangle", "Rectangle", "B", "Mean, SD, range and area of a rectangle",
          "rectangle-outline", "Mark"),
    _tool("ellipse", "Ellipse", "E", "Mean, SD, range and area of an ellipse",
          "ellipse-outline", "Mark"),
    _tool("polygon", "Polygon", "Shift+B",
          "Click each corner; click the first again or press Enter to close",
          "vector-polygon-variant", "Mark"),
    _tool("heart", "Cardiothoracic ratio", "Shift+T",
          "Click both edges of the heart, then both inner edges of the thorax",
          "heart-outline", "Mark"),
    _tool("arrow", "Arrow", "Shift+D", "Drag from what it points at, and label it",
          "arrow-top-left", "Mark"),
    _tool("text", "Text", "X", "Click, and write a note there", "format-text", "Mark"),
    _tool("point", "Point", "K", "Click, and read the value there",
          "target-variant", "Mark"),
    _tool("freehand", "Freehand", "Shift+X", "Draw a line by hand", "draw", "Mark"),
    ActionSpec("mark.outline", "Mark", "Outline it", "Shift+O",
               "Outline what is in the clicked rectangle, or in the selected "
               "answer's box", "vector-curve", Place.READ, section=True),
    ActionSpec("mark.delete", "Mark", "Delete mark", "Del",
               "Delete the clicked mark", "delete-outline", Place.READ,
               destructive=True),
    ActionSpec("mark.clear", "Mark", "Delete all marks of this image", "Shift+Del",
               "Delete every mark drawn on this image", "delete-sweep-outline",
               Place.READ, destructive=True),
    _read("ask.ask", "Model", "Ask", "Ctrl+Return",
          "Ask the selected models about this image", "comment-question-outline"),
    _read("ask.cancel", "Model", "Cancel question", "Ctrl+.",
          "Stop waiting for the answer", "close-circle-outline"),
    _read("ask.saw", "Model", "What the model saw", "Ctrl+L",
          "The exact bytes and text that were sent", "eye-outline"),
    _measure("run.compare", "Model", "Compare runs…", "Ctrl+Shift+D",
             "Compare two selected runs, or two models of one, item by item",
             "compare-horizontal"),
    ActionSpec("run.resume", "Model", "Resume run", "", "Continue the selected run",
               "play", Place.MEASURE, section=True),
    _measure("run.pause", "Model", "Pause run", "",
             "Finish what is in flight; resume it later", "pause"),
    _measure("run.cancel", "Model", "Cancel run", "",
             "Finish what is in flight, then end as cancelled", "stop"),
    _models("new", "New model…", "Ctrl+N", "Add a model and its settings",
            "plus", section=True),
    _models("save", "Save model", "Ctrl+S", "Save the settings of the selected model",
            "content-save-outline"),
    _models("duplicate", "Duplicate model", "Ctrl+D",
            "Add a model with the settings of the selected one", "content-duplicate"),
    ActionSpec("model.delete", "Model", "Delete model", "",
               "Delete the selected model; Undo restores it", "delete-outline",
               Place.MODELS, destructive=True),
    _models("test", "Test model", "Ctrl+Shift+T",
            "Test what the selected model's endpoint really does",
            "clipboard-check-outline"),
    _models("calibrate", "Calibrate model", "",
            "Find out how the selected model writes coordinates", "target"),
    _models("load", "Load model", "", "Load the selected model into memory",
            "tray-arrow-up", section=True),
    _models("unload", "Unload model", "", "Free the memory of the selected model",
            "tray-arrow-down"),
    _review("go", "Lock, then next case",
            "Lock the answers; if they are locked, show the next case (Enter)",
            "lock-check-outline"),
    _review("previous", "Previous case", "Show the previous case (Left)", "arrow-left"),
    _review("next", "Next case", "Show the next case (Right)", "arrow-right"),
    _review("comment", "Comment", "Write a comment on the case (C)",
            "comment-text-outline", section=True),
    _review("frame", "Frame or whole image",
            "Show the answer with its surroundings, or the whole image (F)",
            "image-filter-center-focus"),
    _review("grid", "Grid of the question", "Show the grid, or hide it (G)", "grid"),
    _review("pause", "Pause the session",
            "Return to the start page of Review; everything is kept (Esc)", "pause",
            section=True),
    ActionSpec("window.read", "Window", "Read", "Ctrl+1", "Read cases and ask models",
               "radiology-box-outline", checkable=True, group="workspace"),
    ActionSpec("window.measure", "Window", "Measure", "Ctrl+2",
               "Runs, their results and their cases", "chart-bar", checkable=True,
               group="workspace"),
    ActionSpec("window.review", "Window", "Review", "Ctrl+3",
               "Review misses, and read cases as the models do",
               "clipboard-edit-outline", checkable=True, group="workspace"),
    ActionSpec("window.models", "Window", "Models", "Ctrl+4",
               "Models, what they need, and their settings", "robot-outline",
               checkable=True, group="workspace"),
    ActionSpec("measure.back", "Window", "Back to the results", "Esc",
               "Return to the row from which this case was opened", "arrow-left",
               Place.READ),
    ActionSpec("window.palette", "Window", "All commands…", "Ctrl+K",
               "Find any command by its name", "console-line", section=True),
    ActionSpec("help.shortcuts", "Help", "Shortcuts", "F1", "Every key at a glance",
               "keyboard-outline"),
    ActionSpec("help.about", "Help", "About Overread", "",
               "Version and licence", "information-outline"),
)  # fmt: skip
SPECS: Final = {spec.id: spec for spec in ACTIONS}


class Actions(QObject):
    """The table's actions; a command is enabled if it has a handler."""

    def __init__(self) -> None:
        super().__init__()
        self._place = Place.READ
        self._groups: dict[str, QActionGroup] = {}
        self._handlers: dict[Place, dict[str, Callable[[], None]]] = {}
        self._barred: frozenset[str] = frozenset()
        self._actions = {spec.id: self._made(spec) for spec in ACTIONS}

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def __iter__(self) -> Iterator[tuple[ActionSpec, QAction]]:
        """Yield the actions with a handler, in the order of the table."""
        handled: set[str] = set().union(*self._handlers.values())
        for spec in ACTIONS:
            if spec.id in handled:
                yield spec, self._actions[spec.id]

    def handle(self, handlers: Handlers, place: Place = Place.EVERYWHERE) -> None:
        """Set the handlers of a workspace, or of the window itself.

        Raises
        ------
        KeyError
            If an id is not in the table.
        """
        unknown = handlers.keys() - SPECS.keys() - {SHOW}
        if unknown:
            raise KeyError(f"no action is called {sorted(unknown)}")
        self._handlers.setdefault(place, {}).update(handlers)
        for name in handlers.keys() & SPECS.keys():
            self._actions[name].setVisible(True)
        self.enter(self._place)

    def run(self, name: str) -> None:
        """Run an action, or the release of a held key."""
        handler = self._handler(name)
        if handler is not None:
            handler()

    def _handler(self, name: str) -> Callable[[], None] | None:
        spec = SPECS.get(name)
        places = [self._place]
        if spec is None or spec.place is not Place.HERE:
            places += Place
        found = (self._handlers.get(place, {}).get(name) for place in places)
        return next((handler for handler in found if handler), None)

    def enter(self, place: Place) -> None:
        """Enable the actions of a workspace, and those that are always available."""
        self._place = place
        for spec, action in self:
            here = spec.place in {Place.EVERYWHERE, Place.HERE, place}
            handled = self._handler(spec.id) is not None
            action.setEnabled(here and handled and spec.id not in self._barred)

    def bar(self, names: Iterable[str]) -> None:
        """Disable actions that are of no use now, and no others."""
        barred = frozenset(names)
        if barred != self._barred:
            self._barred = barred
            self.enter(self._place)

    def set_checked(self, name: str, checked: bool) -> None:
        """Show a state that was not changed through the action itself."""
        self._actions[name].setChecked(checked)

    def tool_bar(
        self, names: Iterable[str | tuple[str, ...]], parent: QWidget
    ) -> QToolBar:
        """Return a bar of buttons for some actions; "" makes a gap.

        Several names share a button, which shows the one chosen last.
        """
        bar = QToolBar(parent)
        bar.setIconSize(QSize(_TOOL_ICON, _TOOL_ICON))
        for name in names:
            if isinstance(name, tuple):
                bar.addWidget(self._shared_button(name, bar))
            elif name:
                bar.addAction(self._actions[name])
            else:
                bar.addSeparator()
        return bar

    def _shared_button(self, names: tuple[str, ...], bar: QToolBar) -> QToolButton:
        button = QToolButton(bar)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        button.setDefaultAction(self._actions[names[0]])
        menu = QMenu(button)
        for name in names:
            action = self._actions[name]
            menu.addAction(action)
            action.toggled.connect(partial(_show_checked, button, action))
        button.setMenu(menu)
        return button

    def _made(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.text, self)
        action.setObjectName(spec.id)
        if spec.icon:
            action.setIcon(icon(spec.icon))
        action.setShortcut(QKeySequence(spec.shortcut))
        # A held key repeats its press, but one press is enough until the release.
        action.setAutoRepeat(not spec.held)
        action.triggered.connect(lambda: self.run(spec.id))
        action.setToolTip(as_tip(_tip(spec)))
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.checkable)
        if spec.group:
            self._group(spec.group).addAction(action)
        action.setEnabled(False)
        action.setVisible(False)
        return action

    def _group(self, name: str) -> QActionGroup:
        if name not in self._groups:
            self._groups[name] = QActionGroup(self)
        return self._groups[name]


def _show_checked(button: QToolButton, action: QAction, checked: bool) -> None:
    if checked:
        button.setDefaultAction(action)


def shortcut_text(spec: ActionSpec) -> str:
    """Return the keys of an action as displayed."""
    return QKeySequence(spec.shortcut).toString(QKeySequence.SequenceFormat.NativeText)


def _tip(spec: ActionSpec) -> str:
    keys = shortcut_text(spec)
    return f"{spec.tip} ({keys})" if keys else spec.tip
