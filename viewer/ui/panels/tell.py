"""What background work raised, told where the eye is."""

from viewer.domain.errors import OverreadError
from viewer.ui.desk import Desk


def tell_error(desk: Desk, error: Exception) -> None:
    """Post an error's two sentences; what is none of ours goes to the crash dialog."""
    if not isinstance(error, OverreadError):
        raise error
    desk.notices.error(error)
