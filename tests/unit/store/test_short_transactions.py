from dataclasses import replace

import pytest

from tests.helpers.small_store import a_dataset
from viewer.domain.case import Dataset
from viewer.domain.errors import StoreBusyError, WrongUseError
from viewer.store import cases, consents, database, holdings
from viewer.store.database import Store, open_store

STOP_AT = 2


@pytest.fixture(autouse=True)
def _one_row_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "HOLD_S", 0.0)
    monkeypatch.setattr(database, "_GAP_S", 0.0)


def dataset(sha256: str = "a" * 64) -> Dataset:
    return replace(a_dataset("large", 6), root_sha256=sha256)


def stop_import(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, restricted: bool | None = None
) -> None:
    """Import the data set as a process does that is killed after two images."""
    add = cases._add_image

    def add_some(*words: object) -> None:
        if words[2] == STOP_AT:
            raise KeyboardInterrupt
        add(*words)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(cases, "_add_image", add_some)
        with pytest.raises(KeyboardInterrupt):
            cases.add_dataset(store, dataset(), restricted=restricted)
    assert len(store.rows("SELECT 1 FROM image")) == STOP_AT


def test_that_a_half_imported_data_set_is_shown_but_offered_to_no_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_import(store, monkeypatch)
    image = dataset().images[0]
    assert cases.image_with_reference(store, image.ref) is not None
    assert cases.dataset_with_image(store, image.ref) is None
    assert cases.dataset_summaries(store) == ()
    assert dict(holdings.holdings_of_all(store)) == {}
    with pytest.raises(WrongUseError, match="is not complete"):
        cases.dataset_named(store, "large")


@pytest.mark.parametrize("sha256", ["a" * 64, "b" * 64])
def test_that_importing_again_replaces_what_a_kill_left(
    store: Store, monkeypatch: pytest.MonkeyPatch, sha256: str
) -> None:
    stop_import(store, monkeypatch, restricted=True)
    consents.add_consent(store, "host:443", "large", "a trial", granted=True)
    cases.add_dataset(store, dataset(sha256))
    assert consents.restricted_datasets(store) == {"large"}
    assert [c.dataset for c in consents.standing_consents(store)] == ["large"]
    assert cases.dataset_named(store, "large") == dataset(sha256)


def test_that_images_are_restricted_from_the_first_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_import(store, monkeypatch, restricted=True)
    assert store.rows("SELECT restricted FROM dataset")[0][0] == 1


def test_that_others_write_between_two_images(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    with open_store(store.path) as other:

        def write(_: float) -> None:
            with other.transaction():
                seen.append(len(other.rows("SELECT 1 FROM image")))

        monkeypatch.setattr("viewer.store.database.time.sleep", write)
        cases.add_dataset(store, dataset())
    assert set(range(1, 7)) <= set(seen)
    assert cases.dataset_named(store, "large") == dataset()


def test_that_a_store_without_patience_says_that_it_is_busy(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(store.path) as other:
        monkeypatch.setattr(other, "patience_s", 0.0)
        with (
            store.transaction(),
            pytest.raises(StoreBusyError, match="store is busy"),
            other.transaction(),
        ):
            pytest.fail("two processes wrote at once")


def test_that_a_second_import_of_the_same_name_says_who_imports(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = cases._add_image

    def add_and_try(*words: object) -> None:
        add(*words)  # type: ignore[arg-type]
        with (
            open_store(store.path) as other,
            pytest.raises(WrongUseError, match="is being imported by process"),
        ):
            cases.add_dataset(other, dataset())

    monkeypatch.setattr(cases, "_add_image", add_and_try)
    cases.add_dataset(store, dataset())
