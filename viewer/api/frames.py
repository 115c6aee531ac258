"""Report tables as pandas DataFrames."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from viewer.domain.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd

    from viewer.domain.report import Table

_NULLABLE: Final = {str: "str", int: "Int64", float: "float64", bool: "boolean"}
"""What holds the values of a column that has one type, and that there is none."""
_WHOLE: Final = {str: "str", int: "int64", float: "float64", bool: "bool"}


def dataframe(table: "Table") -> "pd.DataFrame":
    """Return a table as a DataFrame, each column of one dtype.

    Text is ``str``, floats ``float64``, whole numbers and booleans ``int64`` and
    ``bool``, or the nullable ``Int64`` and ``boolean`` if values are or may be missing;
    a column of mixed types is ``object``.

    Raises
    ------
    MissingDependencyError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError(
            "DataFrames need pandas.", "Install it: pip install pandas"
        ) from error
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.header)
    made = {}
    for name, values in zip(table.header, columns, strict=True):
        dtype = _NULLABLE.get(table.kinds.get(name, object)) or _dtype(values)
        made[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(made)


def _dtype(values: Sequence[object]) -> str:
    """Return the dtype for a column's values; an empty column gets a numeric one."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and kinds != {int}:
        return "float64"
    if len(kinds) > 1:
        return "object"
    missing = any(value is None for value in values)
    return (_NULLABLE if missing else _WHOLE).get(kinds.pop(), "object")
