"""The only Qt: the window, its canvas, panels and dialogs."""

from viewer.ui.overrides import guard_overrides

guard_overrides()  # before any module of the window derives a class from Qt's
