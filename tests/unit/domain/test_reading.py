from viewer.domain.reading import Progress


def test_that_cases_are_left_until_they_are_locked_though_some_are_unsure() -> None:
    progress = Progress(planned=10, done=4, unresolved=2, median_s=None, left_s=None)
    assert progress.left == 6
