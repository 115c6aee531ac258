"""Stand-alone numbered migrations, each tested from every released version."""

from typing import Final

from viewer.store.migrations import (
    m0001_first_light,
    m0002_answers_by_image,
    m0003_run_marks,
    m0004_asking,
    m0005_ceilings,
    m0006_deidentified,
    m0007_splits,
    m0008_predictions,
    m0009_families,
    m0010_readings,
    m0011_reference_boxes,
    m0012_items,
    m0013_rescue,
    m0014_claims,
    m0015_origins,
    m0016_marks,
    m0017_committed,
    m0018_geometry,
    m0019_fresh_runs,
)

MIGRATIONS: Final = {
    m0001_first_light.VERSION: m0001_first_light.statements,
    m0002_answers_by_image.VERSION: m0002_answers_by_image.statements,
    m0003_run_marks.VERSION: m0003_run_marks.statements,
    m0004_asking.VERSION: m0004_asking.statements,
    m0005_ceilings.VERSION: m0005_ceilings.statements,
    m0006_deidentified.VERSION: m0006_deidentified.statements,
    m0007_splits.VERSION: m0007_splits.statements,
    m0008_predictions.VERSION: m0008_predictions.statements,
    m0009_families.VERSION: m0009_families.statements,
    m0010_readings.VERSION: m0010_readings.statements,
    m0011_reference_boxes.VERSION: m0011_reference_boxes.statements,
    m0012_items.VERSION: m0012_items.statements,
    m0013_rescue.VERSION: m0013_rescue.statements,
    m0014_claims.VERSION: m0014_claims.statements,
    m0015_origins.VERSION: m0015_origins.statements,
    m0016_marks.VERSION: m0016_marks.statements,
    m0017_committed.VERSION: m0017_committed.statements,
    m0018_geometry.VERSION: m0018_geometry.statements,
    m0019_fresh_runs.VERSION: m0019_fresh_runs.statements,
}
"""Schema version → the SQL that reaches it from the version before."""

LATEST: Final = max(MIGRATIONS)
