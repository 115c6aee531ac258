"""The window, its canvas, panels and dialogs: the only package that uses Qt."""

from viewer.ui.overrides import guard_overrides, read_no_sources

guard_overrides()  # before any module of the window derives a class from Qt's
read_no_sources()
