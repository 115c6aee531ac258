"""What other packages bring: one that cannot be used harms no other."""

from importlib.metadata import EntryPoint, distribution

import pytest

from viewer.domain.plugins import PluginError, check_name, load_plugins


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "viewer.anything")


def checked(name: str, found: object) -> object:
    if name == "refused":
        raise PluginError("is of no use.")
    return found


def test_that_what_works_is_kept_and_what_does_not_is_named() -> None:
    (known, *_) = distribution("pytest").entry_points
    found = load_plugins(
        [
            entry("works", "json:dumps"),
            entry("works", "json:loads"),
            entry("gone", "no_such_module:thing"),
            entry("refused", "json:dumps"),
            known,
        ],
        "study",
        checked,
    )
    assert set(found.working) == {"works", known.name}
    assert found.working["works"].value.__name__ == "dumps"  # type: ignore[attr-defined]
    gone, refused = (one.why for one in found.broken)
    assert [one.name for one in found.broken] == ["gone", "refused"]
    assert gone.startswith("The study 'gone' of package no_such_module cannot be")
    assert refused == "The study 'refused' of package json is of no use."


def test_that_a_name_is_free_and_what_its_thing_calls_itself() -> None:
    check_name("side", "side", {"grid": 1})
    with pytest.raises(PluginError, match="same name as a built-in one"):
        check_name("grid", "grid", {"grid": 1})
    with pytest.raises(PluginError, match="calls itself 'other'"):
        check_name("side", "other", {"grid": 1})
