from pathlib import Path

from tests.helpers.older_store import store_of_version
from viewer.store import consents
from viewer.store.database import open_store


def test_that_a_consent_that_named_no_scheme_is_withdrawn(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with store_of_version(path, 14) as old:
        old.executemany(
            "INSERT INTO consent (endpoint, purpose, decision, given_at)"
            " VALUES (?, '', 'granted', 'then')",
            [("api.example.org:443",), ("far.example:80",), ("https://a.example:443",)],
        )
    with open_store(path) as store:
        assert [c.endpoint for c in consents.standing_consents(store)] == [
            "https://a.example:443"
        ]
        words = consents.consents(store)
    assert [c.granted for c in words] == [True, True, True, False, False]
