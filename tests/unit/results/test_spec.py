from viewer.results.spec import Cell, Key, TableSpec


def test_that_a_header_has_the_keys_first_and_every_name_of_a_cell() -> None:
    spec = TableSpec(
        "t",
        (Key("model"), Key("condition", "way")),
        (Cell("size", ("n",)), Cell("rate", ("k", "of"))),
    )
    assert spec.header == ("model", "way", "n", "k", "of")


def test_that_without_sets_all_keys_but_the_outer_ones_tell_rows_apart() -> None:
    keys = (Key("model"), Key("finding"), Key("view"))
    assert TableSpec("t", keys, ()).inner == (("model", "finding", "view"),)
    assert TableSpec("t", keys, (), outer=("finding",)).inner == (("model", "view"),)
    sets = ((), ("view",))
    assert TableSpec("t", keys, (), outer=("model",), sets=sets).inner == sets
