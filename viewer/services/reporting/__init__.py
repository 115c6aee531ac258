"""From a run's records to tables, figures, reports and packs."""
