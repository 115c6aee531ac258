"""Stand-alone numbered migrations, each tested from every released version."""

from typing import Final

from viewer.store.migrations import m0001_first_light

MIGRATIONS: Final = {m0001_first_light.VERSION: m0001_first_light.statements}
"""Schema version → the SQL that reaches it from the version before."""

LATEST: Final = max(MIGRATIONS)
