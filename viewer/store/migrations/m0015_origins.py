"""Consents name scheme, host and port; those that named less hold no more."""

from typing import Final

VERSION: Final = 15


def statements() -> str:
    """Return the SQL that takes version 14 to this version.

    Whether somebody who allowed host and port meant http or https is not known, so
    every such consent is withdrawn, and asked for again.
    """
    return """
INSERT INTO consent (endpoint, dataset_id, purpose, decision, given_at, given_by)
    SELECT DISTINCT endpoint, dataset_id, 'named no scheme', 'withdrawn',
        strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now'), ''
    FROM consent WHERE instr(endpoint, '://') = 0;
"""
