"""Estimators by name, which give the values of a table's cells.

An estimator sees the rows of a cell and returns one value for each of the cell's names;
NaN stands for an unknown value. Sums run in the order of the rows, so that they are
identical wherever they are computed.
"""

from viewer.results.estimators import boxes, labels, paired, rates
from viewer.results.estimators.registry import ESTIMATORS, Metric, Seen, estimator

MODULES = (rates, labels, paired, boxes)
"""Where the estimators that every study can use are registered."""

__all__ = ["ESTIMATORS", "MODULES", "Metric", "Seen", "estimator"]
