"""Summaries of data sets, without reading their images and items."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from viewer.domain.holdings import Holdings
from viewer.store.database import Store

_PLACES: Final = (
    "SELECT d.name, EXISTS (SELECT 1 FROM image i WHERE i.dataset_id = d.id AND"
    "  (EXISTS (SELECT 1 FROM mask m WHERE m.image_id = i.id AND m.kind = 'finding')"
    "   OR EXISTS (SELECT 1 FROM reference_box b WHERE b.image_id = i.id))) AS places"
    " FROM dataset d WHERE d.adhoc = 0 AND d.complete = 1 ORDER BY d.id DESC"
)
_FACTS: Final = (
    "SELECT DISTINCT d.name,"
    " (SELECT json_group_array(f.key) FROM json_each(q.facts) f) AS names"
    " FROM item q JOIN dataset d ON d.id = q.dataset_id"
    " WHERE d.adhoc = 0 AND d.complete = 1"
)


def holdings_of_all(store: Store) -> Mapping[str, Holdings]:
    """Return the contents of every registered data set, the newest first."""
    facts: dict[str, dict[frozenset[str], None]] = defaultdict(dict)
    for row in store.rows(_FACTS):
        facts[row["name"]][frozenset(json.loads(row["names"]))] = None
    return {
        row["name"]: Holdings(bool(row["places"]), tuple(facts[row["name"]]))
        for row in store.rows(_PLACES)
    }
