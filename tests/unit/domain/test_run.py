from viewer.domain.run import ModelLoading


def test_that_a_loading_says_how_far_it_is_until_it_ends() -> None:
    assert ModelLoading(3, "m", 0.0, "contacting the hub").words == (
        "Loading m · contacting the hub"
    )
    assert ModelLoading(3, "m", 0.489, "loading weights").words == (
        "Loading m · 48 % · loading weights"
    )
    assert ModelLoading(3, "m", 1.0, "").words == ""
