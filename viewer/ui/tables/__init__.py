"""Qt item models over the tables of a run."""
