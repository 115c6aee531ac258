"""From a reply to a cell or a place, or to the reason why there is none."""

from functools import partial

from viewer.domain.answer import PlacedAnswer, Status, Unparsed
from viewer.domain.exchange import ModelReply
from viewer.domain.grid import Grid
from viewer.domain.run import Trial
from viewer.studies import cell_replies
from viewer.studies.cell_replies import ParserMode, Reading
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.reference import grid_of
from viewer.studies.grid_localization.wording import denies
from viewer.studies.refusing import is_cut, withheld


def parse(
    reply: ModelReply,
    trial: Trial,
    params: Params,
    placed: PlacedAnswer | Unparsed | None = None,
) -> Reading | PlacedAnswer:
    """Return the cell a reply names, or the status and reason without one.

    ``placed``, for a model that answers in coordinates, replaces the text; it does not
    count for a truncated reply.
    """
    if kept_back := withheld(reply):
        return kept_back
    if placed is not None:
        return Unparsed(Status.TRUNCATED, "length") if is_cut(reply) else placed
    return read_cell(
        reply.text,
        grid_of(trial.condition, params),
        trial.finding,
        params.parser_mode,
        truncated=is_cut(reply),
    )


def read_cell(
    text: str,
    grid: Grid,
    finding: str,
    mode: ParserMode = ParserMode.STRICT,
    *,
    truncated: bool = False,
) -> Reading:
    """Read a reply about a finding, which it may deny; see :mod:`cell_replies`."""
    is_denied = partial(_denies, finding)
    return cell_replies.read_cell(text, grid, mode, is_denied, truncated=truncated)


def _denies(finding: str, text: str, names_cell: bool) -> bool:
    return denies(text, finding, names_cell=names_cell)
