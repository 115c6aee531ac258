import pytest

from viewer.domain.physician import is_consensus


@pytest.mark.statement("E004-24")
@pytest.mark.parametrize(
    ("reader", "several"),
    [("consensus", True), (" Consensus ", True), ("Dr Consensus", False), ("", False)],
)
def test_that_only_the_reader_consensus_stands_for_several(
    reader: str, several: bool
) -> None:
    assert is_consensus(reader) is several
