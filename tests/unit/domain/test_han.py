import pytest

from viewer.domain.han import has_han


@pytest.mark.parametrize("text", ["肺", "lung 肺炎", "\U00020021", "\uf900"])
def test_that_chinese_characters_are_known(text: str) -> None:
    assert has_han(text)


@pytest.mark.parametrize("text", ["", "lung", "κ ≤ 0.5", "かな", "、。"])
def test_that_other_letters_and_signs_are_none(text: str) -> None:
    assert not has_han(text)
