import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.errors import WrongUseError
from viewer.writers.models_toml import model_tables, with_model, without_model

TEXT = """# my models, with notes

# the fast one
[[model]]  # on the desk
name = "fast"
adapter = "openai_api"   # llama.cpp
base_url = "http://127.0.0.1:8080/v1"
# warm enough
temperature = 0.0

# the careful one, see the meeting's notes
[[model]]
name = "careful"
adapter = "scripted"
answer = "D4"
# end of file
"""


def test_that_a_change_of_one_value_changes_one_line() -> None:
    table = {**model_tables(TEXT)[0], "temperature": 0.5}
    changed = with_model(TEXT, "fast", table).splitlines()
    differing = [(a, b) for a, b in zip(TEXT.splitlines(), changed, strict=True)
                 if a != b]  # fmt: skip
    assert differing == [("temperature = 0.0", "temperature = 0.5")]


def test_that_values_are_added_removed_and_renamed_in_place() -> None:
    table = {"name": "quick", "adapter": "openai_api", "base_url": "x", "seed": 3}
    changed = with_model(TEXT, "fast", table)
    assert [t["name"] for t in model_tables(changed)] == ["quick", "careful"]
    assert model_tables(changed)[0] == table
    for comment in ("# the fast one", "# on the desk", "# llama.cpp", "# warm enough",
                    "# the careful one", "# end of file"):  # fmt: skip
        assert comment in changed


def test_that_a_model_is_added_at_the_end_and_taken_out_again() -> None:
    table = {"name": "new", "adapter": "scripted", "answer": 'say "D4"\n'}
    added = with_model(TEXT, None, table)
    assert added.startswith(TEXT)
    assert model_tables(added)[2] == table
    assert without_model(added, "new") == TEXT
    assert with_model("", None, table).startswith("[[model]]\n")


def test_that_a_model_is_taken_out_and_every_comment_stays() -> None:
    left = without_model(TEXT, "fast")
    assert [t["name"] for t in model_tables(left)] == ["careful"]
    assert "# the fast one" in left
    assert "# the careful one" in left
    assert model_tables(without_model(left, "careful")) == []


@pytest.mark.parametrize(
    "text",
    [
        'model = [{name = "a", adapter = "scripted"}]\n',
        '[[model]]\nname = "a"\nadapter = """\n[[model]]\nname = "b"\n"""\n',
    ],
)
def test_that_a_layout_that_cannot_be_changed_alone_is_left_as_it_is(text: str) -> None:
    with pytest.raises(WrongUseError, match="cannot be changed"):
        with_model(text, "a", {"name": "a", "adapter": "scripted", "answer": "x"})


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "b", "c"]),
            st.one_of(st.booleans(), st.integers(-9, 9), st.text(max_size=8)),
        ),
        max_size=4,
    ),
    st.dictionaries(st.sampled_from(["a", "b", "d"]), st.integers(0, 9)),
    st.data(),
)
def test_that_only_the_table_named_changes(
    bodies: list[dict[str, object]], body: dict[str, object], data: st.DataObject
) -> None:
    text = "# head\n"
    tables = [{"name": f"m{i}", **each} for i, each in enumerate(bodies)]
    for table in tables:
        text = with_model(text, None, table)
    assert model_tables(text) == tables
    if tables:
        chosen = data.draw(st.integers(0, len(tables) - 1))
        tables[chosen] = {"name": f"m{chosen}", **body}
        assert model_tables(with_model(text, f"m{chosen}", tables[chosen])) == tables
