"""What commands show first, imported before anybody asks for it."""


def import_pages() -> None:
    """Import what commands show, so that the first time is as quick as the next.

    For a background thread, once the window is complete.
    """
    import viewer.ui.canvas.lens
    import viewer.ui.canvas.mark_menu
    import viewer.ui.canvas.marks.overlay
    import viewer.ui.canvas.minimap
    import viewer.ui.canvas.overlays.answers
    import viewer.ui.canvas.overlays.reference
    import viewer.ui.canvas.overlays.reference_boxes
    import viewer.ui.canvas.painting
    import viewer.ui.dialogs.draw_questions
    import viewer.ui.dialogs.import_dataset
    import viewer.ui.dialogs.import_predictions
    import viewer.ui.dialogs.import_replies
    import viewer.ui.dialogs.review_cases
    import viewer.ui.dialogs.settings_page
    import viewer.ui.dialogs.tag_list
    import viewer.ui.panels.read.linking
    import viewer.ui.panels.read.own_windows
    import viewer.ui.panels.read.pictures
    import viewer.ui.window.palette_dialog
    import viewer.ui.window.shortcuts_sheet  # noqa: F401
    from viewer.services.importing.draw_questions import drawing_presets

    drawing_presets()  # of a study, which is imported with the first question about it
