"""What a cell of a table can be: estimators by name.

An estimator sees the rows of a cell and returns as many values as the cell has names;
NaN stands for what is not known. Sums run in the order of the rows, so that a sum is
the same wherever it is computed.
"""

from viewer.results.estimators import boxes, labels, paired, rates
from viewer.results.estimators.registry import ESTIMATORS, Metric, Seen, estimator

MODULES = (rates, labels, paired, boxes)
"""Where the estimators that every study can use are registered."""

__all__ = ["ESTIMATORS", "MODULES", "Metric", "Seen", "estimator"]
