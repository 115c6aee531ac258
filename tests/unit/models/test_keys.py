from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import chainer, fail, null
from keyring.errors import KeyringLocked, PasswordDeleteError

from viewer.domain.errors import WrongUseError
from viewer.models import keys
from viewer.models.keys import KeyPlace

KEY = "sk-CANARY-0123456789"
NAME = "OVERREAD_TEST_KEY"


class InMemory(KeyringBackend):
    """A keyring that stands for the system's own."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError

    def _check(self) -> None:
        if self.locked:
            raise KeyringLocked


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
    monkeypatch.delenv(NAME, raising=False)
    yield
    keys.remember_key(NAME, "")
    keyring.set_keyring(before)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> InMemory:
    monkeypatch.setattr(keys, "is_real", lambda part: isinstance(part, InMemory))
    found = InMemory()
    keyring.set_keyring(found)
    return found


def test_that_a_key_is_kept_in_the_keyring_and_forgotten(backend: InMemory) -> None:
    keys.store_key(NAME, f" {KEY}\n")
    assert backend.kept == {("overread", NAME): KEY}
    assert (keys.key_named(NAME), keys.key_place(NAME)) == (KEY, KeyPlace.KEYRING)
    assert keys.forget_key(NAME)
    assert not keys.forget_key(NAME)
    assert keys.key_place(NAME) is KeyPlace.NOWHERE


def test_that_the_environment_comes_before_the_keyring(
    backend: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.kept["overread", NAME] = "of the keyring"
    monkeypatch.setenv(NAME, KEY)
    assert (keys.key_named(NAME), keys.key_place(NAME)) == (KEY, KeyPlace.ENVIRONMENT)


def test_that_without_a_keyring_memory_and_environment_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert keys.key_named(NAME) == ""
    with pytest.raises(WrongUseError, match="no keyring") as caught:
        keys.store_key(NAME, KEY)
    assert NAME in str(caught.value)
    assert KEY not in str(caught.value)
    keys.remember_key(NAME, KEY)
    monkeypatch.setenv(NAME, "of the environment")
    assert (keys.key_named(NAME), keys.key_place(NAME)) == (KEY, KeyPlace.MEMORY)
    assert not keys.forget_key(NAME)
    assert keys.key_place(NAME) is KeyPlace.ENVIRONMENT


def test_that_a_locked_keyring_is_said(backend: InMemory) -> None:
    backend.locked = True
    for refused in (
        lambda: keys.store_key(NAME, KEY),
        lambda: keys.key_named(NAME),
        lambda: keys.forget_key(NAME),
    ):
        with pytest.raises(WrongUseError, match="KeyringLocked") as caught:
            refused()
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", ["", "  ", "sk-Ä", "sk-\x07"])
def test_that_what_is_no_key_is_refused(key: str, backend: InMemory) -> None:
    with pytest.raises(WrongUseError, match="characters that no key has") as caught:
        keys.store_key(NAME, key)
    assert "sk-" not in str(caught.value)
    assert backend.kept == {}


def test_that_no_file_of_plain_text_counts_as_a_keyring() -> None:
    class PlaintextKeyring(InMemory):
        __module__ = "keyrings.alt.file"

    class Macos(InMemory):
        __module__ = "keyring.backends.macOS"

    assert not keys.is_real(PlaintextKeyring())
    assert not keys.is_real(fail.Keyring())  # type: ignore[no-untyped-call]
    assert not keys.is_real(null.Keyring())  # type: ignore[no-untyped-call]
    assert keys.is_real(Macos())


def test_that_a_chain_is_as_good_as_its_worst(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Chain(chainer.ChainerBackend):
        backends = (InMemory(),)

    monkeypatch.setattr(keys, "is_real", lambda part: isinstance(part, InMemory))
    keyring.set_keyring(Chain())  # type: ignore[no-untyped-call]
    keys.store_key(NAME, KEY)
    monkeypatch.setattr(keys, "is_real", lambda _: False)
    with pytest.raises(WrongUseError, match="no keyring"):
        keys.store_key(NAME, KEY)
