"""Go on with a run of the quiz in a process of its own, to be killed."""

import sys
from pathlib import Path

from tests.helpers.quiz_study import quiz_in_catalog
from tests.helpers.tiny_study import finish
from viewer.domain.run import OrphanPolicy
from viewer.services.running.coordinator import BatchOptions
from viewer.store.database import open_store


def main() -> None:
    """Finish the run of the number given in the store given, one question at a time."""
    path, run = sys.argv[1:]
    options = BatchOptions(concurrency=1, orphans=OrphanPolicy.RETRY)
    with quiz_in_catalog(), open_store(Path(path)) as store:
        finish(store, int(run), options)


if __name__ == "__main__":
    main()
