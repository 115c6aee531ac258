"""Published values of the papers, with the results of their checks (M-09)."""

from collections.abc import Iterator, Mapping

from viewer.studies.catalog import benchmarks, study_named
from viewer.studies.published import Badge


def published_rows(
    study: str = "", *, every: bool = False
) -> tuple[Mapping[str, object], ...]:
    """Return the inconsistent printed values, or ``every`` one.

    ``study`` selects one paper; an unknown name raises WrongUseError.
    """
    return tuple(row for row in _rows(study) if every or _is_wrong(row))


def _rows(study: str) -> Iterator[Mapping[str, object]]:
    own = (study_named(study).benchmark(),) if study else benchmarks()
    for one in filter(None, own):
        table = one.table
        for row, printed in zip(table.rows, one.rows, strict=True):
            cells = dict(zip(table.header, row, strict=True))
            yield {"study": one.study, **cells, "printed": printed.printed}


def _is_wrong(row: Mapping[str, object]) -> bool:
    return row["badge"] in {str(Badge.INCONSISTENT), str(Badge.NOT_OF_N)}
