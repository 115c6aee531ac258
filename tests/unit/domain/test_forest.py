from viewer.domain.forest import ForestFigure


def test_that_two_sides_of_one_model_look_different() -> None:
    figure = ForestFigure("t", "first", "second", "95 %", (), models=("m", "m"))
    first, second = figure.looks
    assert (first.colour, first.hatch) != (second.colour, second.hatch)
