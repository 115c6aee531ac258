"""Errors of background work, reported to the user."""

from viewer.domain.errors import OverreadError
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice


def tell_error(context: AppContext, error: Exception, *, once: bool = False) -> None:
    """Post an error's two sentences; an unexpected one opens the crash dialog.

    With ``once`` only if this object has not posted them before.
    """
    if not isinstance(error, OverreadError):
        raise error
    post = context.notices.post_once if once else context.notices.post
    post(Notice(error.what, error.how))
