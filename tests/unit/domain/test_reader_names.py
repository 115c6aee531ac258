from viewer.domain.reading import KnownReader, NameTakenError, SessionId


def test_that_a_taken_name_says_who_has_it_and_which_one_is_free() -> None:
    known = KnownReader("Zoe", (SessionId(1), SessionId(4)), "2026-11-27T10:00:00Z")
    error = NameTakenError([known], "Zoe (2)")
    assert error.people == (known,)
    assert error.free == "Zoe (2)"
    assert error.what == "Zoe has already read here (sessions 1, 4)."
    assert error.how.endswith("such as Zoe (2).")
